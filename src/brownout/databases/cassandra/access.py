"""How a node is reached: encrypted or not, and who we are to it."""

import ssl
from dataclasses import dataclass, field
from typing import Any

from brownout.base.errors import ConfigurationError
from brownout.databases import generator
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

    Raises `ConfigurationError` for what Cassandra, or its open-source edition, does not have.
    """
    connection = cluster.connection
    if connection.uri is not None:
        raise ConfigurationError(
            f"cluster `{cluster.name}`: connection.uri: Cassandra has none, wanted connection.hosts"
        )
    context = connection.tls.context() if connection.tls and connection.tls.enabled else None
    auth = connection.auth
    if auth is None:
        return Access(context)
    if auth.mechanism == "x509" or auth.password is None:
        raise ConfigurationError(
            f"cluster `{cluster.name}`: connection.auth: found x509, wanted a username and a "
            "password (PasswordAuthenticator)",
            "a certificate that nodes demand stands in `connection.tls`",
        )
    return Access(context, auth.username, auth.password.get_secret_value())


def load_spec(cluster: Cluster) -> dict[str, Any]:
    """Return how the load generator connects; see `generator.load_spec`."""
    way = access(cluster)
    return generator.load_spec(cluster, "cassandra", way.username, way.password)
