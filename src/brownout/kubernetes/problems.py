"""Failures that the API server, or the way to it, answers: in one line, as our errors."""

import json
import re
from ast import literal_eval
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from kubernetes.client import ApiClient
from kubernetes.client.exceptions import ApiException
from urllib3.exceptions import HTTPError

from brownout.base.errors import Denied, HostError

__all__ = ["ROLE", "Away", "Conflict", "Missing", "asking", "one_line"]

#: What gives the rights that most calls need, as the hint of a refusal names it.
ROLE = "infra/kubernetes/rbac, docs/kubernetes.md"

#: How websocket-client words a refused switch to its protocol, headers in the middle.
_HANDSHAKE = re.compile(r"Handshake status (\d+) (.*?) -\+-\+- .* -\+-\+- (.*)", re.DOTALL)
_HINTS = {
    401: "the login of the kubeconfig, or the token of the service account, is not accepted",
    404: "is the namespace right, and is it installed there?",
    409: "another client made or changed it meanwhile",
    422: "the words of the API server say which field it does not take",
}


class Away(HostError):
    """The API server, or what stands before it, is not ready now; asking again may help."""


class Conflict(HostError):
    """Another client made or changed the object meanwhile; reading it again may help."""


class Missing(HostError):
    """There is nothing of that name, or the API server does not know the kind."""


_KINDS: dict[int, type[HostError]] = {
    403: Denied,
    404: Missing,
    409: Conflict,
    **dict.fromkeys((0, 408, 429, 500, 502, 503, 504), Away),
}


def one_line(error: BaseException) -> str:
    """Return in one line what an `ApiException`, or an error on the way, says. Never a header.

    403 Forbidden: pods "db-0" is forbidden: User "…" cannot delete resource "pods" …
    """
    if isinstance(error, ApiException):
        number, reason, body = _answered(error)
        status = f"{number} {reason}".strip() if number else ""
        message = _message(body) or ("" if status else reason or "no reason")
        return ": ".join(part for part in (status, _line(message)) if part)
    return _line(str(_innermost(error)))


@contextmanager
def asking(client: ApiClient, what: str, role: str = ROLE) -> Iterator[None]:
    """Turn what a call of `client` raises into a `HostError`; `what` is done, as `deleting …`.

    It is `Away`, `Conflict` or `Missing` where a caller may continue. `role` is what gives the
    right.
    """
    host = client.configuration.host
    try:
        yield
    except ApiException as error:
        status, _, body = _answered(error)
        kind = _KINDS.get(status, HostError)
        if kind is Missing and _is_page(body):
            kind = Away
        hint = f"give it the Role for this ({role})" if status == 403 else _HINTS.get(status, "")
        raise kind(
            f"kubernetes: {what}: the API server at {host} says {one_line(error)}", hint
        ) from error
    except (HTTPError, OSError) as error:
        raise Away(
            f"kubernetes: {what}: the API server at {host} does not answer: {one_line(error)}",
            "is it running, and is the address in the kubeconfig right?",
        ) from error


def _answered(error: ApiException) -> tuple[int, str, Any]:
    """Return status, reason and body of an answer; a refused websocket has all of it in words."""
    refused = _HANDSHAKE.fullmatch(str(error.reason or "")) if not error.status else None
    if refused is None:
        return int(error.status or 0), str(error.reason or ""), error.body
    number, reason, body = refused.groups()
    with suppress(ValueError, SyntaxError):
        body = literal_eval(body)  # as websocket-client prints the bytes
    return int(number), reason, body


def _is_page(body: Any) -> bool:
    """Whether it is a page of a proxy on the way, which does not know what is there.

    The API server itself answers with a `Status`, or with plain text for a kind that it does not
    know.
    """
    text = body.decode(errors="replace") if isinstance(body, bytes) else str(body or "")
    return text.lstrip().startswith("<")


def _message(body: Any) -> str:
    """Return the message of the API's own kind `Status`, or the body's beginning."""
    text = body.decode(errors="replace") if isinstance(body, bytes) else str(body or "")
    try:
        status = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return str(status.get("message", "")) if isinstance(status, dict) else text


def _innermost(error: BaseException) -> BaseException:
    """Return what was wrapped several times on its way to us."""
    seen = [error]
    while True:
        inner = getattr(seen[-1], "reason", None) or seen[-1].__cause__ or seen[-1].__context__
        if not isinstance(inner, BaseException) or inner in seen:
            return seen[-1]
        seen.append(inner)


def _line(text: str) -> str:
    return " ".join(text.split())[:300]
