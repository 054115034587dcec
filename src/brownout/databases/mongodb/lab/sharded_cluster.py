"""A sharded cluster on loopback: replica sets of real mongod, behind a stand-in for mongos."""

from pathlib import Path

from brownout.databases.lab.engine import Progress
from brownout.databases.lab.ports import reserve_ports
from brownout.databases.mongodb import shards
from brownout.databases.mongodb.lab import replica_set, router_stand_in
from brownout.databases.mongodb.lab.settings import ShardedLab
from brownout.inventory.connection import Connection
from brownout.inventory.labs import directory as directory_of
from brownout.inventory.model import Cluster, Node

__all__ = ["await_whole", "form", "lay_out"]


def lay_out(cluster: Cluster, spec: ShardedLab, directory: Path) -> Cluster:
    """Write what the members of every shard and the router need; return the cluster with them.

    The nodes of the shard `s1` are `s1n1`, `s1n2`, ….
    """
    router_stand_in.find_router()
    nodes: list[Node] = []
    for shard in spec.shard_names:
        alone = cluster.model_copy(update={"name": f"{cluster.name}-{shard}"})
        (directory / shard).mkdir()
        laid_out = replica_set.lay_out(alone, spec.of_one_set(), directory / shard)
        nodes += [
            node.model_copy(update={"name": f"{shard}{node.name}", "shard": shard})
            for node in laid_out.nodes
        ]
    (port,) = reserve_ports(1, directory)
    address = f"127.0.0.1:{port}"
    connection = Connection(
        hosts=(address,),
        options=cluster.connection.options,
        timeout_s=cluster.connection.timeout_s,
    )
    update = {"nodes": tuple(nodes), "connection": connection}
    update["lab"] = spec.model_copy(update={"stand_in": True})
    whole = cluster.model_copy(update=update)
    router_stand_in.lay_out(
        directory, address, {name: _host(whole, name) for name in shards.names(whole)}
    )
    return whole


def form(cluster: Cluster, spec: ShardedLab, progress: Progress) -> None:
    """Make the members of each shard one set, then start the router."""
    for shard in shards.names(cluster):
        progress(f"shard {shard}")
        replica_set.form(shards.shard_of(cluster, shard), spec.of_one_set(), progress)
    progress("starting the router: it is brownout's stand-in, the shards behind it are real")
    router_stand_in.start(directory_of(cluster.name))


def await_whole(cluster: Cluster, progress: Progress) -> None:
    """Wait until every shard is whole; a router that is gone is started anew."""
    router_stand_in.start(directory_of(cluster.name))
    for shard in shards.names(cluster):
        replica_set.await_whole(shards.shard_of(cluster, shard), progress)


def _host(cluster: Cluster, shard: str) -> str:
    """Return a shard as config.shards has it."""
    alone = shards.shard_of(cluster, shard)
    return f"{alone.name}/{','.join(node.address for node in alone.nodes)}"
