"""Put back what a run that died had broken, from what it wrote down before it acted.

    claim (open_runs) ──▶ cluster_record of its run ──▶ the cluster that is healed
                          events.ndjson ──▶ undos.left ──▶ Faults.put_back ──▶ whole?

The record decides: which nodes these are, what the run did to them, and who was a member before.
What looks broken and is not in the record was done by others. It is named and left alone, unless
it is asked for by name, or bears brownout's own mark on the node.

Healing is idempotent: healing a whole cluster does nothing, and a heal that died is healed by the
next one. Every node is tried even if one fails.
"""

import contextlib
import os
import signal
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from brownout.base.errors import BrownoutError, ClusterError, UndoFailed
from brownout.databases.adapter import adapter_for
from brownout.databases.milestones import await_nothing, unmet
from brownout.faults import cluster_record, open_runs, registry, undos
from brownout.faults.act import PendingUndo
from brownout.faults.claimed_nodes import nodes_of
from brownout.faults.cluster_record import ClusterRecord
from brownout.faults.faults import Faults
from brownout.faults.open_runs import Claim
from brownout.infra import lab
from brownout.inventory import inventory, labs
from brownout.inventory.database import with_options
from brownout.inventory.model import Cluster
from brownout.load.cluster_claim import NAMESPACE, ClusterClaim
from brownout.load.where import collect_left
from brownout.machine import procfs
from brownout.machine.host import host_for
from brownout.run.directory import RunDirectory
from brownout.run.events import EventLog, read_events

__all__ = [
    "THE_CLUSTER",
    "Asked",
    "Healed",
    "Triage",
    "also_broken",
    "await_whole",
    "heal",
    "make_free",
]
__all__ += ["triage"]

Say = Callable[[str], None]
Pending = tuple[PendingUndo, ...]

#: What `Asked.also` calls the cluster as a whole.
THE_CLUSTER = "cluster"
#: A generator whose run died runs for another minute and then stops by itself.
GENERATOR_GONE_WITHIN_S = 10.0


@dataclass(frozen=True, slots=True)
class Healed:
    """What was put back on one cluster: `mended` is `{"n1": "start_node", "n6": "remove_node"}`.

    `outcome` says in words what became of a run of which nothing had to be put back.
    """

    cluster: str
    run: str
    mended: dict[str, str]
    whole: bool
    outcome: str = ""


def also_broken(cluster: Cluster, recorded: Sequence[PendingUndo]) -> tuple[PendingUndo, ...]:
    """Return what looks broken and is not `recorded`: the run may have done it, or another person.

    Of each node that its host says is stopped, frozen, cut off or slowed; of spares that run; and
    of a cluster whose own administration says so. A node without a host, or whose host does not
    answer, is left to the wait for a whole cluster.
    """
    there = _found_for(cluster, recorded)
    there += _found_broken(cluster, [*recorded, *there])
    return (*there, *_found_added(cluster, [*recorded, *there]))


def _found_for(cluster: Cluster, recorded: Sequence[PendingUndo]) -> list[PendingUndo]:
    """Return what the cluster itself needs; nothing where it does not answer."""
    there = []
    for undo in registry.undos().values():
        with contextlib.suppress(BrownoutError):
            if undo.name not in {each.action for each in recorded} and undo.is_due_for(cluster):
                there.append(PendingUndo(undo.name, None))
    return there


def _found_broken(cluster: Cluster, recorded: Sequence[PendingUndo]) -> list[PendingUndo]:
    """Return what each node needs that nothing known explains; an outage or a pause does.

    What is recorded of a node explains how it looks, but not another mark of ours on it: a run that
    dies while the kernel is to kill a node leaves its limit, and the record of a node to start.
    """
    if undos.away(recorded):
        return []
    there: list[PendingUndo] = []
    for node in cluster.nodes:
        if node.host is None:
            continue
        own = [each.action for each in recorded if each.node == node.name]
        looked_for = [
            undo
            for undo in registry.undos().values()
            if not own or (undo.marked and undo.name not in own)
        ]
        with contextlib.suppress(BrownoutError):
            host = host_for(node)
            due = [undo.name for undo in looked_for if undo.is_due(node, host)]
            there += [PendingUndo(name, node.name) for name in due]
    return there


