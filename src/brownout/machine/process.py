"""A node that is a process on this machine: the host of labs and of a single-machine set-up."""

import shlex
import signal
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any, ClassVar

from brownout.base.errors import ConfigurationError, HostError, Refused
from brownout.inventory.model import HostSpec, Node, ProcessSpec
from brownout.machine import deadman, network, procfs, wipe
from brownout.machine.commands import LocalRunner
from brownout.machine.delay import NodeDelay
from brownout.machine.directories import Facts, check
from brownout.machine.host import ProcessState, Proof, StopMode
from brownout.machine.launch import launch, start_command
from brownout.machine.partition import NodeNetwork
from brownout.machine.procfs import Handle, Identity
from brownout.machine.recorded import describe, recorded_process

__all__ = ["ProcessHost"]

#: A kill needs no consent; this long only if the kernel is stuck.
_KILL_TIMEOUT_S = 20.0
_STATE_TIMEOUT_S = 5.0
_STOPPED = frozenset("TtZX")


class ProcessHost:
    """Acts on one process, found by its pid file and proven by its start time and command.

    Holds no state, so that another run can take over at any moment.
    """

    Spec: ClassVar[type[HostSpec]] = ProcessSpec

    def __init__(self, node: Node) -> None:
        if not isinstance(node.host, ProcessSpec):
            raise ConfigurationError(f"node `{node.name}` is not a process of this machine")
        self._name, self._address, self._spec = node.name, node.address, node.host
        self._network = _network(node.name, node.host.network_namespace)
        self._delay = NodeDelay(node.name, node.host)

    @property
    def machine(self) -> str:
        """Which machine: this one."""
        return "localhost"

    def running(self) -> ProcessState:
        """Return whether the process exists, and whether it is paused."""
        identity = recorded_process(self._name, self._spec)
        if identity is None:
            return ProcessState(False, evidence={"state": "gone"})
        paused = _is_paused(identity)
        state = "paused" if paused else "running"
        return ProcessState(True, paused, identity.pid, describe(identity, state=state))

    def stop(self, mode: StopMode) -> Proof:
        """End the process by SIGTERM (`clean`) or SIGKILL (`kill`)."""
        number, timeout_s = self._how_to_stop(mode)
        identity = recorded_process(self._name, self._spec)
        if identity is None:
            return _already({"state": "gone"})
        if mode == "clean" and _is_paused(identity):
            raise Refused(
                f"node `{self._name}` is not stopped: it is paused and would not hear SIGTERM",
                "resume it first, or kill it",
            )
        sent = time.monotonic()
        with Handle(identity) as handle:
            handle.send(number)
            times = handle.wait_gone(timeout_s)
        if times is None:
            raise HostError(
                f"node `{self._name}` still runs {timeout_s:g} s after {number.name} "
                f"(pid {identity.pid})",
                "look at its log, or kill it",
            )
        return self._stopped(identity, number, sent, times)

    def pause(self, undo_after_s: float | None = None) -> Proof:
        """Freeze every thread by SIGSTOP; a switch of its own process undoes it after the limit."""
        identity = self._wanted_alive("paused")
        if _is_paused(identity):
            return _already(describe(identity, state="paused"))
        limit_s = undo_after_s or deadman.DEFAULT_UNDO_AFTER_S
        switch = deadman.arm(LocalRunner(), identity.pid, identity.started, limit_s)
        proof = self._switch(identity, signal.SIGSTOP, paused=True)
        undo = {"undo_after_s": limit_s, "undo_pid": switch}
        return replace(proof, evidence={**proof.evidence, **undo})

    def resume(self) -> Proof:
        """Let it go on by SIGCONT."""
        identity = self._wanted_alive("resumed")
        if not _is_paused(identity):
            return _already(describe(identity, state="running"))
        proof = self._switch(identity, signal.SIGCONT, paused=False)
        deadman.cancel(LocalRunner(), identity.pid, identity.started)
        return proof

    def start(self) -> Proof:
        """Start it detached, in a session of its own, as the inventory's `command` says."""
        identity = recorded_process(self._name, self._spec)
        if identity is not None:
            paused = _is_paused(identity)
            return _already(describe(identity, state="paused" if paused else "running"))
        return launch(self._name, self._address, self._spec)

    def reboot(self) -> Proof:
        """Do nothing: a process has no machine of its own to restart."""
        reason = "a process of this machine has no reboot of its own"
        return Proof(time.monotonic(), 0.0, {"reason": reason}, skipped=True)

    def check_wipe(self, directories: Sequence[Path]) -> None:
        """Ask everything that speaks against emptying `directories`, but whether it runs."""
        pid = self.running().pid
        self._checked(directories, () if pid is None else (pid,))

    def wipe(self, directories: Sequence[Path], began: Callable[[], None] = lambda: None) -> Proof:
        """Empty `directories`, all of them checked before the first is touched."""
        state = self.running()
        if state.running:
            raise Refused(
                f"node `{self._name}` is not wiped: it is {state.describe()}", "stop it first"
            )
        checked = self._checked(directories)
        began()
        emptied = [wipe.empty(facts) for facts in checked]
        last = max(emptied, key=lambda one: one.first_empty)
        return Proof(
            last.first_empty,
            last.first_empty - last.last_not_empty,
            {"state": "empty", "directories": [one.evidence() for one in emptied]},
            already=not any(one.files for one in emptied),
        )

    def why_no_partition(self) -> str:
        """Return why this node cannot be cut off from others; empty if it can."""
        return self._network.why_not()

    def partition(self, addresses: Sequence[str], undo_after_s: float | None = None) -> Proof:
        """Cut it off by rules in its network namespace; a switch undoes it after the limit."""
        return self._network.cut(addresses, undo_after_s)

    def heal_partition(self) -> Proof:
        """Take these rules away, and the switch with them."""
        return self._network.join()

    def cut_off(self) -> list[str]:
        """Return the addresses that it is cut off from now."""
        return self._network.cut_off()

    def why_no_delay(self) -> str:
        """Return why this node cannot be slowed; empty if it can."""
        return self._delay.why_not()

    def delay(self, latency_ms: int, jitter_ms: int, undo_after_s: float | None = None) -> Proof:
        """Slow what it sends, by its proxy or in its network namespace."""
        return self._delay.slow(latency_ms, jitter_ms, undo_after_s)

    def undelay(self) -> Proof:
        """Let it be as fast as it is."""
        return self._delay.clear()

    def delayed(self) -> str:
        """Return in words by what it is slowed now."""
        return self._delay.found()

    def would(self, act: str, directories: Sequence[Path] = ()) -> str:
        """Return the signal, command or removal that `act` would be."""
        process = f"process {self.running().pid or 'none yet'} ({shlex.join(self._spec.command)})"
        return {
            "stop": f"SIGTERM to {process}",
            "kill": f"SIGKILL to {process}",
            "pause": f"SIGSTOP to {process}",
            "resume": f"SIGCONT to {process}",
            "partition": self._network.would("partition"),
            "join": self._network.would("join"),
            "delay": self._delay.would("delay"),
            "undelay": self._delay.would("undelay"),
            "start": shlex.join(start_command(self._spec)),
            "wipe": "remove all in " + ", ".join(str(each) for each in directories),
            "reboot": "skipped: a process of this machine has no reboot of its own",
        }[act]

    def read_text(self, path: Path) -> str:
        """Return the text of a file of this machine."""
        try:
            return path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise HostError(f"node `{self._name}`: `{path}` cannot be read: {error}") from error

    def entries(self, path: Path) -> list[str]:
        """Return the names in a directory of this machine."""
        try:
            return sorted(entry.name for entry in path.iterdir())
        except OSError as error:
            raise HostError(f"node `{self._name}`: `{path}` cannot be listed: {error}") from error

    def _how_to_stop(self, mode: StopMode) -> tuple[signal.Signals, float]:
        if mode == "clean":
            return signal.SIGTERM, self._spec.stop_timeout_s
        if mode == "kill":
            return signal.SIGKILL, _KILL_TIMEOUT_S
        raise ConfigurationError(f"stop mode: found {mode!r}, wanted clean or kill")

    def _stopped(
        self, identity: Identity, number: signal.Signals, sent: float, times: tuple[float, float]
    ) -> Proof:
        last_there, gone = times
        evidence = describe(
            identity, signal=number.name, state="gone", took_s=round(gone - sent, 4)
        )
        successor = recorded_process(self._name, self._spec)
        if successor is not None:  # a supervisor was faster than we are
            evidence["restarted_as_pid"] = successor.pid
        return Proof(gone, gone - last_there, evidence)

    def _wanted_alive(self, act: str) -> Identity:
        identity = recorded_process(self._name, self._spec)
        if identity is None:
            raise HostError(f"node `{self._name}` is not {act}: it is not running", "start it")
        return identity

    def _switch(self, identity: Identity, number: signal.Signals, *, paused: bool) -> Proof:
        """Send a signal and wait until the kernel shows all threads stopped, or one going on."""
        sent = last_no = time.monotonic()
        with Handle(identity) as handle:
            handle.send(number)
            while _is_paused(identity) is not paused:
                last_no = time.monotonic()
                if not procfs.is_alive(identity):
                    raise HostError(f"node `{self._name}` ended on {number.name}")
                if last_no - sent > _STATE_TIMEOUT_S:
                    raise HostError(
                        f"node `{self._name}` shows no effect of {number.name} after "
                        f"{_STATE_TIMEOUT_S:g} s (pid {identity.pid})"
                    )
                time.sleep(procfs.POLL_S)
        seen = time.monotonic()
        state = "paused" if paused else "running"
        return Proof(seen, seen - last_no, describe(identity, signal=number.name, state=state))

    def _checked(self, named: Sequence[Path], own: Collection[int] = ()) -> list[Facts]:
        """Return the facts of each directory; raises `Refused` with what is against one."""
        if not named:
            raise Refused(f"node `{self._name}` is not wiped: no directory was named")
        runner, keep = LocalRunner(), self._keep()
        return [check(runner, PurePosixPath(each), keep, own=own) for each in named]

    def _keep(self) -> list[PurePosixPath]:
        """Return what a wipe of this node must not take with it."""
        spec = self._spec
        paths = [spec.config_file, spec.log_file, spec.working_directory, Path(spec.command[0])]
        return [PurePosixPath(path) for path in paths if path is not None and path.is_absolute()]


def _is_paused(identity: Identity) -> bool:
    try:
        states = procfs.thread_states(identity.pid)
    except OSError:
        return False  # it ended in between
    return bool(states) and states <= _STOPPED and not states <= {"Z", "X"}


def _already(evidence: dict[str, Any]) -> Proof:
    return Proof(time.monotonic(), 0.0, evidence, already=True)


def _network(node: str, namespace: str) -> NodeNetwork:
    """Return the network of a node that has a namespace to itself; else why it has none."""
    reason = network.why_not()
    if not namespace:
        reason = (
            f"node `{node}` has no network namespace to itself (`host.network_namespace`), as the "
            "nodes of lab-mongodb-partition have"
        )
    elif not reason and not (network.NAMESPACES / namespace).exists():
        reason = (
            f"node `{node}`: there is no network namespace `{namespace}`: take its lab down and "
            "bring it up again"
        )
    runner, limit_s = network.runner_in(namespace), deadman.DEFAULT_UNDO_AFTER_S
    return NodeNetwork(node, runner, limit_s, reason)
