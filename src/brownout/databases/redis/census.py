"""The nodes of a Redis that lives, by what one of them, or a sentinel, says: for an inventory."""

from collections.abc import Iterable
from contextlib import closing
from dataclasses import replace

from brownout.base.errors import ClusterError
from brownout.base.settings import host_and_port
from brownout.databases.access import by_password
from brownout.databases.redis.link import LOGIN, CommandFailed, Link, Reply
from brownout.databases.redis.sentinel.watch import fields
from brownout.databases.redis.view import parse_info, parse_nodes
from brownout.inventory.importers.census import counted
from brownout.inventory.importers.machine import Imported, Machine
from brownout.inventory.model import Cluster, Node

__all__ = ["census"]

#: Each sentinel says every 2 s on this channel of each server who it is and whom it watches.
_HELLO, _HEARD_WITHIN_S = "__sentinel__:hello", 4.5


def census(cluster: Cluster) -> Imported:
    """Return the nodes that the only one of `cluster` lists, a node or a sentinel.

    Raises `ClusterError` where it does not answer, is of no cluster, and no sentinel watches it.
    """
    (seed,) = cluster.nodes
    with closing(Link(seed, by_password(cluster, LOGIN), cluster.connection.timeout_s)) as link:
        mode = parse_info(str(link.ask("INFO", "server"))).get("redis_mode", "")
        try:
            if mode == "cluster":
                return counted("redis", seed.address, _of_cluster(seed, link))
            if mode == "sentinel":
                return _of_sentinel(seed, link, _only_master(seed, link))
            sentinel, name = _heard(seed, link)
            way = by_password(cluster, LOGIN)
            with closing(Link(sentinel, way, cluster.connection.timeout_s)) as theirs:
                return _of_sentinel(sentinel, theirs, name)
        except CommandFailed as error:
            raise ClusterError(error.message, error.hint) from error


def _of_cluster(seed: Node, link: Link) -> list[Machine]:
    entries = parse_nodes(str(link.ask("CLUSTER", "NODES")))
    machines = []
    for entry in sorted(entries, key=lambda one: host_and_port(one.at)):
        host, port = host_and_port(entry.at)
        if not host:  # a node that met no other does not know its own address
            host = host_and_port(seed.address)[0]
        note = "the others see it as failed" if entry.failed else ""
        machines.append(Machine("", host, database_port=port, notes=(note,) if note else ()))
    return machines


def _of_sentinel(sentinel: Node, link: Link, name: str) -> Imported:
    """Return whom one sentinel watches under this name, and who else does."""
    own = link.ask("SENTINEL", "MASTER", name)
    replicas = _records(link.ask("SENTINEL", "REPLICAS", name))
    others = _records(link.ask("SENTINEL", "SENTINELS", name))
    machines = []
    for facts in sorted((fields(own), *replicas), key=lambda one: (one["ip"], int(one["port"]))):
        note = "the sentinel sees it as down" if "s_down" in facts.get("flags", "") else ""
        machines.append(
            Machine(
                "", facts["ip"], database_port=int(facts["port"]), notes=(note,) if note else ()
            )
        )
    addresses = [sentinel.address, *sorted(f"{one['ip']}:{one['port']}" for one in others)]
    settings = {"sentinel": {"master": name, "addresses": addresses}}
    return replace(counted(name, sentinel.address, machines), settings=settings)


def _only_master(seed: Node, link: Link) -> str:
    names = sorted(one["name"] for one in _records(link.ask("SENTINEL", "MASTERS")))
    if len(names) == 1:
        return names[0]
    raise ClusterError(
        f"the sentinel at `{seed.address}` watches {', '.join(names) or 'no master'}, wanted one",
        "give the address of a server that is watched",
    )


def _heard(seed: Node, link: Link) -> tuple[Node, str]:
    """Return a sentinel that watches the server at `seed`, and the name of the master there."""
    for message in link.hear(_HELLO, _HEARD_WITHIN_S):
        words = message.split(",")
        if len(words) >= 5:
            return Node(name="asked", address=f"{words[0]}:{words[1]}"), words[4]
    raise ClusterError(
        f"`{seed.address}` is not a node of a Redis Cluster, and no sentinel watches it",
        "give the address of a node with `cluster-enabled yes`, or of a sentinel",
    )


def _records(answer: Reply) -> Iterable[dict[str, str]]:
    return [fields(one) for one in answer] if isinstance(answer, list) else []
