"""Break and mend, written down: the intent before the act, the proof after it.

What is broken is known here and nowhere else; nothing else may stop, pause, wipe or start a node.
"""

import threading
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from brownout.base.errors import BrownoutError, Refused, UndoFailed, Unsupported
from brownout.databases.adapter import Adapter, Quiescing, SteppingDown
from brownout.databases.lacking import LOOK_AGAIN_WITHIN_S, await_nothing, still_lacks
from brownout.faults import guards, owed
from brownout.faults.acts import Act, Acts, Evidence, evidence_of
from brownout.faults.changes import Changes
from brownout.faults.debts import Debt
from brownout.faults.guards import Guard
from brownout.faults.litmus.engines import Engines
from brownout.inventory.model import Cluster, Node
from brownout.machine.host import Host, Proof, StopMode, delaying_host, host_for, partitioning_host
from brownout.run.events import EventLog

__all__ = ["Faults", "guards_of_wipe"]

#: How long the others may take to answer for what a stopped node holds, and after a heal.
_ANSWERED_WITHIN_S = 10.0
_HEALED_WITHIN_S = 60.0
#: What a node that has the only copy may lose data by.
_MAY_LOSE = frozenset({"stop", "kill", "pause", "partition"})


def guards_of_wipe(
    cluster: Cluster, adapter: Adapter, host: Host, node: Node, lost: Sequence[str]
) -> list[Guard]:
    """Ask every guard of a wipe of `node` but whether it is stopped; nothing is touched.

    `lost` is what the adapter says would be lost with its data.
    """
    against = ""
    try:
        host.check_wipe(adapter.data_directories(node))
    except BrownoutError as error:
        against = str(error)
    return guards.of_wipe(cluster, node.name, lost, against)


