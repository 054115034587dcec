"""`brownout litmus run` against a real API server: the verdict as a ChaosResult, whatever happens.

Runs are real, on a real replica set; what starts the process here is Litmus's runner elsewhere.
"""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from kubernetes import client
from tests import chaos_runner as chaos
from tests.docs.documents import ROOT
from tests.litmus.conftest import Place
from tests.waiting import await_whole

from brownout.base.errors import HostError
from brownout.databases.adapter import adapter_for
from brownout.faults.litmus import engine_status
from brownout.faults.litmus.api import Litmus
from brownout.faults.litmus.engines import litmus_at, result_of
from brownout.faults.litmus.surroundings import Surroundings
from brownout.inventory.model import Cluster
from brownout.kubernetes.problems import Conflict
from brownout.litmus.conduct import conduct
from brownout.litmus.reporter import Reporter
from brownout.litmus.status import broken_off, started, tell

pytestmark = pytest.mark.kubernetes
Document = Mapping[str, Any]
ENGINE = "brownout-node-kill"


def engine_of_the_chart(namespace: str, *extra: Document, **comparators: str) -> Document:
    """The chart's engine, with other figures in its probes."""
    path = ROOT / "infra/litmus/faults/brownout/node-kill/engine.yaml"
    engine: dict[str, Any] = yaml.safe_load(path.read_text())
    engine["metadata"]["namespace"] = namespace
    (experiment,) = engine["spec"]["experiments"]
    for probe in experiment["spec"]["probe"]:
        value = comparators.get(probe["name"].replace("-", "_"))
        if value is not None:
            probe["cmdProbe/inputs"]["comparator"]["value"] = value
    experiment["spec"]["probe"] += extra
    return engine


def here(place: Place, pod: str = "") -> Surroundings:
    return Surroundings(ENGINE, "node-kill", place.namespace, pod=pod)


def process(place: Place, where: Path, *options: str, **env: str) -> subprocess.Popen[str]:
    """The container's command, told by its environment as Litmus's runner tells it."""
    given = {
        "CHAOSENGINE": ENGINE, "EXPERIMENT_NAME": "node-kill", "CHAOS_NAMESPACE": place.namespace,
        "TOTAL_CHAOS_DURATION": "1", "BROWNOUT_CLUSTER": "lab-mongodb", "BROWNOUT_LOAD": chaos.LOAD,
        "BROWNOUT_BASELINE_S": str(chaos.LEAST_BASELINE_S),
        "BROWNOUT_RUNS": str(where / "runs"), **env,
    }  # fmt: skip
    command = [sys.executable, "-m", "brownout", "litmus", "run", "node-kill",
               "--kubeconfig", str(place.runner), *options]  # fmt: skip
    return subprocess.Popen(
        command, cwd=where, env={**os.environ, **given}, text=True, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )  # fmt: skip


def experiment_status(litmus: Litmus) -> Document:
    result = litmus.result(f"{ENGINE}-node-kill")
    found: Document = ((result or {}).get("status") or {}).get("experimentStatus") or {}
    return found


def await_that(true: Any, what: str) -> None:
    deadline = time.monotonic() + 120
    while not true():
        assert time.monotonic() < deadline, what
        time.sleep(0.05)


@pytest.fixture(autouse=True)
def whole_again(lab_mongodb: Cluster) -> Iterator[None]:
    yield
    adapter = adapter_for(lab_mongodb)
    await_whole(adapter)
    adapter.close()


def test_the_chart_is_taken_by_a_real_api_server_field_by_field(place: Place) -> None:
    objects = client.CustomObjectsApi(place.api)
    kinds = {"fault.yaml": "chaosexperiments", "engine.yaml": "chaosengines"}
    for path in sorted((ROOT / "infra/litmus/faults/brownout").glob("*/*.yaml")):
        if path.name in kinds:
            document = yaml.safe_load(path.read_text())
            document["metadata"]["namespace"] = place.namespace
            made = objects.create_namespaced_custom_object(
                "litmuschaos.io", "v1alpha1", place.namespace, kinds[path.name], document,
                field_validation="Strict",
            )  # fmt: skip
            assert made["spec"] == document["spec"]


