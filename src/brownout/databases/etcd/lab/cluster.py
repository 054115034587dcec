"""An etcd cluster on this machine: where its members live, and waiting until they are one."""

from pathlib import Path

from brownout.databases.etcd.adapter import EtcdAdapter
from brownout.databases.etcd.lab.server import Ports, configuration, find_etcd
from brownout.databases.etcd.lab.settings import EtcdLab
from brownout.databases.lab import file_systems, network, tls
from brownout.databases.lab.engine import Progress
from brownout.databases.lab.milestones import await_milestone
from brownout.databases.lab.network import Place
from brownout.databases.lab.ports import reserve_ports
from brownout.inventory.connection import Connection
from brownout.inventory.model import Cluster, Node, ProcessSpec

__all__ = ["await_whole", "form", "lay_out"]

#: Generous: half a second is usual.
_WHOLE_TIMEOUT_S = 90.0
_FILE = "etcd.yaml"


def lay_out(cluster: Cluster, spec: EtcdLab, directory: Path) -> Cluster:
    """Write each member's directories and configuration; return the cluster with all of them."""
    etcd = find_etcd()
    names = [f"n{number}" for number in range(1, spec.members + 1)]
    places = network.places(directory, names, spec.network_namespaces)
    free = reserve_ports(2 * spec.members, directory)
    ports = {
        number: Ports(place.address, *free[2 * number - 2 : 2 * number])
        for number, place in enumerate(places.values(), 1)
    }
    own = cluster.connection
    connection = Connection(options=own.options, timeout_s=own.timeout_s)
    if spec.secure:
        hosts = {name: place.address for name, place in places.items()}
        certificates = tls.issue(directory, cluster.name, hosts)
        connection = connection.model_copy(update={"tls": certificates})
    data = file_systems.places(directory, names, spec)
    nodes = []
    for number, at in ports.items():
        home = directory / f"n{number}"
        text = configuration(spec, cluster.name, number, ports, home, data[home.name])
        (home / _FILE).write_text(text, encoding="utf-8")
        nodes.append(_node(number, at, places[home.name], home, etcd, spec))
    update = {"nodes": tuple(nodes), "spares": (), "connection": connection, "lab": spec}
    return cluster.model_copy(update=update)


def form(cluster: Cluster, spec: EtcdLab, progress: Progress) -> None:
    """Wait until the members have elected a leader, which they do by themselves.

    From then on their configuration says that the cluster exists: one that lost its data would
    otherwise not join it again.
    """
    await_whole(cluster, progress)
    for node in cluster.nodes:
        if isinstance(node.host, ProcessSpec) and node.host.config_file:
            file = node.host.config_file
            text = file.read_text(encoding="utf-8")
            now = text.replace("initial-cluster-state: new", "initial-cluster-state: existing")
            file.write_text(now, encoding="utf-8")


def await_whole(cluster: Cluster, progress: Progress) -> None:
    """Wait until every member is back with all its data."""
    progress("waiting for every member")
    with EtcdAdapter(cluster) as adapter:
        await_milestone(adapter, "whole", _WHOLE_TIMEOUT_S)


def _node(number: int, at: Ports, place: Place, home: Path, etcd: Path, spec: EtcdLab) -> Node:
    host = ProcessSpec(
        config_file=home / _FILE,
        pid_file=home / "etcd.pid",
        log_file=home / "etcd.log",
        working_directory=home,
        command=(str(etcd), "--config-file", str(home / _FILE)),
        network_namespace=place.namespace,
    )
    rack = f"r{spec.rack_of(number)}" if spec.racks else ""
    return Node(name=f"n{number}", address=f"{at.host}:{at.client}", host=host, rack=rack)
