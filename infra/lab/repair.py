"""Making a lab that is there as it was made: every member in and running, every spare out, empty.

    members run ──▶ are members ──▶ have all data ──▶ spares out ──▶ whole ──▶ each with its say

Data is moved off a spare that was left in before it goes, or the last copy could go with it.
"""

from collections.abc import Sequence
from typing import Protocol, cast

from brownout.databases.adapter import Adapter, adapter_for
from brownout.databases.lab.engine import Progress, engine_of
from brownout.databases.lab.milestones import await_milestone
from brownout.databases.resize import Resizing
from brownout.databases.start import start
from brownout.inventory.model import Cluster, Node
from brownout.machine import leftovers
from brownout.machine.host import host_for

__all__ = ["mend"]

_COPIED_TIMEOUT_S = 120.0


class _Resizable(Adapter, Resizing, Protocol):
    """An adapter whose members come and go."""


def mend(cluster: Cluster, progress: Progress) -> None:
    """Put back what an experiment left broken or changed; the lab is whole when this returns."""
    adapter = adapter_for(cluster)
    try:
        for node in cluster.nodes:
            _wake(node, adapter, progress)
        resizes = isinstance(adapter, Resizing)
        if resizes:
            _regroup(cluster, cast(_Resizable, adapter), progress)
        engine_of(cluster).await_whole(cluster, progress)
        for node in cluster.nodes if resizes else ():
            cast(_Resizable, adapter).admit(node)
    finally:
        adapter.close()


def _wake(node: Node, adapter: Adapter, progress: Progress) -> None:
    host = host_for(node)
    leftovers.release(node, host)
    process = host.running()
    if not process.running or process.paused:
        progress(f"{node.name} is {process.describe()}: putting it back")
        host.resume() if process.running else start(node, host, adapter, emptied=True)
    leftovers.undo_all(node, host, progress)


def _regroup(cluster: Cluster, adapter: _Resizable, progress: Progress) -> None:
    """Take every member in that was removed, and put every spare out that was added."""
    serving = _serving(cluster, adapter)
    adapter.expect([*cluster.nodes, *serving])
    joined = [node for node in cluster.nodes if not adapter.join(node).already]
    for node in joined:
        progress(f"{node.name} is taken in again")
    if joined or serving:
        progress("waiting until all data has its copies")
        await_milestone(adapter, "redundant", _COPIED_TIMEOUT_S)
    for spare in cluster.spares:
        serving = [other for other in serving if other != spare]
        _put_out(spare, [*cluster.nodes, *serving], adapter, progress)


def _serving(cluster: Cluster, adapter: _Resizable) -> list[Node]:
    """Return which spares do a member's work."""
    awake = [spare for spare in cluster.spares if host_for(spare).running().running]
    if not awake:
        return []
    adapter.expect([*cluster.nodes, *awake])
    healthy = {member.node for member in adapter.members() if member.healthy}
    return [spare for spare in awake if spare.name in healthy]


def _put_out(spare: Node, others: Sequence[Node], adapter: _Resizable, progress: Progress) -> None:
    """Leave a spare as it was laid out: no member, not running, empty."""
    host = host_for(spare)
    if host.running().running:
        progress(f"{spare.name} is a spare and runs: it is put back out")
        adapter.leave(spare)
        host.stop("kill")
    adapter.expect(others)
    adapter.forget(spare)
    directories = adapter.data_directories(spare)
    if any(path.is_dir() and any(path.iterdir()) for path in directories):
        host.wipe(directories)
