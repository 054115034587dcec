"""Questions to one Aerospike node, as its info protocol has them: a line each, any number at once.

Asked of the node's own address and not through a client, which knows only the nodes that are in its
map, and hides the answers of the others when one node answers with an error.
"""

import socket
import struct
from collections.abc import Sequence

from brownout.errors import ClusterError

__all__ = ["ask", "is_error", "pairs"]

_VERSION, _INFO = 2, 1
_HEADER = struct.Struct(">Q")
_LENGTH = (1 << 48) - 1
_MOST = 64 << 20


def ask(address: str, commands: Sequence[str], timeout_s: float) -> dict[str, str]:
    """Return each command's answer, as `{"status": "ok"}`; `ClusterError` if the node is silent."""
    host, _, port = address.rpartition(":")
    body = "".join(f"{command}\n" for command in commands).encode()
    try:
        with socket.create_connection((host, int(port)), timeout_s) as connection:
            connection.settimeout(timeout_s)
            connection.sendall(_HEADER.pack(_VERSION << 56 | _INFO << 48 | len(body)) + body)
            size = _HEADER.unpack(_receive(connection, _HEADER.size))[0] & _LENGTH
            if size > _MOST:
                raise ClusterError(f"`{address}` does not speak the Aerospike protocol")
            text = _receive(connection, size).decode(errors="replace")
    except OSError as error:
        raise ClusterError(f"`{address}` does not answer: {error.strerror or error}") from error
    answers = (line.partition("\t") for line in text.splitlines())
    return {command: answer for command, _, answer in answers}


def is_error(answer: str) -> bool:
    """Whether an answer is an error; one may be followed by what would have been the answer."""
    return answer.startswith("ERROR") or answer == "type=unknown"


def pairs(answer: str) -> dict[str, str]:
    """Return `a=1;b=2` as a dictionary."""
    split = (pair.partition("=") for pair in answer.split(";") if "=" in pair)
    return {name: value for name, _, value in split}


def _receive(connection: socket.socket, size: int) -> bytes:
    parts = bytearray()
    while len(parts) < size:
        part = connection.recv(size - len(parts))
        if not part:
            raise ConnectionResetError("it closed the connection")
        parts += part
    return bytes(parts)
