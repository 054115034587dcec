"""An Aerospike cluster on loopback: where its nodes live, and waiting until they are one."""

import time
from pathlib import Path

from brownout.cluster.aerospike import AerospikeAdapter
from brownout.cluster.model import Cluster, LabSpec, Node, ProcessSpec
from brownout.errors import ClusterError
from brownout.infra.lab.aerospike_conf import Ports, configuration
from brownout.infra.lab.aerospike_server import Server, find_server
from brownout.infra.lab.engine import Progress
from brownout.infra.lab.ports import free_ports

__all__ = ["await_whole", "form", "lay_out"]

#: Generous: migrations of a full lab after a restart take their time.
_WHOLE_TIMEOUT_S = 120.0
_POLL_S = 0.05
_PORTS_EACH = 4


def lay_out(cluster: Cluster, spec: LabSpec, directory: Path) -> Cluster:
    """Write each node's directories and configuration; return the cluster with its nodes.

    Its `lab.stand_in` says whether the nodes are real ones.
    """
    server = find_server()
    free = free_ports(_PORTS_EACH * spec.members)
    ports = [Ports(*free[n : n + _PORTS_EACH]) for n in range(0, len(free), _PORTS_EACH)]
    nodes = []
    for number, own in enumerate(ports, start=1):
        home = directory / f"n{number}"
        for below in ("data", "server/smd", "server/usr/udf/lua"):
            (home / below).mkdir(parents=True)
        text = configuration(spec, cluster.name, number, ports, home)
        (home / "aerospike.conf").write_text(text, encoding="utf-8")
        nodes.append(_node(f"n{number}", own.service, home, server, spec))
    made = spec.model_copy(update={"stand_in": server.stand_in})
    return cluster.model_copy(update={"nodes": tuple(nodes), "lab": made})


def form(cluster: Cluster, spec: LabSpec, progress: Progress) -> None:
    """Wait until the nodes have found each other, which they do by themselves."""
    if cluster.lab is not None and cluster.lab.stand_in:
        progress("no asd was found: the nodes are brownout's stand-in, not Aerospike's product")
    await_whole(cluster, progress)


def await_whole(cluster: Cluster, progress: Progress) -> None:
    """Wait until all nodes are in one cluster and nothing is left to migrate.

    A node that was left quiesced is given its work back.
    """
    progress("waiting for every node")
    deadline = time.monotonic() + _WHOLE_TIMEOUT_S
    with AerospikeAdapter(cluster) as adapter:
        _unquiesce(cluster, adapter, progress)
        state = adapter.stable("whole")
        while not state.reached:
            if time.monotonic() > deadline:
                missing = "; ".join(state.detail["missing"])
                raise ClusterError(
                    f"the lab is not whole after {_WHOLE_TIMEOUT_S:g} s: {missing}",
                    "see `brownout lab logs`",
                )
            time.sleep(_POLL_S)
            state = adapter.stable("whole")


def _unquiesce(cluster: Cluster, adapter: AerospikeAdapter, progress: Progress) -> None:
    left = {view.node for view in adapter.ask() if "true" in view.says("pending_quiesce")}
    for node in cluster.nodes:
        if node.name in left:
            progress(f"{node.name} is quiesced: giving it its work back")
            adapter.undrain(node)


def _node(name: str, port: int, home: Path, server: Server, spec: LabSpec) -> Node:
    file = home / "aerospike.conf"
    host = ProcessSpec(
        config_file=file,
        pid_file=home / "asd.pid",
        log_file=home / "asd.log",
        working_directory=home,
        command=server.command(spec, file),
    )
    return Node(name=name, address=f"127.0.0.1:{port}", host=host)
