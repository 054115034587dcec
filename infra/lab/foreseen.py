"""What a lab could do once it is up, as its inventory and this machine tell; nothing is made.

Only what hangs on the machine is foreseen. The rest is the adapter's to say, of a lab that is up.
"""

from brownout.base import usual
from brownout.base.errors import ClusterError
from brownout.databases.adapter import Support
from brownout.databases.lab import file_systems
from brownout.databases.lab.proxies import find_toxiproxy
from brownout.databases.lab.settings import ClockLab, DiskLab, NetworkedLab, SlowableLab
from brownout.inventory.model import Cluster, LabSpec, Node
from brownout.machine import clock, netem, network

__all__ = ["foreseen", "with_nodes"]


def with_nodes(cluster: Cluster, spec: LabSpec) -> Cluster:
    """Return the lab with the nodes that it will have: their names, racks and shards only."""
    shards = spec.shard_names
    count = spec.members + (spec.spares if shards == ("",) else 0)  # a sharded lab has no spares
    nodes = tuple(
        Node(
            name=f"{shard}n{number}",
            address=f"lab:{number}",
            rack=f"r{rack}" if (rack := spec.rack_of(number)) else "",
            shard=shard,
        )
        for shard in shards
        for number in range(1, count + 1)
    )
    members = spec.members * len(shards)
    return cluster.model_copy(update={"nodes": nodes[:members], "spares": nodes[members:]})


def foreseen(spec: LabSpec, need: str) -> Support | None:
    """Return whether a lab of `spec` could do `need` here; None where only one that is up says."""
    if need == "partition":
        return _support(_no_partition(spec))
    if need == "delay":
        return _support(_no_delay(spec))
    if need in ("disk_stall", "disk_full"):
        return _support(_no_own_disk(spec))
    if need == "clock":
        return _support(_no_own_clock(spec))
    return None


def _support(reason: str) -> Support:
    return Support(not reason, reason)


def _no_partition(spec: LabSpec) -> str:
    if not (isinstance(spec, NetworkedLab) and spec.network_namespaces):
        return (
            "its nodes have no network namespace to themselves (`lab.network_namespaces`), as "
            f"those of {usual.PARTITIONED} have"
        )
    return network.why_not()


def _no_own_disk(spec: LabSpec) -> str:
    if not (isinstance(spec, DiskLab) and spec.own_file_systems):
        return (
            "its nodes have no file system to themselves (`lab.own_file_systems`), as those of "
            f"{usual.DISKS} have"
        )
    return file_systems.why_not()


def _no_own_clock(spec: LabSpec) -> str:
    if not (isinstance(spec, ClockLab) and spec.own_clocks):
        return (
            "its nodes have no clock of their own (`lab.own_clocks`), as those of "
            f"{usual.CLOCKS} have"
        )
    return clock.why_not_here()


def _no_delay(spec: LabSpec) -> str:
    if isinstance(spec, NetworkedLab) and spec.network_namespaces:
        return netem.why_not_here()
    if not (isinstance(spec, SlowableLab) and spec.slow_links):
        return f"its nodes cannot be slowed (`lab.slow_links`), as those of {usual.SLOWED} can"
    if not (reason := netem.why_not_here()):
        return ""
    try:
        find_toxiproxy()
    except ClusterError as error:
        return f"{reason}; {error.message}"
    return ""
