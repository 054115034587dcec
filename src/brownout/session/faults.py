"""Break and mend, written down: the intent before the act, the proof after it.

What is broken is known here and nowhere else; nothing else may stop, pause, wipe or start a node.
"""

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from brownout.cluster.adapter import Adapter
from brownout.cluster.host import Host, Proof, StopMode, host_for
from brownout.cluster.model import Cluster, Node
from brownout.errors import BrownoutError
from brownout.run.events import EventLog
from brownout.session import guards

__all__ = ["Faults"]

Evidence = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Act:
    """One break or mend: its event's type and name, the node and, for a break, how to undo it."""

    type: str
    name: str
    node: str
    undo: dict[str, str] | None = None
    arguments: dict[str, Any] | None = None


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
    ) -> None:
        self._cluster, self._adapter, self._events, self._to_t = cluster, adapter, events, to_t
        self._hosts: dict[str, Host] = {}
        self._broken = dict(broken or {})  # node -> the mend it waits for
        self._half_wiped = dict(half_wiped or {})  # node -> directories that a wipe began on
        self._lock = threading.Lock()
        self.broke_something = False
        self.before_break: Callable[[], None] = lambda: None

    @property
    def broken(self) -> dict[str, str]:
        """Each node that is still broken, with the mend it waits for: `{"n1": "start_node"}`."""
        with self._lock:
            return dict(self._broken)

    def host(self, node: Node) -> Host:
        """Return the host of `node`, the same one each time."""
        return self._hosts.setdefault(node.name, host_for(node))

    def stop(self, node: Node, mode: StopMode) -> Evidence:
        """Stop `node` (`clean` or `kill`); proven when its process is gone."""
        self._check_break(node, "stop" if mode == "clean" else "kill")
        name = "stop_node" if mode == "clean" else "kill_node"
        return self._break(Act("break", name, node.name, _undo("start_node")),
                           lambda: self.host(node).stop(mode))  # fmt: skip

    def pause(self, node: Node, undo_after_s: float | None = None) -> Evidence:
        """Freeze `node`'s process; proven when the kernel says it is stopped.

        The node lets it go on by itself after `undo_after_s` seconds, or its host's default.
        """
        self._check_break(node, "pause")
        return self._break(Act("break", "pause_node", node.name, _undo("resume_node")),
                           lambda: self.host(node).pause(undo_after_s))  # fmt: skip

    def wipe(self, node: Node) -> Evidence:
        """Empty the data directories that `node`'s own configuration names; it must be stopped."""
        self._check_wipe(node)
        directories = self._adapter.data_directories(node)
        named = {"directories": [str(directory) for directory in directories]}
        self._half_wiped[node.name] = directories
        evidence = self._break(
            Act("break", "wipe_node", node.name, _undo("start_node"), named),
            lambda: self.host(node).wipe(directories),
        )
        del self._half_wiped[node.name]
        return evidence

    def step_down(self, node: Node) -> Evidence:
        """Have the primary hand over to another member."""
        self._check_break(node, "stepdown")
        evidence = self._break(Act("break", "step_down_primary", node.name, _undo("undrain_node")),
                               lambda: self._adapter.drain(node))  # fmt: skip
        self._mended(node.name, "undrain_node")  # it goes on serving: nothing stays broken
        return evidence

    def start(self, node: Node) -> Evidence:
        """Start `node`; safe when it runs already.

        A wipe of it that was cut short is finished first: a server does not start on half of its
        files. The directories were checked when the wipe began.
        """
        directories = self._half_wiped.get(node.name)
        if directories is not None and not self.host(node).running().running:
            finish = Act("mend", "finish_wipe", node.name)
            self._act(finish, lambda: self.host(node).wipe(directories))
            del self._half_wiped[node.name]
        evidence = self._act(Act("mend", "start_node", node.name), self.host(node).start)
        self._mended(node.name, "start_node")
        return evidence

    def resume(self, node: Node) -> Evidence:
        """Let a paused `node` go on; safe when it runs."""
        evidence = self._act(Act("mend", "resume_node", node.name), self.host(node).resume)
        self._mended(node.name, "resume_node")
        return evidence

    def reboot(self, node: Node) -> Evidence:
        """Reboot `node`'s machine; a plain process has none, which is recorded as skipped."""
        return self._act(Act("mend", "reboot_node", node.name), self.host(node).reboot)

    def put_back(self) -> list[str]:
        """Undo all that is still broken, every node tried; return what could not be undone."""
        failures = []
        for name, mend in self.broken.items():
            node = self._cluster.node(name)
            try:
                self._mend(node, mend)
            except BrownoutError as error:
                failures.append(f"node `{name}` could not be put back by {mend}: {error}")
        return failures

    def _mend(self, node: Node, mend: str) -> None:
        """Do the mend that a broken node waits for."""
        if mend == "resume_node":
            self.resume(node)
        elif mend == "undrain_node":
            act = Act("mend", "undrain_node", node.name)
            self._act(act, lambda: self._adapter.undrain(node))
            self._mended(node.name, mend)
        else:
            self.start(node)

    def _check_break(self, node: Node, act: str) -> None:
        """Refuse a break that the inventory, the nodes down or the cluster's state forbid."""
        redundant = node.name in self.broken or self._adapter.stable("whole").reached
        guards.refuse(guards.of_break(self._cluster, node.name, act, self.broken, redundant))

    def _check_wipe(self, node: Node) -> None:
        """Refuse a wipe that the inventory forbids or of a node that is not stopped."""
        state = self.host(node).running()
        guards.refuse(guards.of_wipe(self._cluster, node.name, state.describe(), state.running))
        self._check_break(node, "wipe")

    def _break(self, act: Act, do: Callable[[], Proof]) -> Evidence:
        """Count the node as broken before it is, so that a crash in between leaves it counted."""
        self.before_break()
        with self._lock:
            if act.undo is not None:
                self._broken[act.node] = act.undo["action"]
        self.broke_something = True
        return self._act(act, do)

    def _mended(self, node: str, mend: str) -> None:
        """Nothing more is owed to `node` if this is the mend that it waited for."""
        with self._lock:
            if self._broken.get(node) == mend:
                del self._broken[node]

    def _act(self, act: Act, do: Callable[[], Proof]) -> Evidence:
        """Write the intent, act, write the proof; the evidence is what the activity returns."""
        entry = self._events.intent(
            act.type, act.name, node=act.node, undo=act.undo, arguments=act.arguments
        )
        try:
            proof = do()
        except BrownoutError as error:
            self._events.failed(entry, str(error))
            raise
        effective = self._to_t(proof.effective_monotonic)
        evidence = {**proof.evidence, "skipped": proof.skipped, "already": proof.already}
        self._events.effective(entry, effective, proof.uncertainty_s, evidence)
        self._events.ended(entry)
        return {"node": act.node, "effective": effective, "evidence": evidence}


def _undo(action: str) -> dict[str, str]:
    return {"action": action}
