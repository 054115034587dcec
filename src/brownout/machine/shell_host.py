"""What the hosts share whose node is a process of a machine with a shell: this one, or by ssh.

Pausing with a dead man's switch, wiping behind its guard and looking at files are scripts that a
`Runner` runs. A kind of host says which process is the node's, and how it is started and ended.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from brownout.base.errors import (
    ConfigurationError,
    Denied,
    Refused,
    after_effect,
)
from brownout.inventory.model import Node
from brownout.machine import (
    address_proof,
    files,
    leftovers,
    server_directory,
    signals,
    storage,
    supervision,
)
from brownout.machine.commands import Runner
from brownout.machine.footprint import Footprint, footprint
from brownout.machine.host import Connection, Host, ProcessState, Proof, Shell, StopMode, already
from brownout.machine.processes import Located, Process
from brownout.machine.storage import Rules

__all__ = ["ShellHost"]


class ShellHost(ABC):
    """Acts on one node's process and files through `runner`; holds no state of the node.

    So another run can take over at any moment. `undo_after_s` is the limit of a pause where none
    is given. In `server_directory` the node's other processes work, if it has any.
    """

    def __init__(
        self,
        node: Node,
        runner: Runner,
        rules: Rules,
        undo_after_s: float,
        server_directory: Path | None = None,
    ) -> None:
        self._node, self._name, self._runner = node, node.name, runner
        self._rules, self._undo_after_s = rules, undo_after_s
        self._server_directory = server_directory

    @abstractmethod
    def _locate(self) -> Located:
        """Return which process is the node's now."""

    @abstractmethod
    def _launch(self) -> Proof:
        """Start the node, which does not run; proven when it exists and did not end at once."""

    @abstractmethod
    def _end(self, process: Process, mode: StopMode) -> Proof:
        """End this process; proven when its last thread is gone."""

    def shell(self) -> Shell:
        """Return what runs scripts on the node's machine, and its process there."""
        process, unit = self._locate().process, self._unit
        return Shell(
            self._name, self._runner, process, self._undo_after_s, unit, self._server_directory
        )

    @property
    def _unit(self) -> str:
        """The systemd unit that runs it; empty where none does."""
        return ""

    def running(self) -> ProcessState:
        """Return whether the process exists, and whether it is paused."""
        return _state(self._locate())

    def serves(self, connection: Connection) -> bool | None:
        """Return whether the process, or one below it, has the other end of `connection`."""
        process = self._locate().process
        pids = [] if process is None else [process.pid]
        if self._server_directory is not None:
            pids += server_directory.pids(self._runner, self._server_directory)
        return address_proof.holds(self._runner, pids, connection)

    def stop(self, mode: StopMode) -> Proof:
        """End the process: `clean`, as its own service would, or `kill` by SIGKILL."""
        if mode not in ("clean", "kill"):
            raise ConfigurationError(f"stop mode: found {mode!r}, wanted clean or kill")
        held: dict[str, Any] = leftovers.release(self._node, cast(Host, self))
        process = self._locate().process
        if process is not None and mode == "kill":
            held |= supervision.hold(self._runner, process.pid)
            process = self._locate().process  # it may have ended meanwhile
        if process is None:
            gone = already({"state": "gone"})
            return self._others_too(gone, server_directory.kill) if mode == "kill" else gone
        if mode == "clean" and process.paused:
            raise Refused(
                f"node `{self._name}` is not stopped: it is paused and would not hear it",
                "resume it first, or kill it",
            )
        with after_effect() if held else nullcontext():
            proof = self._end(process, mode)
        proof = replace(proof, evidence={**proof.evidence, **held})
        if mode == "kill":
            proof = self._others_too(proof, server_directory.kill)
        successor = self._locate().process
        if successor is None:
            return proof
        evidence = {**proof.evidence, "restarted_as_pid": successor.pid}  # by a supervisor
        return Proof(proof.effective_monotonic, proof.uncertainty_s, evidence)

    def restarts(self) -> str:
        """Return for a plan what would start a killed node again, and whether it is held off."""
        process = self._locate().process
        if process is None:
            return ""
        supervisor = supervision.supervisor_of(self._runner, process.pid)
        return f"; {supervisor.words()}" if supervisor else ""

    def start(self) -> Proof:
        """Start it as the inventory says."""
        process = self._locate().process
        if process is None:
            return self._launch()
        return already(process.evidence(state="paused" if process.paused else "running"))

    def pause(self, undo_after_s: float | None = None) -> Proof:
        """Freeze every thread by SIGSTOP; the machine itself resumes it after `undo_after_s`."""
        process = self._wanted_alive("paused")
        limit_s = undo_after_s or self._undo_after_s
        effect = signals.freeze(self._runner, process, limit_s)
        signals.check(effect, self._name, "paused", "SIGSTOP")
        undo = {"undo_after_s": limit_s, "undo_pid": effect.said.number("switch")}
        proof = effect.proof(process, signal="SIGSTOP", **undo)
        return self._others_too(proof, server_directory.freeze, limit_s)

    def resume(self) -> Proof:
        """Resume it by SIGCONT."""
        process = self._wanted_alive("resumed")
        others = self._server_directory
        thawed = server_directory.thaw(self._runner, others) if others else None
        effect = signals.thaw(self._runner, process)
        signals.check(effect, self._name, "running", "SIGCONT")
        proof = effect.proof(process, signal="SIGCONT")
        if thawed is None:
            return proof
        return server_directory.resumed(proof, thawed, was_paused=process.paused)

    def check_wipe(self, directories: Sequence[Path]) -> None:
        """Ask everything that speaks against emptying `directories`, but whether it runs."""
        process = self._locate().process
        own = [] if process is None else [process.pid]
        if self._server_directory:
            own += server_directory.pids(self._runner, self._server_directory)
        storage.check(self._runner, storage.targets(self._name, directories), self._rules, own)

    def wipe(
        self,
        directories: Sequence[Path],
        began: Callable[[], None] = lambda: None,
        *,
        finishing: bool = False,
    ) -> Proof:
        """Empty `directories`, all of them checked before the first is touched.

        One may be a block device, where the inventory lists it by its stable name.
        """
        located = self._locate()
        if located.process is not None or located.unrest:
            state = located.unrest or f"it is {_state(located).describe()}"
            raise Refused(f"node `{self._name}` is not wiped: {state}", "stop it first")
        targets = storage.targets(self._name, directories)
        rules = replace(self._rules, finishing=finishing)
        checked = storage.check(self._runner, targets, rules)
        began()
        return storage.empty(self._runner, checked, self._rules.timeout_s)

    def read_text(self, path: Path) -> str:
        """Return the text of a file on the node's machine."""
        return files.read_text(self._runner, self._name, path)

    def entries(self, path: Path) -> list[str]:
        """Return the names in a directory on the node's machine."""
        return files.entries(self._runner, self._name, path)

    def resolved(self, paths: Sequence[Path]) -> list[Path]:
        """Return where these paths lead on the node's machine, without links."""
        return files.resolved(self._runner, self._name, paths)

    def footprint(self, variables: Sequence[str] = ()) -> Footprint | None:
        """Return what the node's process shows of itself, with the files of its others."""
        return footprint(self._runner, self._pids(), variables)

    def _pids(self) -> list[int]:
        """Return the ids of the node's processes, its own first; none if that does not run."""
        process = self._locate().process
        if process is None:
            return []
        others = self._server_directory
        return [process.pid, *(server_directory.pids(self._runner, others) if others else ())]

    def _others_too(self, proof: Proof, act: Callable[..., Proof], *arguments: Any) -> Proof:
        """Do the same to the processes of `server_directory`; the effect is that on all of them."""
        if self._server_directory is None:
            return proof
        with after_effect():
            others = act(self._runner, self._server_directory, *arguments)
        return server_directory.joined(proof, others)

    def _wanted_alive(self, act: str) -> Process:
        process = self._locate().process
        if process is None:
            raise Denied(f"node `{self._name}` is not {act}: it is not running", "start it")
        return process


def _state(located: Located) -> ProcessState:
    process = located.process
    if process is None:
        unrest = {"unrest": located.unrest} if located.unrest else {}
        return ProcessState(False, evidence={"state": "gone", **located.evidence, **unrest})
    state = "paused" if process.paused else "running"
    evidence = process.evidence(state=state, **located.evidence)
    return ProcessState(True, process.paused, process.pid, evidence)
