"""A client of one node's native protocol for short queries.

It speaks version 4, which Cassandra 2.2 and later and DataStax Enterprise know. It queries with
`SELECT JSON`, so text is the only type that it has to decode. Source: native_protocol_v4.spec of
Cassandra.
"""

import json
import socket
import struct
import time
from typing import Any

from brownout.base import errors
from brownout.base.errors import ClusterError
from brownout.base.settings import host_and_port
from brownout.databases.access import Access
from brownout.databases.connections import Connections, in_words
from brownout.inventory.model import Node

__all__ = ["LOGIN", "CommandFailed", "Link", "Row"]

#: What may stand in `connection.auth`.
LOGIN = "a username and a password (PasswordAuthenticator)"

Row = dict[str, Any]

_VERSION = 4
_HEADER = struct.Struct(">BBhBi")
#: Opcodes.
_ERROR, _STARTUP, _READY, _AUTHENTICATE, _QUERY, _RESULT = 0x00, 0x01, 0x02, 0x03, 0x07, 0x08
_AUTH_RESPONSE, _AUTH_SUCCESS = 0x0F, 0x10
_ROWS = 0x0002
_ONE = 0x0001
#: Flags of the metadata of rows.
_GLOBAL_TABLE, _MORE_PAGES, _NO_METADATA = 0x01, 0x02, 0x04
#: Codes of errors.
_BAD_CREDENTIALS, _UNAUTHORIZED, _INVALID = 0x0100, 0x2100, 0x2200
_TEXTS = frozenset({0x0001, 0x000D})
#: No answer of ours comes near it; what claims to be larger is another protocol.
_LARGEST = 16 * 2**20


class CommandFailed(errors.CommandFailed):
    """A node answered, and the answer was an error: `code` is the protocol's."""

    def __init__(self, message: str, code: int, hint: str = "") -> None:
        super().__init__(message, hint)
        self.code = code

    @property
    def unknown_table(self) -> bool:
        """Whether the node does not have the table, as in older versions."""
        return self.code == _INVALID


class Link:
    """A client of one node, and only that one; safe to use from several threads."""

    def __init__(self, node: Node, access: Access, timeout_s: float) -> None:
        self._address, self._access, self._timeout_s = node.address, access, timeout_s
        self._who = f"node `{node.name}` ({node.address})"
        self._connections = Connections[_Connection]()

    def rows(self, what: str, timeout_s: float = 0.0) -> list[Row]:
        """Return the rows of `SELECT JSON <what>`, as `rows("* FROM system.local")`.

        Waits `timeout_s` seconds, by default `connection.timeout_s`. Raises `NoAnswer` in time,
        `CommandFailed` with what the node says, and `ClusterError` otherwise.
        """
        return [json.loads(text) for text in self._ask(f"SELECT JSON {what}", timeout_s)]

    def change(self, statement: str) -> None:
        """Execute a statement; raises like `rows`."""
        self._ask(statement, 0.0)

    def close(self) -> None:
        """Close every connection."""
        self._connections.close()

    def _ask(self, statement: str, timeout_s: float) -> list[str]:
        until = time.monotonic() + (timeout_s or self._timeout_s)
        try:
            with in_words(self._who):
                answer = self._connections.ask(
                    lambda: _Connection(self._address, self._access, until),
                    lambda connection: connection.ask(statement, until),
                )
        except _Said as error:
            raise _failed(self._who, error) from error
        except (struct.error, IndexError, ValueError) as error:
            raise ClusterError(
                f"{self._who}: it does not speak Cassandra's protocol ({error})",
                "see that `address` has its native_transport_port",
            ) from error
        if isinstance(answer, _Said):
            raise _failed(self._who, answer)
        return answer


class _Said(Exception):
    """The node's own error."""

    def __init__(self, code: int, text: str) -> None:
        super().__init__(text)
        self.code, self.text = code, text


