"""Put back what a run that died had broken, from what it wrote down before it acted.

    claim (open_runs) ──▶ events.ndjson of its run ──▶ undos.left ──▶ Faults.put_back ──▶ whole?

What it wrote down may be gone or torn, so every node's process is looked at as well: the cluster
was whole when the run took it, and one that is stopped or paused now is put back too.

Healing is idempotent: healing a whole cluster does nothing, and a heal that died is healed by the
next one. Every node is tried even if one fails.
"""

import contextlib
import os
import signal
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from brownout.base.errors import BrownoutError, UndoFailed
from brownout.databases.adapter import adapter_for
from brownout.databases.lacking import await_nothing, lacks
from brownout.faults import open_runs, registry, undos
from brownout.faults.claimed_nodes import nodes_of
from brownout.faults.faults import Faults
from brownout.faults.open_runs import Claim
from brownout.faults.undos import PendingUndo
from brownout.infra import lab
from brownout.inventory import inventory
from brownout.inventory.database import with_options
from brownout.inventory.model import Cluster
from brownout.load.where import collect_left
from brownout.machine import procfs
from brownout.machine.host import host_for
from brownout.run.directory import RunDirectory
from brownout.run.events import EventLog, read_events

__all__ = ["Healed", "await_whole", "found", "heal", "make_free"]

Say = Callable[[str], None]

#: A generator whose run died goes on for a minute and then stops by itself.
GENERATOR_GONE_WITHIN_S = 10.0


@dataclass(frozen=True, slots=True)
class Healed:
    """What was put back on one cluster: `mended` is `{"n1": "start_node", "n6": "remove_node"}`."""

    cluster: str
    run: str
    mended: dict[str, str]
    whole: bool


def found(cluster: Cluster, known: Sequence[PendingUndo]) -> tuple[PendingUndo, ...]:
    """Return what is to be put back and not `known` to be: the record of a run may be gone.

    Of each node that its host says is stopped, frozen, cut off or slowed; of spares that run; and
    of a cluster whose own administration says so. A node without a host, or whose host does not
    answer, is left to the wait for a whole cluster.
    """
    there = _found_for(cluster, known)
    there += _found_broken(cluster, [*known, *there])
    return (*there, *_found_added(cluster, [*known, *there]))


def _found_for(cluster: Cluster, known: Sequence[PendingUndo]) -> list[PendingUndo]:
    """Return what the cluster itself needs; nothing where nobody answers."""
    there = []
    for undo in registry.undos().values():
        with contextlib.suppress(BrownoutError):
            if undo.name not in {each.action for each in known} and undo.is_due_for(cluster):
                there.append(PendingUndo(undo.name, None))
    return there


def _found_broken(cluster: Cluster, known: Sequence[PendingUndo]) -> list[PendingUndo]:
    """Return what each node needs that nothing known explains; an outage or a pause does."""
    if undos.away(known):
        return []
    there, named = [], {each.node for each in known}
    for node in cluster.nodes:
        if node.host is None or node.name in named:
            continue
        with contextlib.suppress(BrownoutError):
            host = host_for(node)
            due = [undo.name for undo in registry.undos().values() if undo.is_due(host)]
            there += [PendingUndo(name, node.name) for name in due]
    return there


def _found_added(cluster: Cluster, known: Sequence[PendingUndo]) -> list[PendingUndo]:
    """Return that each spare that runs, and is not known to, is to be taken out."""
    there, named = [], {each.node for each in known}
    for node in cluster.spares:
        with contextlib.suppress(BrownoutError):
            if node.name not in named and host_for(node).running().running:
                there.append(PendingUndo("remove_node", node.name))
    return there


def heal(claim: Claim, limit_s: float, say: Say) -> Healed:
    """Put back what `claim`'s dead run had broken and wait until the cluster is whole.

    Raises `Refused` while the run lives, and `UndoFailed` with every node that could not be put
    back; the claim then stays, and the next heal tries again.
    """
    with open_runs.healing(claim) as is_there:
        if not is_there:
            say(f"what the run {claim.run} had left was put back by somebody else meanwhile")
            return Healed(claim.cluster, claim.run, {}, whole=False)
        healed = _healed(claim, limit_s, say)
        open_runs.release(claim.cluster, claim)
    return healed


