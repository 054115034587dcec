"""How a node is reached: encrypted or not, and who we are to it."""

import ssl
from dataclasses import dataclass, field
from typing import Any

from brownout.base.errors import ConfigurationError
from brownout.inventory.connection import Tls
from brownout.inventory.model import Cluster

__all__ = ["Access", "access", "load_spec"]


@dataclass(frozen=True, slots=True)
class Access:
    """How to connect: `tls` encrypts; `username` is empty where nodes want no login."""

    tls: ssl.SSLContext | None = None
    username: str = ""
    password: str = field(default="", repr=False)


def access(cluster: Cluster) -> Access:
    """Return how the inventory says to connect to nodes.

    Raises `ConfigurationError` for what Redis does not have.
    """
    connection = cluster.connection
    if connection.uri is not None:
        raise ConfigurationError(
            f"cluster `{cluster.name}`: connection.uri: found one, wanted connection.hosts: each "
            "node of a Redis Cluster is asked by itself"
        )
    context = _context(connection.tls) if connection.tls and connection.tls.enabled else None
    auth = connection.auth
    if auth is None:
        return Access(context)
    if auth.mechanism == "x509" or auth.password is None:
        raise ConfigurationError(
            f"cluster `{cluster.name}`: connection.auth: found x509, wanted a username and a "
            "password, as an ACL has them (the user of `requirepass` is `default`)",
            "a certificate that nodes demand stands in `connection.tls`",
        )
    return Access(context, auth.username, auth.password.get_secret_value())


def load_spec(cluster: Cluster) -> dict[str, Any]:
    """Return how the load generator connects: driver, connection with secrets, options."""
    way, named = access(cluster), cluster.connection
    hosts = ",".join(named.hosts or [node.address for node in cluster.nodes])
    connection: dict[str, Any] = {
        "uri": f"redis://{hosts}",
        "username": way.username,
        "password": way.password,
    }
    if named.tls is not None:
        connection["tls"] = named.tls.for_generator()
    return {"driver": "redis", "connection": connection, "options": dict(named.options)}


def _context(tls: Tls) -> ssl.SSLContext:
    context = ssl.create_default_context(cafile=str(tls.ca_file) if tls.ca_file else None)
    if tls.insecure:
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    if tls.certificate_file:
        passphrase = tls.key_passphrase.get_secret_value() if tls.key_passphrase else None
        context.load_cert_chain(tls.certificate_file, password=passphrase)
    return context
