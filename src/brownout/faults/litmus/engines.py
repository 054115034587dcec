"""Litmus's faults in a run: a ChaosEngine is created, watched until it injects, and stopped.

    guards ──▶ intent ──▶ created ──▶ injected: effective ──▶ … ──▶ stopped or completed: paid

What it breaks is in the hands of Litmus, and only it knows how many nodes that is: the guards see
to it that nothing else is broken and that the inventory does not deny it, and no more. Until it is
stopped no milestone counts, and to stop it is a pending undo of a run that dies.
"""

import os
import time
import uuid
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import ValidationError

from brownout.base.errors import ClusterError, ConfigurationError
from brownout.base.extras import how_to_install
from brownout.base.files import is_file
from brownout.base.problems import from_validation
from brownout.base.wait import wait_until
from brownout.databases.adapter import Adapter, Support
from brownout.databases.milestones import still_unmet
from brownout.faults import guards
from brownout.faults.act import Act, Evidence, PendingUndo
from brownout.faults.fault import Fault, Undo
from brownout.faults.litmus import engine_status
from brownout.faults.litmus import manifest as manifests
from brownout.faults.litmus.surroundings import result_name
from brownout.inventory.model import Cluster, Node
from brownout.machine.host import Proof
from brownout.run import contract

if TYPE_CHECKING:
    from brownout.faults.faults import Faults
    from brownout.faults.litmus.api import Litmus

__all__ = ["RunChaosEngine", "StopChaosEngine", "Where", "await_completed", "litmus_at"]
__all__ += ["result_of"]

_POLL_S = 0.5
_STOPPED_WITHIN_S = 600.0
_AWAY_S = 120.0
Document = Mapping[str, Any]
T = TypeVar("T")
Stopped = Callable[[], bool]


@dataclass(frozen=True, slots=True)
class Where:
    """Which API server and which of its namespaces; empty is what is found by default."""

    namespace: str = "default"
    kubeconfig: str = ""
    context: str = ""

    def value(self) -> dict[str, str]:
        """Return it as the pending undo of an engine holds it."""
        named = self.kubeconfig or os.environ.get("KUBECONFIG", "")
        file = str(Path(named).expanduser().resolve()) if is_file(Path(named)) else named
        return {"namespace": self.namespace, "kubeconfig": file, "context": self.context}


