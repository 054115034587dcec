"""Which nodes a living cluster has, by its own account: `brownout inventory from-cluster`.

Each database that can tell names a function of its `census` module; what they share is here.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from pydantic import ValidationError

from brownout.base.errors import ClusterError, ConfigurationError
from brownout.base.settings import NAME_PATTERN
from brownout.inventory.connection import Connection
from brownout.inventory.database import Database, database, databases
from brownout.inventory.importers.machine import Imported, Machine
from brownout.inventory.model import Cluster, Node

__all__ = ["ask", "counted", "database_at"]

_HINT = "--username, --password-env, --tls, --ca-file and --certificate-file say how to connect"


def database_at(address: str) -> str:
    """Return the database whose usual port an address has; `ConfigurationError` where none has."""
    port = address.rpartition(":")[2]
    asked = {name: one for name, one in databases().items() if one.census is not None}
    servers = {name: one.server for name, one in asked.items() if one.server is not None}
    names = [
        name
        for name, server in servers.items()
        if port in map(str, (server.port, server.api_port, *server.other_ports))
    ]
    if len(names) == 1:
        return names[0]
    raise ConfigurationError(
        f"{address}: its port does not say what listens there",
        f"say which by --database: {', '.join(servers)}",
    )


def ask(address: str, name: str, connection: Connection) -> Imported:
    """Return what the node at `address` says of its cluster, of the database `name`.

    Without a port, the usual one. Raises `ClusterError` where it does not answer, and
    `ConfigurationError` where that database cannot be asked.
    """
    of = database(name)
    if of.census is None:
        able = ", ".join(other for other, one in databases().items() if one.census is not None)
        raise ConfigurationError(f"--database: `{name}` cannot be asked; wanted one of {able}")
    of.referred(of.adapter)  # says which package is missing, if one is
    try:
        imported: Imported = of.census(_only(_with_port(address, of), name, connection))
    except ClusterError as error:
        raise ClusterError(error.message, error.hint or _HINT) from error
    if not all(machine.address for machine in imported.machines):
        raise ClusterError(f"`{address}` lists nodes without an address")
    return imported


def _with_port(address: str, of: Database) -> str:
    bare = ":" not in address or address.endswith("]")
    return f"{address}:{of.server.port}" if bare and of.server is not None else address


def _only(address: str, name: str, connection: Connection) -> Cluster:
    """Return a cluster of one node, which is to be asked."""
    try:
        seed = Node(name="asked", address=address)
    except ValidationError as error:
        raise ConfigurationError(f"found {address!r}, wanted host:port") from error
    return Cluster(
        name="asked", database=name, environment="test", nodes=(seed,), connection=connection
    )


def counted(
    name: str,
    address: str,
    machines: Sequence[Machine],
    connection: Mapping[str, Any] | None = None,
    *notes: str,
) -> Imported:
    """Return a cluster as the node at `address` lists it; without names, addresses name nodes."""
    hosts = Counter(machine.address for machine in machines)
    called = [
        replace(one, name=_name(one, alone=hosts[one.address] == 1), by_ssh=False)
        for one in machines
    ]
    source = f"what the cluster at {address} says"
    cluster = re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-._") or "cluster"
    return Imported(cluster, source, tuple(called), dict(connection or {}), notes)


def _name(machine: Machine, alone: bool) -> str:
    if re.fullmatch(NAME_PATTERN, machine.name):
        return machine.name
    name = machine.address if alone else f"{machine.address}-{machine.database_port}"
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-._")