@pytest.mark.quiet
def test_the_verdict_of_a_real_run_is_a_result_that_our_probes_read_back(
    place: Place, litmus: Litmus, tmp_path: Path
) -> None:
    # An engine that wants less than this machine can give: only what users felt may decide.
    wanted = {"recovery_time": "0.05", "blackout": "60", "lost_seconds": "60"}
    litmus.create_engine(engine_of_the_chart(place.namespace, **wanted))
    run = process(place, tmp_path)
    await_that(lambda: experiment_status(litmus).get("phase") == "Running", "it never ran")
    output, _ = run.communicate(timeout=240)
    print(output)
    assert run.returncode == 0, output
    said = result_of(place.where(place.driver), ENGINE, "node-kill")
    assert (said["verdict"], said["phase"]) == ("Fail", "Completed_With_Probe_Failure"), output
    assert said["probes"] == {
        "blackout": "Passed", "recovery-time": "Failed", "return-recovery-time": "Passed",
        "lost-seconds": "Passed",
        "redundancy-time-after-start": "Passed", "lost-writes": "Passed",
    }  # fmt: skip
    assert said["probe_success_percentage"] == 83
    assert list(said["targets"].values()) == ["reverted"]
    result = litmus.result(f"{ENGINE}-node-kill")
    engine = litmus.engine(ENGINE)
    assert result is not None
    assert engine is not None
    assert result["metadata"]["ownerReferences"][0]["uid"] == engine["metadata"]["uid"]
    assert result["metadata"]["labels"]["chaosUID"] == engine["metadata"]["uid"]
    assert result["status"]["history"]["failedRuns"] == 1
    (slow,) = [p for p in result["status"]["probeStatuses"] if p["name"] == "recovery-time"]
    assert slow["status"]["description"].endswith("at most 0.05 s wanted (--var limits)")
    events = client.CoreV1Api(place.api).list_namespaced_event(place.namespace).items
    noted = {(e.involved_object.kind, e.reason, e.type) for e in events}
    assert ("ChaosResult", "Awaited", "Normal") in noted
    assert ("ChaosResult", "Fail", "Warning") in noted
    assert ("ChaosEngine", "Summary", "Warning") in noted


@pytest.mark.quiet
def test_a_sigterm_puts_everything_back_and_is_told_as_stopped(
    place: Place, litmus: Litmus, tmp_path: Path
) -> None:
    litmus.create_engine(engine_of_the_chart(place.namespace))
    run = process(place, tmp_path, "--by-verdict", TOTAL_CHAOS_DURATION="120")
    events = tmp_path / "runs"

    def broken() -> bool:
        text = "".join(path.read_text() for path in events.glob("*/events.ndjson"))
        return '"effective"' in text and "kill_node" in text

    await_that(lambda: broken() or run.poll() is not None, "nothing was broken")
    run.send_signal(signal.SIGTERM)  # as the kubelet does when the operator removes the job
    output, _ = run.communicate(timeout=120)
    assert run.returncode == 3, output
    said = experiment_status(litmus)
    assert (said["phase"], said["verdict"]) == ("Stopped", "Stopped")
    assert said["probeSuccessPercentage"] == "0"
    assert said["errorOutput"]["errorCode"] == "RUN_ABORTED"
    result = litmus.result(f"{ENGINE}-node-kill")
    assert result is not None
    assert result["status"]["history"]["stoppedRuns"] == 1
    assert list(engine_status.targets_of(result).values()) == ["reverted"]


