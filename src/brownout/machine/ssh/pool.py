"""One connection for each machine and login, shared by every host that names it."""

import atexit
import threading

from brownout.machine.ssh.config import resolved
from brownout.machine.ssh.connection import Connection
from brownout.machine.ssh.spec import Login

__all__ = ["close_all", "connection_for"]

_lock = threading.Lock()
_connections: dict[Login, Connection] = {}


def connection_for(login: Login) -> Connection:
    """Return the connection for `login`, the same one each time; it is not open yet when new."""
    login = resolved(login)
    with _lock:
        return _shared(login)


def close_all() -> None:
    """Close every connection, bastions last."""
    with _lock:
        connections = list(_connections.values())
        _connections.clear()
    for connection in reversed(connections):
        connection.close()


def _shared(login: Login) -> Connection:
    if login not in _connections:
        bastion = _shared(login.bastion) if login.bastion else None
        _connections[login] = Connection(login, bastion)
    return _connections[login]


atexit.register(close_all)  # before the event loop's own end, which was registered earlier