def _found_added(cluster: Cluster, recorded: Sequence[PendingUndo]) -> list[PendingUndo]:
    """Return that each spare that runs, and is not known to, is to be taken out."""
    there, named = [], {each.node for each in recorded}
    for node in cluster.spares:
        with contextlib.suppress(BrownoutError):
            if node.name not in named and host_for(node).running().running:
                there.append(PendingUndo("remove_node", node.name))
    return there


@dataclass(frozen=True, slots=True)
class Asked:
    """What a person asks a heal for by name.

    `also` are nodes that are put back though no record shows that the run broke them, or
    THE_CLUSTER. `as_recorded` acts on the recorded nodes where the inventory's file has others.
    """

    also: Collection[str] = ()
    as_recorded: bool = False

    def names(self, undo: PendingUndo) -> bool:
        """Return whether it names the node of `undo`."""
        return (undo.node or THE_CLUSTER) in self.also


_NOTHING = Asked()


@dataclass(frozen=True, slots=True)
class Triage:
    """What a heal undoes, and what it leaves alone."""

    undone: tuple[PendingUndo, ...]
    left_alone: tuple[PendingUndo, ...]


@dataclass(frozen=True, slots=True)
class _Scene:
    """What a heal acts on: `guarding` are the cluster as recorded and as its file describes it now.

    `removable` are the spares that may be taken out. `is_recorded` says that these are the nodes
    that the run was on.
    """

    cluster: Cluster
    guarding: tuple[Cluster, ...]
    removable: frozenset[str]
    is_recorded: bool


def heal(claim: Claim, limit_s: float, say: Say, asked: Asked = _NOTHING) -> Healed:
    """Put back what `claim`'s dead run had broken and wait until the cluster is whole.

    Raises `Refused` while the run lives, and `UndoFailed` with every node that could not be put
    back or leads elsewhere by now; the claim then stays, and the next heal tries again.
    """
    with open_runs.healing(claim) as is_there:
        if not is_there:
            return _ended(claim, "another process put it back meanwhile")
        healed = _healed(claim, limit_s, say, asked)
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


def triage(
    pending: Sequence[PendingUndo],
    unexplained: Sequence[PendingUndo],
    is_recorded: bool,
    asked: Asked,
) -> Triage:
    """Decide what is undone. Pure.

    `pending` is what the run's events leave, `unexplained` what looks broken besides. Where the
    nodes are not proven to be those of the run (`is_recorded`), only what is named is undone.
    """
    every = (*pending, *unexplained)
    undone = tuple(
        each
        for each in every
        if asked.names(each) or (is_recorded and (each in pending or _is_marked(each)))
    )
    return Triage(undone, tuple(each for each in every if each not in undone))


def _is_marked(pending: PendingUndo) -> bool:
    """Whether what is to be undone bears brownout's own mark, which shows who made it."""
    undo = registry.undo_named(pending.action)
    return undo is not None and undo.marked


def _remove_from_cluster(claim: Claim, cluster: Cluster) -> None:
    """Remove the claim in the cluster at once; where that cannot be done it ends by itself."""
    if not claim.token:
        return
    with contextlib.suppress(BrownoutError):
        adapter = adapter_for(with_options(cluster, _load_options(Path(claim.run))))
        try:
            namespaces = [NAMESPACE, claim.namespace or NAMESPACE]
            ClusterClaim(adapter.load_spec(), namespaces, "", claim.token).release()
        finally:
            adapter.close()


def _healed(claim: Claim, limit_s: float, say: Say, asked: Asked) -> Healed:
    run = Path(claim.run)
    record = ClusterRecord.read(run)
    if record is not None and _is_gone(record, claim.cluster):
        _stop_generator(run, say)
        place = Path(record.path).parent
        return _ended(claim, f"the lab at {place} was taken down, with all that was broken in it")
    if claim.brought_up:
        _check_lab(record, claim.cluster)
        _stop_generator(run, say)
        say(f"taking down {claim.cluster}, which the run had brought up")
        lab.down(claim.cluster)
        return _ended(
            claim, "took down the lab that the run had brought up, with all that was broken in it"
        )
    _check_lab_is_up(record, claim.cluster)
    scene = _scene(claim, record, asked)
    _check_names(scene.cluster, asked)
    pending, unexplained = _broken(scene.cluster, run) if claim.kind == "run" else ((), ())
    _check_machines(record, scene.cluster, (*pending, *unexplained), asked, say)
    _stop_generator(run, say)
    steps = sorted(run.glob("steps/*"))  # of a search for a capacity: each is a load of its own
    if any([collect_left(scene.cluster, place) for place in (run, *steps)]):
        say("fetched what the load of the run had left elsewhere, and removed it there")
    if claim.kind == "load":
        _remove_from_cluster(claim, scene.cluster)
        return _ended(claim, "ended what the load had left; it breaks nothing")
    plan = triage(pending, unexplained, scene.is_recorded, asked)
    if also := [each for each in plan.undone if each in unexplained]:
        say(f"not in the record of the run, and undone: {_listed(also)}")
    mended = _mend(scene, plan.undone, run, say)
    _check_left_alone(plan, mended, pending, scene, say)
    await_whole(scene.cluster, limit_s, say)
    _remove_from_cluster(claim, scene.cluster)
    return Healed(claim.cluster, claim.run, mended, whole=True)