def make_free(cluster: Cluster, say: Say) -> None:
    """Put away what a load by itself left that died with `cluster` in its hands: nothing broken.

    Raises `Refused` where a run or a load has the cluster or a node of it, and where a run died
    holding it.
    """
    nodes = nodes_of(cluster)
    held = open_runs.claim_against(cluster.name, nodes)
    if held is not None and held.kind == "load" and not held.is_alive():
        say(f"the load {held.run} died; what it left is ended")
        heal(held, limit_s=0.0, say=say)
    open_runs.check_free(cluster.name, nodes)


def _healed(claim: Claim, limit_s: float, say: Say) -> Healed:
    run = Path(claim.run)
    _stop_generator(run, say)
    if claim.brought_up:
        say(f"taking down {claim.cluster}, which the run had brought up")
        lab.down(claim.cluster)
        return Healed(claim.cluster, claim.run, {}, whole=False)
    cluster = inventory.load(claim.inventory)
    steps = sorted(run.glob("steps/*"))  # of a search for a capacity: each is a load of its own
    if any([collect_left(cluster, place) for place in (run, *steps)]):
        say("fetched what the load of the run had left elsewhere, and removed it there")
    if claim.kind == "load":
        return Healed(claim.cluster, claim.run, {}, whole=False)
    mended = _mend(cluster, run, say)
    await_whole(cluster, limit_s, say)
    return Healed(claim.cluster, claim.run, mended, whole=True)


def _mend(cluster: Cluster, run: Path, say: Say) -> dict[str, str]:
    """Undo what the run's events leave pending, and write that down behind them."""
    log = RunDirectory(run).events
    pending = undos.left(read_events(log) if log.exists() else [])
    if unrecorded := found(cluster, pending):
        words = ", ".join(map(undos.describe, unrecorded))
        say(f"the run's record does not say why this is needed, and it is done: {words}")
        pending = (*pending, *unrecorded)
    adapter = adapter_for(with_options(cluster, _load_options(run)))
    try:
        confirmed = os.environ.get("BROWNOUT_CONFIRM", "")
        faults = Faults(
            cluster, adapter, EventLog(log), lambda _: None, pending, confirmation=confirmed
        )
        for together in undos.in_order(pending):
            say("; ".join(map(undos.describe, together)))
        failures = faults.put_back()
    finally:
        adapter.close()
    if failures:
        raise UndoFailed("; ".join(failures), "mend these by hand, then heal again")
    return undos.by_place(pending)


def _load_options(run: Path) -> Mapping[str, Mapping[str, Any]]:
    """Return what the run's workload told each driver; nothing where its record is gone."""
    try:
        return dict(RunDirectory(run).read_metadata()["workload"]["options"])
    except (BrownoutError, KeyError):
        return {}


def await_whole(cluster: Cluster, limit_s: float, say: Say) -> None:
    """Wait until every member is there and in step; `UndoFailed` with what is not in time."""
    adapter = adapter_for(cluster)
    try:
        missing = await_nothing(
            lambda: lacks(adapter, "whole"), limit_s, lambda found: say(f"not whole yet: {found}")
        )
    finally:
        adapter.close()
    if missing:
        raise UndoFailed(
            f"cluster `{cluster.name}` is not whole after {limit_s:.0f} s: {missing}",
            "look at the nodes' own logs, then heal again",
        )


def _stop_generator(run: Path, say: Say) -> None:
    """End the load of the dead run now instead of when its minute is over."""
    for identity in procfs.users_of(run):
        found = procfs.identify(identity)
        if found is None or Path(found.command[0]).name != "loadgen":
            continue
        say(f"stopping the load generator (process {found.pid})")
        _end(found)


def _end(generator: procfs.Identity) -> None:
    """Ask it to stop and flush; make it where it does not."""
    try:
        with procfs.Handle(generator) as handle:
            handle.send(signal.SIGTERM)
            if handle.wait_gone(GENERATOR_GONE_WITHIN_S) is None:
                handle.send(signal.SIGKILL)
                handle.wait_gone(GENERATOR_GONE_WITHIN_S)
    except BrownoutError:
        return  # it ended by itself meanwhile
