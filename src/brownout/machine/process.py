"""A node that is a process on this machine: the host of labs and of a single-machine set-up."""

import os
import shlex
import signal
import time
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import ClassVar

from brownout.base import usual
from brownout.base.errors import ConfigurationError, HostError, Unsupported
from brownout.inventory.model import HostSpec, Node, ProcessSpec
from brownout.machine import deadman, network, procfs
from brownout.machine.commands import LocalRunner
from brownout.machine.directories import in_words
from brownout.machine.host import Proof, StopMode
from brownout.machine.launch import launch, start_command
from brownout.machine.network import Network
from brownout.machine.processes import Located, Process
from brownout.machine.procfs import Handle, Identity
from brownout.machine.shell_host import ShellHost
from brownout.machine.storage import Rules

__all__ = ["ProcessHost"]

#: A kill needs no consent; this long only if the kernel is stuck.
_KILL_TIMEOUT_S = 20.0
#: The one that a lab's network gives each node.
_INTERFACE = "eth0"


class ProcessHost(ShellHost):
    """Acts on one process, found by its pid file and proven by its start time and command."""

    Spec: ClassVar[type[HostSpec]] = ProcessSpec

    def __init__(self, node: Node) -> None:
        if not isinstance(node.host, ProcessSpec):
            raise ConfigurationError(f"node `{node.name}` is not a process of this machine")
        self._address, self._spec = node.address, node.host
        super().__init__(
            node,
            LocalRunner(),
            Rules(keep=tuple(_keep(node.host))),
            deadman.DEFAULT_UNDO_AFTER_S,
            node.host.server_directory,
        )

    @property
    def machine(self) -> str:
        """Which machine: this one."""
        return "localhost"

    def reboot(self) -> Proof:
        """Do nothing: a process has no machine of its own to restart."""
        reason = "a process of this machine has no reboot of its own"
        return Proof(time.monotonic(), 0.0, {"reason": reason}, skipped=True)

    def network(self) -> Network:
        """Return the network namespace that a lab made for it."""
        namespace = self._spec.network_namespace
        if not namespace:
            reason = (
                f"node `{self._name}` has no network namespace to itself "
                f"(`host.network_namespace`), as the nodes of {usual.PARTITIONED} have"
            )
        elif not (network.NAMESPACES / namespace).exists():
            reason = (
                f"node `{self._name}`: there is no network namespace `{namespace}`: take its lab "
                "down and bring it up again"
            )
        else:
            reason = network.why_not()
        if reason:
            raise Unsupported(reason)
        runner = network.runner_in(namespace)
        return Network(self._name, runner, self._undo_after_s, interface=_INTERFACE)

    def would(self, act: str, directories: Sequence[Path] = ()) -> str:
        """Return the signal, command or removal that `act` would be."""
        process = f"process {self.running().pid or 'none yet'} ({shlex.join(self._spec.command)})"
        others = self._spec.server_directory
        whole = f"{process} and all that work in {others}" if others else process
        restarts = self.restarts() if act == "kill" else ""
        return {
            "stop": f"{self._spec.stop_signal} to {process}",
            "kill": f"SIGKILL to {whole}{restarts}",
            "pause": f"SIGSTOP to {whole}",
            "resume": f"SIGCONT to {whole}",
            "start": shlex.join(start_command(self._spec)),
            "wipe": f"remove all in {in_words(directories)}",
            "reboot": "skipped: a process of this machine has no reboot of its own",
        }[act]

    def _locate(self) -> Located:
        """Ask /proc and not a script: labs look every few milliseconds, which must not fork."""
        identity = _recorded(self._name, self._spec)
        return Located(_process(identity) if identity is not None else None)

    def _launch(self) -> Proof:
        """Start it detached, in a session of its own, as the inventory's `command` says."""
        return launch(self._name, self._address, self._spec, lambda: self._locate().process)

    def _end(self, process: Process, mode: StopMode) -> Proof:
        """Send the signal by a pidfd, which also tells the end, to the very process and at once.

        A script on this machine would fork every few milliseconds beside the load that is measured,
        for as long as a clean stop takes, and would know the instant of the end less well.
        """
        number = signal.SIGKILL if mode == "kill" else signal.Signals[self._spec.stop_signal]
        timeout_s = _KILL_TIMEOUT_S if mode == "kill" else self._spec.stop_timeout_s
        sent = time.monotonic()
        with Handle(Identity(process.pid, process.started, process.command)) as handle:
            handle.send(number)
            times = handle.wait_gone(timeout_s)
        if times is None:
            raise HostError(
                f"node `{self._name}` still runs {timeout_s:g} s after {number.name} "
                f"(pid {process.pid})",
                "look at its log, or kill it",
            )
        last_there, gone = times
        evidence = process.evidence(signal=number.name, state="gone", took_s=round(gone - sent, 4))
        return Proof(gone, gone - last_there, evidence)


def _recorded(node: str, spec: ProcessSpec) -> Identity | None:
    """Return the process of `node` by its pid file, believed only if it runs its command.

    A pid file that is stale or not written yet does not hide a process whose command line is
    this node's alone because it names the node's configuration file. Raises `HostError` where
    a process runs the same command and nothing says whose it is.
    """
    named = _named_by_pid_file(spec)
    if named is not None:
        return named
    identities = procfs.find(spec.command)
    if not identities:
        return None
    if len(identities) == 1 and str(spec.config_file) in spec.command:
        return identities[0]
    pids = ", ".join(str(identity.pid) for identity in identities)
    raise HostError(
        f"node `{node}`: its pid file `{spec.pid_file}` names no live process of it, but process "
        f"{pids} runs the same command, which may be another node's",
        "have the process write its pid file, or name its configuration file in `command`",
    )


def _named_by_pid_file(spec: ProcessSpec) -> Identity | None:
    try:
        first, *_ = spec.pid_file.read_text(encoding="utf-8").split("\n")  # some have more
        pid = int(first)
    except (FileNotFoundError, PermissionError, IsADirectoryError, ValueError):
        return None
    except OSError as error:
        raise HostError(f"{spec.pid_file}: cannot be read: {error.strerror}") from error
    identity = procfs.identify(pid) if pid > 0 else None
    if identity is None and pid > 0 and procfs.is_hidden(pid):
        raise HostError(f"{spec.pid_file}: {procfs.hidden_words(pid)}", procfs.HIDDEN_HINT)
    return identity if identity and identity.runs(spec.command) else None


def _process(identity: Identity) -> Process | None:
    """Return what a process is now; None if it ended in between."""
    try:
        states = procfs.thread_states(identity.pid)
    except (FileNotFoundError, ProcessLookupError):
        return None
    if states <= {"Z", "X"}:
        return None
    age_s = time.clock_gettime(time.CLOCK_BOOTTIME) - identity.started / os.sysconf("SC_CLK_TCK")
    born = time.monotonic() - age_s
    return Process(
        pid=identity.pid,
        started=identity.started,
        states=states,
        program=Path(identity.command[0]).name if identity.command else "",
        executable="",
        command=identity.command,
        born_after=born,
        born_by=born,
    )


def _keep(spec: ProcessSpec) -> list[PurePosixPath]:
    """Return what a wipe of this node must not take with it."""
    paths = [spec.config_file, spec.log_file, spec.working_directory, Path(spec.command[0])]
    return [PurePosixPath(path) for path in paths if path is not None and path.is_absolute()]
