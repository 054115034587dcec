"""Engines in a real API server: made, refused, stopped, put back. The operator is a STAND-IN."""

import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests import chaos_runner as chaos
from tests.litmus.conftest import Place
from tests.litmus.standin import operator
from tests.waiting import await_whole

from brownout import cli
from brownout.base.errors import ClusterError, HostError, Refused
from brownout.databases.adapter import Adapter, adapter_for
from brownout.faults import undos
from brownout.faults.act import PendingUndo
from brownout.faults.faults import Faults
from brownout.faults.litmus.api import Litmus
from brownout.faults.litmus.engines import Where, await_completed, result_of
from brownout.faults.litmus.manifest import MARK, from_parts
from brownout.inventory.model import Cluster, Guards
from brownout.run.events import EventLog, read_events

pytestmark = pytest.mark.kubernetes
Document = dict[str, Any]


def pod_delete(name: str = "web") -> Document:
    return from_parts(name, "pod-delete", "pod-delete-sa", "TOTAL_CHAOS_DURATION=30", {})


@pytest.fixture
def adapter(lab_mongodb: Cluster) -> Iterator[Adapter]:
    found = adapter_for(lab_mongodb)
    try:
        yield found
    finally:
        found.close()


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "events.ndjson"


@pytest.fixture
def faults(lab_mongodb: Cluster, adapter: Adapter, log: Path) -> Faults:
    return Faults(lab_mongodb, adapter, EventLog(log), lambda monotonic: monotonic)


@pytest.fixture
def manifest(tmp_path: Path) -> Callable[..., str]:
    """Write a ChaosEngine to a file, as an experiment names it."""

    def write(engine: Document) -> str:
        path = tmp_path / "engine.yaml"
        path.write_text(yaml.safe_dump(engine))
        return str(path)

    return write


def at(where: Where) -> dict[str, str]:
    """Where an engine is made or stopped, as the action's arguments say it."""
    return where.value()


def state(litmus: Litmus, name: str = "web") -> tuple[str, str]:
    engine = litmus.engine(name)
    assert engine is not None
    return engine["spec"]["engineState"], (engine.get("status") or {}).get("engineStatus", "")


def test_an_engine_is_run_until_it_injects_and_stopped_as_its_driver_may(
    faults: Faults, manifest: Callable[..., str], place: Place, litmus: Litmus, log: Path
) -> None:
    where = place.where(place.driver)
    with operator(place.api, place.namespace):
        done = faults.run(
            "run_chaos_engine",
            None,
            manifest=manifest(pod_delete()),
            **at(where),
            injected_within_s=60,
        )
        assert done["evidence"]["seen"] == "event ChaosInject"
        assert done["effective"] is not None
        assert state(litmus) == ("active", "initialized")
        assert not faults.settled  # no milestone counts while it goes on
        assert [undos.describe(each) for each in undos.left(read_events(log))] == [
            f"stop_chaos_engine {place.namespace}/web"
        ]
        stopped = faults.run("stop_chaos_engine", None, name="web", **at(where))
        assert stopped["evidence"]["engine_status"] == "stopped"
        assert stopped["evidence"]["verdicts"] == {"web-pod-delete": "Awaited"}
        assert faults.run("stop_chaos_engine", None, name="web", **at(where))["evidence"]["already"]
    assert state(litmus) == ("stop", "stopped")
    assert faults.settled
    assert undos.left(read_events(log)) == ()
    assert [(e.type, e.name) for e in read_events(log)][:2] == [
        ("break", "run_chaos_engine"), ("mend", "stop_chaos_engine")
    ]  # fmt: skip


def test_one_that_completes_is_waited_for_and_says_its_verdict(
    faults: Faults, manifest: Callable[..., str], place: Place
) -> None:
    where = place.where(place.driver)
    with operator(place.api, place.namespace, finishes=True):
        faults.run(
            "run_chaos_engine",
            None,
            manifest=manifest(pod_delete()),
            **at(where),
            injected_within_s=60,
        )
        found = await_completed(where, "web", 60, lambda: False)
        assert (found["engine_status"], found["verdicts"]) == (
            "completed", {"web-pod-delete": "Pass"}
        )  # fmt: skip
        assert result_of(where, "web", "pod-delete")["probe_success_percentage"] == 100.0
        assert faults.run("stop_chaos_engine", None, name="web", **at(where))["evidence"]["already"]


