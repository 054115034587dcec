"""The nodes of a Redis that lives, by what one of them says: for an inventory of it."""

from contextlib import closing

from brownout.base.errors import ClusterError
from brownout.base.settings import host_and_port
from brownout.databases.access import by_password
from brownout.databases.redis.link import LOGIN, CommandFailed, Link
from brownout.databases.redis.view import parse_info, parse_nodes
from brownout.inventory.importers.census import counted
from brownout.inventory.importers.machine import Imported, Machine
from brownout.inventory.model import Cluster

__all__ = ["census"]


def census(cluster: Cluster) -> Imported:
    """Return the nodes that the only one of `cluster` lists in `CLUSTER NODES`.

    Raises `ClusterError` where it does not answer, or is of no cluster.
    """
    (seed,) = cluster.nodes
    with closing(Link(seed, by_password(cluster, LOGIN), cluster.connection.timeout_s)) as link:
        mode = parse_info(str(link.ask("INFO", "server"))).get("redis_mode", "")
        if mode != "cluster":
            raise ClusterError(
                f"`{seed.address}` is not a node of a Redis Cluster (redis_mode {mode!r})",
                "give the address of a node with `cluster-enabled yes`",
            )
        try:
            entries = parse_nodes(str(link.ask("CLUSTER", "NODES")))
        except CommandFailed as error:
            raise ClusterError(error.message, error.hint) from error
    machines = []
    for entry in sorted(entries, key=lambda one: host_and_port(one.at)):
        host, port = host_and_port(entry.at)
        if not host:  # a node that met no other does not know its own address
            host = host_and_port(seed.address)[0]
        note = "the others see it as failed" if entry.failed else ""
        machines.append(Machine("", host, database_port=port, notes=(note,) if note else ()))
    return counted("redis", seed.address, machines)
