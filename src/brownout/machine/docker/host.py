"""A node that is a container of a Docker engine."""

import socket
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any, ClassVar

from docker.errors import APIError

from brownout.base.errors import ConfigurationError, HostError, Refused, Unsupported
from brownout.base.wait import wait_until
from brownout.inventory.model import HostSpec, Node
from brownout.machine import leftovers, network, processes
from brownout.machine.commands import LocalRunner, last_words
from brownout.machine.directories import in_words
from brownout.machine.docker import clock, files, storage, undo
from brownout.machine.docker.container import Container, checked, locate
from brownout.machine.docker.engine import connected
from brownout.machine.docker.spec import DockerSpec
from brownout.machine.footprint import Footprint
from brownout.machine.host import Connection, ProcessState, Proof, Shell, StopMode
from brownout.machine.network import Network
from brownout.machine.storage import Rules
from brownout.machine.storage import targets as named

__all__ = ["DockerHost"]

_KILL_TIMEOUT_S = 20.0
#: A container that has not ended after this long is taken as started.
_GRACE_S = 1.0
_POLL_S = 0.02


class DockerHost:
    """Acts on one container, known by its id and by when it was last started.

    Holds no state and no connection, so that another run can take over at any moment.
    """

    Spec: ClassVar[type[HostSpec]] = DockerSpec

    def __init__(self, node: Node) -> None:
        if not isinstance(node.host, DockerSpec):
            raise ConfigurationError(f"node `{node.name}` is not a container")
        self._node, self._name, self._spec = node, node.name, node.host

    @property
    def machine(self) -> str:
        """Which file system: the container's own, whatever it is called."""
        with connected(self._spec) as client:
            return f"container {self._locate(client).id}"

    def running(self) -> ProcessState:
        """Return whether the container runs, and whether it is paused."""
        with connected(self._spec) as client:
            container = self._locate(client)
        if container.state in ("running", "paused"):
            return ProcessState(True, container.paused, container.pid, container.evidence())
        return ProcessState(False, evidence=container.evidence(exit_code=container.exit_code))

    def serves(self, connection: Connection) -> bool | None:
        """Return whether the engine routes the other end to the container.

        By its own address, or by a port that it publishes: what the engine runs for that hides our
        end. A port of every address counts only on this machine, where another one is not meant.
        """
        (ours, _), (theirs, port) = connection.ours, connection.theirs
        here = ours == theirs and self._spec.engine.startswith("unix:")
        with connected(self._spec) as client:
            container = self._locate(client)
        return True if container.running and container.is_at(theirs, port, here) else None

    def shell(self) -> Shell:
        """Return what runs scripts on the engine's machine, which has to be this one."""
        with connected(self._spec) as client:
            container = self._locate(client)
            if reason := self._why_elsewhere(client):
                raise Unsupported(reason)
        runner = LocalRunner(where=f"the machine of container {container.name}")
        process = processes.by_id(runner, container.pid) if container.running else None
        return Shell(self._name, runner, process, self._spec.undo_after_s)

    def network(self) -> Network:
        """Return the container's own network, which is changed from the engine's machine.

        So an image needs no tools for it, and a container no rights.
        """
        with connected(self._spec) as client:
            container = self._locate(client)
            reason = self._why_elsewhere(client) or network.why_not()
        node = f"node `{self._name}`: container {container.name}"
        if not reason and not container.running:
            reason = f"{node} is not running, so it has no network"
        if not reason and network.is_ours(container.pid):
            reason = f"{node} has no network to itself: it uses that of its machine"
        if reason:
            raise Unsupported(reason)
        enter = ("nsenter", f"--target={container.pid}", "--net", "--")
        runner = LocalRunner(enter, f"the network of container {container.name}")
        return Network(self._name, runner, self._spec.undo_after_s)

    def stop(self, mode: StopMode) -> Proof:
        """End the container: its own stop signal (`clean`) or SIGKILL (`kill`).

        The engine takes either as the wish that it stays down: no restart policy brings it back,
        unless the engine itself is restarted.
        """
        if mode not in ("clean", "kill"):
            raise ConfigurationError(f"stop mode: found {mode!r}, wanted clean or kill")
        leftovers.release(self._node, self)
        with connected(self._spec) as client:
            before = self._checked(client)
            if not before.running:
                return _already(before)
            if mode == "clean" and before.paused:
                raise Refused(
                    f"node `{self._name}` is not stopped: it is paused and would not hear it",
                    "resume it first, or kill it",
                )
            return self._end(client, before, mode)

    def pause(self, undo_after_s: float | None = None) -> Proof:
        """Have the engine freeze the container; a process of this machine undoes it."""
        with connected(self._spec) as client:
            before = self._wanted_alive(client, "paused")
            if before.paused:
                return _already(before)
            limit_s = undo_after_s or self._spec.undo_after_s
            switch = undo.arm(self._spec, before, limit_s)
            sent = time.monotonic()
            client.pause(before.id)
            seen = time.monotonic()
            after = self._same_life(client, before, "paused")
            if switch not in [each.pid for each in undo.armed(before)]:
                client.unpause(before.id)  # its switch ran out before the pause, and is gone
                raise HostError(
                    f"node `{self._name}` was resumed before it was seen to be paused",
                    "raise `undo_after_s`",
                )
        evidence = after.evidence(undo_after_s=limit_s, undo_pid=switch)
        return Proof(seen, seen - sent, evidence)

    def resume(self) -> Proof:
        """Have the engine resume it."""
        with connected(self._spec) as client:
            before = self._wanted_alive(client, "resumed")
            if not before.paused:
                return _already(before)
            sent = time.monotonic()
            client.unpause(before.id)
            seen = time.monotonic()
            after = self._same_life(client, before, "running")
        undo.cancel(after)
        return Proof(seen, seen - sent, after.evidence())

    def start(self) -> Proof:
        """Start the container as it was made."""
        with connected(self._spec) as client:
            before = self._checked(client)
            if before.running:
                return _already(before)
            sent = time.monotonic()
            client.start(before.id)
            seen = time.monotonic()
            after = self._stays_up(client)
        return Proof(seen, seen - sent, after.evidence())

    def reboot(self) -> Proof:
        """Do nothing: a container has no machine of its own to restart."""
        reason = "a container has no machine of its own to restart"
        return Proof(time.monotonic(), 0.0, {"reason": reason}, skipped=True)

    def check_wipe(self, directories: Sequence[Path]) -> None:
        """Ask everything that speaks against emptying `directories`, but whether it runs."""
        with connected(self._spec) as client:
            targets = named(self._name, directories)
            storage.check(client, self._checked(client), targets, _rules(self._spec))

    def wipe(
        self,
        directories: Sequence[Path],
        began: Callable[[], None] = lambda: None,
        *,
        finishing: bool = False,
    ) -> Proof:
        """Empty directories of the container's own volumes, all checked before one is touched."""
        with connected(self._spec) as client:
            before = self._checked(client)
            if before.running:
                raise Refused(
                    f"node `{self._name}` is not wiped: it is {before.state}", "stop it first"
                )
            targets = named(self._name, directories)
            rules = replace(_rules(self._spec), finishing=finishing)
            proof = storage.wipe(client, before, targets, rules, began)
            self._same_life(client, before, "gone")
            return proof

    def would(self, act: str, directories: Sequence[Path] = ()) -> str:
        """Return what the engine would be asked for."""
        with connected(self._spec) as client:
            container = self._locate(client)
        who = f"container {container.name} ({container.id[:12]}) of {self._spec.engine}"
        return {
            "stop": f"{container.stop_signal} to {who}",
            "kill": f"SIGKILL to {who}",
            "pause": f"docker pause {who}",
            "resume": f"docker unpause {who}",
            "start": f"docker start {who}",
            "wipe": f"empty {in_words(directories)} in the volumes of {who}",
            "reboot": "skipped: a container has no machine of its own to restart",
        }[act]

    def read_text(self, path: Path) -> str:
        """Return the text of a file of the container, running or not."""
        with connected(self._spec) as client:
            return files.read_text(client, self._locate(client), PurePosixPath(path))

    def entries(self, path: Path) -> list[str]:
        """Return the names in a directory of the container's volumes, running or not."""
        with connected(self._spec) as client:
            return files.entries(client, self._locate(client), self._name, PurePosixPath(path))

    def resolved(self, paths: Sequence[Path]) -> list[Path]:
        """Return where these paths lead in the container, without links, by a helper."""
        with connected(self._spec) as client:
            return files.resolved(client, self._locate(client), self._name, paths)

    def footprint(self, variables: Sequence[str] = ()) -> Footprint | None:
        """Return how the engine started the container, which runs; its open files are not seen."""
        with connected(self._spec) as client:
            container = self._locate(client)
            config = client.inspect_container(container.id).get("Config") or {}
        if not container.running:
            return None
        pairs = (variable.partition("=") for variable in config.get("Env") or ())
        directory = config.get("WorkingDir")
        return Footprint(
            command=(*(config.get("Entrypoint") or ()), *(config.get("Cmd") or ())),
            variables={name: value for name, _, value in pairs if name in variables},
            directory=Path(directory) if directory else None,
        )

    def _why_elsewhere(self, client: Any) -> str:
        """Return that the engine's containers are not processes of this machine; empty if so."""
        name = client.info().get("Name")
        if name == socket.gethostname():
            return ""
        return (
            f"node `{self._name}`: the engine at {self._spec.engine} runs on `{name}`, and only "
            "there can what its containers see be changed: run brownout on that machine"
        )

    def _locate(self, client: Any) -> Container:
        return locate(client, self._name, self._spec.container)

    def _checked(self, client: Any) -> Container:
        return checked(client, self._name, self._spec.container)

    def _wanted_alive(self, client: Any, act: str) -> Container:
        container = self._checked(client)
        if not container.running:
            raise HostError(f"node `{self._name}` is not {act}: it is not running", "start it")
        return container

    def _end(self, client: Any, before: Container, mode: StopMode) -> Proof:
        """Send the signal, wait for the end, and say when the engine saw it."""
        number = "SIGKILL" if mode == "kill" else before.stop_signal
        timeout_s = _KILL_TIMEOUT_S if mode == "kill" else self._spec.stop_timeout_s
        sent = time.monotonic()
        try:
            client.kill(before.id, signal=number)
        except APIError:
            if self._locate(client).running:  # else it ended by itself just before
                raise

        def ended(container: Container) -> bool:
            return not container.running or container.started != before.started

        left_s = sent + timeout_s - time.monotonic()
        after = wait_until(lambda: self._locate(client), left_s, _POLL_S, so=ended)
        seen = time.monotonic()
        if not ended(after):
            raise HostError(
                f"node `{self._name}` still runs {timeout_s:g} s after {number} "
                f"(container {after.name})",
                "look at its log, raise `stop_timeout_s`, or kill it",
            )
        undo.cancel(before)  # a kill ends a pause as well
        gone, uncertainty_s = clock.moment(after.finished, clock.read(client), sent, seen)
        evidence = {**before.evidence(), "state": "gone", "signal": number}
        evidence |= {"took_s": round(gone - sent, 4), "restart_policy": before.policy}
        if after.started != before.started or after.restarting:
            evidence["restarted_as_pid"] = after.pid
        else:
            evidence["exit_code"] = after.exit_code
        return Proof(gone, uncertainty_s, evidence)

    def _stays_up(self, client: Any) -> Container:
        """Watch a started container for a while; `HostError` with its last words if it ends."""
        first = self._locate(client)

        def ended(container: Container) -> bool:
            return container.state != "running" or container.started != first.started

        last = wait_until(lambda: self._locate(client), _GRACE_S, _POLL_S, so=ended)
        if not ended(last):
            return last
        log = client.logs(last.id, stdout=True, stderr=True, tail=2).decode(errors="replace")
        log_end = f"; its log ends: {last_words(log, 2)}" if log.strip() else ""
        raise HostError(
            f"node `{self._name}` did not start: container {last.name} ended at once with "
            f"status {last.exit_code}{log_end}"
        )

    def _same_life(self, client: Any, before: Container, wanted: str) -> Container:
        """Return the container, still in the life that was acted on and in the state `wanted`."""
        after = self._locate(client)
        if (after.id, after.started) != (before.id, before.started):
            raise HostError(
                f"node `{self._name}`: container {before.name} was started by another client "
                "meanwhile",
                "see what else looks after it",
            )
        if after.state != wanted:
            raise HostError(f"node `{self._name}` is {after.state}, wanted {wanted}")
        return after


def _rules(spec: DockerSpec) -> Rules:
    keep = (PurePosixPath(spec.config_file),) if spec.config_file else ()
    return Rules(keep, mount_point=True, timeout_s=spec.wipe_timeout_s)


def _already(container: Container) -> Proof:
    return Proof(time.monotonic(), 0.0, container.evidence(), already=True)