class _Connection:
    """One connection; it carries one request at a time."""

    def __init__(self, address: str, access: Access, until: float) -> None:
        self._until = until
        host, port = host_and_port(address)
        self._socket = socket.create_connection((host, port), timeout=self._left())
        try:
            if access.tls is not None:
                self._socket = access.tls.wrap_socket(self._socket, server_hostname=host)
            self._log_in(access)
        except BaseException:
            self.close()
            raise

    def ask(self, statement: str, until: float) -> "list[str] | _Said":
        """Return the first column of every row, as text, or the node's own error."""
        self._until = until
        text = statement.encode()
        query = struct.pack(">i", len(text)) + text + struct.pack(">HB", _ONE, 0)
        try:
            opcode, body = self._exchange(_QUERY, query)
        except _Said as error:
            return error
        if opcode != _RESULT:
            raise ValueError(f"opcode {opcode} as the answer to a query")
        return _first_column(body)

    def close(self) -> None:
        self._socket.close()

    def _log_in(self, access: Access) -> None:
        opcode, _ = self._exchange(_STARTUP, struct.pack(">H", 1) + _string("CQL_VERSION", "3.0.0"))
        if opcode == _AUTHENTICATE:
            if not access.username:
                raise _Said(_BAD_CREDENTIALS, "it wants a login, and the inventory has none")
            token = f"\0{access.username}\0{access.password}".encode()
            opcode, _ = self._exchange(_AUTH_RESPONSE, struct.pack(">i", len(token)) + token)
        if opcode not in (_READY, _AUTH_SUCCESS):
            raise ValueError(f"opcode {opcode} as the answer to a greeting")

    def _exchange(self, opcode: int, body: bytes) -> tuple[int, bytes]:
        self._socket.settimeout(self._left())
        self._socket.sendall(_HEADER.pack(_VERSION, 0, 0, opcode, len(body)) + body)
        version, flags, _, answered, length = _HEADER.unpack(self._read(_HEADER.size))
        if not version & 0x80 or length > _LARGEST:
            raise ValueError("the answer has another header")
        answer = self._read(length)
        if answered == _ERROR:
            (code,) = struct.unpack_from(">i", answer)
            raise _Said(code, _Reader(answer, 4).text())
        if flags & 0x08:  # warnings stand before everything else
            reader = _Reader(answer)
            for _ in range(reader.short()):
                reader.text()
            answer = answer[reader.at :]
        return answered, answer

    def _read(self, length: int) -> bytes:
        parts, missing = [], length
        while missing:
            self._socket.settimeout(self._left())
            part = self._socket.recv(missing)
            if not part:
                raise ConnectionResetError("it closed the connection")
            parts.append(part)
            missing -= len(part)
        return b"".join(parts)

    def _left(self) -> float:
        left = self._until - time.monotonic()
        if left <= 0:
            raise TimeoutError
        return left


class _Reader:
    """Reads the protocol's data types one after the other."""

    def __init__(self, data: bytes, at: int = 0) -> None:
        self._data, self.at = data, at

    def short(self) -> int:
        (number,) = struct.unpack_from(">H", self._data, self.at)
        self.at += 2
        return int(number)

    def number(self) -> int:
        (number,) = struct.unpack_from(">i", self._data, self.at)
        self.at += 4
        return int(number)

    def text(self) -> str:
        return self._take(self.short()).decode()

    def cell(self) -> bytes | None:
        length = self.number()
        return None if length < 0 else self._take(length)

    def _take(self, length: int) -> bytes:
        taken = self._data[self.at : self.at + length]
        if len(taken) < length:
            raise ValueError("the answer is cut short")
        self.at += length
        return taken


def _first_column(body: bytes) -> list[str]:
    """Return the texts of a result whose one column is JSON."""
    reader = _Reader(body)
    if reader.number() != _ROWS:
        return []
    flags, columns = reader.number(), reader.number()
    if flags & _MORE_PAGES:
        reader.cell()
    if not flags & _NO_METADATA:
        if flags & _GLOBAL_TABLE:
            reader.text(), reader.text()
        for _ in range(columns):
            if not flags & _GLOBAL_TABLE:
                reader.text(), reader.text()
            reader.text()
            if reader.short() not in _TEXTS:
                raise ValueError("a column that is not text")
    names = []
    for _ in range(reader.number()):
        cells = [reader.cell() for _ in range(columns)]
        names.append((cells[0] or b"null").decode())
    return names


def _string(*texts: str) -> bytes:
    return b"".join(struct.pack(">H", len(text)) + text.encode() for text in texts)


def _failed(who: str, answer: _Said) -> CommandFailed:
    message = f"{who}: {answer.text.strip() or f'error {answer.code:#06x}'}"
    if answer.code == _BAD_CREDENTIALS:
        return CommandFailed(f"{message}; see `connection.auth`", answer.code)
    if answer.code == _UNAUTHORIZED:
        hint = "give the role SELECT on the keyspaces system, system_schema and system_views"
        return CommandFailed(message, answer.code, hint)
    return CommandFailed(message, answer.code)
