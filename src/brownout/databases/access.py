"""How the nodes of a cluster are reached: encrypted or not, and who we are to them."""

import ssl
from dataclasses import dataclass, field
from typing import Any

from brownout.base.errors import ConfigurationError
from brownout.inventory.model import Cluster

__all__ = ["Access", "by_password", "load_spec"]


@dataclass(frozen=True, slots=True)
class Access:
    """How to connect: `tls` encrypts; `username` is empty where nodes want no login."""

    tls: ssl.SSLContext | None = None
    username: str = ""
    password: str = field(default="", repr=False)


def by_password(cluster: Cluster, wanted: str) -> Access:
    """Return how the inventory says to connect to nodes that know logins by password only.

    `wanted` says in an error which login is expected, and why not a certificate. Raises
    `ConfigurationError` for a URI, since each node is asked by itself, and for another login.
    """
    connection = cluster.connection
    if connection.uri is not None:
        raise ConfigurationError(
            f"cluster `{cluster.name}`: connection.uri: found one, wanted connection.hosts: "
            "brownout asks each node by itself"
        )
    context = connection.tls.context() if connection.tls and connection.tls.enabled else None
    auth = connection.auth
    if auth is None:
        return Access(context)
    if auth.mechanism == "x509" or auth.password is None:
        raise ConfigurationError(
            f"cluster `{cluster.name}`: connection.auth: found x509, wanted {wanted}",
            "a certificate that nodes demand stands in `connection.tls`",
        )
    return Access(context, auth.username, auth.password.get_secret_value())


def load_spec(cluster: Cluster, driver: str, access: Access) -> dict[str, Any]:
    """Return the load generator's driver, connection with secrets, and options.

    The URI names each node; its scheme is the driver's name.
    """
    named = cluster.connection
    hosts = ",".join(named.hosts or [node.address for node in cluster.nodes])
    connection: dict[str, Any] = {
        "uri": f"{driver}://{hosts}",
        "username": access.username,
        "password": access.password,
    }
    if named.tls is not None:
        connection["tls"] = named.tls.for_generator()
    return {"driver": driver, "connection": connection, "options": dict(named.options)}