def _ended(claim: Claim, outcome: str) -> Healed:
    return Healed(claim.cluster, claim.run, {}, whole=False, outcome=outcome)


def _scene(claim: Claim, record: ClusterRecord | None, asked: Asked) -> _Scene:
    """Return what is acted on; raises `UndoFailed` where the record and the inventory disagree."""
    if record is None:
        return _unrecorded(claim)
    try:
        cluster = record.cluster()
    except BrownoutError as error:
        raise UndoFailed(
            f"the record of the run {claim.run} cannot be used: {error}", "put that back"
        ) from error
    present = record.present()
    if cluster.name != claim.cluster:
        raise UndoFailed(
            f"nothing is touched: the run held cluster `{claim.cluster}`, but its record names "
            f"`{cluster.name}`",
            f"see whose run {claim.run} is",
        )
    changes = cluster_record.differences(cluster, present) if present else []
    if changes and not asked.as_recorded:
        raise UndoFailed(
            f"nothing is touched: {record.path} now means other nodes than when the run "
            f"{claim.run} began: {'; '.join(changes)}",
            f"restore that file, or `brownout heal {claim.cluster} --as-recorded` acts on the "
            "recorded nodes",
        )
    spares = {node.name for node in present.spares} if present else set()
    guarding = (cluster, present) if present else (cluster,)
    return _Scene(cluster, guarding, record.removable & spares, is_recorded=True)


def _unrecorded(claim: Claim) -> _Scene:
    """Return the cluster that the claim names; its nodes have to be those that the claim holds."""
    path = inventory.path_of(claim.inventory)
    cluster = inventory.load(claim.inventory)
    before = {node.name: node.address for node in claim.nodes} or _nodes_of_run(Path(claim.run))
    now = {node.name: node.address for node in nodes_of(cluster)}
    changes = [
        f"node `{name}`: recorded {address}, now {now.get(name, 'not listed')}"
        for name, address in before.items()
        if now.get(name) != address
    ]
    if cluster.name != claim.cluster:
        changes.insert(0, f"its name: recorded `{claim.cluster}`, now `{cluster.name}`")
    if changes:
        raise UndoFailed(
            f"nothing is touched: the inventory {path} means another cluster than the run "
            f"{claim.run} was on: {'; '.join(changes)}",
            "give `heal` the inventory of the run at that path",
        )
    return _Scene(cluster, (cluster,), frozenset(), is_recorded=bool(before))


def _nodes_of_run(run: Path) -> dict[str, str]:
    """Return the address of each node that run.json names; nothing where it is gone or torn."""
    try:
        cluster = dict(RunDirectory(run).read_metadata()["cluster"])
        listed = [*cluster["nodes"], *cluster["spares"]]
        return {str(node["name"]): str(node["address"]) for node in listed}
    except (BrownoutError, KeyError, TypeError):
        return {}


def _is_gone(record: ClusterRecord, name: str) -> bool:
    """Whether the lab of the run was taken down since, with every process of it."""
    place = Path(record.path)
    is_lab = bool(record.declaration.get("lab"))
    if not is_lab or (place.parent.name, place.name) != (name, labs.INVENTORY):
        return False
    present = record.present()
    addresses = {node["address"] for node in record.declaration.get("nodes", ())}
    same = present is not None and addresses <= {node.address for node in present.every}
    return not same and not record.some_process_lives()


def _check_lab_is_up(record: ClusterRecord | None, name: str) -> None:
    """Raise `ClusterError` where the lab of the run is there and was not started since a reboot."""
    if record is None or Path(record.path) != labs.directory(name) / labs.INVENTORY:
        return
    if labs.running_inventory(name) is None:
        raise ClusterError(f"the lab `{name}` is down", f"brownout lab up {name}")


