"""A Redis under Sentinel on this machine: a master, its replicas, and the sentinels beside them.

    <lab>/n1/redis.conf, data/, …                 the first master, then its replicas
    <lab>/sentinel1/sentinel.conf, sentinel1.log  the sentinels, which nothing breaks
    <lab>/sentinels.json                          where they live and which program they are

Servers and sentinels write their own configuration anew when another node is promoted.
"""

import json
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from brownout.base.errors import ClusterError
from brownout.databases.access import Access
from brownout.databases.lab import beside, file_systems, network
from brownout.databases.lab.engine import Progress
from brownout.databases.lab.milestones import await_milestone
from brownout.databases.lab.network import Place
from brownout.databases.lab.ports import reserve_ports
from brownout.databases.redis.lab.server import anywhere, find_redis, stored
from brownout.databases.redis.lab.settings import SentinelLab
from brownout.databases.redis.link import Link
from brownout.databases.redis.sentinel.adapter import SentinelAdapter
from brownout.inventory.connection import Connection
from brownout.inventory.model import Cluster, Node, ProcessSpec
from brownout.inventory.sentinel import SentinelSpec
from brownout.machine.host import host_for

__all__ = ["MASTER", "await_whole", "form", "lay_out", "sentinels_in", "start", "stop"]

#: What the sentinels call the master.
MASTER = "lab"
_WHOLE_TIMEOUT_S = 90.0
_FILE, _SENTINEL_FILE, _SENTINELS = "redis.conf", "sentinel.conf", "sentinels.json"


def lay_out(cluster: Cluster, spec: SentinelLab, directory: Path) -> Cluster:
    """Write each node's and each sentinel's directory; return the cluster with all of them."""
    program = find_redis()
    names = [f"n{number}" for number in range(1, spec.members + 1)]
    watchers = [f"sentinel{number}" for number in range(1, spec.sentinels + 1)]
    places = network.places(directory, [*names, *watchers], spec.network_namespaces)
    data = file_systems.places(directory, names, spec)
    ports = dict(zip(places, reserve_ports(len(places), directory), strict=True))
    first = names[0]
    upstream = f"{places[first].address} {ports[first]}"
    nodes = []
    for number, name in enumerate(names, 1):
        lines = [
            *anywhere(places[name].address, data[name]),
            *stored(spec.append_only),
            f"port {ports[name]}",
            f"min-replicas-to-write {spec.min_replicas_to_write}",
            *([] if name == first else [f"replicaof {upstream}"]),
        ]
        config = directory / name / _FILE
        config.write_text("\n".join([*lines, ""]), encoding="utf-8")
        rack = f"r{spec.rack_of(number)}" if spec.racks else ""
        nodes.append(_node(name, places[name], ports[name], config, (str(program),), rack))
    for name in watchers:
        home = directory / name
        home.mkdir(mode=0o700)
        lines = [
            *anywhere(places[name].address, home),
            f"port {ports[name]}",
            f"sentinel monitor {MASTER} {upstream} {spec.quorum}",
            f"sentinel down-after-milliseconds {MASTER} {spec.down_after_ms}",
            f"sentinel failover-timeout {MASTER} {spec.failover_timeout_ms}",
        ]
        (home / _SENTINEL_FILE).write_text("\n".join([*lines, ""]), encoding="utf-8")
    beside_it = [
        {"name": name, "namespace": places[name].namespace, "host": places[name].address}
        | {"port": ports[name], "program": str(program)}
        for name in watchers
    ]
    (directory / _SENTINELS).write_text(json.dumps(beside_it, indent=2) + "\n", encoding="utf-8")
    own = cluster.connection
    update = {
        "nodes": tuple(nodes),
        "spares": (),
        "connection": Connection(options=own.options, timeout_s=own.timeout_s),
        "lab": spec,
        "sentinel": SentinelSpec(
            master=MASTER, addresses=tuple(node.address for node in sentinels_in(directory))
        ),
    }
    return cluster.model_copy(update=update)


def form(cluster: Cluster, spec: SentinelLab, progress: Progress) -> None:
    """Wait until every replica has its master's data, and every sentinel knows all others."""
    await_whole(cluster, progress)


def await_whole(cluster: Cluster, progress: Progress) -> None:
    """Wait until every node is back with all its data; the sentinels bring that about."""
    progress("waiting for a master, its replicas and their sentinels")
    assert cluster.sentinel is not None
    with SentinelAdapter(cluster, cluster.sentinel) as adapter:
        await_milestone(adapter, "whole", _WHOLE_TIMEOUT_S)


def sentinels_in(directory: Path) -> list[Node]:
    """Return the sentinels of the lab in `directory`, so that a host can start and stop them."""
    return [
        _node(
            one["name"],
            Place(one["namespace"], one["host"]),
            one["port"],
            directory / one["name"] / _SENTINEL_FILE,
            (one["program"], "--sentinel"),
        )
        for one in json.loads((directory / _SENTINELS).read_text(encoding="utf-8"))
    ]


def start(directory: Path) -> None:
    """Start the lab's sentinels and return once they answer; safe where they do."""
    for node in sentinels_in(directory):
        beside.start(node, lambda node=node: _lacks(node))  # type: ignore[misc]


def stop(directory: Path) -> None:
    """End the lab's sentinels, if it has any."""
    if (directory / _SENTINELS).is_file():
        for node in sentinels_in(directory):
            host_for(node).stop("kill")


def _lacks(node: Node) -> str:
    with closing(Link(node, Access(), 1.0)) as link:
        try:
            link.ask("PING")
        except ClusterError as error:
            return error.message
    return ""


def _node(
    name: str, place: Place, port: int, config: Path, start: Sequence[str], rack: str = ""
) -> Node:
    """Return a server, or a sentinel, whose program and options `start` names."""
    program, *options = start
    home = config.parent
    host = ProcessSpec(
        config_file=config,
        pid_file=home / f"{name}.pid",
        log_file=home / f"{name}.log",
        working_directory=home,
        command=(program, str(config), *options),
        network_namespace=place.namespace,
    )
    return Node(name=name, address=f"{place.address}:{port}", host=host, rack=rack)
