"""How the load generator connects to a cluster whose nodes it is told one by one."""

from typing import Any

from brownout.inventory.model import Cluster

__all__ = ["load_spec"]


def load_spec(cluster: Cluster, driver: str, username: str, password: str) -> dict[str, Any]:
    """Return driver, connection with secrets, and options; the scheme is the driver's name."""
    named = cluster.connection
    hosts = ",".join(named.hosts or [node.address for node in cluster.nodes])
    connection: dict[str, Any] = {
        "uri": f"{driver}://{hosts}",
        "username": username,
        "password": password,
    }
    if named.tls is not None:
        connection["tls"] = named.tls.for_generator()
    return {"driver": driver, "connection": connection, "options": dict(named.options)}
