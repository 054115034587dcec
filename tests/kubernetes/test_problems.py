"""What the API server says, in one line."""

import json

import pytest
from kubernetes.client import ApiClient, Configuration
from kubernetes.client.exceptions import ApiException
from urllib3.exceptions import HTTPError, MaxRetryError

from brownout.base.errors import Denied, HostError
from brownout.kubernetes.problems import Away, Conflict, Missing, asking, one_line
from brownout.kubernetes.retries import persist

_FORBIDDEN = 'pods "db-0" is forbidden: User "me" cannot delete resource "pods" in API group ""'


def _exception(status: int, reason: str, body: str) -> ApiException:
    error = ApiException(status=status, reason=reason)
    error.body, error.headers = body, {"Audit-Id": "of no interest"}
    return error


def test_the_message_of_a_status_is_said_in_one_line_without_headers() -> None:
    body = json.dumps({"kind": "Status", "message": f"{_FORBIDDEN}\nand more", "code": 403})
    line = one_line(_exception(403, "Forbidden", body))
    assert line == f"403 Forbidden: {_FORBIDDEN} and more"


@pytest.mark.parametrize("body", ["no JSON at all", "[1, 2]", '"text"'])
def test_another_body_is_said_as_it_is(body: str) -> None:
    assert one_line(_exception(502, "Bad Gateway", body)) == f"502 Bad Gateway: {body}"


def test_without_a_status_the_reason_is_said() -> None:
    assert one_line(ApiException(status=0, reason="SSLError\nno certificate")) == (
        "SSLError no certificate"
    )


def test_a_refused_websocket_is_said_as_any_answer_and_without_its_headers() -> None:
    body = json.dumps({"message": 'pods "db-0" is forbidden'}).encode()
    reason = f"Handshake status 403 Forbidden -+-+- {{'audit-id': 'x'}} -+-+- {body!r}"
    assert (
        one_line(ApiException(status=0, reason=reason)) == '403 Forbidden: pods "db-0" is forbidden'
    )
    cut = "Handshake status 500 Internal Server Error -+-+- {} -+-+- b'cut"
    assert one_line(ApiException(status=0, reason=cut)) == "500 Internal Server Error: b'cut"


def test_of_what_was_wrapped_the_innermost_is_said() -> None:
    outer = MaxRetryError(None, "/api", HTTPError("gave up"))  # type: ignore[arg-type]
    outer.reason.__cause__ = ConnectionRefusedError(111, "Connection refused")  # type: ignore[union-attr]
    assert one_line(outer) == "[Errno 111] Connection refused"


def test_what_fails_says_what_was_done_where_and_which_role_it_lacks() -> None:
    client = ApiClient(Configuration(host="https://one:6443"))
    with (
        pytest.raises(HostError, match=r"deleting pod db-0.*https://one:6443 says 403.*rbac"),
        asking(client, "deleting pod db-0"),
    ):
        raise _exception(403, "Forbidden", json.dumps({"message": _FORBIDDEN}))


@pytest.mark.parametrize(
    ("status", "kind"), [(404, Missing), (409, Conflict), (503, Away), (0, Away), (403, Denied)]
)
def test_the_kind_of_an_error_says_whether_asking_again_may_help(
    status: int, kind: type[HostError]
) -> None:
    client = ApiClient(Configuration(host="https://one:6443"))
    with pytest.raises(HostError) as raised, asking(client, "GET /api"):
        raise _exception(status, "", "no")
    assert type(raised.value) is kind


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (json.dumps({"kind": "Status", "reason": "NotFound", "code": 404}), Missing),
        ("404 page not found\n", Missing),  # the API server's own, for a group that it has not
        ("<html><head><title>404 Not Found</title></head></html>", Away),
        ("\n<!DOCTYPE html>", Away),
    ],
)
def test_a_page_of_a_proxy_does_not_say_that_an_object_is_gone(
    body: str, kind: type[HostError]
) -> None:
    with pytest.raises(HostError) as raised, asking(ApiClient(Configuration()), "reading it"):
        raise _exception(404, "Not Found", body)
    assert type(raised.value) is kind


def test_a_server_that_is_away_is_asked_again_and_each_time_it_is_said_why() -> None:
    answers = iter([Away("closed"), Away("not ready"), None])
    told: list[str] = []

    def ask() -> str:
        if error := next(answers):
            raise error
        return "answer"

    assert persist(ask, 60, (Away,), told.append) == "answer"
    assert told == ["closed; tried again for 60 s", "not ready; tried again for 60 s"]


def test_without_patience_and_for_any_other_error_it_is_asked_once() -> None:
    asked: list[HostError] = []

    def ask(error: HostError) -> None:
        asked.append(error)
        raise error

    with pytest.raises(Away):
        persist(lambda: ask(Away("closed")), 0, (Away,))
    with pytest.raises(Conflict):
        persist(lambda: ask(Conflict("taken")), 60, (Away,))
    assert len(asked) == 2
