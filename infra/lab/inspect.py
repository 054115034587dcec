"""Looking at a lab without changing it: its condition, its members, their logs."""

from collections import deque
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from brownout.cluster import inventory
from brownout.cluster.adapter import Member, adapter_for
from brownout.cluster.host import ProcessState, host_for
from brownout.cluster.model import Cluster, Node, ProcessSpec
from brownout.errors import ClusterError, ConfigurationError
from brownout.infra.lab import state

__all__ = ["Condition", "LabStatus", "MemberStatus", "condition", "logs", "recorded", "status"]

#: down: there is none. half-made: it was being made when its maker died. crashed: nothing of it
#: runs any more. degraded: a member is paused or not running. up: every process runs.
Condition = Literal["down", "half-made", "crashed", "degraded", "up"]


@dataclass(frozen=True, slots=True)
class MemberStatus:
    """One member of a lab: its process, and what the database in it says."""

    name: str
    address: str
    process: str
    state: str


@dataclass(frozen=True, slots=True)
class LabStatus:
    """A lab as it is now; `cluster` is None while it is down."""

    name: str
    condition: Condition
    directory: Path
    members: tuple[MemberStatus, ...] = ()
    cluster: Cluster | None = None


def status(name: str) -> LabStatus:
    """Return the condition of a lab and of each of its members."""
    directory = state.directory(name)
    cluster = recorded(name)
    if cluster is None:
        return LabStatus(name, condition(name), directory)
    processes = [host_for(node).running() for node in cluster.nodes]
    told = {member.node: member for member in _members(cluster)}
    members = tuple(
        MemberStatus(node.name, node.address, process.describe(), told[node.name].state)
        for node, process in zip(cluster.nodes, processes, strict=True)
    )
    return LabStatus(name, _judge(name, processes), directory, members, cluster)


def condition(name: str) -> Condition:
    """Return a lab's condition, asking its processes only and not the database."""
    cluster = recorded(name)
    return _judge(name, [host_for(node).running() for node in cluster.nodes] if cluster else [])


def recorded(name: str) -> Cluster | None:
    """Return the cluster that a lab wrote down, in whatever condition it is; None without one."""
    path = state.inventory_path(name)
    if path is None:
        return None
    try:
        return inventory.declared(path)
    except ConfigurationError:
        return None  # cut off while it was written: nothing had been started yet


def _judge(name: str, processes: list[ProcessState]) -> Condition:
    note = state.read(name)
    if note is None:
        return "half-made" if state.directory(name).exists() else "down"
    if note.phase == "starting":
        return "half-made"
    if not any(process.running for process in processes):
        return "crashed"
    if all(process.running and not process.paused for process in processes):
        return "up"
    return "degraded"


def logs(name: str, node: str = "", lines: int = 40) -> dict[str, list[str]]:
    """Return the last `lines` of each member's log, or of `node`'s only, by member.

    Raises `ClusterError` if the lab is down, `ConfigurationError` for an unknown node.
    """
    cluster = recorded(name)
    if cluster is None:
        raise ClusterError(f"the lab `{name}` is down", f"brownout lab up {name}")
    nodes = [cluster.node(node)] if node else list(cluster.nodes)
    return {one.name: _tail(one, lines) for one in nodes}


def _members(cluster: Cluster) -> list[Member]:
    adapter = adapter_for(cluster)
    try:
        return adapter.members()
    finally:
        adapter.close()


def _tail(node: Node, lines: int) -> list[str]:
    if not isinstance(node.host, ProcessSpec) or node.host.log_file is None:
        return []
    try:
        with node.host.log_file.open(encoding="utf-8", errors="replace") as log:
            return [line.rstrip("\n") for line in deque(log, maxlen=lines)]
    except OSError:
        return []
