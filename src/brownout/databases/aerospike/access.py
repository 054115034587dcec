"""How a node is connected to: encrypted or not, and who we are to it.

A node of the Enterprise Edition may want a login, which is one message of its protocol with a hash
of the password; the Community Edition knows no users.
"""

import socket
import ssl
import struct
from dataclasses import dataclass, field

from brownout.base.errors import ClusterError, ConfigurationError, Unsupported
from brownout.base.extras import how_to_install
from brownout.base.settings import host_and_port
from brownout.inventory.model import Cluster

__all__ = ["OPEN", "Access", "access", "exactly", "login_message"]

HEADER = struct.Struct(">Q")
_VERSION, _SECURITY, _LOGIN = 2, 2, 20
_USER, _CREDENTIAL, _CLEAR_PASSWORD = 0, 3, 4
#: The protocol's own salt: the server keeps this hash and never the password.
_SALT = b"$2a$10$7EqJtq98hPqEX7fNZaFWoO"
_LENGTH = (1 << 48) - 1
_MEANINGS = {
    51: "it is of the Community Edition, which knows no users",
    52: "it knows no users: security is not enabled in its configuration",
    60: "it has no such user",
    61: "it does not accept this user",
    62: "the password is wrong",
    63: "the password has expired",
    65: "user or password are wrong",
    66: "the session has expired",
    81: "the user has not the privilege",
}


@dataclass(frozen=True, slots=True)
class Access:
    """How to connect: `tls` encrypts, `login` is the message that says who we are."""

    tls: ssl.SSLContext | None = None
    login: bytes = field(default=b"", repr=False)
    user: str = ""

    def connect(self, address: str, timeout_s: float) -> socket.socket:
        """Return a connection on which a node at `host:port` answers us.

        Raises `OSError` where there is none, and `ClusterError` where the login is refused.
        """
        host, port = host_and_port(address)
        connection = socket.create_connection((host, port), timeout_s)
        try:
            connection.settimeout(timeout_s)
            if self.tls is not None:
                connection = self.tls.wrap_socket(connection, server_hostname=host)
            if self.login:
                self._log_in(connection, address)
        except BaseException:
            connection.close()
            raise
        return connection

    def _log_in(self, connection: socket.socket, address: str) -> None:
        connection.sendall(self.login)
        body = exactly(connection, HEADER.unpack(exactly(connection, HEADER.size))[0] & _LENGTH)
        result = body[1] if len(body) > 1 else 0
        if result:
            meaning = _MEANINGS.get(result, "result code of its protocol")
            raise ClusterError(
                f"`{address}` refuses the login of `{self.user}`: {meaning} ({result})",
                "see `connection.auth` in the inventory",
            )


OPEN = Access()


def access(cluster: Cluster) -> Access:
    """Return how the inventory says to connect to the nodes."""
    auth, tls = cluster.connection.auth, cluster.connection.tls
    context = tls.context() if tls is not None and tls.enabled else None
    if auth is None:
        return Access(context)
    if auth.mechanism == "x509" or auth.password is None:
        raise Unsupported(
            f"cluster `{cluster.name}`: a login to Aerospike by certificate is not supported",
            "give `connection.auth` a username and a password",
        )
    clear = cluster.connection.options.get("auth_mode") == "external"
    if clear and context is None:
        raise ConfigurationError(
            f"cluster `{cluster.name}`: connection.options.auth_mode: found external without "
            "connection.tls, wanted both: it sends the password in clear"
        )
    password = auth.password.get_secret_value()
    return Access(context, login_message(auth.username, password, clear), auth.username)


def login_message(user: str, password: str, clear: bool = False) -> bytes:
    """Return the message that logs `user` in; with `clear`, the password itself is in it too."""
    try:
        import bcrypt
    except ModuleNotFoundError as error:
        raise ConfigurationError(
            "a login to Aerospike needs the package `bcrypt`, which is not installed",
            how_to_install("aerospike"),
        ) from error
    secret = password.encode()
    fields = [(_USER, user.encode()), (_CREDENTIAL, bcrypt.hashpw(secret[:72], _SALT))]
    fields += [(_CLEAR_PASSWORD, secret)] if clear else []
    head = bytes((0, 0, _LOGIN, len(fields))) + bytes(12)
    body = head + b"".join(struct.pack(">IB", len(data) + 1, id) + data for id, data in fields)
    return HEADER.pack(_VERSION << 56 | _SECURITY << 48 | len(body)) + body


def exactly(connection: socket.socket, size: int) -> bytes:
    """Read `size` bytes; raises `OSError` if the other side ends before."""
    parts = bytearray()
    while len(parts) < size:
        part = connection.recv(size - len(parts))
        if not part:
            raise ConnectionResetError("it closed the connection")
        parts += part
    return bytes(parts)
