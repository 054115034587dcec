"""Servers that answer `hello` as members of a replica set do, and say what they are told to."""

import contextlib
import socket
import socketserver
import struct
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import bson

__all__ = ["scripted_member"]

_HEADER = struct.Struct("<iiii")
_QUERY, _REPLY, _MESSAGE = 2004, 1, 2013


class _Connection(socketserver.BaseRequestHandler):
    def handle(self) -> None:
        connection: socket.socket = self.request
        with contextlib.suppress(OSError):
            time.sleep(self.server.connecting_s)  # type: ignore[attr-defined]
            while head := connection.recv(_HEADER.size, socket.MSG_WAITALL):
                length, number, _, kind = _HEADER.unpack(head)
                connection.recv(length - _HEADER.size, socket.MSG_WAITALL)
                connection.sendall(self._answer(number, kind))

    def _answer(self, number: int, kind: int) -> bytes:
        document = bson.encode(self.server.say())  # type: ignore[attr-defined]
        if kind == _QUERY:  # the first of a connection
            body, kind = struct.pack("<iqii", 8, 0, 0, 1) + document, _REPLY
        else:
            body = struct.pack("<iB", 0, 0) + document
        return _HEADER.pack(_HEADER.size + len(body), number + 1, number, kind) + body


class _Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    allow_reuse_address = True
    say: Callable[[], dict[str, Any]]
    connecting_s: float


@contextlib.contextmanager
def scripted_member(
    election: Callable[[], bson.ObjectId | None], connecting_s: float = 0.0
) -> Iterator[str]:
    """Yield the address of a member that is primary by the `election`, or secondary by none.

    Where `election` raises an `OSError` the connection is closed; a new one takes `connecting_s`.
    """

    def say() -> dict[str, Any]:
        found = election()
        role = {"isWritablePrimary": found is not None, "secondary": found is None}
        known = {"ok": 1, "setName": "rs", "minWireVersion": 0, "maxWireVersion": 17,
                 "maxBsonObjectSize": 16777216, "maxMessageSizeBytes": 48000000,
                 "maxWriteBatchSize": 100000, "helloOk": True}  # fmt: skip
        return {**known, **role, **({"electionId": found} if found is not None else {})}

    with _Server(("127.0.0.1", 0), _Connection) as server:
        server.say, server.connecting_s = say, connecting_s
        thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        try:
            yield f"127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()