class RunChaosEngine(Fault):
    """Create a ChaosEngine and wait until it injects, by its own word.

    From the file of a `manifest`, or of one `experiment` with its `service_account`, `env` and the
    application that it is about. An engine of that name that an earlier run made, and that is over,
    makes way; any other one is refused. Fails where nothing is injected in time. Undone by
    `stop_chaos_engine`, which the rollback does too.

    {"node": null, "effective": 24.1, "evidence": {"engine": "…", "seen": "event ChaosInject", …}}
    """

    name, act, undo_name = "run_chaos_engine", "litmus", "stop_chaos_engine"
    words = "LitmusChaos injected its fault"
    module, node, takes_node = "litmus", None, False

    def supports(self, cluster: Cluster, adapter: Adapter) -> Support | None:
        """Litmus does it, so no database is asked whether it can."""
        return None

    def problems(self, arguments: Mapping[str, Any]) -> list[str]:
        """Read the manifest, if there is one."""
        if not (manifest := str(arguments.get("manifest") or "")):
            return []
        try:
            manifests.from_file(manifest)
        except ConfigurationError as error:
            return error.problems
        return []

    def plan(
        self,
        cluster: Cluster,
        adapter: Adapter | None,
        node: Node | None,
        arguments: Mapping[str, Any],
    ) -> list[str] | None:
        """Say where nothing tells which engine to create."""
        if arguments.get("manifest") or arguments.get("experiment"):
            return None
        return ["NOT POSSIBLE: found neither a `manifest` nor an `experiment`; give one of them"]

    def run(
        self,
        faults: "Faults",
        node: None,
        manifest: str = "",
        name: str = "",
        experiment: str = "",
        service_account: str = "",
        env: dict = None,  # type: ignore[type-arg,assignment]  # noqa: RUF013
        app_namespace: str = "",
        app_label: str = "",
        app_kind: str = "",
        namespace: str = "",
        kubeconfig: str = "",
        context: str = "",
        injected_within_s: float = 300.0,
    ) -> Evidence:
        """Create it; effective when it says that it injects."""
        if manifest:
            engine = manifests.from_file(manifest)
        else:
            app = {"appns": app_namespace, "applabel": app_label, "appkind": app_kind}
            engine = manifests.from_parts(name, experiment, service_account, env or {}, app)
        own = str(engine["metadata"].get("namespace") or "")
        where = Where(namespace or own or "default", kubeconfig, context)
        return self._create(faults, where, engine, injected_within_s)

    def _create(
        self, faults: "Faults", where: Where, engine: Document, within_s: float
    ) -> Evidence:
        name, mark = str(engine["metadata"]["name"]), uuid.uuid4().hex
        marked = manifests.marked(engine, where.namespace, mark)
        setting = f"{where.namespace}/{name}"
        with closing(litmus_at(where)) as litmus:
            value = {**where.value(), "server": litmus.server, "name": name, "mark": mark}
            there = litmus.engine(name)
            _check(faults, _taken(there, setting))

            def do() -> Proof:
                if there is not None:
                    _remove(litmus, there, faults.stopped)
                current = litmus.create_engine(marked)
                return _noted(faults, _injected(litmus, current, within_s, faults.stopped))

            leaves = PendingUndo(self.undo_name, None, setting, value)
            arguments = {"engine": setting, "experiments": manifests.experiments_of(engine)}
            return faults.perform(Act("break", self.name, None, leaves, arguments), do)


class StopChaosEngine(Undo):
    """Stop a ChaosEngine, by `name` or by its `manifest`, and wait until its operator has.

    Does nothing where it is over already, or gone. The object stays, for its readers.
    """

    name, act, words = "stop_chaos_engine", "litmus", "LitmusChaos stopped its fault"
    module, node, takes_node = "litmus", None, False

    def run(
        self,
        faults: "Faults",
        node: None,
        name: str = "",
        manifest: str = "",
        namespace: str = "",
        kubeconfig: str = "",
        context: str = "",
        stopped_within_s: float = _STOPPED_WITHIN_S,
    ) -> Evidence:
        """Stop it; effective when its operator says so."""
        space, called = manifests.place(name, manifest, namespace)
        where, setting = Where(space, kubeconfig, context), f"{space}/{called}"
        mine = [each for each in faults.pending if each.setting == setting]
        pending = mine[0] if mine else PendingUndo(self.name, None, setting, where.value())
        return self._stop(faults, where, called, pending, stopped_within_s)

    def put_back(self, faults: "Faults", pending: PendingUndo) -> None:
        """Stop what a run left, and nothing that another one made meanwhile."""
        value = {key: str(text) for key, text in (pending.value or {}).items()}
        where = Where(value["namespace"], value.get("kubeconfig", ""), value.get("context", ""))
        self._stop(faults, where, value["name"], pending, _STOPPED_WITHIN_S)

    def describe(self, pending: PendingUndo) -> str:
        """Return it as `stop_chaos_engine default/pods`."""
        return f"{self.name} {pending.setting}"

    def _stop(
        self, faults: "Faults", where: Where, name: str, pending: PendingUndo, within_s: float
    ) -> Evidence:
        mark = str((pending.value or {}).get("mark", ""))
        with closing(litmus_at(where)) as litmus:
            _check_server(litmus, pending)
            arguments = {"setting": pending.setting}
            act = Act("mend", self.name, None, None, arguments, pending.setting)
            return faults.perform(
                act, lambda: _noted(faults, _stopped(litmus, name, mark, within_s))
            )


def _check(faults: "Faults", objections: list[str]) -> None:
    missing = still_unmet(faults.adapter, "whole")
    guards.refuse(guards.of_engine(faults.cluster, faults.hit, missing, objections))


