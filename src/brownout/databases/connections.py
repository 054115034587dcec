"""What the links to single nodes share: connections that are kept, one retry, the words of errors.

A kept connection may have been closed since, as when its node was killed. So a question over one is
asked once more over a new connection; but never after a time-out, since the node may be at work on
it.
"""

import json
import ssl
from base64 import b64encode
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import Any, Generic, Protocol, TypeVar

from brownout.base.errors import ClusterError, NoAnswer
from brownout.base.settings import host_and_port
from brownout.databases.access import Access

__all__ = ["Connections", "HttpApi", "basic_login", "in_words"]


class _Connection(Protocol):
    def close(self) -> None: ...


C = TypeVar("C", bound=_Connection)
A = TypeVar("A")


@contextmanager
def in_words(who: str) -> Iterator[None]:
    """Raise `NoAnswer` for a time-out and `ClusterError` for what else a connection raises."""
    try:
        yield
    except TimeoutError as error:
        raise NoAnswer(f"{who}: no answer in time") from error
    except ssl.SSLError as error:
        reason = error.reason or "the TLS connection failed"
        raise ClusterError(f"{who}: {reason}; see `connection.tls`") from error
    except (OSError, HTTPException) as error:
        reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
        raise ClusterError(f"{who}: {reason}") from error


class Connections(Generic[C]):
    """Connections to one node that are kept between questions; safe to use from several threads."""

    def __init__(self) -> None:
        self._idle: deque[C] = deque()

    def ask(self, connect: Callable[[], C], over: Callable[[C], A]) -> A:
        """Return what `over` returns of a kept connection, or of a new one; raises like these."""
        try:
            kept = self._idle.pop()
        except IndexError:
            return self._over(connect(), over)
        try:
            return self._over(kept, over)
        except TimeoutError:
            raise
        except (OSError, HTTPException):
            return self._over(connect(), over)

    def close(self) -> None:
        """Close every connection that is not in use."""
        while self._idle:
            self._idle.pop().close()

    def _over(self, connection: C, over: Callable[[C], A]) -> A:
        try:
            answer = over(connection)
        except BaseException:
            connection.close()
            raise
        self._idle.append(connection)
        return answer


class HttpApi:
    """One node's HTTP API; safe to use from several threads. `who` names it in errors.

    Its connections are closed after each answer unless it is to `keep` them: then an order may be
    sent twice.
    """

    def __init__(
        self, who: str, address: str, tls: ssl.SSLContext | None, keep: bool = False
    ) -> None:
        self._who, self._address, self._tls, self._keep = who, address, tls, keep
        self._connections = Connections[HTTPConnection]()

    def exchange(
        self,
        method: str,
        path: str,
        timeout_s: float,
        message: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> tuple[int, bytes]:
        """Return the status and the body of an answer; raises like `in_words`.

        `message` is sent as JSON.
        """
        body = None if message is None else json.dumps(message)
        typed = {} if message is None else {"Content-Type": "application/json"}

        def over(connection: HTTPConnection) -> tuple[int, bytes]:
            if connection.sock is not None:
                connection.sock.settimeout(timeout_s)
            connection.request(method, path, body, {**typed, **(headers or {})})
            answer = connection.getresponse()
            return answer.status, answer.read()

        with in_words(self._who):
            try:
                return self._connections.ask(lambda: self._connect(timeout_s), over)
            finally:
                if not self._keep:
                    self.close()

    def close(self) -> None:
        """Close every connection that is not in use."""
        self._connections.close()

    def _connect(self, timeout_s: float) -> HTTPConnection:
        host, port = host_and_port(self._address)
        if self._tls is None:
            return HTTPConnection(host, port, timeout=timeout_s)
        return HTTPSConnection(host, port, timeout=timeout_s, context=self._tls)


def basic_login(access: Access) -> dict[str, str]:
    """Return the header of a login by password; none where there is no username."""
    if not access.username:
        return {}
    pair = f"{access.username}:{access.password}".encode()
    return {"Authorization": f"Basic {b64encode(pair).decode()}"}
