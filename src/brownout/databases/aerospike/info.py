"""Questions to one Aerospike node, as its info protocol has them: a line each, any number at once.

Asked of the node's own address and not through a client, which knows only the nodes that are in its
map, and hides the answers of the others when one node answers with an error
(docs/decisions/015-who-asks-aerospike.md has what was measured).
"""

from collections.abc import Sequence

from brownout.base.errors import ClusterError, NoAnswer
from brownout.databases.aerospike.access import HEADER, OPEN, Access, exactly

__all__ = ["ask", "is_error", "pairs"]

_VERSION, _INFO = 2, 1
_LENGTH = (1 << 48) - 1
_MOST = 64 << 20
#: What a node that wants a login answers to everything without one.
_NOT_LOGGED_IN = "ERROR:80:"


def ask(
    address: str, commands: Sequence[str], timeout_s: float, access: Access = OPEN
) -> dict[str, str]:
    """Return each command's answer, as `{"status": "ok"}`; `ClusterError` without one."""
    body = "".join(f"{command}\n" for command in commands).encode()
    try:
        with access.connect(address, timeout_s) as connection:
            connection.sendall(HEADER.pack(_VERSION << 56 | _INFO << 48 | len(body)) + body)
            size = HEADER.unpack(exactly(connection, HEADER.size))[0] & _LENGTH
            if size > _MOST:
                raise ClusterError(f"`{address}` does not speak the Aerospike protocol")
            text = exactly(connection, size).decode(errors="replace")
    except OSError as error:
        kind = NoAnswer if isinstance(error, TimeoutError) else ClusterError
        raise kind(f"`{address}` does not answer: {error.strerror or error}") from error
    if text.startswith(_NOT_LOGGED_IN) or f"\t{_NOT_LOGGED_IN}" in text:
        raise ClusterError(
            f"`{address}` wants a login", "give `connection.auth` a username and a password"
        )
    answers = (line.partition("\t") for line in text.splitlines())
    return {command: answer for command, _, answer in answers}


def is_error(answer: str) -> bool:
    """Whether an answer is an error; one may be followed by what would have been the answer."""
    return answer.startswith("ERROR") or answer == "type=unknown"


def pairs(answer: str) -> dict[str, str]:
    """Return `a=1;b=2` as a dictionary."""
    split = (pair.partition("=") for pair in answer.split(";") if "=" in pair)
    return {name: value for name, _, value in split}