def test_what_a_run_that_died_left_active_is_stopped_from_its_record(
    faults: Faults,
    manifest: Callable[..., str],
    place: Place,
    litmus: Litmus,
    lab_mongodb: Cluster,
    adapter: Adapter,
    log: Path,
) -> None:
    with operator(place.api, place.namespace):
        faults.run(
            "run_chaos_engine",
            None,
            manifest=manifest(pod_delete()),
            **at(place.where(place.driver)),
            injected_within_s=60,
        )
        left = undos.left(read_events(log))  # as `brownout heal` reads it
        again = Faults(lab_mongodb, adapter, EventLog(log), lambda _: None, left)
        assert again.put_back() == []
        assert state(litmus) == ("stop", "stopped")
        assert undos.left(read_events(log)) == ()


def test_one_of_ours_that_is_over_makes_way_and_any_other_is_refused(
    faults: Faults, manifest: Callable[..., str], place: Place, litmus: Litmus, log: Path
) -> None:
    where = place.where(place.driver)
    with operator(place.api, place.namespace, finishes=True):
        first = faults.run(
            "run_chaos_engine",
            None,
            manifest=manifest(pod_delete()),
            **at(where),
            injected_within_s=60,
        )["evidence"]["uid"]
        await_completed(where, "web", 60, lambda: False)
        faults.run("stop_chaos_engine", None, name="web", **at(where))
        second = faults.run(
            "run_chaos_engine",
            None,
            manifest=manifest(pod_delete()),
            **at(where),
            injected_within_s=60,
        )["evidence"]["uid"]
        assert first != second
        faults.run("stop_chaos_engine", None, name="web", **at(where))
        litmus.create_engine({**pod_delete("theirs")})
        with pytest.raises(Refused, match="theirs that no run of brownout made"):
            faults.run(
                "run_chaos_engine",
                None,
                manifest=manifest(pod_delete("theirs")),
                **at(where),
                injected_within_s=60,
            )
    assert [e.arguments.get("engine") for e in read_events(log) if e.type == "break"] == [
        f"{place.namespace}/web"
    ] * 2
    assert state(litmus, "theirs")[0] == "active"  # nobody stopped it


def test_what_is_owed_at_another_api_server_is_not_paid_here(
    place: Place, lab_mongodb: Cluster, adapter: Adapter, log: Path
) -> None:
    value = {**place.where().value(), "name": "web", "mark": "m", "server": "https://elsewhere"}
    left = PendingUndo("stop_chaos_engine", None, f"{place.namespace}/web", value)
    found = Faults(lab_mongodb, adapter, EventLog(log), lambda _: None, [left])
    (failure,) = found.put_back()
    assert "is at the API server https://elsewhere" in failure


def test_an_engine_of_somebody_else_is_never_put_back(
    place: Place, litmus: Litmus, lab_mongodb: Cluster, adapter: Adapter, log: Path
) -> None:
    theirs = pod_delete()
    theirs["metadata"]["annotations"] = {MARK: "another-run"}
    litmus.create_engine(theirs)
    value = {**place.where().value(), "name": "web", "mark": "mark-1"}
    left = PendingUndo("stop_chaos_engine", None, f"{place.namespace}/web", value)
    found = Faults(lab_mongodb, adapter, EventLog(log), lambda _: None, [left])
    assert found.put_back() == []
    assert state(litmus)[0] == "active"


def test_without_an_operator_nothing_is_injected_and_that_is_said(
    faults: Faults, manifest: Callable[..., str], place: Place, litmus: Litmus
) -> None:
    with pytest.raises(ClusterError, match="is Litmus's operator running"):
        faults.run(
            "run_chaos_engine",
            None,
            manifest=manifest(pod_delete()),
            **at(place.where()),
            injected_within_s=1,
        )
    assert faults.put_back() == []
    assert state(litmus) == ("stop", "")


def test_one_that_never_injects_is_stopped_by_its_operator(
    faults: Faults, manifest: Callable[..., str], place: Place, litmus: Litmus
) -> None:
    with operator(place.api, place.namespace, works=False):
        with pytest.raises(ClusterError, match="nothing was injected"):
            faults.run(
                "run_chaos_engine",
                None,
                manifest=manifest(pod_delete()),
                **at(place.where()),
                injected_within_s=1,
            )
        assert faults.put_back() == []
    assert state(litmus) == ("stop", "stopped")


