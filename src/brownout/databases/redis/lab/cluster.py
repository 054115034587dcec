"""A Redis Cluster on this machine: where its nodes live, and making one cluster of them."""

import secrets
from contextlib import suppress
from functools import partial
from pathlib import Path

from pydantic import SecretStr

from brownout.base.errors import ClusterError
from brownout.base.wait import wait_until
from brownout.databases.access import by_password
from brownout.databases.lab import file_systems, network, tls
from brownout.databases.lab.engine import Progress
from brownout.databases.lab.milestones import await_milestone
from brownout.databases.lab.network import Place
from brownout.databases.lab.ports import reserve_ports
from brownout.databases.redis.adapter import RedisAdapter
from brownout.databases.redis.lab.server import USER, Ports, configuration, find_redis
from brownout.databases.redis.lab.settings import RedisLab
from brownout.databases.redis.link import LOGIN, Link
from brownout.databases.redis.settings import own_settings
from brownout.databases.redis.view import SLOTS
from brownout.inventory.connection import Auth, Connection
from brownout.inventory.model import Cluster, Node, ProcessSpec
from brownout.machine.host import host_for

__all__ = ["await_whole", "form", "lay_out"]

#: Generous: two seconds are usual.
_WHOLE_TIMEOUT_S = 90.0
_ANSWERS_WITHIN_S = 60.0
_POLL_S = 0.05
_FILE = "redis.conf"


def lay_out(cluster: Cluster, spec: RedisLab, directory: Path) -> Cluster:
    """Write each node's directories and configuration; return the cluster with all of them.

    The nodes of the shard `s1` are `s1n1`, its first master, `s1n2`, ….
    """
    redis = find_redis()
    nodes: list[Node] = []
    names = [(s, f"{s}n{n}") for s in spec.shard_names for n in range(1, spec.members + 1)]
    places = network.places(directory, [name for _, name in names], spec.network_namespaces)
    data = file_systems.places(directory, [name for _, name in names], spec)
    free = reserve_ports(2 * len(names), directory)
    password = secrets.token_hex(16) if spec.secure else ""
    for index, (shard, name) in enumerate(names):
        place, home = places[name], directory / name
        ports = Ports(place.address, *free[2 * index : 2 * index + 2])
        text = configuration(spec, ports, home, data[name], password)
        tls.keep(home / _FILE, text.encode())
        nodes.append(_node(name, shard, ports, place, home, redis))
    hosts = tuple(node.address for node in nodes)
    own = cluster.connection
    connection = Connection(options=own.options, timeout_s=own.timeout_s, hosts=hosts)
    if spec.secure:
        addresses = {name: place.address for name, place in places.items()}
        certificates = tls.issue(directory, cluster.name, addresses)
        tls.keep(directory / "tls" / "password", password.encode())
        auth = Auth(username=USER, password=SecretStr(password))
        connection = connection.model_copy(update={"tls": certificates, "auth": auth})
    update = {"nodes": tuple(nodes), "spares": (), "connection": connection, "lab": spec}
    return cluster.model_copy(update=update)


def form(cluster: Cluster, spec: RedisLab, progress: Progress) -> None:
    """Give the first node of each shard its slots, let all meet, and the others replicate it."""
    way, timeout_s = by_password(cluster, LOGIN), cluster.connection.timeout_s
    links = {node.name: Link(node, way, timeout_s) for node in cluster.nodes}
    masters = {shard: links[f"{shard}n1"] for shard in spec.shard_names}
    try:
        progress("waiting until every node answers")
        for link in links.values():
            _insist(link, "PING")
        progress(f"spreading {SLOTS} slots over {len(masters)} masters")
        for number, link in enumerate(masters.values()):
            first, last = (SLOTS * n // len(masters) for n in (number, number + 1))
            link.ask("CLUSTER", "ADDSLOTSRANGE", str(first), str(last - 1))
            link.ask("CLUSTER", "SET-CONFIG-EPOCH", str(number + 1))
        first_node = cluster.nodes[0]
        bus = own_settings(first_node, host_for(first_node))["cluster-port"]
        host, _, port = first_node.address.rpartition(":")
        for node in cluster.nodes[1:]:
            links[node.name].ask("CLUSTER", "MEET", host, port, bus)
        progress("waiting until replicas know their masters")
        for node in cluster.nodes:
            if links[node.name] is not masters[node.shard]:
                id = str(masters[node.shard].ask("CLUSTER", "MYID"))
                _insist(links[node.name], "CLUSTER", "REPLICATE", id)
    finally:
        for link in links.values():
            link.close()
    await_whole(cluster, progress)


def await_whole(cluster: Cluster, progress: Progress) -> None:
    """Wait until every node is back with all its data.

    A node that knows no other is introduced, and the move of a half-moved slot is completed.
    """
    progress("waiting for every node")
    with RedisAdapter(cluster) as adapter:
        for member in adapter.members():
            if member.state == "ALONE":
                adapter.after_start(cluster.node(member.node), emptied=True)
        with suppress(ClusterError):  # nodes that still come back; the milestone says so below
            adapter.finish_moves()
        await_milestone(adapter, "whole", _WHOLE_TIMEOUT_S)


def _insist(link: Link, *words: str) -> None:
    """Send a command until the node does it."""
    wait_until(partial(link.ask, *words), _ANSWERS_WITHIN_S, _POLL_S, despite=ClusterError)


def _node(name: str, shard: str, ports: Ports, place: Place, home: Path, redis: Path) -> Node:
    host = ProcessSpec(
        config_file=home / _FILE,
        pid_file=home / "redis.pid",
        log_file=home / "redis.log",
        working_directory=home,
        command=(str(redis), str(home / _FILE)),
        network_namespace=place.namespace,
    )
    return Node(name=name, address=f"{ports.host}:{ports.client}", host=host, shard=shard)