def _noted(faults: "Faults", proof: Proof) -> Proof:
    """Write down which experiments of an engine failed beside others: its fault is not whole."""
    for words in proof.evidence.get("failed", ()):
        faults.breach(contract.DURATION, f"an experiment of the ChaosEngine failed: {words}")
    return proof


def _injected(litmus: "Litmus", engine: Document, within_s: float, stopped: Stopped) -> Proof:
    """Wait until it injects, by its own word."""
    name, uid = engine["metadata"]["name"], engine["metadata"]["uid"]
    began = time.monotonic()

    def look() -> str:
        if litmus.injected(uid):
            return "event ChaosInject"
        results = _results(litmus, engine)
        if seen := engine_status.injected_by(results, uid):
            return seen
        now = litmus.engine(name) or engine
        failed = engine_status.failed(now, results)
        none_left = all(each in failed for each in manifests.experiments_of(engine))
        if none_left or engine_status.is_over(now):
            why = "; ".join(failed.values()) or f"it is {engine_status.is_over(now)}"
            raise ClusterError(f"ChaosEngine `{name}`: nothing was injected: {why}")
        return ""

    seen, at, since = _timed(look, within_s, bool, stopped)
    if not seen:
        why = "; ".join(_failed(litmus, engine))
        raise ClusterError(
            f"ChaosEngine `{name}`: nothing was injected {at - began:.0f} s after it was created"
            f"{f': {why}' if why else ''}",
            "is Litmus's operator running, and may it act in this namespace?",
        )
    evidence = {"engine": name, "uid": uid, "seen": seen, "after_s": round(at - began, 3)}
    problems = _failed(litmus, engine)
    return Proof(at, at - since, {**evidence, **({"failed": problems} if problems else {})})


def _timed(
    look: Callable[[], T], within_s: float, so: Callable[[T], object], stopped: Stopped
) -> tuple[T, float, float]:
    """Wait as `wait_until` does; return what was seen, when, and since when it may have been so."""
    begun = deque([time.monotonic()], maxlen=2)

    def timed() -> T:
        begun.append(time.monotonic())
        return look()

    last = wait_until(timed, within_s, _POLL_S, so=so, stopped=stopped)
    return last, time.monotonic(), begun[0]


def litmus_at(where: Where, patience_s: float = _AWAY_S) -> "Litmus":
    """Return the API of a namespace; `ConfigurationError` without the extra.

    A server that is away, as where the fault is one of Kubernetes, is waited for so long.
    """
    try:
        from brownout.faults.litmus.api import Litmus
        from brownout.kubernetes.access import Access, connect
    except ModuleNotFoundError as error:
        raise ConfigurationError(
            f"Litmus needs the package `{error.name}`, which is not installed",
            how_to_install("kubernetes"),
        ) from error
    given = {key: text for key, text in where.value().items() if text}
    try:
        access = Access.model_validate(given)
    except ValidationError as error:
        raise ConfigurationError(from_validation(error, Access)) from error
    return Litmus(connect(access), access.namespace, patience_s)


def await_completed(where: Where, name: str, within_s: float, stopped: Stopped) -> dict[str, Any]:
    """Wait until an engine is completed or stopped; return how, and what came of it."""
    began = time.monotonic()
    with closing(litmus_at(where)) as litmus:

        def look() -> Document:
            engine = litmus.engine(name)
            if engine is None:
                raise ClusterError(f"namespace `{where.namespace}`: no ChaosEngine `{name}`")
            return engine

        engine = wait_until(look, within_s, _POLL_S, so=engine_status.is_over, stopped=stopped)
        waited_s = round(time.monotonic() - began, 3)
        over = engine_status.is_over(engine)
        if not over:
            raise ClusterError(f"ChaosEngine `{name}`: still running after {waited_s:.0f} s")
        return {**_seen(litmus, engine, over), "waited_s": waited_s}


