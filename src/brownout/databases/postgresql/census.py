"""The members of a Patroni cluster that lives, by what one of them says: for an inventory of it."""

from contextlib import closing
from typing import Any
from urllib.parse import urlsplit

from brownout.base.errors import ClusterError
from brownout.base.settings import host_and_port
from brownout.databases.postgresql.access import access
from brownout.databases.postgresql.link import Link
from brownout.inventory.importers.census import counted
from brownout.inventory.importers.machine import Imported, Machine
from brownout.inventory.model import Cluster

__all__ = ["census"]

_PORT, _API_PORT = 5432, 8008


def census(cluster: Cluster) -> Imported:
    """Return the members that Patroni's `/cluster` lists at the only node of `cluster`.

    Its address may be Patroni's own, or that of PostgreSQL at its usual port. Raises
    `ClusterError` where Patroni does not answer.
    """
    (seed,) = cluster.nodes
    host, port = host_and_port(seed.address)
    asked = seed.model_copy(update={"api": f"{host}:{_API_PORT if port == _PORT else port}"})
    with closing(Link(asked, access(cluster), cluster.connection.timeout_s)) as link:
        answer = link.ask("cluster")
    members = answer.get("members") or []
    if not members:
        raise ClusterError(f"Patroni at {asked.api} lists no members")
    machines = [_machine(one) for one in sorted(members, key=lambda one: str(one.get("name")))]
    return counted(str(answer.get("scope") or "postgresql"), str(asked.api), machines)


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