def test_an_engine_with_a_probe_that_nobody_would_ask_is_an_error_and_nothing_is_touched(
    place: Place, litmus: Litmus, tmp_path: Path
) -> None:
    foreign = {
        "name": "frontend", "type": "httpProbe", "mode": "EOT",
        "runProperties": {"probeTimeout": "5s", "interval": "2s"},
        "httpProbe/inputs": {"url": "http://web"},
    }  # fmt: skip
    litmus.create_engine(engine_of_the_chart(place.namespace, foreign))
    run = process(place, tmp_path)
    output, _ = run.communicate(timeout=120)
    assert run.returncode == 0, output
    said = experiment_status(litmus)
    assert (said["verdict"], said["errorOutput"]["errorCode"]) == ("Error", "NOT_RUN")
    assert "probe frontend (httpProbe)" in said["errorOutput"]["reason"]
    assert not (tmp_path / "runs").exists()


def test_without_its_engine_or_its_rights_it_says_so_and_runs_nothing(
    place: Place, tmp_path: Path
) -> None:
    run = process(place, tmp_path)
    output, _ = run.communicate(timeout=60)
    assert run.returncode == 2
    assert f"there is no ChaosEngine `{ENGINE}`, which CHAOSENGINE names" in output
    with contextlib.closing(litmus_at(place.where(place.driver))) as driver:
        driver.create_engine(engine_of_the_chart(place.namespace))
        reporter = Reporter(driver, here(place), 5, print)
        with pytest.raises(HostError, match=r"403 Forbidden.*infra/litmus/rbac.yaml"):
            reporter.tell(started([]))


