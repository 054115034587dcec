"""The members of a cluster that lives, by what one of them says: for an inventory of it.

Patroni is asked, or where there is none the server, and the primary that it streams from.
"""

from collections.abc import Mapping
from contextlib import closing
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

from brownout.base.errors import ClusterError
from brownout.base.settings import host_and_port
from brownout.databases.postgresql import sql
from brownout.databases.postgresql.access import access
from brownout.databases.postgresql.link import CommandFailed, Link
from brownout.inventory.importers.census import counted
from brownout.inventory.importers.machine import Imported, Machine
from brownout.inventory.model import Cluster, Node

__all__ = ["census", "streaming"]

_PORT, _API_PORT = 5432, 8008
#: The names under which the server's own tools stream, and a standby that has no other.
_TOOLS, _NAMELESS = ("pg_basebackup", "pg_receivewal"), "walreceiver"
_NOTE = "the primary does not know at which port it listens; taken is the primary's"


def census(cluster: Cluster) -> Imported:
    """Return the members that Patroni's `/cluster` lists at the only node of `cluster`.

    Its address may be Patroni's own, or that of PostgreSQL at its usual port. Where no Patroni
    answers they are the server there, its primary and those that stream from that. Raises
    `ClusterError` where neither answers.
    """
    (seed,) = cluster.nodes
    host, port = host_and_port(seed.address)
    asked = seed.model_copy(update={"api": f"{host}:{_API_PORT if port == _PORT else port}"})
    with closing(Link(asked, access(cluster), cluster.connection.timeout_s)) as link:
        try:
            answer = link.ask("cluster")
        except CommandFailed:
            raise
        except ClusterError as error:
            return _without_patroni(seed, cluster, error)
    members = answer.get("members") or []
    if not members:
        raise ClusterError(f"Patroni at {asked.api} lists no members")
    machines = [_machine(one) for one in sorted(members, key=lambda one: str(one.get("name")))]
    return counted(str(answer.get("scope") or "postgresql"), str(asked.api), machines)


def _without_patroni(seed: Node, cluster: Cluster, silent: ClusterError) -> Imported:
    """Return what the servers say; `silent` is why Patroni did not."""
    how, timeout_s = access(cluster), cluster.connection.timeout_s
    try:
        status = sql.status(seed, how, timeout_s)
        receives = status.get("receives") or {}
        at = f"{receives['host']}:{receives['port']}" if receives else seed.address
        upstream = Node(name="primary", address=at)
        primary = sql.status(upstream, how, timeout_s) if receives else status
    except ClusterError as error:
        raise ClusterError(f"{silent.message}; {error.message}", error.hint) from error
    machines = streaming(at, primary)
    own = str(receives.get("application_name", ""))
    host, port = host_and_port(seed.address)
    machines = [
        replace(one, address=host, database_port=port, notes=()) if own and one.name == own else one
        for one in machines
    ]
    imported = counted("postgresql", seed.address, machines)
    return replace(imported, settings={"streaming": {}})


def streaming(primary: str, status: Mapping[str, Any]) -> list[Machine]:
    """Return a primary at `primary` and the standbys that its server lists in `status`.

    Raises `ClusterError` where that server is a standby as well.
    """
    if status.get("role") != "primary":
        raise ClusterError(f"the server at {primary} is a standby that has lost its primary")
    host, port = host_and_port(primary)
    machines = [Machine("", host, database_port=port)]
    for one in status.get("replication") or ():
        name = str(one.get("application_name") or "")
        if one.get("address") and name not in _TOOLS:
            called = "" if name == _NAMELESS else name
            machines.append(
                Machine(called, str(one["address"]), database_port=port, notes=(_NOTE,))
            )
    return machines


def _machine(member: Any) -> Machine:
    parts = urlsplit(str(member.get("api_url") or ""))
    host = str(member.get("host") or parts.hostname or "")
    usual = not parts.hostname or (parts.hostname == host and parts.port == _API_PORT)
    tags = member.get("tags") or {}
    notes = [f"Patroni's tag `{name}` is set" for name in sorted(tags) if tags[name]]
    return Machine(
        str(member.get("name") or ""),
        host,
        database_port=int(member.get("port") or _PORT),
        api="" if usual else parts.netloc,
        notes=tuple(notes),
    )
