"""What the API says when it does not do as asked, in its words and with what to do about it."""

import json
from collections.abc import Iterable
from typing import Any

from brownout.atlas.calls import Call
from brownout.base.errors import CommandFailed
from brownout.base.redact import redact

__all__ = ["AtlasError", "refused", "unanswered"]

_LOGIN = (
    "is the secret right and not expired, and is the address of this machine on the API access "
    "list of the login?"
)
_BY_STATUS = {
    400: "see the message, and the state of the cluster by the probe `atlas.cluster_state`",
    404: "are `atlas.project` and `atlas.cluster` right, and may the login see the project?",
    409: "another change is under way: wait until the cluster is IDLE, then try again",
    429: "the project's calls are used up, by us or by another client: try again later",
}
_BY_CODE = {
    "CANNOT_UPDATE_PAUSED_CLUSTER": "the cluster is paused: resume it first",
    "INVALID_CLUSTER_OUTAGE_SIMULATION_STATE": "wait until the outage has begun or ended wholly",
}
#: Where an error has its words; the last is the token endpoint's (RFC 6749).
_WORDS = ("detail", "reason", "error_description")
_SHORT = 300


class AtlasError(CommandFailed):
    """The API refused, or did not answer.

    Only a login that may not do it is `refused` for sure: with another answer of 4xx the request
    may be the repetition of one that was taken.

    `status` is HTTP's (None where no answer came), `code` Atlas's own `errorCode`, `retry_after_s`
    how long the server wants to be left alone. `in_doubt` says that it may have been done.
    """

    def __init__(
        self,
        message: str,
        hint: str = "",
        status: int | None = None,
        code: str = "",
        retry_after_s: float | None = None,
        in_doubt: bool = False,
    ) -> None:
        super().__init__(message, hint, refused=status in (401, 403))
        self.status, self.code = status, code
        self.retry_after_s, self.in_doubt = retry_after_s, in_doubt


def refused(
    call: Call, status: int, text: str, retry_after: str, secrets: Iterable[str]
) -> AtlasError:
    """Return the error for a response that is not 2xx."""
    answer = _parsed(text)
    code = str(answer.get("errorCode") or answer.get("error", ""))
    words = next(
        (answer[key] for key in _WORDS if answer.get(key)), _start(text) or "no reason given"
    )
    message = f"Atlas refused {call.name()} with {status} {code}, {words}"
    return AtlasError(
        str(redact(message, secrets)),
        _hint(call, status, code),
        status,
        code,
        _seconds(retry_after),
        in_doubt=status >= 500 and not call.repeatable,
    )


def unanswered(call: Call, why: str, sent: bool, base_url: str) -> AtlasError:
    """Return the error of a call that got no answer; `sent` says whether it may have arrived."""
    doubtful = sent and not call.repeatable
    hint = "is `atlas.base_url` right, and can this machine reach it?"
    if doubtful:
        hint = "it may have been done all the same: look at the cluster before asking again"
    message = f"Atlas did not answer {call.name()} at {base_url}: {why}"
    return AtlasError(message, hint, in_doubt=doubtful)


def _hint(call: Call, status: int, code: str) -> str:
    if code in _BY_CODE:
        return _BY_CODE[code]
    if status == 401:
        return _LOGIN
    if status == 403:
        return f"the login needs the role `{call.role}` in this project; {_LOGIN}"
    if status >= 500:
        doubt = "" if call.repeatable else "it may have been done all the same: look, then "
        return f"{doubt}try again later"
    return _BY_STATUS.get(status, "")


def _parsed(text: str) -> dict[str, Any]:
    """Return Atlas's own description of the error; a proxy on the way answers with none."""
    try:
        answer = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return answer if isinstance(answer, dict) else {}


def _start(text: str) -> str:
    return " ".join(text.split())[:_SHORT]


def _seconds(retry_after: str) -> float | None:
    """Return what `Retry-After` wants: the API gives whole seconds, or no header at all."""
    return float(retry_after) if retry_after.isascii() and retry_after.isdigit() else None