class Faults:
    """Every fault of one run on one cluster, and what is still broken."""

    def __init__(
        self,
        cluster: Cluster,
        adapter: Adapter,
        events: EventLog,
        to_t: Callable[[float], float | None],
        broken: Mapping[str, str] | None = None,
        half_wiped: Mapping[str, Sequence[Path]] | None = None,
        debts: Sequence[Debt] = (),
        to_wipe: Callable[[Node], bool] = lambda _: False,
        confirmation: str = "",
    ) -> None:
        self._cluster, self._adapter = cluster, adapter
        self._to_wipe = to_wipe  # whether the run means to wipe this node once it is stopped
        self._confirmation = confirmation
        self.acts = Acts(events, to_t)
        self._hosts: dict[str, Host] = {}
        self._broken = dict(broken or {})  # node -> the mends it waits for, as `owed` words them
        self._quiesced: list[int] = []  # the events that a recluster is to give their effect
        self._half_wiped = dict(half_wiped or {})  # node -> directories that a wipe began on
        self._lock = threading.Lock()
        self.changes = Changes(cluster, adapter, self.acts, self.host, debts)

    @property
    def broken(self) -> dict[str, str]:
        """Each node that is still broken, with what it waits for: `{"n1": "start_node"}`."""
        with self._lock:
            return dict(self._broken)

    @property
    def settled(self) -> bool:
        """Whether nothing is broken and no change keeps members away, so that milestones count."""
        return not self.broken and self.changes.making.settled

    def host(self, node: Node) -> Host:
        """Return the host of `node`, the same one each time."""
        return self._hosts.setdefault(node.name, host_for(node))

    def engines(self, stopped: Callable[[], bool]) -> Engines:
        """Return the ChaosEngines of this run."""
        return self.changes.engines(lambda: self.broken, stopped)

    def stop(self, node: Node, mode: StopMode) -> Evidence:
        """Stop `node` (`clean` or `kill`); proven when its process is gone."""
        self._check_break(node, "stop" if mode == "clean" else "kill")
        self._check_wipes([node])
        if mode == "kill":
            return self._kill(node)
        return self._break(Act("break", "stop_node", node.name, _undo("start_node")),
                           lambda: self.host(node).stop("clean"))  # fmt: skip

    def kill_together(self, nodes: Sequence[Node]) -> list[Evidence]:
        """Kill several nodes as one fault, as where their rack loses its power.

        The guards judge all of them before the first is touched.
        """
        missing, down = still_lacks(self._adapter, "whole"), self.broken
        found = []
        for node in nodes:
            lost = self._lost(node, "kill")
            found += guards.of_break(self._cluster, node.name, "kill", down, missing, lost)
            down[node.name] = "start_node"
        guards.refuse(found)
        self._check_wipes(nodes)
        return [self._kill(node) for node in nodes]

    def pause(self, node: Node, undo_after_s: float | None = None) -> Evidence:
        """Freeze `node`'s process; proven when the kernel says it is stopped.

        The node lets it go on by itself after `undo_after_s` seconds, or its host's default.
        """
        self._check_break(node, "pause")
        return self._break(Act("break", "pause_node", node.name, _undo("resume_node")),
                           lambda: self.host(node).pause(undo_after_s))  # fmt: skip

    def partition(self, node: Node, undo_after_s: float | None = None) -> Evidence:
        """Cut `node` off from every other node, both ways; clients and we still reach it.

        The node joins them again by itself after `undo_after_s` seconds, or its host's default.
        """
        host = partitioning_host(node)
        self._check_break(node, "partition")
        others = [other.address for other in self._cluster.every if other.name != node.name]
        return self._break(
            Act("break", "partition_node", node.name, _undo("heal_partition"), {"from": others}),
            lambda: host.partition(others, undo_after_s),
        )

    def delay(self, node: Node, latency_ms: int, jitter_ms: int) -> Evidence:
        """Have what `node` sends arrive later by so many milliseconds."""
        host = delaying_host(node)
        self._check_break(node, "delay")
        size = {"latency_ms": latency_ms, "jitter_ms": jitter_ms}
        return self._break(
            Act("break", "delay_node", node.name, _undo("undelay_node"), size),
            lambda: host.delay(latency_ms, jitter_ms),
        )

    def wipe(self, node: Node) -> Evidence:
        """Empty the data directories that `node`'s own configuration names; it must be stopped.

        The intent is written between the last check and the first removal: a wipe without one
        never began, and is never finished.
        """
        self._check_wipe(node)
        directories = self._adapter.data_directories(node)
        named = {"directories": [str(each) for each in directories], "began": True}
        act = Act("break", "wipe_node", node.name, _undo("start_node"), named)
        entries: list[int] = []

        def began() -> None:
            entries.append(self._intend_break(act))
            self._half_wiped[node.name] = directories

        try:
            proof = self.host(node).wipe(directories, began)
        except BrownoutError as error:
            for entry in entries:
                self.acts.failed(entry, error)
            raise
        del self._half_wiped[node.name]
        return {"node": node.name, **self.acts.prove(entries[0], proof)}

    def step_down(self, node: Node, catch_up_s: int) -> Evidence:
        """Have the primary hand over once another one has caught up, in `catch_up_s` at most."""
        adapter = self._adapter
        if not isinstance(adapter, SteppingDown):
            raise self._unsupported("stepdown")
        self._check_break(node, "stepdown")
        act = Act("break", "step_down_primary", node.name, _undo("undrain_node"),
                  {"catch_up_s": catch_up_s})  # fmt: skip
        evidence = self._break(act, lambda: adapter.step_down(node, catch_up_s))
        self._mended(node.name, "undrain_node")  # it goes on serving: nothing stays broken
        return evidence

    def quiesce(self, node: Node) -> Evidence:
        """Have `node` leave its work to others from the next `recluster` on.

        Alone it changes nothing for anybody, so only a recluster makes it effective: an event of
        a quiesce without one never is.
        """
        adapter = self._quiescing()
        self._check_break(node, "quiesce")
        act = Act("break", "quiesce_node", node.name, _undo("unquiesce_node"))
        entry = self._intend_break(act)
        proof = self.acts.do(entry, lambda: adapter.quiesce(node))
        if proof.already:
            return {"node": node.name, **self.acts.prove(entry, proof)}
        self._quiesced.append(entry)
        return {"node": node.name, "effective": None, "evidence": evidence_of(proof)}

    def recluster(self) -> Evidence:
        """Have the nodes form their cluster anew, which gives every quiesce before it its effect.

        With no quiesce before it, nothing is broken by it: then it is written down as a mend.
        """
        adapter = self._quiescing()
        act = Act("break" if self._quiesced else "mend", "recluster", None)
        entry = self.acts.intend(act)
        proof = self.acts.do(entry, adapter.recluster)
        for quiesced in self._quiesced:
            self.acts.prove(quiesced, proof)
        self._quiesced.clear()
        return {"node": None, **self.acts.prove(entry, proof)}

    def unquiesce(self, node: Node) -> Evidence:
        """Give `node` its work back: the quiesce is undone and the cluster formed anew."""
        return self._undrain(node, "unquiesce_node")

    def start(self, node: Node) -> Evidence:
        """Start `node`; safe when it runs already.

        A wipe of it that was cut short is finished first: a server does not start on half of its
        files. Where a guard is against that, the node stays stopped, and `UndoFailed` says so.
        """
        directories = self._half_wiped.get(node.name)
        if directories is not None and not self.host(node).running().running:
            self._finish_wipe(node, directories)
        evidence = self.acts.carry_out(Act("mend", "start_node", node.name), self.host(node).start)
        self._mended(node.name, "start_node")
        return evidence

    def resume(self, node: Node) -> Evidence:
        """Let a paused `node` go on; safe when it runs."""
        evidence = self.acts.carry_out(
            Act("mend", "resume_node", node.name), self.host(node).resume
        )
        self._mended(node.name, "resume_node")
        return evidence

    def heal_partition(self, node: Node) -> Evidence:
        """Let `node` reach the others again; safe where it does."""
        host = partitioning_host(node)
        act = Act("mend", "heal_partition", node.name)
        evidence = self.acts.carry_out(act, host.heal_partition)
        self._mended(node.name, "heal_partition")
        return evidence

    def undelay(self, node: Node) -> Evidence:
        """Have what `node` sends arrive as before; safe where it does."""
        host = delaying_host(node)
        evidence = self.acts.carry_out(Act("mend", "undelay_node", node.name), host.undelay)
        self._mended(node.name, "undelay_node")
        return evidence

    def reboot(self, node: Node) -> Evidence:
        """Reboot `node`'s machine; a plain process has none, which is recorded as skipped."""
        return self.acts.carry_out(Act("mend", "reboot_node", node.name), self.host(node).reboot)

    def put_back(self) -> list[str]:
        """Undo all that is still broken or changed, each tried; return what could not be undone.

        A node whose wipe is to be finished comes last: the others have to have its data by then.
        """
        failures = []
        for name, waiting in sorted(self.broken.items(), key=lambda b: b[0] in self._half_wiped):
            try:
                node = self._cluster.node(name)
                for mend in owed.steps(waiting):
                    self._mend(node, mend)
            except BrownoutError as error:
                failures.append(f"node `{name}` could not be put back by {waiting}: {error}")
        return failures + self.changes.put_back()

    def _kill(self, node: Node) -> Evidence:
        return self._break(Act("break", "kill_node", node.name, _undo("start_node")),
                           lambda: self.host(node).stop("kill"))  # fmt: skip

    def _mend(self, node: Node, mend: str) -> None:
        """Do one mend that a broken node waits for; `UndoFailed` if there is no such mend."""
        if mend == "resume_node":
            self.resume(node)
        elif mend in ("undrain_node", "unquiesce_node"):
            self._undrain(node, mend)
        elif mend == "heal_partition":
            self.heal_partition(node)
        elif mend == "undelay_node":
            self.undelay(node)
        elif mend == "start_node":
            self.start(node)
        else:
            raise UndoFailed(
                f"node `{node.name}`: its record says that it is put back by `{mend}`, which this "
                "version of brownout does not know",
                "heal with the version that ran it, or put the node back by hand",
            )

    def _finish_wipe(self, node: Node, recorded: Sequence[Path]) -> None:
        """Empty what a wipe left, where every guard still allows it and names the same place."""
        finish = Act("mend", "finish_wipe", node.name)
        try:
            named = self._adapter.data_directories(node, begun=True)
            if set(named) != set(recorded):
                raise Refused(
                    f"the record of its wipe names {_paths(recorded)}, but its own configuration "
                    f"names {_paths(named)}"
                )
            now, needs = datetime.now(UTC), ["wipe"]
            found = guards.of_cluster(self._cluster, needs, self._confirmation, now)
            lost = self._would_lose(self._gone(node), _HEALED_WITHIN_S)
            guards.refuse([*found, *guards.of_wipe(self._cluster, node.name, lost, "")])
            self.acts.carry_out(finish, lambda: self.host(node).wipe(named))
        except BrownoutError as error:
            raise UndoFailed(
                f"node `{node.name}` is left stopped: its wipe began and was cut short, so it "
                f"would start on a part of its files, and what is left is not removed: {error}",
                "see that the other nodes have all data; then empty its data directory yourself, "
                "start it, and heal again",
            ) from error
        del self._half_wiped[node.name]

    def _undrain(self, node: Node, mend: str) -> Evidence:
        evidence = self.acts.carry_out(
            Act("mend", mend, node.name), lambda: self._adapter.undrain(node)
        )
        self._mended(node.name, mend)
        return evidence

    def _quiescing(self) -> Quiescing:
        """Return the adapter, if its database can quiesce; never something milder instead."""
        if self._adapter.supports("quiesce").ok and isinstance(self._adapter, Quiescing):
            return self._adapter
        raise self._unsupported("quiesce")

    def _unsupported(self, need: str) -> Unsupported:
        reason = self._adapter.supports(need).reason
        return Unsupported(f"cluster `{self._cluster.name}`: {reason}; nothing is touched")

    def _check_break(self, node: Node, act: str) -> None:
        """Refuse a break that the inventory, the nodes down or the cluster's state forbid."""
        broken = self.broken
        missing = [] if node.name in broken else still_lacks(self._adapter, "whole")
        lost = self._lost(node, act)
        found = guards.of_break(self._cluster, node.name, act, broken, missing, lost)
        guards.refuse([*found, guards.possible(self.changes.pinned())])

    def _check_wipe(self, node: Node) -> None:
        """Refuse a wipe of a node that is not stopped, or that any other guard is against."""
        state = self.host(node).running()
        guards.refuse([guards.of_stopped(node.name, state.describe(), state.running)])
        self._check_break(node, "wipe")
        wanted = self._cluster.allow_data_loss != "all_copies"
        lost = self._would_lose(self._gone(node), _ANSWERED_WITHIN_S * wanted)
        guards.refuse(guards_of_wipe(self._cluster, self._adapter, self.host(node), node, lost))

    def _check_wipes(self, nodes: Sequence[Node]) -> None:
        """Refuse to stop nodes of which one is to be wiped then and may not be."""
        found: list[Guard] = []
        for node in nodes:
            if self._to_wipe(node):
                lost = self._would_lose(self._gone(*nodes))
                found += guards_of_wipe(self._cluster, self._adapter, self.host(node), node, lost)
        guards.refuse(found)

    def _gone(self, *nodes: Node) -> list[Node]:
        """Return these nodes and all that are broken: the others have to do without their data."""
        names = {*self.broken, *(node.name for node in nodes)}
        return [self._cluster.node(name) for name in sorted(names)]

    def _lost(self, node: Node, act: str) -> list[str]:
        """Return what would be lost with `node`'s data, where `act` may lose it."""
        if act in _MAY_LOSE and not self._cluster.allow_data_loss:
            return self._would_lose([node])
        return []

    def _would_lose(
        self, nodes: Sequence[Node], within_s: float = LOOK_AGAIN_WITHIN_S
    ) -> list[str]:
        """Return what would still be lost with these nodes' data after `within_s` seconds."""
        return await_nothing(lambda: self._adapter.would_lose(nodes), within_s, poll_s=0.1)

    def _break(self, act: Act, do: Callable[[], Proof]) -> Evidence:
        entry = self._intend_break(act)
        return {"node": act.node, **self.acts.prove(entry, self.acts.do(entry, do))}

    def _intend_break(self, act: Act) -> int:
        """Count the node as broken before it is, so that a crash in between leaves it counted."""
        self.acts.before_break()
        with self._lock:
            if act.undo is not None and act.node is not None:
                waiting = self._broken.get(act.node, "")
                self._broken[act.node] = owed.broke(waiting, act.undo["action"])
        return self.acts.intend(act)

    def _mended(self, node: str, mend: str) -> None:
        """This is no longer owed to `node`."""
        with self._lock:
            waiting = owed.mended(self._broken.pop(node, ""), mend)
            if waiting:
                self._broken[node] = waiting


def _paths(directories: Sequence[Path]) -> str:
    return ", ".join(f"`{each}`" for each in directories) or "no directory"


def _undo(action: str) -> dict[str, str]:
    return {"action": action}
