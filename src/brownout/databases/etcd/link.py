"""One member's JSON gateway, for short questions: etcd serves it at its client address.

Requests and answers are the messages of its protocol as JSON (protobuf's mapping: 64-bit numbers
are texts, and what is 0 or false is left out); see etcd's `rpc.proto`.
"""

import json
from collections.abc import Mapping
from typing import Any

from brownout.base import errors
from brownout.base.errors import ClusterError
from brownout.databases.access import Access
from brownout.databases.connections import HttpApi
from brownout.inventory.model import Node

__all__ = ["LOGIN", "CommandFailed", "Document", "Link"]

#: What may stand in `connection.auth`.
LOGIN = (
    "a username and a password: etcd's JSON gateway, by which brownout asks each member, takes no "
    "certificate for a login"
)

Document = dict[str, Any]

#: What a member answers without a login, or for a token that it forgot, as when it starts.
_LOGIN_WANTED = ("user name is empty", "invalid auth token", "revision of auth store is old")
_PERMISSION_DENIED = "permission denied"


#: What a member says that has done nothing of what it was told. A transfer that timed out may
#: still come about, and is not here.
_REFUSALS = (*_LOGIN_WANTED, _PERMISSION_DENIED, "not leader", "bad leader transferee")


class CommandFailed(errors.CommandFailed):
    """A member answered, and the answer was an error: `reply` is its own sentence."""

    def __init__(self, message: str, reply: str, hint: str = "") -> None:
        refused = reply in _REFUSALS or "authentication failed" in reply
        super().__init__(message, hint, refused=refused)
        self.reply = reply


class Link:
    """Asks one member, and only that one; safe to use from several threads."""

    def __init__(self, node: Node, access: Access, timeout_s: float) -> None:
        self._access, self._timeout_s = access, timeout_s
        self._who = f"member `{node.name}` ({node.address})"
        self._api = HttpApi(self._who, node.address, access.tls, keep=True)
        self._token = ""

    def ask(self, path: str, timeout_s: float = 0.0, **message: Any) -> Document:
        """Post a message, as `ask("maintenance/status")`, and return the answer.

        Waits `timeout_s` seconds, by default `connection.timeout_s`. It logs in where the member
        wants that. Raises `NoAnswer` in time, `CommandFailed` with what the member says, and
        `ClusterError` otherwise.
        """
        patience_s = timeout_s or self._timeout_s
        try:
            return self._post(path, message, patience_s)
        except CommandFailed as error:
            if not self._access.username or error.reply not in _LOGIN_WANTED:
                raise
        login = {"name": self._access.username, "password": self._access.password}
        self._token = ""
        self._token = str(self._post("auth/authenticate", login, patience_s)["token"])
        return self._post(path, message, patience_s)

    def close(self) -> None:
        """Close every connection."""
        self._api.close()

    def _post(self, path: str, message: Mapping[str, Any], timeout_s: float) -> Document:
        headers = {"Authorization": self._token} if self._token else {}
        status, text = self._api.exchange("POST", f"/v3/{path}", timeout_s, message, headers)
        try:
            answer = json.loads(text)
        except (ValueError, RecursionError):
            answer = None
        if not isinstance(answer, dict):
            excerpt = text.decode(errors="replace").strip()[:80]
            raise ClusterError(
                f"{self._who}: it does not speak etcd's JSON: {excerpt!r}",
                "see that its configuration has `enable-grpc-gateway: true`",
            )
        if status != 200:
            raise _failed(self._who, answer)
        return answer


def _failed(who: str, answer: Document) -> CommandFailed:
    words = str(answer.get("message") or answer.get("error") or answer)
    words = words.removeprefix("etcdserver: ")
    if words in _LOGIN_WANTED or "authentication failed" in words:
        return CommandFailed(f"{who}: {words}; see `connection.auth`", words)
    if words == _PERMISSION_DENIED:
        return CommandFailed(f"{who}: {words}", words, "give the user the role `root`")
    return CommandFailed(f"{who}: {words}", words)