def result_of(where: Where, engine: str, experiment: str) -> dict[str, Any]:
    """Return what the ChaosResult of an engine's experiment says; see `engine_status.summary`."""
    name = result_name(engine, experiment)
    with closing(litmus_at(where)) as litmus:
        result = litmus.result(name)
    if result is None:
        raise ClusterError(
            f"namespace `{where.namespace}`: there is no ChaosResult `{name}`",
            "the experiment writes it when it begins: has it?",
        )
    return engine_status.summary(result)


def _check_server(litmus: "Litmus", pending: PendingUndo) -> None:
    """Another cluster has no such engine, so a pending undo would seem to be done there."""
    wanted = (pending.value or {}).get("server", litmus.server)
    if wanted != litmus.server:
        raise ConfigurationError(
            f"ChaosEngine {pending.setting}: is at the API server {wanted}, and the kubeconfig "
            f"leads to {litmus.server} now",
            "set KUBECONFIG to that of the run",
        )


def _taken(there: Document | None, setting: str) -> list[str]:
    """Return why an engine of this name cannot be made; one of ours that is over makes way."""
    if there is None:
        return []
    if manifests.MARK not in (there["metadata"].get("annotations") or {}):
        return [f"there is a ChaosEngine {setting} that no run of brownout made"]
    return (
        []
        if engine_status.is_over(there)
        else [f"the ChaosEngine {setting} of another run is still running"]
    )


def _remove(litmus: "Litmus", engine: Document, stopped: Stopped) -> None:
    """Remove an engine of ours that is over, and wait until its operator has released it."""
    name = engine["metadata"]["name"]
    litmus.delete_engine(engine)
    if not wait_until(
        lambda: litmus.engine(name) is None, _STOPPED_WITHIN_S, _POLL_S, stopped=stopped
    ):
        raise ClusterError(f"ChaosEngine `{name}`: the earlier one does not go")


def _stopped(litmus: "Litmus", name: str, mark: str, within_s: float) -> Proof:
    began = time.monotonic()
    engine = litmus.engine(name)
    if engine is None or not _is_marked(engine, mark):
        return Proof(began, 0.0, {"found": f"no ChaosEngine `{name}` of this run"}, already=True)
    if over := engine_status.is_over(engine):
        return Proof(began, 0.0, _seen(litmus, engine, over), already=True)
    litmus.set_state(name, "stop")
    engine, at, since = _timed(lambda: litmus.engine(name), within_s, _over, lambda: False)
    over = _over(engine)
    if not over:
        raise ClusterError(
            f"ChaosEngine `{name}`: was told to stop, and is not {within_s:.0f} s later",
            "is Litmus's operator running? What it broke may still be broken",
        )
    return Proof(at, at - since, _seen(litmus, engine, over))


def _over(engine: Document | None) -> str:
    return engine_status.is_over(engine) if engine else "gone"


def _is_marked(engine: Document, mark: str) -> bool:
    """An engine named by hand, which no run has to undo, has any mark, or none."""
    return not mark or (engine["metadata"].get("annotations") or {}).get(manifests.MARK) == mark


def _seen(litmus: "Litmus", engine: Document | None, over: str) -> dict[str, Any]:
    results = _results(litmus, engine) if engine else []
    verdicts = {r["metadata"]["name"]: engine_status.verdict_of(r) for r in results}
    problems = _failed(litmus, engine) if engine else []
    more = {"failed": problems} if problems else {}
    return {"engine_status": over, "verdicts": verdicts, **more}


def _failed(litmus: "Litmus", engine: Document) -> list[str]:
    """Return why experiments of an engine failed, where it has several, in words."""
    if len(manifests.experiments_of(engine)) < 2:
        return []
    now = litmus.engine(engine["metadata"]["name"]) or engine
    return list(engine_status.failed(now, _results(litmus, engine)).values())


def _results(litmus: "Litmus", engine: Document) -> list[Document]:
    names = [result_name(engine["metadata"]["name"], e) for e in manifests.experiments_of(engine)]
    return [result for result in map(litmus.result, names) if result is not None]