def test_a_pod_that_its_job_starts_again_breaks_nothing_a_second_time(
    place: Place, litmus: Litmus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BROWNOUT_RUNS", str(tmp_path))
    litmus.create_engine(engine_of_the_chart(place.namespace))
    pods = client.CoreV1Api(place.api)
    for name in ("kill-x1", "kill-x2"):
        labels = {"batch.kubernetes.io/job-name": "node-kill-abc", "name": "node-kill"}
        pod = {"metadata": {"name": name, "labels": labels},
               "spec": {"containers": [{"name": "c", "image": "brownout"}]}}  # fmt: skip
        pods.create_namespaced_pod(place.namespace, pod)
    Reporter(litmus, here(place, "kill-x1"), 5, print).tell(started(["blackout"]))
    again = Reporter(litmus, here(place, "kill-x2"), 5, print)
    told = conduct("node-kill", here(place, "kill-x2"), again, os.environ, print)
    assert told.error is not None
    assert told.error[0] == "POD_DIED"
    assert list(tmp_path.iterdir()) == []
    result = litmus.result(f"{ENGINE}-node-kill")
    assert result is not None
    assert result["metadata"]["labels"]["batch.kubernetes.io/job-name"] == "node-kill-abc"
    assert experiment_status(litmus)["verdict"] == "Error"


# -- an API server that is away, and others who write ---------------------------------------------


class Meddled(Litmus):
    """The real API, where somebody else writes between our reading and our writing."""

    def __init__(self, api: Any, namespace: str) -> None:
        super().__init__(api, namespace)
        self.meddling = 0

    def result(self, name: str) -> Document | None:
        found = super().result(name)
        if found is not None and self.meddling:
            self.meddling -= 1
            noted = {**found, "metadata": {**found["metadata"], "annotations": {
                **found["metadata"].get("annotations", {}), f"by-hand-{self.meddling}": "here"
            }}}  # fmt: skip
            self.write_result(noted)
        return found


def test_a_write_of_somebody_else_meanwhile_is_kept_and_ours_is_written(
    place: Place, litmus: Litmus
) -> None:
    litmus.create_engine(engine_of_the_chart(place.namespace))
    meddled = Meddled(place.api, place.namespace)
    said: list[str] = []
    reporter = Reporter(meddled, here(place), 30, said.append)
    reporter.tell(started([]))
    meddled.meddling = 2
    reporter.tell(tell(None, None, stopped=True))
    result = litmus.result(f"{ENGINE}-node-kill")
    assert result is not None
    assert {"by-hand-0", "by-hand-1"} <= set(result["metadata"]["annotations"])
    assert result["status"]["experimentStatus"]["verdict"] == "Stopped"
    assert result["status"]["history"]["stoppedRuns"] == 1
    assert [text for text in said if "409" in text]
    stale = {**result, "metadata": {**result["metadata"], "resourceVersion": "1"}}
    with pytest.raises(Conflict):
        litmus.write_result(stale)


class Way:
    """A way to the API server on another port of its address, that can be closed and opened."""

    def __init__(self, host: str, port: int) -> None:
        self._to, self._open = (host, port), threading.Event()
        self._open.set()
        self._ends: list[socket.socket] = []
        self._server = socket.create_server((host, 0))
        self.port = self._server.getsockname()[1]
        self._thread = threading.Thread(target=self._accept, daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._open.clear()

    def open(self) -> None:
        self._open.set()

    def end(self) -> None:
        for end in (self._server, *self._ends):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()
        self._thread.join(10)

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                near, _ = self._server.accept()
                if not self._open.is_set():
                    near.close()
                    continue
                far = socket.create_connection(self._to)
                self._ends += [near, far]
                for one, other in ((near, far), (far, near)):
                    threading.Thread(target=_pass_on, args=(one, other), daemon=True).start()


def _pass_on(one: socket.socket, other: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := one.recv(65536):
            other.sendall(data)
    for end in (one, other):
        with contextlib.suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)


@pytest.fixture
def way(place: Place, tmp_path: Path) -> Iterator[tuple[Way, Path]]:
    """A closable way, and the runner's kubeconfig through it."""
    config = yaml.safe_load(place.runner.read_text())
    server = config["clusters"][0]["cluster"]["server"]
    host, _, port = server.removeprefix("https://").partition(":")
    found = Way(host, int(port or 443))
    config["clusters"][0]["cluster"]["server"] = f"https://{host}:{found.port}"
    path = tmp_path / "through.kubeconfig"
    path.write_text(yaml.safe_dump(config))
    try:
        yield found, path
    finally:
        found.end()


def test_an_api_server_that_is_away_at_the_end_is_waited_for_loudly(
    place: Place, litmus: Litmus, way: tuple[Way, Path]
) -> None:
    litmus.create_engine(engine_of_the_chart(place.namespace))
    door, kubeconfig = way
    said: list[str] = []

    def say(text: str) -> None:
        said.append(text)
        if len(said) == 3:
            door.open()

    with contextlib.closing(litmus_at(place.where(kubeconfig), 0.0)) as far:
        reporter = Reporter(far, here(place), 60, say)
        reporter.tell(started([]))
    door.close()
    with contextlib.closing(litmus_at(place.where(kubeconfig), 0.0)) as far:
        reporter._litmus = far  # no connection of before is left open
        reporter.tell(broken_off("NOT_RUN", "why"))
    assert len(said) >= 3
    assert all("does not answer" in text for text in said[:3])
    assert experiment_status(litmus)["verdict"] == "Error"


def test_one_that_stays_away_is_an_error_and_not_silence(
    place: Place, litmus: Litmus, way: tuple[Way, Path]
) -> None:
    litmus.create_engine(engine_of_the_chart(place.namespace))
    door, kubeconfig = way
    with contextlib.closing(litmus_at(place.where(kubeconfig), 0.0)) as far:
        reporter = Reporter(far, here(place), 1, print)
    door.close()
    with contextlib.closing(litmus_at(place.where(kubeconfig), 0.0)) as far:
        reporter._litmus = far
        with pytest.raises(HostError, match="does not answer"):
            reporter.tell(broken_off("NOT_RUN", "why"))


def test_an_engine_is_asked_about_again_while_the_api_server_is_away(
    place: Place, litmus: Litmus, way: tuple[Way, Path]
) -> None:
    litmus.create_engine(engine_of_the_chart(place.namespace))
    door, kubeconfig = way
    door.close()
    with contextlib.closing(litmus_at(place.where(kubeconfig))) as far:
        opening = threading.Timer(1.0, door.open)
        opening.start()
        assert far.engine(ENGINE) is not None
        opening.join()
