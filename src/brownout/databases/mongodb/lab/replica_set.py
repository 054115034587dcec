"""A MongoDB replica set on loopback: where its members live, and making them one set."""

import time
from dataclasses import dataclass
from pathlib import Path

from brownout.base.errors import ClusterError, HostError
from brownout.base.wait import wait_until
from brownout.databases.lab import file_systems, network, proxies
from brownout.databases.lab.engine import Progress
from brownout.databases.lab.milestones import await_milestone
from brownout.databases.lab.ports import reserve_ports
from brownout.databases.mongodb.access import access
from brownout.databases.mongodb.adapter import MongoAdapter
from brownout.databases.mongodb.lab import security
from brownout.databases.mongodb.lab.mongod import configuration, find_mongod
from brownout.databases.mongodb.lab.settings import ReplicaSetLab
from brownout.databases.mongodb.link import CommandFailed, Link
from brownout.databases.mongodb.membership import first_entry
from brownout.inventory.connection import Connection
from brownout.inventory.labs import directory as directory_of
from brownout.inventory.model import Cluster, Node, ProcessSpec, ProxySpec
from brownout.machine import netem
from brownout.machine.host import host_for
from brownout.machine.launch import last_words

__all__ = ["await_whole", "form", "lay_out"]

#: Generous: a busy machine of two cores has taken 15 s.
_FORM_TIMEOUT_S = 90.0
_POLL_S = 0.05


def lay_out(cluster: Cluster, spec: ReplicaSetLab, directory: Path) -> Cluster:
    """Write each node's directories and configuration; return the cluster with all of them.

    The spares come after the members and differ from them in nothing but that.
    """
    mongod = find_mongod()
    names = [f"n{number}" for number in range(1, spec.members + spec.spares + 1)]
    more = security.lay_out(directory, cluster.name, names) if spec.secure else {}
    data = file_systems.places(directory, names, spec)
    nodes = []
    for index, (name, where) in enumerate(_wheres(spec, directory, names).items()):
        home = directory / name
        text = configuration(
            spec, cluster.name, where.listens, home, data[name], more.get(name, {})
        )
        (home / "mongod.conf").write_text(text, encoding="utf-8")
        nodes.append(
            _node(
                name, where, home, mongod, f"r{rack}" if (rack := spec.rack_of(index + 1)) else ""
            )
        )
    update = {
        "nodes": tuple(nodes[: spec.members]),
        "spares": tuple(nodes[spec.members :]),
        "connection": _connection(cluster, spec, directory),
        "lab": spec,
    }
    return cluster.model_copy(update=update)


@dataclass(frozen=True, slots=True)
class _Where:
    """How a member is reached: at `address`, behind `proxy` if there is one; `listens` itself."""

    address: str
    listens: str
    namespace: str = ""
    proxy: ProxySpec | None = None


def _wheres(spec: ReplicaSetLab, directory: Path, names: list[str]) -> dict[str, _Where]:
    """Return where each node lives: on loopback, in a namespace of its own, or behind a proxy."""
    by_netem = spec.slow_links and not netem.why_not_here()
    if spec.slow_links and not by_netem:
        proxied = proxies.lay_out(directory, names)
        return {
            name: _Where(address, proxy.upstream, proxy=proxy)
            for name, (address, proxy) in proxied.items()
        }
    places = network.places(directory, names, spec.network_namespaces or by_netem)
    by_name = {}
    ports = reserve_ports(len(names), directory)
    for (name, place), port in zip(places.items(), ports, strict=True):
        address = f"{place.address}:{port}"
        by_name[name] = _Where(address, address, place.namespace)
    return by_name


def _connection(cluster: Cluster, spec: ReplicaSetLab, directory: Path) -> Connection:
    plain = Connection(
        replica_set=cluster.name,
        options=cluster.connection.options,
        timeout_s=cluster.connection.timeout_s,
    )
    return security.connection(directory, plain) if spec.secure else plain


def form(cluster: Cluster, spec: ReplicaSetLab, progress: Progress) -> None:
    """Make the running members one set and wait until it is whole.

    The first member is asked to stand for election at once, which saves the election timeout.
    """
    deadline = time.monotonic() + _FORM_TIMEOUT_S
    bare = security.without_login(cluster)
    for node in cluster.nodes:
        _await_answer(bare, node, deadline)
    first = Link(cluster.nodes[0], access(bare), cluster.connection.timeout_s)
    try:
        first.order("replSetInitiate", _set_configuration(cluster, spec), 30.0)
        progress("electing a primary")
        left_s = deadline - time.monotonic()
        if not wait_until(lambda: _stand_for_election(first), left_s, _POLL_S):
            raise _too_late("no primary was elected")
    finally:
        first.close()
    if spec.secure:
        security.add_user(cluster, directory_of(cluster.name), cluster.nodes[0])
    await_whole(cluster, progress)


def await_whole(cluster: Cluster, progress: Progress) -> None:
    """Wait until every member is back in the set with all its data."""
    progress("waiting for every member")
    with MongoAdapter(cluster) as adapter:
        await_milestone(adapter, "whole", _FORM_TIMEOUT_S)


def _node(name: str, where: _Where, home: Path, mongod: Path, rack: str) -> Node:
    host = ProcessSpec(
        config_file=home / "mongod.conf",
        pid_file=home / "mongod.pid",
        log_file=home / "mongod.log",
        working_directory=home,
        command=(str(mongod), "--config", str(home / "mongod.conf")),
        network_namespace=where.namespace,
        proxy=where.proxy,
    )
    return Node(name=name, address=where.address, host=host, rack=rack)


def _await_answer(cluster: Cluster, node: Node, deadline: float) -> None:
    """Wait until a member answers; on a busy machine that is some time after its start."""
    link = Link(node, access(cluster), cluster.connection.timeout_s)
    try:
        wait_until(
            lambda: link.ask("ping"),
            deadline - time.monotonic(),
            _POLL_S,
            despite=ClusterError,
            stopped=lambda: not host_for(node).running().running,
        )
    except ClusterError as error:
        if not host_for(node).running().running and isinstance(node.host, ProcessSpec):
            words = last_words(node.host)
            raise HostError(f"member `{node.name}` ended while it was starting{words}") from error
        raise _too_late(error.message) from error
    finally:
        link.close()


def _set_configuration(cluster: Cluster, spec: ReplicaSetLab) -> dict[str, object]:
    members = [first_entry(number, node) for number, node in enumerate(cluster.nodes)]
    return {
        "_id": cluster.name,
        "members": members,
        "settings": {
            "electionTimeoutMillis": spec.election_timeout_ms,
            "heartbeatIntervalMillis": spec.heartbeat_ms,
        },
    }


def _stand_for_election(first: Link) -> bool:
    """Ask a member to become primary; False while it is not ready to."""
    try:
        if first.ask("hello").get("isWritablePrimary"):
            return True
        first.order("replSetStepUp", 1, 10.0)
    except CommandFailed:
        return False
    return True


def _too_late(problem: str) -> ClusterError:
    return ClusterError(f"{problem} within {_FORM_TIMEOUT_S:g} s", "see `brownout lab logs`")
