"""A node on a machine that is reached by ssh."""

from collections.abc import Collection, Sequence
from pathlib import Path, PurePosixPath
from typing import ClassVar

from brownout.base.errors import ConfigurationError, HostError
from brownout.inventory.model import HostSpec, Node
from brownout.machine import leftovers, signals
from brownout.machine.commands import answer, last_words, script
from brownout.machine.directories import in_words
from brownout.machine.host import Proof, Shared, StopMode
from brownout.machine.network import Network, WayIn
from brownout.machine.processes import Located, Process
from brownout.machine.shell_host import ShellHost
from brownout.machine.ssh import reboot
from brownout.machine.ssh.connection import Connection, SshRunner
from brownout.machine.ssh.helpers import HelperRunner, helpers_of, names_for, settings
from brownout.machine.ssh.launch import launch
from brownout.machine.ssh.pool import connection_for
from brownout.machine.ssh.process import MACHINE, locate
from brownout.machine.ssh.spec import SshSpec
from brownout.machine.storage import Rules

__all__ = ["SshHost"]


class SshHost(ShellHost):
    """Acts on one node's process and storage over ssh, by systemd or by the inventory's commands.

    A device may be wiped if it is one of the inventory's `devices`, by its stable name there.
    """

    Spec: ClassVar[type[HostSpec]] = SshSpec

    def __init__(self, node: Node, boot_id: PurePosixPath = reboot.BOOT_ID) -> None:
        if not isinstance(node.host, SshSpec):
            raise ConfigurationError(f"node `{node.name}` is not reached by ssh")
        self._address, self._spec, self._boot_id = node.address, node.host, boot_id
        address = node.address.rpartition(":")[0].strip("[]")
        self._connection = connection_for(node.host.login(address))
        runner, undo_after_s = _runner(node, node.host, self._connection), node.host.undo_after_s
        others = node.host.server_directory
        super().__init__(node, runner, _rules(node.host), undo_after_s, others)

    @property
    def machine(self) -> str:
        """Which machine, by its kernel's boot and its root: two addresses may lead to one."""
        return self.shared("machine")

    def shared(self, what: Shared) -> str:
        """Return which machine it is, or which network, of which a machine may have several."""
        done = self._runner.run(script(MACHINE))
        reply = answer(done, "asking which machine it is", self._runner.where)
        word = "root" if what == "machine" else "network"
        return f"boot {reply.get('boot')} {word} {reply.get(word)}"

    def reboot(self) -> Proof:
        """Restart the machine and wait until it answers with another boot id."""
        leftovers.release(self._node, self)
        return reboot.reboot(
            self._runner,
            self._connection,
            self._spec.reboot_command,
            self._spec.reboot_timeout_s,
            self._boot_id,
        )

    def network(self) -> Network:
        """Return the network of its machine, without the way by which we come."""
        address = self._address.rpartition(":")[0].strip("[]")
        return Network(self._name, self._runner, self._undo_after_s, address, way_in=self._way_in)

    def missing_rights(self, acts: Collection[str]) -> list[str]:
        """Return what is against the helpers for `acts`; nothing where none are wanted."""
        if not isinstance(self._runner, HelperRunner):
            return []
        names = {name for names in names_for(acts, self._spec).values() for name in names}
        return list(self._runner.missing(sorted(names)))

    def would(self, act: str, directories: Sequence[Path] = ()) -> str:
        """Return the command that `act` would be on the node's machine."""
        process = self._locate().process
        who = f"process {process.pid if process else 'none yet'} of {self._runner.where}"
        others = self._spec.server_directory
        whole = f"{who} and all that work in {others}" if others else who
        commands, service = self._spec.commands, self._spec.service
        start = commands.start if commands else f"systemctl start -- '{service}'"
        restarts = self.restarts() if act == "kill" else ""
        return {
            "stop": f"{self._runner.where}: {self._stop_command()}",
            "kill": f"SIGKILL to {whole}{restarts}",
            "pause": f"SIGSTOP to {whole}",
            "resume": f"SIGCONT to {whole}",
            "start": f"{self._runner.where}: {start}",
            "wipe": f"{self._runner.where}: empty {in_words(directories)}",
            "reboot": f"{self._runner.where}: {self._spec.reboot_command}",
        }[act]

    @property
    def _unit(self) -> str:
        return self._spec.service

    def _way_in(self) -> WayIn:
        """Return our address and the port of its sshd, as the machine sees the two.

        Not by sudo, which would forget them.
        """
        done = SshRunner(self._connection).run(script('echo "way $SSH_CONNECTION"'))
        reply = answer(done, "asking where we come from", self._runner.where).get("way").split()
        if len(reply) != 4 or not reply[3].isdigit():
            raise HostError(
                f"{self._runner.where} does not say where we come from: SSH_CONNECTION is "
                f"`{' '.join(reply)}`, wanted two addresses, each with its port"
            )
        return WayIn(reply[0], int(reply[3]))

    def _locate(self) -> Located:
        return locate(self._name, self._spec, self._runner)

    def _launch(self) -> Proof:
        """Start it by systemd or the inventory's command."""
        return launch(self._name, self._address, self._spec, self._runner)

    def _end(self, process: Process, mode: StopMode) -> Proof:
        """End it by systemd or the inventory's command, or by SIGKILL.

        systemd is told not to start a killed service again.
        """
        limit_s = self._spec.stop_timeout_s
        if mode == "kill":
            how, hold = {"signal": "SIGKILL"}, self._spec.service
            effect = signals.end(self._runner, process, limit_s, signal="KILL", hold=hold)
        else:
            how = {"command": self._stop_command()}
            effect = signals.end(self._runner, process, limit_s, command=how["command"])
        if effect.state != "gone":
            words = last_words(effect.done.errors)
            raise HostError(
                f"node `{self._name}` still runs {limit_s:g} s after {' '.join(how.values())} "
                f"(pid {process.pid}){f': {words}' if words else ''}",
                "look at its log, raise `stop_timeout_s`, or kill it",
            )
        return effect.proof(process, **how)

    def _stop_command(self) -> str:
        commands = self._spec.commands
        return commands.stop if commands else f"systemctl stop -- '{self._spec.service}'"


def _runner(node: Node, spec: SshSpec, connection: Connection) -> SshRunner | HelperRunner:
    if spec.sudo != "helpers":
        return SshRunner(connection, spec.sudo)
    return HelperRunner(
        connection, helpers_of(node.name, spec), settings(node.name, spec, node.address)
    )


def _rules(spec: SshSpec) -> Rules:
    kept = [spec.config_file, spec.commands.log_file if spec.commands else None]
    return Rules(
        keep=tuple(PurePosixPath(path) for path in kept if path),
        devices=tuple(PurePosixPath(path) for path in spec.devices),
        timeout_s=spec.wipe_timeout_s,
    )
