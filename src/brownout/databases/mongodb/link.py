"""One member's own connection, for short questions. Driver errors never leave this module."""

import contextlib
import re
import socket
import threading
from collections.abc import Iterator, Mapping
from typing import Any

import pymongo
from pymongo.errors import (
    AutoReconnect,
    ConfigurationError,
    NetworkTimeout,
    NotPrimaryError,
    OperationFailure,
    PyMongoError,
    ServerSelectionTimeoutError,
)
from tenacity import Retrying, retry_if_exception, stop_after_attempt, wait_fixed

from brownout.base import errors
from brownout.base.errors import ClusterError, NoAnswer
from brownout.base.settings import host_and_port
from brownout.databases.mongodb.access import Access
from brownout.databases.mongodb.grants import hint_for
from brownout.inventory.model import Node

__all__ = ["CommandFailed", "Link"]

Document = dict[str, Any]

_UNAUTHORIZED = 13
_EXPLAINED = {
    _UNAUTHORIZED: "the user does not have the privilege",
    18: "authentication failed; see `connection.auth`",
    76: "it is not part of a replica set",
    93: "it was removed from the set, or has no valid configuration of one",
    94: "it has no replica set configuration yet",
    # What a server without SCRAM-SHA-1 answers where the user is one that it does not know.
    334: "it knows no such user, or no such way to log in; see `connection.auth`",
}
_USER_NOT_FOUND = 11
#: What a member answers to a login that it does not have.
_NO_SUCH_LOGIN = frozenset({_USER_NOT_FOUND, 18, 334})
#: Of a TLS connection that failed, in the words of OpenSSL, with the line of Python's source.
_SOURCE_LINE = re.compile(r" \(_ssl\.c:\d+\)")
_HUNG_UP = "connection closed"


#: Errors after which a member has done nothing of what it was told: no privilege, no login, no
#: such command or value, or a state in which it does not do it. What ends while it is done (50, 91,
#: 189, 262, 11600, 11602) is not here.
_REFUSALS = frozenset({2, 9, 11, 13, 14, 18, 20, 59, 72, 76, 93, 94, 95, 334, 10107})


class CommandFailed(errors.CommandFailed):
    """A member answered, and the answer was an error: `code` is the server's, as 94."""

    def __init__(self, message: str, code: int, hint: str = "") -> None:
        super().__init__(message, hint, refused=code in _REFUSALS)
        self.code = code


