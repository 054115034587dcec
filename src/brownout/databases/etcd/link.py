"""One member's JSON gateway, for short questions: etcd serves it at its client address.

Requests and answers are the messages of its protocol as JSON (protobuf's mapping: 64-bit numbers
are texts, and what is 0 or false is left out); see etcd's `rpc.proto`.
"""

import json
import ssl
from collections.abc import Mapping
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import Any

from brownout.base import errors
from brownout.base.errors import ClusterError, NoAnswer
from brownout.databases.access import Access
from brownout.inventory.model import Node

__all__ = ["LOGIN", "CommandFailed", "Document", "Link"]

#: What may stand in `connection.auth`.
LOGIN = (
    "a username and a password: etcd's JSON gateway, by which brownout asks each member, takes no "
    "certificate for a login"
)

Document = dict[str, Any]

#: What a member says to somebody who is nobody to it, or whose token it forgot, as when it starts.
_LOGIN_WANTED = ("user name is empty", "invalid auth token", "revision of auth store is old")
_PERMISSION_DENIED = "permission denied"


#: What a member says that has done nothing of what it was told. A transfer that timed out may
#: still come about, and is not here.
_REFUSALS = (*_LOGIN_WANTED, _PERMISSION_DENIED, "not leader", "bad leader transferee")


class CommandFailed(errors.CommandFailed):
    """A member answered, and the answer was an error: `said` is its own sentence."""

    def __init__(self, message: str, said: str, hint: str = "") -> None:
        refused = said in _REFUSALS or "authentication failed" in said
        super().__init__(message, hint, refused=refused)
        self.said = said


class Link:
    """Asks one member, and only that one; safe to use from several threads."""

    def __init__(self, node: Node, access: Access, timeout_s: float) -> None:
        self._node, self._access, self._timeout_s = node, access, timeout_s
        self._idle: list[HTTPConnection] = []
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
            if not self._access.username or error.said not in _LOGIN_WANTED:
                raise
        login = {"name": self._access.username, "password": self._access.password}
        self._token = ""
        self._token = str(self._post("auth/authenticate", login, patience_s)["token"])
        return self._post(path, message, patience_s)

    def close(self) -> None:
        """Close every connection."""
        while self._idle:
            self._idle.pop().close()

    def _post(self, path: str, message: Mapping[str, Any], timeout_s: float) -> Document:
        who = f"member `{self._node.name}` ({self._node.address})"
        try:
            status, text = self._exchange(f"/v3/{path}", json.dumps(message), timeout_s)
        except TimeoutError as error:
            raise NoAnswer(f"{who}: no answer in time") from error
        except ssl.SSLError as error:
            reason = error.reason or "the TLS connection failed"
            raise ClusterError(f"{who}: {reason}; see `connection.tls`") from error
        except (OSError, HTTPException) as error:
            reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
            raise ClusterError(f"{who}: {reason}") from error
        try:
            answer = json.loads(text)
        except (ValueError, RecursionError):
            answer = None
        if not isinstance(answer, dict):
            found = text.decode(errors="replace").strip()[:80]
            raise ClusterError(
                f"{who}: it does not speak etcd's JSON: {found!r}",
                "see that its configuration has `enable-grpc-gateway: true`",
            )
        if status != 200:
            raise _failed(who, answer)
        return answer

    def _exchange(self, path: str, body: str, timeout_s: float) -> tuple[int, bytes]:
        """Send a request, once more where a connection that was kept turns out to be over."""
        kept = self._idle.pop() if self._idle else None
        if kept is not None:
            try:
                return self._over(kept, path, body, timeout_s)
            except TimeoutError:
                raise
            except (OSError, HTTPException):
                pass
        return self._over(self._connection(timeout_s), path, body, timeout_s)

    def _over(
        self, connection: HTTPConnection, path: str, body: str, timeout_s: float
    ) -> tuple[int, bytes]:
        headers = {"Content-Type": "application/json"}
        if self._token:
            headers["Authorization"] = self._token
        try:
            if connection.sock is not None:
                connection.sock.settimeout(timeout_s)
            connection.request("POST", path, body, headers)
            answer = connection.getresponse()
            text = answer.read()
        except BaseException:
            connection.close()
            raise
        self._idle.append(connection)
        return answer.status, text

    def _connection(self, timeout_s: float) -> HTTPConnection:
        host, _, port = self._node.address.rpartition(":")
        host = host.strip("[]")
        if self._access.tls is None:
            return HTTPConnection(host, int(port), timeout=timeout_s)
        return HTTPSConnection(host, int(port), timeout=timeout_s, context=self._access.tls)


def _failed(who: str, answer: Document) -> CommandFailed:
    said = str(answer.get("message") or answer.get("error") or answer)
    said = said.removeprefix("etcdserver: ")
    if said in _LOGIN_WANTED or "authentication failed" in said:
        return CommandFailed(f"{who}: {said}; see `connection.auth`", said)
    if said == _PERMISSION_DENIED:
        return CommandFailed(f"{who}: {said}", said, "give the user the role `root`")
    return CommandFailed(f"{who}: {said}", said)
