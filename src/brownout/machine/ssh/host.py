"""A node on a machine that is reached by ssh."""

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any, ClassVar

from brownout.base.errors import ConfigurationError, HostError, Refused
from brownout.inventory.model import HostSpec, Node
from brownout.machine import signals
from brownout.machine.commands import ENTRIES, answer, last_words, named, script
from brownout.machine.host import ProcessState, Proof, StopMode
from brownout.machine.moments import bracket
from brownout.machine.netem import Netem
from brownout.machine.partition import NodeNetwork
from brownout.machine.processes import RemoteProcess
from brownout.machine.signals import Effect
from brownout.machine.ssh import reboot, storage
from brownout.machine.ssh.connection import SshRunner
from brownout.machine.ssh.launch import launch
from brownout.machine.ssh.pool import connection_for
from brownout.machine.ssh.process import Located, locate
from brownout.machine.ssh.spec import SshSpec

__all__ = ["SshHost"]

_MACHINE = """
echo "boot $(cat /proc/sys/kernel/random/boot_id)"
echo "root $(stat -c %d:%i /)"
"""


class SshHost:
    """Acts on one node's process and storage over ssh, by systemd or by the inventory's commands.

    Holds no state but its connection, so that another run can take over at any moment.
    """

    Spec: ClassVar[type[HostSpec]] = SshSpec

    def __init__(self, node: Node, boot_id: PurePosixPath = reboot.BOOT_ID) -> None:
        if not isinstance(node.host, SshSpec):
            raise ConfigurationError(f"node `{node.name}` is not reached by ssh")
        self._name, self._address, self._spec = node.name, node.address, node.host
        address = node.address.rpartition(":")[0].strip("[]")
        self._connection = connection_for(node.host.login(address))
        self._runner = SshRunner(self._connection, node.host.sudo)
        self._boot_id = boot_id
        self._network = NodeNetwork(node.name, self._runner, node.host.undo_after_s)
        self._netem = Netem(node.name, self._runner, node.host.undo_after_s, address)

    @property
    def machine(self) -> str:
        """Which machine, by its kernel's boot and its root: two addresses may lead to one."""
        done = self._runner.run(script(_MACHINE))
        said = answer(done, "asking which machine it is", self._runner.where)
        return f"boot {said.get('boot')} root {said.get('root')}"

    def running(self) -> ProcessState:
        """Return whether the process exists, and whether it is paused."""
        located = self._locate()
        process = located.process
        if process is None:
            unrest = {"unrest": located.unrest} if located.unrest else {}
            return ProcessState(False, evidence={"state": "gone", **located.evidence, **unrest})
        state = "paused" if process.paused else "running"
        evidence = process.evidence(state=state, **located.evidence)
        return ProcessState(True, process.paused, process.pid, evidence)

    def stop(self, mode: StopMode) -> Proof:
        """End the process: `clean` by systemd or the inventory's command, `kill` by SIGKILL.

        systemd is told not to start a killed service again.
        """
        if mode not in ("clean", "kill"):
            raise ConfigurationError(f"stop mode: found {mode!r}, wanted clean or kill")
        process = self._locate().process
        if process is None:
            return _already({"state": "gone"})
        if mode == "kill":
            effect = signals.end(
                self._runner, process, self._spec.stop_timeout_s,
                signal="KILL", hold=self._spec.service,
            )  # fmt: skip
            return self._ended(process, effect, {"signal": "SIGKILL"})
        if process.paused:
            raise Refused(
                f"node `{self._name}` is not stopped: it is paused and would not hear it",
                "resume it first, or kill it",
            )
        command = self._stop_command()
        effect = signals.end(self._runner, process, self._spec.stop_timeout_s, command=command)
        return self._ended(process, effect, {"command": command})

    def pause(self, undo_after_s: float | None = None) -> Proof:
        """Freeze every thread by SIGSTOP; the node lets it go on itself after `undo_after_s`.

        The default is the inventory's. That works without us and without a connection.
        """
        process = self._wanted_alive("paused")
        limit_s = undo_after_s or self._spec.undo_after_s
        effect = signals.freeze(self._runner, process, limit_s)
        signals.check(effect, self._name, "paused", "SIGSTOP")
        undo = {"undo_after_s": limit_s, "undo_pid": effect.said.number("switch")}
        return self._proof(process, effect, {"signal": "SIGSTOP", **undo})

    def resume(self) -> Proof:
        """Let it go on by SIGCONT."""
        process = self._wanted_alive("resumed")
        effect = signals.thaw(self._runner, process)
        signals.check(effect, self._name, "running", "SIGCONT")
        return self._proof(process, effect, {"signal": "SIGCONT"})

    def start(self) -> Proof:
        """Start it by systemd or the inventory's command."""
        process = self._locate().process
        if process is not None:
            return _already(process.evidence(state="paused" if process.paused else "running"))
        return launch(self._name, self._address, self._spec, self._runner)

    def reboot(self) -> Proof:
        """Restart the machine and wait until it answers with another boot id."""
        return reboot.reboot(
            self._runner,
            self._connection,
            self._spec.reboot_command,
            self._spec.reboot_timeout_s,
            self._boot_id,
        )

    def why_no_partition(self) -> str:
        """Return why this node cannot be cut off from others; empty if it can."""
        return self._network.why_not()

    def partition(self, addresses: Sequence[str], undo_after_s: float | None = None) -> Proof:
        """Cut its machine off from these; the machine undoes it itself after the limit.

        Raises `Refused` where one of them is where our own connection comes from.
        """
        client, _, _, _ = self._our_way()
        return self._network.cut(addresses, undo_after_s, [client])

    def heal_partition(self) -> Proof:
        """Take the rules away, and the switch with them."""
        return self._network.join()

    def cut_off(self) -> list[str]:
        """Return the addresses that it is cut off from now."""
        return self._network.cut_off()

    def why_no_delay(self) -> str:
        """Return why this node cannot be slowed; empty if it can."""
        return self._netem.why_not()

    def delay(self, latency_ms: int, jitter_ms: int, undo_after_s: float | None = None) -> Proof:
        """Slow all that its machine sends but by its sshd; it undoes it itself after the limit."""
        _, _, _, port = self._our_way()
        return self._netem.slow(latency_ms, jitter_ms, undo_after_s, [int(port)])

    def undelay(self) -> Proof:
        """Let it be as fast as it is, and end the switch."""
        return self._netem.clear()

    def delayed(self) -> str:
        """Return in words by what it is slowed now."""
        return self._netem.found()

    def check_wipe(self, directories: Sequence[Path]) -> None:
        """Ask everything that speaks against emptying `directories`, but whether it runs."""
        process = self._locate().process
        own = () if process is None else (process.pid,)
        storage.check(self._runner, self._spec, self._targets(directories), own)

    def wipe(self, directories: Sequence[Path], began: Callable[[], None] = lambda: None) -> Proof:
        """Empty directories or block devices, all of them checked before the first is touched.

        A device must be one of the inventory's `devices`, by its stable name there.
        """
        located = self._locate()
        if located.process is not None or located.unrest:
            state = located.unrest or self.running().describe()
            raise Refused(f"node `{self._name}` is not wiped: {state}", "stop it first")
        return storage.wipe(self._runner, self._spec, self._targets(directories), began)

    def would(self, act: str, directories: Sequence[Path] = ()) -> str:
        """Return the command that `act` would be on the node's machine."""
        process = self._locate().process
        who = f"process {process.pid if process else 'none yet'} of {self._runner.where}"
        commands, service = self._spec.commands, self._spec.service
        start = commands.start if commands else f"systemctl start -- '{service}'"
        return {
            "stop": f"{self._runner.where}: {self._stop_command()}",
            "kill": f"SIGKILL to {who}",
            "pause": f"SIGSTOP to {who}",
            "resume": f"SIGCONT to {who}",
            "partition": self._network.would("partition"),
            "join": self._network.would("join"),
            "delay": self._netem.would("delay"),
            "undelay": self._netem.would("undelay"),
            "start": f"{self._runner.where}: {start}",
            "wipe": f"{self._runner.where}: empty " + ", ".join(map(str, directories)),
            "reboot": f"{self._runner.where}: {self._spec.reboot_command}",
        }[act]

    def read_text(self, path: Path) -> str:
        """Return the text of a file on the node's machine."""
        return self._ask('cat -- "$1"', path, "read")

    def entries(self, path: Path) -> list[str]:
        """Return the names in a directory on the node's machine."""
        return named(self._ask(ENTRIES, path, "listed"))

    def _our_way(self) -> list[str]:
        """Return our address and port as its sshd sees them, and its own address and port.

        Not by sudo, which would forget them.
        """
        done = SshRunner(self._connection).run(script('echo "way $SSH_CONNECTION"'))
        way = answer(done, "asking where we come from", self._runner.where).get("way").split()
        if len(way) != 4 or not way[3].isdigit():
            raise HostError(
                f"{self._runner.where} does not say where we come from: SSH_CONNECTION is "
                f"`{' '.join(way)}`, wanted two addresses, each with its port"
            )
        return way

    def _targets(self, directories: Sequence[Path]) -> list[PurePosixPath]:
        if not directories:
            raise Refused(f"node `{self._name}` is not wiped: no directory or device was named")
        return [PurePosixPath(path) for path in directories]

    def _locate(self) -> Located:
        return locate(self._name, self._spec, self._runner)

    def _stop_command(self) -> str:
        return (
            self._spec.commands.stop
            if self._spec.commands
            else (f"systemctl stop -- '{self._spec.service}'")
        )

    def _ask(self, body: str, path: Path, act: str) -> str:
        done = self._runner.run(script(body, path))
        if done.status:
            why = last_words(done.errors, 1)
            raise HostError(
                f"node `{self._name}`: `{path}` cannot be {act} on {self._runner.where}: {why}"
            )
        return done.output

    def _wanted_alive(self, act: str) -> RemoteProcess:
        process = self._locate().process
        if process is None:
            raise HostError(f"node `{self._name}` is not {act}: it is not running", "start it")
        return process

    def _ended(self, process: RemoteProcess, effect: Effect, how: Mapping[str, Any]) -> Proof:
        if effect.state != "gone":
            said = last_words(effect.done.errors)
            raise HostError(
                f"node `{self._name}` still runs {self._spec.stop_timeout_s:g} s after "
                f"{' '.join(how.values())} (pid {process.pid}){f': {said}' if said else ''}",
                "look at its log, raise `stop_timeout_s`, or kill it",
            )
        proof = self._proof(process, effect, how)
        successor = self._locate().process
        if successor is None:
            return proof
        evidence = {**proof.evidence, "restarted_as_pid": successor.pid}
        return Proof(proof.effective_monotonic, proof.uncertainty_s, evidence)

    def _proof(self, process: RemoteProcess, effect: Effect, how: Mapping[str, Any]) -> Proof:
        effective, uncertainty_s = bracket(effect.done, effect.said)
        evidence = process.evidence(state=effect.state, **how)
        if effect.done.attempts > 1:
            evidence["attempts"] = effect.done.attempts
        return Proof(effective, uncertainty_s, evidence, already=effect.already)


def _already(evidence: dict[str, Any]) -> Proof:
    return Proof(time.monotonic(), 0.0, evidence, already=True)