def _check_names(cluster: Cluster, asked: Asked) -> None:
    """Raise `ConfigurationError` where a node is asked for that the cluster does not have."""
    for name in sorted({*asked.also} - {THE_CLUSTER}):
        cluster.node(name)


def _broken(cluster: Cluster, run: Path) -> tuple[Pending, Pending]:
    """Return what the run's events leave pending, and what looks broken besides."""
    log = RunDirectory(run).events
    pending = undos.left(read_events(log)) if log.exists() else ()
    return pending, also_broken(cluster, pending)


def _check_lab(record: ClusterRecord | None, name: str) -> None:
    """Refuse to take down a lab of the same name in another folder."""
    if record is None or Path(record.path).parent == labs.directory(name):
        return
    raise UndoFailed(
        f"nothing is touched: the run brought up the lab at {Path(record.path).parent}, but "
        f"`{name}` here is {labs.directory(name)}",
        f"set BROWNOUT_LAB_DIR={Path(record.path).parent.parent}",
    )


def _check_machines(
    record: ClusterRecord | None,
    cluster: Cluster,
    pending: Sequence[PendingUndo],
    asked: Asked,
    say: Say,
) -> None:
    """Refuse to act on a node whose address leads to another machine than before the run."""
    names = {each.node for each in pending}
    nodes = [node for node in cluster.every if node.name in names]
    if record is None or asked.as_recorded:
        return
    if unproven := cluster_record.unproven(record, nodes):
        say(
            f"not proven that these lead to the same machines as before the run, which had not "
            f"said their /etc/machine-id: {', '.join(unproven)}"
        )
    if not (changes := cluster_record.moved(record, nodes)):
        return
    raise UndoFailed(
        f"nothing is touched: {'; '.join(changes)}",
        "if these are the nodes of the run all the same, as on a machine that was set up anew, "
        f"`brownout heal {cluster.name} --as-recorded` acts on them",
    )


def _mend(scene: _Scene, pending: Sequence[PendingUndo], run: Path, say: Say) -> dict[str, str]:
    """Undo what is pending, and write that down behind the run's events."""
    cluster = scene.cluster
    adapter = adapter_for(with_options(cluster, _load_options(run)))
    try:
        faults = Faults(
            cluster,
            adapter,
            EventLog(RunDirectory(run).events),
            lambda _: None,
            pending,
            confirmation=os.environ.get("BROWNOUT_CONFIRM", ""),
            guarding=scene.guarding,
            removable=scene.removable,
        )
        for together in undos.in_order(pending):
            say("; ".join(map(undos.describe, together)))
        failures = faults.put_back()
    finally:
        adapter.close()
    if failures:
        raise UndoFailed("; ".join(failures), "mend these by hand, then heal again")
    return undos.by_place(pending)


def _check_left_alone(
    plan: Triage,
    mended: Mapping[str, str],
    pending: Sequence[PendingUndo],
    scene: _Scene,
    say: Say,
) -> None:
    """Say what is left alone; `UndoFailed` where the cluster cannot be whole with it."""
    if not plan.left_alone:
        return
    places = sorted({each.node or THE_CLUSTER for each in plan.left_alone})
    options = " ".join(f"--also {place}" for place in places)
    why = "nothing in the record of the run shows that it did this"
    if not scene.is_recorded:
        why = "the record of the run is gone, so nothing shows that it broke these nodes"
    words = f"left alone, since {why}: {_listed(plan.left_alone)}"
    hint = f"put it back yourself, or `brownout heal {scene.cluster.name} {options}` does it"
    if any(each in pending or undos.breaks(each) for each in plan.left_alone):
        done = [f"{action} {place}" for place, action in mended.items()]
        raise UndoFailed("; ".join([*(f"put back {each}" for each in done), words]), hint)
    say(f"{words}; {hint}")


def _listed(pending: Sequence[PendingUndo]) -> str:
    return ", ".join(map(undos.describe, pending))


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
            lambda: unmet(adapter, "whole"), limit_s, lambda words: say(f"not whole yet: {words}")
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
        process = procfs.identify(identity)
        if process is None or Path(process.command[0]).name != "loadgen":
            continue
        say(f"stopping the load generator (process {process.pid})")
        _end(process)


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
