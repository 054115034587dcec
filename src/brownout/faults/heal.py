"""Put back what a run that died had broken, from what it wrote down before it acted.

    claim (open_runs) ──▶ events.ndjson of its run ──▶ still_broken ──▶ Faults.put_back ──▶ whole?

What it wrote down may be gone or torn, so every node's process is looked at as well: the cluster
was whole when the run took it, and one that is stopped or paused now is put back too.

Healing is idempotent: healing a whole cluster does nothing, and a heal that died is healed by the
next one. Every node is tried even if one fails.
"""

import contextlib
import os
import signal
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from brownout.base.errors import BrownoutError, UndoFailed
from brownout.databases.adapter import adapter_for
from brownout.databases.lacking import await_nothing, lacks
from brownout.faults import debts, open_runs, owed
from brownout.faults.atlas.owed import found as found_by_atlas
from brownout.faults.debts import Debt
from brownout.faults.faults import Faults
from brownout.faults.open_runs import Claim
from brownout.infra import lab
from brownout.inventory import inventory
from brownout.inventory.model import Cluster
from brownout.load.where import collect_left
from brownout.machine import procfs
from brownout.machine.host import Delaying, Host, Partitioning, host_for
from brownout.run.directory import RunDirectory
from brownout.run.events import Event, EventLog, read_events

__all__ = [
    "Healed",
    "await_whole",
    "found_added",
    "found_broken",
    "half_wiped",
    "heal",
    "make_free",
    "still_broken",
]

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


def still_broken(events: Iterable[Event]) -> dict[str, str]:
    """Return each node that a run's events leave broken, with what it waits for in `owed`'s words.

    A break counts from its intent on, since the run may have died between intent and proof; a
    mend counts only with its proof.
    """
    broken: dict[str, str] = {}
    for event in events:
        if event.node is None or str((event.undo or {}).get("action")) in debts.ACTIONS:
            continue
        waiting = broken.pop(event.node, "")
        if event.undo:
            waiting = owed.broke(waiting, str(event.undo["action"]))
        elif event.evidence:
            waiting = owed.mended(waiting, event.name)
        if waiting:
            broken[event.node] = waiting
    return broken


def found_broken(cluster: Cluster, known: Mapping[str, str]) -> dict[str, str]:
    """Return each node that stands still, is cut off or slowed, and is not `known` to be.

    A node without a host, or whose host does not answer, is left to the wait for a whole cluster.
    """
    found: dict[str, str] = {}
    for node in cluster.nodes:
        if node.host is None or node.name in known:
            continue
        with contextlib.suppress(BrownoutError):
            if waiting := _waits_for(host_for(node)):
                found[node.name] = waiting
    return found


def _waits_for(host: Host) -> str:
    """Return in `owed`'s words what a node needs that is not as it should be, else nothing."""
    state, waiting = host.running(), ""
    if not state.running or state.paused:
        waiting = owed.broke(waiting, "resume_node" if state.running else "start_node")
    if isinstance(host, Partitioning) and host.cut_off():
        waiting = owed.broke(waiting, "heal_partition")
    if isinstance(host, Delaying) and host.delayed():
        waiting = owed.broke(waiting, "undelay_node")
    return waiting


def found_added(cluster: Cluster, known: Sequence[Debt]) -> tuple[Debt, ...]:
    """Return what each spare that runs, and is not `known` to, is owed: to be taken out."""
    names = {debt.node for debt in known}
    found = []
    for node in cluster.spares:
        with contextlib.suppress(BrownoutError):
            if node.name not in names and host_for(node).running().running:
                found.append(Debt("remove_node", node.name))
    return tuple(found)


def half_wiped(events: Iterable[Event]) -> dict[str, list[Path]]:
    """Return each node whose wipe began and is not proven to be done, with its directories.

    A record that does not say that it `began` is another version's, which wrote the intent before
    it asked the guards: it names no directory that may be emptied.
    """
    begun: dict[str, list[Path]] = {}
    for event in events:
        if event.node is None or event.name not in ("wipe_node", "finish_wipe"):
            continue
        if event.evidence:
            begun.pop(event.node, None)
        elif event.name == "wipe_node":
            began = event.arguments.get("began") is True
            named = event.arguments.get("directories", []) if began else []
            begun[event.node] = [Path(directory) for directory in named]
    return begun


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


def make_free(cluster: str, say: Say) -> None:
    """Put away what a load by itself left that died with `cluster` in its hands: nothing broken.

    Raises `Refused` where a run has the cluster, a load goes on there, or a run died holding it.
    """
    held = open_runs.claim_on(cluster)
    if held is not None and held.kind == "load" and not held.is_alive():
        say(f"the load {held.run} died; what it left is ended")
        heal(held, limit_s=0.0, say=say)
    open_runs.check_free(cluster)


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
    """Undo what the run's events leave broken, and write that down behind them."""
    log = RunDirectory(run).events
    events = read_events(log) if log.exists() else []
    broken, changed = still_broken(events), debts.left(events)
    if asked := _found_at_atlas(cluster, changed):
        words = ", ".join(debt.words() for debt in asked)
        say(f"the run's record does not say so, and Atlas does: {words}")
        changed = (*changed, *asked)
    found = _found_broken(cluster, broken, changed)
    if found:
        say(
            f"the run's record does not say why {', '.join(found)} stand still, are cut off or "
            "slowed; they are put back"
        )
    if added := found_added(cluster, changed):
        names = ", ".join(str(debt.node) for debt in added)
        say(f"the run's record does not say why the spares {names} run; they are taken out")
        changed = (*changed, *added)
    broken = {**broken, **found}
    adapter = adapter_for(cluster)
    try:
        log_again = EventLog(log)
        half = half_wiped(events)
        faults = Faults(
            cluster,
            adapter,
            log_again,
            lambda _: None,
            broken,
            half,
            changed,
            confirmation=os.environ.get("BROWNOUT_CONFIRM", ""),
        )
        for node, mend in broken.items():
            say(f"{mend} {node}")
        for debt in reversed(changed):
            say(debt.words())
        failures = faults.put_back() + _unknown(events)
    finally:
        adapter.close()
    if failures:
        raise UndoFailed("; ".join(failures), "mend these by hand, then heal again")
    return {**broken, **debts.by_place(changed)}


def _unknown(events: Sequence[Event]) -> list[str]:
    """Say of what no node waits for, and this version does not know how to put back."""
    actions = {str(e.undo["action"]) for e in events if e.undo and e.node is None}
    done = {event.name for event in events if event.evidence}
    return [
        f"the run's record says that the cluster is put back by `{action}`, which this version of "
        "brownout does not know"
        for action in sorted(actions - debts.ACTIONS - done)
    ]


def _found_broken(
    cluster: Cluster, broken: Mapping[str, str], changed: Sequence[Debt]
) -> dict[str, str]:
    """Return each node that stands still and nothing explains; an outage or a pause does."""
    if debts.is_open(changed):
        return {}
    return found_broken(cluster, {**broken, **{str(d.node): d.words() for d in changed}})


def _found_at_atlas(cluster: Cluster, known: Sequence[Debt]) -> tuple[Debt, ...]:
    """Return what Atlas says of an outage or a pause; nothing where it does not answer."""
    with contextlib.suppress(BrownoutError):
        return found_by_atlas(cluster, known) if cluster.atlas else ()
    return ()


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
