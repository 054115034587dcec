"""An Aerospike cluster on loopback: where its nodes live, and waiting until they are one."""

from pathlib import Path

from brownout.base.errors import Unsupported
from brownout.databases.aerospike.adapter import AerospikeAdapter
from brownout.databases.aerospike.lab.conf import SETTINGS, Ports, as_made, configuration
from brownout.databases.aerospike.lab.server import Server, find_server
from brownout.databases.aerospike.lab.settings import AerospikeLab
from brownout.databases.lab import file_systems, network
from brownout.databases.lab.engine import Progress
from brownout.databases.lab.milestones import await_milestone
from brownout.databases.lab.network import Place
from brownout.databases.lab.ports import reserve_ports
from brownout.inventory.model import Cluster, Node, ProcessSpec

__all__ = ["await_whole", "form", "lay_out"]

#: Generous: migrations of a full lab after a restart take their time.
_WHOLE_TIMEOUT_S = 120.0
_PORTS_EACH = 4


def lay_out(cluster: Cluster, spec: AerospikeLab, directory: Path) -> Cluster:
    """Write the directories and configuration of members and spares; return the cluster with them.

    Its `lab.stand_in` says whether the nodes are real ones.
    """
    server = find_server()
    _check_racks(spec, server)
    count = spec.members + spec.spares
    names = [f"n{number}" for number in range(1, count + 1)]
    places = network.places(directory, names, spec.network_namespaces)
    free = reserve_ports(_PORTS_EACH * count, directory)
    ports = [
        Ports(place.address, *free[_PORTS_EACH * n : _PORTS_EACH * (n + 1)])
        for n, place in enumerate(places.values())
    ]
    data = file_systems.places(directory, names, spec)
    nodes = []
    for number, name in enumerate(names, 1):
        home = directory / name
        for below in ("server/smd", "server/usr/udf/lua"):
            (home / below).mkdir(parents=True)
        text = configuration(spec, cluster.name, number, ports, home, data[name])
        (home / "aerospike.conf").write_text(text, encoding="utf-8")
        nodes.append(_node(number, ports[number - 1], places[name], home, server, spec))
    members, spares = nodes[: spec.members], nodes[spec.members :]
    adapted = spec.model_copy(update={"stand_in": server.stand_in})
    update = {"nodes": tuple(members), "spares": tuple(spares), "lab": adapted}
    return cluster.model_copy(update=update)


def _check_racks(spec: AerospikeLab, server: Server) -> None:
    """Refuse racks where the nodes would: only the Enterprise Edition has them."""
    if spec.racks and (not server.stand_in or spec.edition == "community"):
        raise Unsupported(
            f"lab.racks: found {spec.racks} with the Community Edition, which refuses `rack-id`",
            "set BROWNOUT_ASD=stand-in, and `edition: enterprise`",
        )


def form(cluster: Cluster, spec: AerospikeLab, progress: Progress) -> None:
    """Wait until the nodes have found each other, which they do by themselves."""
    if cluster.lab is not None and cluster.lab.stand_in:
        progress("no asd was found: the nodes are brownout's stand-in, not Aerospike's product")
    await_whole(cluster, progress)


def await_whole(cluster: Cluster, progress: Progress) -> None:
    """Wait until all nodes are in one cluster and nothing is left to migrate.

    Settings that were changed are set to what the lab was made with.
    """
    progress("waiting for every node")
    with AerospikeAdapter(cluster) as adapter:
        adapter.ask(*as_made())
        await_milestone(adapter, "whole", _WHOLE_TIMEOUT_S)
        for name, made_with in SETTINGS.items():
            if not adapter.adjust(name, made_with, None).already:
                progress(f"{name} was changed: it is {made_with} again")
        await_milestone(adapter, "whole", _WHOLE_TIMEOUT_S)


def _node(
    number: int, at: Ports, place: Place, home: Path, server: Server, spec: AerospikeLab
) -> Node:
    file = home / "aerospike.conf"
    host = ProcessSpec(
        config_file=file,
        pid_file=home / "asd.pid",
        log_file=home / "asd.log",
        working_directory=home,
        command=server.command(spec, file),
        network_namespace=place.namespace,
    )
    rack = f"r{spec.rack_of(number)}" if spec.racks else ""
    return Node(name=f"n{number}", address=f"{at.address}:{at.service}", host=host, rack=rack)
