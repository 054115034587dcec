"""Looking at a lab without changing it: its condition, its members, their logs."""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from brownout.base.errors import ClusterError, ConfigurationError
from brownout.base.files import private_directory, replace_file
from brownout.base.redact import redact
from brownout.databases.adapter import Member, adapter_for
from brownout.databases.resize import Resizing
from brownout.inventory import inventory, labs
from brownout.inventory.model import Cluster, Node, ProcessSpec
from brownout.machine.host import ProcessState, host_for

__all__ = ["Condition", "LabStatus", "MemberStatus", "condition", "keep_logs", "logs", "recorded"]
__all__ += ["status"]

#: How many lines of each node's log are kept when its lab goes.
_LINES_KEPT = 2000

#: down: there is none. half-made: it was being made when its maker died. crashed: no member runs
#: any more. degraded: a member is paused or not running. up: every member runs. What a spare does
#: does not matter.
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
    """A lab as it is now; `cluster` is None while it is down.

    A spare's `state` is `spare` while its process does not run.
    """

    name: str
    condition: Condition
    directory: Path
    members: tuple[MemberStatus, ...] = ()
    cluster: Cluster | None = None
    spares: tuple[MemberStatus, ...] = ()


def status(name: str) -> LabStatus:
    """Return the condition of a lab and of each of its members."""
    directory = labs.directory(name)
    cluster = recorded(name)
    if cluster is None:
        return LabStatus(name, condition(name), directory)
    running = {node.name: host_for(node).running() for node in cluster.every}
    awake = [spare for spare in cluster.spares if running[spare.name].running]
    states = {member.node: member.state for member in _members(cluster, awake)}

    def seen(node: Node) -> MemberStatus:
        state = states.get(node.name, "spare")
        return MemberStatus(node.name, node.address, running[node.name].describe(), state)

    judged = _judge(name, [running[node.name] for node in cluster.nodes])
    members, spares = (tuple(map(seen, nodes)) for nodes in (cluster.nodes, cluster.spares))
    return LabStatus(name, judged, directory, members, cluster, spares)


def condition(name: str) -> Condition:
    """Return a lab's condition, asking its processes only and not the database."""
    cluster = recorded(name)
    return _judge(name, [host_for(node).running() for node in cluster.nodes] if cluster else [])


def recorded(name: str) -> Cluster | None:
    """Return the cluster that a lab wrote down, in whatever condition it is; None without one."""
    path = labs.inventory_path(name)
    if path is None:
        return None
    try:
        return inventory.declared(path)
    except ConfigurationError:
        return None  # cut off while it was written: nothing had been started yet


def _judge(name: str, processes: list[ProcessState]) -> Condition:
    note = labs.read(name)
    if note is None:
        return "half-made" if labs.directory(name).exists() else "down"
    if note.phase == "starting":
        return "half-made"
    if not any(process.running for process in processes):
        return "crashed"
    if all(process.running and not process.paused for process in processes):
        return "up"
    return "degraded"


def logs(name: str, node: str = "", lines: int = 40) -> dict[str, list[str]]:
    """Return the last `lines` of each member's log, or of `node`'s only, by node.

    A spare has one once it ran.

    Raises `ClusterError` if the lab is down, `ConfigurationError` for an unknown node.
    """
    cluster = recorded(name)
    if cluster is None:
        raise ClusterError(f"the lab `{name}` is down", f"brownout lab up {name}")
    nodes = [cluster.node(node)] if node else list(cluster.every)
    tails = {one.name: _tail(one, lines) for one in nodes}
    silent = set() if node else {spare.name for spare in cluster.spares}
    return {name: tail for name, tail in tails.items() if tail or name not in silent}


def keep_logs(name: str, directory: Path) -> None:
    """Write the end of each member's log to `directory`, without secrets.

    Raises `ClusterError` if the lab is down, `OSError` where nothing can be written.
    """
    for node, tail in logs(name, lines=_LINES_KEPT).items():
        text = "".join(f"{line}\n" for line in redact(tail))
        replace_file(private_directory(directory) / f"{node}.log", text)


def _members(cluster: Cluster, awake: Sequence[Node]) -> list[Member]:
    """Ask the members, and the spares that are `awake`."""
    adapter = adapter_for(cluster)
    try:
        if awake and isinstance(adapter, Resizing):
            adapter.expect([*cluster.nodes, *awake])
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