def test_what_the_api_server_refuses_is_said_in_its_words(
    faults: Faults, manifest: Callable[..., str], place: Place, litmus: Litmus
) -> None:
    bare = pod_delete()
    del bare["spec"]["chaosServiceAccount"]
    with pytest.raises(HostError, match=r"422.*chaosServiceAccount: Required value"):
        faults.run(
            "run_chaos_engine",
            None,
            manifest=manifest(bare),
            **at(place.where()),
            injected_within_s=5,
        )
    litmus.create_engine(pod_delete())
    with pytest.raises(HostError, match=r"422.*engineState.*\"paused\""):
        litmus.set_state("web", "paused")
    with pytest.raises(HostError, match=r"403 Forbidden.*infra/litmus/rbac.yaml"):
        faults.run(
            "run_chaos_engine",
            None,
            manifest=manifest(pod_delete("mine")),
            **at(place.where(place.runner)),
            injected_within_s=5,
        )
    assert faults.put_back() == []


def test_guards_hold_it_back_as_far_as_they_can(
    lab_mongodb: Cluster,
    adapter: Adapter,
    log: Path,
    place: Place,
    litmus: Litmus,
    manifest: Callable[..., str],
) -> None:
    denied = lab_mongodb.model_copy(update={"guards": Guards(deny_acts=("litmus",))})
    faults = Faults(denied, adapter, EventLog(log), lambda _: None)
    with pytest.raises(Refused, match="the inventory denies litmus"):
        faults.run("run_chaos_engine", None, manifest=manifest(pod_delete()), **at(place.where()))
    broken = [PendingUndo("start_node", "n1")]
    faults = Faults(lab_mongodb, adapter, EventLog(log), lambda _: None, broken)
    with pytest.raises(Refused, match="`what the engine breaks` would be one more"):
        faults.run("run_chaos_engine", None, manifest=manifest(pod_delete()), **at(place.where()))
    assert litmus.engine("web") is None


@pytest.mark.quiet
def test_the_experiment_runs_an_engine_under_load_and_keeps_what_litmus_said(
    lab_mongodb: Cluster, adapter: Adapter, place: Place, tmp_path: Path
) -> None:
    manifest = tmp_path / "engine.yaml"
    manifest.write_text(yaml.safe_dump(pod_delete()))
    experiment = chaos.quick(chaos.load("litmus-fault"))
    env = {
        "KUBECONFIG": str(place.driver),
        "BROWNOUT_LITMUS_MANIFEST": str(manifest),
        "BROWNOUT_LITMUS_NAMESPACE": place.namespace,
    }
    with operator(place.api, place.namespace, finishes=True):
        ran = chaos.run(experiment, tmp_path, *chaos.GENTLY, env=env)
    print(ran.output)
    ran.check_proven()
    assert ran.deeds == [("run_chaos_engine", None), ("stop_chaos_engine", None)]
    told = {deed["activity"]["name"]: deed.get("output") for deed in ran.journal["run"]}
    assert told["what-litmus-says"]["verdict"] == "Pass"
    assert ran.impact["faults"][0]["effective"] is not None
    await_whole(adapter)


def test_a_run_that_is_killed_leaves_an_engine_that_heal_stops(
    lab_mongodb: Cluster, place: Place, litmus: Litmus, tmp_path: Path
) -> None:
    manifest = tmp_path / "engine.yaml"
    manifest.write_text(yaml.safe_dump(pod_delete()))
    experiment = chaos.quick(chaos.load("litmus-fault"))
    variables = ("--var", f"manifest={manifest}", "--var", f"namespace={place.namespace}")
    env = {"KUBECONFIG": str(place.driver)}
    with operator(place.api, place.namespace):
        running = chaos.start(experiment, tmp_path, *chaos.GENTLY, *variables, env=env)
        await_injected(litmus, running)
        running.kill()
        running.communicate(timeout=60)
        assert state(litmus) == ("active", "initialized")
        assert cli.run(["heal", lab_mongodb.name]) == 0  # it knows the kubeconfig of the run
        assert state(litmus) == ("stop", "stopped")
        assert cli.run(["heal", lab_mongodb.name]) == 0


def await_injected(litmus: Litmus, running: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + 120
    while litmus.result("web-pod-delete") is None:
        assert running.poll() is None, running.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.05)
