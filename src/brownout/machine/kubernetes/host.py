"""A node that is a pod of a StatefulSet, or of an operator that makes its pods itself."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar

from brownout.base.errors import ConfigurationError, HostError, Refused, after_effect
from brownout.inventory.model import HostSpec, Node
from brownout.kubernetes.objects import Objects, in_namespace
from brownout.machine import address_proof, files, server_directory, signals
from brownout.machine.commands import Runner
from brownout.machine.footprint import Footprint, footprint
from brownout.machine.host import Connection, ProcessState, Proof, Shell, StopMode
from brownout.machine.kubernetes import calls, hold, start, stop, storage
from brownout.machine.kubernetes import network as networks
from brownout.machine.kubernetes.controllers import controller_of
from brownout.machine.kubernetes.helper import helper
from brownout.machine.kubernetes.location import Located, find_pod, locate, objects_of
from brownout.machine.kubernetes.objections import objections
from brownout.machine.kubernetes.pod import HELD, Pod
from brownout.machine.kubernetes.session import PodRunner
from brownout.machine.kubernetes.spec import KubernetesSpec
from brownout.machine.moments import bracket
from brownout.machine.network import Network
from brownout.machine.processes import Process
from brownout.machine.signals import Effect
from brownout.machine.storage import targets as named

__all__ = ["KubernetesHost"]


class KubernetesHost:
    """Acts on one pod, known by its uid, its container's id and the database's process in it.

    Holds no state and no connection, so that another run can take over at any moment: what is
    stopped by us carries our finalizer in the API.
    """

    Spec: ClassVar[type[HostSpec]] = KubernetesSpec

    def __init__(self, node: Node) -> None:
        if not isinstance(node.host, KubernetesSpec):
            raise ConfigurationError(f"node `{node.name}` is not a pod")
        self._name, self._spec = node.name, node.host

    @property
    def machine(self) -> str:
        """Which file system: the pod's own; what claims it shares a wipe looks at."""
        with objects_of(self._spec) as objects:
            return f"pod {self._spec.namespace}/{self._spec.pod} at {objects.server}"

    def running(self) -> ProcessState:
        """Return whether the database's process exists, and whether it is paused."""
        with objects_of(self._spec) as objects:
            located = locate(objects, self._spec)
        if located.process is None:
            return ProcessState(False, evidence=self._evidence(located, process="gone"))
        process = located.process
        state = "paused" if process.paused else "running"
        evidence = self._evidence(located, **process.evidence(), process=state)
        return ProcessState(True, process.paused, process.pid, evidence)

    def serves(self, connection: Connection) -> bool | None:
        """Return whether the process in the pod has the other end of `connection`."""
        with objects_of(self._spec) as objects:
            process = locate(objects, self._spec).process
        pids = [] if process is None else [process.pid]
        return address_proof.holds(self._runner(), pids, connection)

    def shell(self) -> Shell:
        """Return what runs scripts in the pod's container, and the database's process there."""
        with objects_of(self._spec) as objects:
            process = locate(objects, self._spec).process
        undo_after_s, others = self._spec.undo_after_s, self._spec.server_directory
        return Shell(self._name, self._runner(), process, undo_after_s, server_directory=others)

    def network(self) -> Network:
        """Return the pod's own network, which a privileged pod beside it changes."""
        with objects_of(self._spec) as objects:
            return networks.network(objects, self._spec, self._name)

    def stop(self, mode: StopMode) -> Proof:
        """End the pod and keep it from coming back: with its grace (`clean`), or none (`kill`)."""
        if mode not in ("clean", "kill"):
            raise ConfigurationError(f"stop mode: found {mode!r}, wanted clean or kill")
        with objects_of(self._spec) as objects:
            located = locate(objects, self._spec)
            if located.process is None and located.pod is not None and located.pod.held:
                return self._already(located)
            pod, process = self._breakable(objects, located, "stopped")
            if mode == "clean" and process.paused:
                raise Refused(
                    f"node `{self._name}` is not stopped: it is paused and would not hear it",
                    "resume it first, or kill it",
                )
            if mode == "kill":
                stop.check_killable(self._spec, process)
            return stop.stop(objects, self._spec, pod, process, mode)

    def pause(self, undo_after_s: float | None = None) -> Proof:
        """Freeze every thread by SIGSTOP from within; a shell in the container undoes it."""
        with objects_of(self._spec) as objects:
            located = locate(objects, self._spec)
            if located.process is not None and located.process.paused:
                return self._already(located)
            pod, process = self._breakable(objects, located, "paused")
            stop.check_pausable(self._spec, process)
            limit_s = undo_after_s or self._spec.undo_after_s
            effect = signals.freeze(self._runner(), process, limit_s)
        signals.check(effect, self._name, "paused", "SIGSTOP")
        undo = {"undo_after_s": limit_s, "undo_pid": effect.said.number("switch")}
        probe = pod.containers[self._spec.container].has_liveness_probe
        proof = self._proof(Located(pod, process), effect, liveness_probe=probe, **undo)
        others = self._spec.server_directory
        if others is None:
            return proof
        with after_effect():
            frozen = server_directory.freeze(self._runner(), others, limit_s)
        return server_directory.joined(proof, frozen)

    def resume(self) -> Proof:
        """Resume it by SIGCONT."""
        with objects_of(self._spec) as objects:
            located = locate(objects, self._spec)
            if located.process is None:
                raise HostError(
                    f"node `{self._name}` is not resumed: it is not running", "start it"
                )
            others = self._spec.server_directory
            runner = self._runner()
            thawed = server_directory.thaw(runner, others) if others else None
            effect = signals.thaw(runner, located.process)
        signals.check(effect, self._name, "running", "SIGCONT")
        proof = self._proof(located, effect)
        if thawed is None:
            return proof
        return server_directory.resumed(proof, thawed, was_paused=located.process.paused)

    def start(self) -> Proof:
        """Release a held pod, and wait until its controller's new one runs the database."""
        with objects_of(self._spec) as objects:
            located = locate(objects, self._spec)
            pod = located.pod
            if pod is not None and not pod.deleting and HELD in pod.finalizers:
                hold.release(objects, pod)  # we died before it was deleted
            if located.process is not None and pod is not None and not pod.deleting:
                return self._already(located)
            return start.start(objects, self._spec, pod, self._name)

    def reboot(self) -> Proof:
        """Do nothing: what a pod runs on is shared with others, and not ours."""
        return Proof(time.monotonic(), 0.0, {"reason": calls.NO_MACHINE}, skipped=True)

    def check_wipe(self, directories: Sequence[Path]) -> None:
        """Ask everything that speaks against emptying `directories`, but whether it runs."""
        targets = named(self._name, directories)
        with objects_of(self._spec) as objects:
            pod = find_pod(objects, self._spec)
            if pod is None:
                raise Refused(f"node `{self._name}` is not wiped: its pod is not there")
            storage.check(objects, self._spec, pod, controller_of(objects, pod), targets)
        with self._somewhere() as runner:
            storage.check_running(runner, self._spec, targets)

    def wipe(
        self,
        directories: Sequence[Path],
        began: Callable[[], None] = lambda: None,
        *,
        finishing: bool = False,
    ) -> Proof:
        """Empty directories of a held pod's own claims, all checked before one is touched."""
        with objects_of(self._spec) as objects:
            pod = find_pod(objects, self._spec)
            if pod is None or not pod.held or not pod.ended:
                state = "is not there" if pod is None else "runs, or was not stopped by us"
                raise Refused(
                    f"node `{self._name}` is not wiped: its pod {state}",
                    "stop it first",
                )
            targets, controller = named(self._name, directories), controller_of(objects, pod)
            return storage.wipe(objects, self._spec, pod, controller, targets, began, finishing)

    def would(self, act: str, directories: Sequence[Path] = ()) -> str:
        """Return the calls that `act` would be; raises `Refused` where it would be refused."""
        with objects_of(self._spec) as objects:
            located = locate(objects, self._spec)
            if act in ("stop", "kill", "pause") and not (
                located.pod is not None and located.pod.held
            ):
                _, process = self._breakable(objects, located, "touched")
                if act == "pause":
                    stop.check_pausable(self._spec, process)
                if act == "kill":
                    stop.check_killable(self._spec, process)
            if act == "wipe" and located.pod is not None:
                controller = controller_of(objects, located.pod)
                targets = named(self._name, directories)
                storage.check(objects, self._spec, located.pod, controller, targets)
        return calls.of(act, self._spec, located, directories)

    def read_text(self, path: Path) -> str:
        """Return the text of a file: in the container, or of a stopped pod's volumes."""
        with self._somewhere() as runner:
            return files.read_text(runner, self._name, path)

    def entries(self, path: Path) -> list[str]:
        """Return the names in a directory: in the container, or of a stopped pod's volumes."""
        with self._somewhere() as runner:
            return files.entries(runner, self._name, path)

    def resolved(self, paths: Sequence[Path]) -> list[Path]:
        """Return where these paths lead, without links: in the container, or a pod's volumes."""
        with self._somewhere() as runner:
            return files.resolved(runner, self._name, paths)

    def footprint(self, variables: Sequence[str] = ()) -> Footprint | None:
        """Return what the process in the container shows of itself there."""
        with objects_of(self._spec) as objects:
            process = locate(objects, self._spec).process
        pids = [] if process is None else [process.pid]
        if pids and self._spec.server_directory is not None:
            pids += server_directory.pids(self._runner(), self._spec.server_directory)
        return footprint(self._runner(), pids, variables)

    def _runner(self) -> PodRunner:
        return PodRunner(self._spec, self._spec.pod, self._spec.container)

    @contextmanager
    def _somewhere(self) -> Iterator[Runner]:
        """Yield what sees the node's files: its container, or a helper where that has ended."""
        with objects_of(self._spec) as objects:
            pod = find_pod(objects, self._spec)
            if pod is not None and pod.held and pod.ended:
                with helper(objects, self._spec, pod) as runner:
                    yield runner
            else:
                yield self._runner()

    def _breakable(self, objects: Objects, located: Located, act: str) -> tuple[Pod, Process]:
        """Return the pod and the process that may be broken; `Refused` with every reason."""
        if located.pod is None or located.process is None:
            what = f"no {self._spec.program} runs in it" if located.pod else "it does not exist"
            raise HostError(f"node `{self._name}` is not {act}: pod {self._spec.pod}: {what}")
        budgets = objects.listed(in_namespace(self._spec.namespace, "poddisruptionbudgets"))
        controller = controller_of(objects, located.pod)
        reasons = list(
            objections(
                located.pod,
                controller,
                budgets,
                over_budget=self._spec.over_budget,
                broken=located.process.paused,
            )
        )
        if reasons:
            raise Refused(
                f"node `{self._name}` is not {act}: pod {self._spec.namespace}/{self._spec.pod}: "
                + "; ".join(reasons)
            )
        return located.pod, located.process

    def _evidence(self, located: Located, **seen: Any) -> dict[str, Any]:
        if located.pod is None:
            return {"pod": self._spec.pod, "namespace": self._spec.namespace, "held": False, **seen}
        return located.pod.evidence(self._spec.container, **seen)

    def _already(self, located: Located) -> Proof:
        process = located.process
        state = "gone" if process is None else "paused" if process.paused else "running"
        who = process.evidence() if process is not None else {}
        evidence = self._evidence(located, **who, process=state)
        return Proof(time.monotonic(), 0.0, evidence, already=True)

    def _proof(self, located: Located, effect: Effect, **seen: Any) -> Proof:
        who = located.process.evidence() if located.process else {}
        evidence = self._evidence(located, **who, process=effect.state, **seen)
        effective, uncertainty_s = bracket(effect.done, effect.said)
        return Proof(effective, uncertainty_s, evidence, already=effect.already)
