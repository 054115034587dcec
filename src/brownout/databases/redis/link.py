"""One node, for short questions, by Redis's own protocol (RESP2), over one connection at a time.

Source: the Redis serialization protocol specification, version 2.
"""

import socket
import threading
from collections.abc import Sequence
from contextlib import suppress
from typing import BinaryIO

from brownout.base import errors
from brownout.base.errors import ClusterError, NoAnswer
from brownout.databases.access import Access
from brownout.inventory.model import Node

__all__ = ["LOGIN", "CommandFailed", "Link", "Reply"]

#: What may stand in `connection.auth`.
LOGIN = "a username and a password, as an ACL has them (the user of `requirepass` is `default`)"

#: What a node answers: text, a number, a list of answers, or nothing.
Reply = str | int | list["Reply"] | None


#: How an error begins after which a node has done nothing of what it was told.
_REFUSALS = ("NOAUTH ", "WRONGPASS ", "NOPERM ", "ERR unknown ", "ERR wrong number ")


class CommandFailed(errors.CommandFailed):
    """A node answered, and the answer was an error: `said` is its own sentence."""

    def __init__(self, message: str, said: str, hint: str = "") -> None:
        super().__init__(message, hint, refused=said.startswith(_REFUSALS))
        self.said = said


class Link:
    """Asks one node, and only that one; safe to use from several threads, which wait in turn."""

    def __init__(self, node: Node, access: Access, timeout_s: float) -> None:
        self._node, self._access, self._timeout_s = node, access, timeout_s
        self._lock = threading.Lock()
        self._open: tuple[socket.socket, BinaryIO] | None = None

    def ask(self, *words: str, timeout_s: float = 0.0) -> Reply:
        """Send one command, as `ask("CLUSTER", "INFO")`, and return its answer.

        Waits `timeout_s` seconds, by default `connection.timeout_s`. Raises `NoAnswer` in time,
        `CommandFailed` with what the node says, and `ClusterError` otherwise.
        """
        (answer,) = self.ask_all([words], timeout_s)
        return answer

    def ask_all(self, commands: Sequence[Sequence[str]], timeout_s: float = 0.0) -> list[Reply]:
        """Send several commands in one request; else as `ask`. The first error is raised."""
        who = f"node `{self._node.name}` ({self._node.address})"
        patience_s = timeout_s or self._timeout_s
        if not self._lock.acquire(timeout=patience_s):
            raise NoAnswer(f"{who}: no answer in time")
        try:
            answers = self._exchange(commands, patience_s)
        except TimeoutError as error:
            self._hang_up()
            raise NoAnswer(f"{who}: no answer in time") from error
        except OSError as error:
            self._hang_up()
            reason = getattr(error, "reason", None) or error.strerror or str(error)
            hint = "; see `connection.tls`" if hasattr(error, "reason") else ""
            raise ClusterError(f"{who}: {reason}{hint}") from error
        except ValueError as error:
            self._hang_up()
            raise ClusterError(f"{who}: it does not speak Redis's protocol: {error}") from error
        finally:
            self._lock.release()
        for answer in answers:
            if isinstance(answer, _Said):
                raise _failed(who, answer)
        return answers

    def close(self) -> None:
        """Close the connection, once a question that is out is answered or over."""
        with self._lock:
            self._hang_up()

    def _hang_up(self) -> None:
        if self._open is not None:
            to, answers = self._open
            self._open = None
            with suppress(OSError):
                answers.close()
            to.close()

    def _exchange(self, commands: Sequence[Sequence[str]], patience_s: float) -> list[Reply]:
        """Send a request, once more where a connection that was kept turns out to be over."""
        if self._open is not None:
            try:
                return self._over(self._open, commands, patience_s)
            except TimeoutError:
                raise
            except OSError:
                self._hang_up()
        opened = self._open = self._connected(patience_s)
        if self._access.password:
            names = (self._access.username,) if self._access.username else ()
            login = ("AUTH", *names, self._access.password)
            (said,) = self._over(opened, [login], patience_s)
            if isinstance(said, _Said):
                self._hang_up()
                return [said]
        return self._over(opened, commands, patience_s)

    def _over(
        self,
        opened: tuple[socket.socket, BinaryIO],
        commands: Sequence[Sequence[str]],
        patience_s: float,
    ) -> list[Reply]:
        to, answers = opened
        to.settimeout(patience_s)
        to.sendall(b"".join(_encoded(words) for words in commands))
        return [_read(answers) for _ in commands]

    def _connected(self, patience_s: float) -> tuple[socket.socket, BinaryIO]:
        host, _, port = self._node.address.rpartition(":")
        host = host.strip("[]")
        plain = socket.create_connection((host, int(port)), patience_s)
        try:
            if self._access.tls is None:
                return plain, plain.makefile("rb")
            secure = self._access.tls.wrap_socket(plain, server_hostname=host)
            return secure, secure.makefile("rb")
        except BaseException:
            plain.close()
            raise


class _Said(str):
    """An error that a node answered."""

    __slots__ = ()


def _encoded(words: Sequence[str]) -> bytes:
    parts = [b"*%d\r\n" % len(words)]
    for word in words:
        text = word.encode(errors="surrogateescape")
        parts.append(b"$%d\r\n%s\r\n" % (len(text), text))
    return b"".join(parts)


def _read(answers: BinaryIO) -> Reply:
    """Read one answer. Raises `ConnectionError` at the end, `ValueError` for other data."""
    line = answers.readline()
    if not line.endswith(b"\r\n"):
        raise ConnectionResetError("the node closed the connection")
    kind, text = line[:1], line[1:-2].decode(errors="replace")
    if kind == b"+":
        return text
    if kind == b"-":
        return _Said(text)
    if kind == b":":
        return int(text)
    if kind == b"$":
        return _read_text(answers, int(text))
    if kind == b"*":
        return None if int(text) < 0 else [_read(answers) for _ in range(int(text))]
    raise ValueError(repr(line[:40]))


def _read_text(answers: BinaryIO, length: int) -> str | None:
    if length < 0:
        return None
    text = answers.read(length + 2)
    if len(text) < length + 2:
        raise ConnectionResetError("the node closed the connection")
    return text[:-2].decode(errors="surrogateescape")  # a key may be of any bytes


def _failed(who: str, said: str) -> CommandFailed:
    code = said.partition(" ")[0]
    if code in ("NOAUTH", "WRONGPASS"):
        return CommandFailed(f"{who}: {said}; see `connection.auth`", said)
    if code == "NOPERM":
        return CommandFailed(
            f"{who}: {said}", said, "give the user `+info +cluster` (docs/redis.md)"
        )
    return CommandFailed(f"{who}: {said}", said)
