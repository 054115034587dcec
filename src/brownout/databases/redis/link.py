"""One node, for short questions, by redis-py and over one connection at a time.

Not by its client of a whole cluster, which would hide which node answers. Of redis-py's errors none
leaves this module.
"""

import ssl
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from typing import Any

from redis import Connection
from redis.exceptions import ConnectionError as Lost
from redis.exceptions import RedisError, ResponseError
from redis.exceptions import TimeoutError as TimedOut

from brownout.base import errors
from brownout.base.errors import ClusterError, NoAnswer
from brownout.base.settings import host_and_port
from brownout.databases.access import Access
from brownout.databases.connections import Connections, in_words
from brownout.inventory.model import Node

__all__ = ["LOGIN", "CommandFailed", "Link", "Reply"]

#: What may stand in `connection.auth`.
LOGIN = "a username and a password, as an ACL has them (the user of `requirepass` is `default`)"

#: What a node answers: text, a number, a list of answers, or nothing.
Reply = str | int | list["Reply"] | None


#: How an error begins after which a node has done nothing of what it was told.
_REFUSALS = ("NOAUTH ", "WRONGPASS ", "NOPERM ", "ERR unknown ", "ERR wrong number ")


class CommandFailed(errors.CommandFailed):
    """A node answered, and the answer was an error: `reply` is its own sentence."""

    def __init__(self, message: str, reply: str, hint: str = "") -> None:
        super().__init__(message, hint, refused=reply.startswith(_REFUSALS))
        self.reply = reply


class Link:
    """Asks one node, and only that one; safe to use from several threads, which wait in turn.

    Errors name `login` as the setting that says who we are, and `rights` as what a user needs.
    """

    def __init__(
        self,
        node: Node,
        access: Access,
        timeout_s: float,
        login: str = "connection.auth",
        rights: str = "+info +cluster",
    ) -> None:
        self._address, self._access, self._timeout_s = node.address, access, timeout_s
        self._login, self._rights = login, rights
        self._who = f"node `{node.name}` ({node.address})"
        self._lock = threading.Lock()
        self._connections = Connections[_Connection]()

    def ask(self, *words: str, timeout_s: float = 0.0) -> Reply:
        """Send one command, as `ask("CLUSTER", "INFO")`, and return its answer.

        Waits `timeout_s` seconds, by default `connection.timeout_s`. Raises `NoAnswer` in time,
        `CommandFailed` with what the node says, and `ClusterError` otherwise.
        """
        (answer,) = self.ask_all([words], timeout_s)
        return answer

    def ask_all(self, commands: Sequence[Sequence[str]], timeout_s: float = 0.0) -> list[Reply]:
        """Send several commands in one request; else as `ask`. The first error is raised."""
        patience_s = timeout_s or self._timeout_s
        if not self._lock.acquire(timeout=patience_s):
            raise NoAnswer(f"{self._who}: no answer in time")
        try:
            with in_words(self._who):
                answers = self._connections.ask(
                    lambda: _Connection(self._address, self._access, patience_s),
                    lambda connection: connection.ask(commands, patience_s),
                )
        except (RedisError, ValueError) as error:
            raise self._failed(error) from error
        finally:
            self._lock.release()
        for answer in answers:
            if isinstance(answer, ResponseError):
                raise self._failed(answer)
        return answers

    def hear(self, channel: str, seconds: float) -> list[str]:
        """Return what is published on `channel` for so long; over a connection of its own."""
        try:
            with (
                in_words(self._who),
                closing(_Connection(self._address, self._access, self._timeout_s)) as connection,
            ):
                return connection.hear(channel, seconds)
        except (RedisError, ValueError) as error:
            raise self._failed(error) from error

    def close(self) -> None:
        """Close the connection, once a question that is out is answered or over."""
        with self._lock:
            self._connections.close()

    def _failed(self, error: Exception) -> ClusterError:
        sentence = _sentence(error)
        if not sentence:
            return ClusterError(f"{self._who}: it does not speak Redis's protocol: {error}")
        code, message = sentence.partition(" ")[0], f"{self._who}: {sentence}"
        if code in ("NOAUTH", "WRONGPASS"):
            return CommandFailed(f"{message}; see `{self._login}`", sentence)
        hint = f"give the user `{self._rights}` (docs/redis.md)" if code == "NOPERM" else ""
        return CommandFailed(message, sentence, hint)


class _Connection:
    """One connection that is logged in; redis-py itself tries nothing again."""

    def __init__(self, address: str, access: Access, timeout_s: float) -> None:
        host, port = host_and_port(address)
        settings: dict[str, Any] = {
            "host": host,
            "port": port,
            "socket_timeout": timeout_s,
            "socket_connect_timeout": timeout_s,
            "protocol": 2,
            "decode_responses": True,
            "encoding_errors": "surrogateescape",  # a key may be of any bytes
            "driver_info": None,  # or it sends `CLIENT SETINFO`, which a user may not be allowed
        }
        if access.password:
            settings |= {"username": access.username or None, "password": access.password}
        # Typed like this since redis-py's connections have no types.
        kind: Any = Connection
        if access.tls is not None:
            kind, settings["context"] = _Encrypted, access.tls
        self._redis = kind(**settings)
        with _as_os_errors():
            self._redis.connect()

    def ask(self, commands: Sequence[Sequence[str]], timeout_s: float) -> list[Any]:
        """Send commands; return the answer to each, which may be a `ResponseError`."""
        with _as_os_errors():
            self._redis.send_packed_command(self._redis.pack_commands(commands))
            return [self._answer(timeout_s) for _ in commands]

    def hear(self, channel: str, seconds: float) -> list[str]:
        """Return the messages of a channel, until so many seconds are over."""
        (subscribed,) = self.ask([("SUBSCRIBE", channel)], seconds)
        if isinstance(subscribed, ResponseError):
            raise subscribed
        until, heard = time.monotonic() + seconds, list[str]()
        while (left_s := until - time.monotonic()) > 0:
            try:
                with _as_os_errors():
                    message = self._answer(left_s)
            except TimeoutError:
                break
            if isinstance(message, list) and message[0] == "message":
                heard.append(str(message[2]))
        return heard

    def close(self) -> None:
        self._redis.disconnect()

    def _answer(self, timeout_s: float) -> Any:
        try:
            return self._redis.read_response(timeout=timeout_s)
        except ResponseError as error:
            return error


class _Encrypted(Connection):
    """A connection by the inventory's TLS.

    redis-py's own would believe the system's authorities beside the one that the inventory names.
    """

    def __init__(self, context: ssl.SSLContext, **settings: Any) -> None:
        self._context = context
        super().__init__(**settings)  # type: ignore[no-untyped-call]

    def _connect(self) -> ssl.SSLSocket:
        plain = super()._connect()  # type: ignore[no-untyped-call]
        try:
            return self._context.wrap_socket(plain, server_hostname=self.host)
        except BaseException:
            plain.close()
            raise


@contextmanager
def _as_os_errors() -> Iterator[None]:
    """Raise what happened to a connection as Python does; what a node said stays redis-py's."""
    try:
        yield
    except TimedOut as error:
        raise TimeoutError from error
    except Lost as error:
        if _sentence(error):
            raise
        origin = error.__context__
        raise origin if isinstance(origin, OSError) else ConnectionError(str(error)) from None


def _sentence(error: Exception) -> str:
    """Return a node's own sentence, from which redis-py takes some codes; empty if it said none."""
    code = getattr(error, "status_code", None)
    if code:
        return f"{code} {error}"
    return str(error) if isinstance(error, ResponseError) else ""
