"""A sharded cluster taken apart: its shards as replica sets, and its routers' own word on them.

Each node of the inventory names its `shard`, as config.shards calls it; `connection` names the
routers (mongos), which are asked about config.shards only.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import SecretStr, ValidationError

from brownout.base.errors import ClusterError, ConfigurationError
from brownout.databases.mongodb.access import access, at_hosts
from brownout.databases.mongodb.link import Link
from brownout.inventory.model import Cluster, Node

__all__ = ["Router", "disagreements", "names", "routers", "shard_of"]

Document = Mapping[str, Any]
#: Of a router whose URI names none.
_PORT = 27017


def names(cluster: Cluster) -> list[str]:
    """Return the names of the shards, in the inventory's order; none of a replica set."""
    return list(dict.fromkeys(node.shard for node in cluster.nodes if node.shard))


def shard_of(cluster: Cluster, shard: str) -> Cluster:
    """Return one shard as the replica set that it is, called `orders-s1`."""
    connection, uri = cluster.connection, cluster.connection.uri
    nodes = tuple(node for node in cluster.nodes if node.shard == shard)
    if uri is not None:
        uri = SecretStr(at_hosts(uri.get_secret_value(), [node.address for node in nodes]))
    alone = connection.model_copy(update={"uri": uri, "hosts": (), "replica_set": ""})
    return cluster.model_copy(
        update={"name": f"{cluster.name}-{shard}", "nodes": nodes, "connection": alone}
    )


def disagreements(cluster: Cluster, shards: Sequence[Document]) -> list[str]:
    """Return in words where config.shards and the inventory are not of one mind.

    A member that is down may be missing in a router's list of hosts, but none may be there that
    the inventory does not know.
    """
    wanted = {name: shard_of(cluster, name) for name in names(cluster)}
    listed = {str(shard["_id"]): str(shard["host"]) for shard in shards}
    problems = [f"the routers know no shard {name}" for name in sorted(set(wanted) - set(listed))]
    problems += [
        f"shard {name} is not in the inventory" for name in sorted(set(listed) - set(wanted))
    ]
    for name in sorted(set(wanted) & set(listed)):
        ours = {node.address for node in wanted[name].nodes}
        theirs = set(listed[name].partition("/")[2].split(","))
        problems += [f"{host} is of shard {name}, but not in the inventory" for host in
                 sorted(theirs - ours)]  # fmt: skip
    return problems


@dataclass(frozen=True, slots=True)
class Router:
    """One mongos, asked over a connection of its own."""

    address: str
    link: Link

    def shards(self) -> list[Document]:
        """Return config.shards; raises `ClusterError` if it is not a router or does not answer."""
        if self.link.ask("hello").get("msg") != "isdbgrid":
            raise ClusterError(
                f"{self.address} is not a router (mongos), but the inventory's nodes name shards",
                "name the routers in `connection.hosts`, or leave out `shard`",
            )
        answer = self.link.ask("find", "shards", database="config")
        return list(answer["cursor"]["firstBatch"])


def routers(cluster: Cluster) -> list[Router]:
    """Return the routers that `connection` names, each with a link of its own.

    Raises `ConfigurationError` where its URI does not name them.
    """
    way, where = access(cluster), f"cluster `{cluster.name}`: connection.uri"
    scheme, _, rest = way.uri.partition("://")
    if scheme != "mongodb":
        raise ConfigurationError(
            f"{where}: found one with a service record, wanted each router (mongos) by name: its "
            "shards are asked as well",
            "name them in `connection.hosts`, with `connection.auth` and `connection.tls`",
        )
    hosts = rest.partition("/")[0].split(",")
    try:
        nodes = [Node(name=f"router{n}", address=_with_port(h)) for n, h in enumerate(hosts, 1)]
    except ValidationError:  # which has parts of the URI in it
        raise ConfigurationError(
            f"{where}: found a router that is not host or host:port",
            "in a user or password, percent-encode each of : / ? # [ ] @ %",
        ) from None
    return [Router(n.address, Link(n, way, cluster.connection.timeout_s)) for n in nodes]


def _with_port(host: str) -> str:
    return host if ":" in host.rpartition("]")[2] else f"{host}:{_PORT}"