class Link:
    """Asks one member, and only that one, over a connection of its own.

    After any failure the client is thrown away: pymongo would look for a member that came back
    only every half second, a fresh client does at once. An arbiter has no users, so that no login
    succeeds there: it is asked without one.
    """

    def __init__(self, node: Node, access: Access, timeout_s: float) -> None:
        self._node, self._access, self._timeout_s = node, access, timeout_s
        self._client: pymongo.MongoClient[Document] | None = None
        self._known = False
        self._lock = threading.Lock()

    @property
    def is_connected(self) -> bool:
        """Whether the member answered the last command, and is not known to be lost since."""
        client = self._client
        return (
            client is not None and self._known and bool(client.topology_description.known_servers)
        )

    def ask(
        self, command: str, value: Any = 1, *, database: str = "admin", **arguments: Any
    ) -> Document:
        """Run a command that is safe to repeat; once more if the connection was stale."""
        retrying = Retrying(
            stop=stop_after_attempt(2),
            wait=wait_fixed(0.02),
            retry=retry_if_exception(_is_transient),
            reraise=True,
        )
        with self._explained(command):
            for attempt in retrying:
                with attempt:
                    return self._run({command: value, **arguments}, self._timeout_s, database)
        raise AssertionError("unreachable")  # pragma: no cover  the loop returns or raises

    def order(self, command: str, value: Any, timeout_s: float, **arguments: Any) -> Document:
        """Run an admin command that changes something: once, waiting up to `timeout_s`."""
        with self._explained(command):
            return self._run({command: value, **arguments}, timeout_s)

    def close(self) -> None:
        """Close the connection."""
        with self._lock:
            client, self._client, self._known = self._client, None, False
        if client is not None:
            client.close()

    def _run(self, command: Document, timeout_s: float, database: str = "admin") -> Document:
        client = self._connected()
        try:
            with pymongo.timeout(timeout_s):
                answer = client[database].command(command)
        except (OperationFailure, NotPrimaryError) as error:
            if _code_of(error) not in _NO_SUCH_LOGIN or not self._is_arbiter():
                raise
            self._access = self._access.without_login()
            self.close()
            return self._run(command, timeout_s, database)
        except PyMongoError:
            self.close()
            raise
        self._known = True
        return dict(answer)

    def _is_arbiter(self) -> bool:
        """Return whether the member says so to one that has no login; False if it says nothing."""
        if not self._access.logs_in:
            return False
        link = Link(self._node, self._access.without_login(), self._timeout_s)
        with contextlib.closing(link), contextlib.suppress(ClusterError):
            return bool(link.ask("hello").get("arbiterOnly"))
        return False

    def _connected(self) -> pymongo.MongoClient[Document]:
        """Return the client, a fresh one where the last has lost its member."""
        client = self._client
        if client is not None and self._known and not client.topology_description.known_servers:
            self.close()
            client = None
        if client is not None:
            return client
        self._knock()
        with self._lock:
            if self._client is None:
                self._client = self._new_client()
            return self._client

    def _knock(self) -> None:
        """Open and close a connection: a refusal is known at once, where pymongo would wait."""
        socket.create_connection(host_and_port(self._node.address), self._timeout_s).close()

    def _new_client(self) -> pymongo.MongoClient[Document]:
        milliseconds = int(self._timeout_s * 1000)
        return pymongo.MongoClient(
            self._access.direct_uri(self._node.address),
            **self._access.pymongo(),
            appname="brownout",
            serverSelectionTimeoutMS=milliseconds,
            connectTimeoutMS=milliseconds,
            serverMonitoringMode="poll",
            retryReads=False,
            maxPoolSize=4,
        )

    @contextlib.contextmanager
    def _explained(self, command: str) -> Iterator[None]:
        """Turn what goes wrong into one sentence that names the member."""
        who = f"member `{self._node.name}` ({self._node.address})"
        try:
            yield
        except (OperationFailure, NotPrimaryError) as error:
            code = _code_of(error)
            hint = hint_for(command) if code == _UNAUTHORIZED else ""
            raise CommandFailed(f"{who}: {_explained(error, code)}", code, hint) from error
        except ConfigurationError as error:
            raise ClusterError(f"{who}: {error}", "see `connection` in the inventory") from error
        except PyMongoError as error:
            why = f"{who}: {_why_silent(error, self._node.address)}"
            raise (NoAnswer if _is_silence(error) else ClusterError)(why) from error
        except TimeoutError as error:
            raise NoAnswer(f"{who}: no answer in time") from error
        except OSError as error:
            reason = error.strerror or str(error) or type(error).__name__
            raise ClusterError(f"{who}: {reason}") from error


def _code_of(error: OperationFailure | NotPrimaryError) -> int:
    """Return the server's own number of an error; a NotPrimaryError keeps it in its details."""
    if isinstance(error, OperationFailure):
        return int(error.code or 0)
    details = error.details if isinstance(error.details, Mapping) else {}
    return int(details.get("code", 0))


def _explained(error: PyMongoError, code: int) -> str:
    if code == _USER_NOT_FOUND:  # which names the subject of our certificate
        return f"{_first(error)}; see `connection.auth`"
    return _EXPLAINED.get(code, _first(error))


def _is_transient(error: BaseException) -> bool:
    """Whether a second attempt may find what a stale connection hid. Silence is not that."""
    silent = isinstance(error, NetworkTimeout | ServerSelectionTimeoutError)
    return isinstance(error, AutoReconnect) and not silent


def _is_silence(error: PyMongoError) -> bool:
    """Whether the member said nothing at all, not even that it would not."""
    if isinstance(error, ServerSelectionTimeoutError):
        return "timed out" in _first(error) or "No servers found yet" in _first(error)
    return error.timeout


def _first(error: PyMongoError) -> str:
    """Return the sentence of a driver's message, without the topology printed after it."""
    return str(error).partition(", full error:")[0].partition(" (configured timeouts:")[0]


def _why_silent(error: PyMongoError, address: str) -> str:
    """Say why a member did not answer; what looks like a matter of TLS says where to look."""
    if _is_silence(error):
        return "no answer in time"
    reason = _first(error).partition(", Timeout:")[0].removeprefix(f"{address}: ")
    if "[SSL" in reason or "certificate" in reason:
        return f"{_SOURCE_LINE.sub('', reason)}; see `connection.tls`"
    if reason.startswith(_HUNG_UP):
        return f"{reason}: it may want TLS, or refuse our certificate; see `connection.tls`"
    return reason
