"""Loads from pods for real: a real API server and kubelets, whose containers are processes of this
machine (`docs/kubernetes.md`), run the real generator; with the Role of load.yaml alone.
"""

import contextlib
import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.loadgen.driving import Server, check_identities, rows, specification, verified
from tests.waiting import await_true
from tests.wording import mentions

if TYPE_CHECKING:
    from tests.control_plane import ControlPlane

from brownout.base.errors import GeneratorError
from brownout.load.group import AnyGenerator, driven_from
from brownout.load.kubernetes.api import JobApi
from brownout.load.kubernetes.job import RECORD
from brownout.load.kubernetes.manifest import selector
from brownout.load.kubernetes.recovery import recover
from brownout.load.kubernetes.spec import KubernetesLoad
from brownout.load.kubernetes.state import Pod
from brownout.load.place import Here

pytestmark = pytest.mark.kubernetes

SCRIPT = {"lanes": 2, "latency_ms": 1, "effects": [{"at": 1, "for": 1, "effect": "error",
          "share": 0.2, "cause": "overloaded"}]}  # fmt: skip


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    """A database that fails as it is scripted."""
    with Server(tmp_path / "server", SCRIPT) as server:
        yield server


def settings(load: dict[str, Any], **changes: Any) -> KubernetesLoad:
    return KubernetesLoad.model_validate({**load, **changes})


def record(run: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((run / RECORD).read_text())
    return found


def spec_of(server: Server, run: Path, **changes: Any) -> dict[str, Any]:
    return specification(server, run, verified(arrivals="constant"), **changes)


@contextlib.contextmanager
def begun(places: Sequence[Any], run: Path, spec: dict[str, Any]) -> Iterator[AnyGenerator]:
    """A load that has gone on for a second."""
    with driven_from(places, run) as generator:
        generator.open(spec)
        generator.load()
        generator.start()
        await_true(lambda: (generator.now() or 0.0) > 1.0)
        yield generator


def totals(run: Path) -> dict[float, int]:
    """Return what was offered in each bucket of the first two seconds."""
    found: dict[float, int] = {}
    for row in rows(run / "series.csv"):
        if row.t < 2.0:
            found[row.t] = found.get(row.t, 0) + row.n("offered")
    return found


def test_three_pods_together_are_one_load_and_their_job_completes(
    load: dict[str, Any], server: Server, tmp_path: Path
) -> None:
    pods, here = tmp_path / "pods", tmp_path / "here"
    for run, places in ((pods, settings(load).places(pods)), (here, [Here()])):
        with begun(places, run, spec_of(server, run)) as generator:
            await_true(lambda: (generator.now() or 0.0) > 3.0)
            assert generator.clock_uncertainty is not None
            assert generator.clock_uncertainty < 0.1
            generator.stop()
            assert generator.verify()["unread"] == 0

    assert totals(pods) == totals(here)  # by bucket of 0.1 s, and so in all
    check_identities(pods)
    found = record(pods)
    assert found["succeeded"] == 3
    assert found["removed"]
    assert len({pod["node"] for pod in found["pods"].values()}) == 3
    for index, pod in found["pods"].items():
        assert {"series.csv", "ledger.ndjson", "latency.hlog"} <= set(pod["files"])
        assert (pods / "parts" / index / "generator.log").exists()
    api = JobApi(settings(load))
    assert api.job(found["job"]) is None
    await_true(lambda: api.pods(found["job"]) == [])


def test_a_pod_that_is_deleted_makes_the_run_void_and_is_named(
    control_plane: "ControlPlane", load: dict[str, Any], server: Server, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    with begun(settings(load).places(run), run, spec_of(server, run)) as generator:
        lost = record(run)["pods"]["1"]
        namespace = load["namespace"]
        control_plane.kubectl("delete", "pod", lost["pod"], "-n", namespace, "--wait=false")
        await_true(lambda: not generator.alive)
        with pytest.raises(GeneratorError) as said:
            generator.stop()

    assert mentions(str(said.value), lost["pod"], lost["node"])
    for index in "012":  # it had its grace: not even its own files are lost
        assert json.loads((run / "parts" / index / "generator.json").read_text())["ended"]
    found = record(run)
    assert found["removed"]
    assert set(found["pods"]) == {"0", "1", "2"}  # and nobody took its place


def test_a_pod_that_is_killed_is_named_and_takes_no_other_along(
    control_plane: "ControlPlane", load: dict[str, Any], server: Server, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    with begun(settings(load).places(run), run, spec_of(server, run)) as generator:
        lost = record(run)["pods"]["2"]
        namespace = load["namespace"]
        control_plane.kubectl(
            "delete", "pod", lost["pod"], "-n", namespace, "--grace-period=0", "--force"
        )
        await_true(lambda: not generator.alive)
        with pytest.raises(GeneratorError, match=f"{lost['pod']} on node {lost['node']}"):
            generator.stop()

    assert json.loads((run / "parts" / "0" / "generator.json").read_text())["ended"]
    assert record(run)["removed"]


def test_a_node_that_is_lost_is_named_with_its_pod(
    control_plane: "ControlPlane",
    load: dict[str, Any],
    server: Server,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("brownout.load.kubernetes.place._REACH_S", 1.0)
    control_plane.add_process_node("doomed")
    run, alone = tmp_path / "run", {"kubernetes.io/hostname": "doomed"}
    wanted = settings(load, hosts=1, node_selector=alone)
    with begun(wanted.places(run), run, spec_of(server, run)) as generator:
        control_plane.kill_process_node("doomed")
        await_true(lambda: not generator.alive)
        with pytest.raises(
            GeneratorError, match=r"connection to pod .* on node doomed runs as far"
        ):
            generator.stop()

    assert "exec to pod" in record(run)["pods"]["0"]["lost"]
    assert record(run)["removed"]


def test_nothing_secret_is_in_what_kubernetes_knows(
    control_plane: "ControlPlane", load: dict[str, Any], server: Server, tmp_path: Path
) -> None:
    run, secret = tmp_path / "run", "hush-hush-4711"
    spec = spec_of(server, run)
    key = tmp_path / "key.pem"
    key.write_text(secret)
    spec["connection"] |= {"username": "ann", "password": secret, "tls": {"key_file": str(key)}}
    with driven_from(settings(load, hosts=1).places(run), run) as generator:
        generator.open(spec)
        pod = record(run)["pods"]["0"]["pod"]
        namespace = load["namespace"]
        known = control_plane.kubectl("get", "pods,jobs,events", "-n", namespace, "-o", "json")
        logged = control_plane.kubectl("logs", pod, "-n", namespace)
        written = subprocess.run(["grep", "-rl", secret, str(run)], capture_output=True).stdout

    assert secret not in known
    assert secret not in logged
    assert written == b""


#: A run of brownout, as far as its load goes.
RUN = """
import json, sys
from pathlib import Path
from brownout.load.group import driven_from
from brownout.load.kubernetes.spec import KubernetesLoad
load, spec = (json.loads(text) for text in sys.argv[1:])
run = Path(spec["dir"])
places = KubernetesLoad.model_validate(load).places(run)
generator = driven_from(places, run, on_live=lambda live: print(live["t"], flush=True))
generator.open(spec)
generator.load()
generator.start()
sys.stdin.read()
"""


def killed(load: dict[str, Any], spec: dict[str, Any]) -> None:
    """Start a run and kill it, -9, under its load."""
    pipe = subprocess.PIPE
    words = [json.dumps(load), json.dumps(spec)]
    with subprocess.Popen([sys.executable, "-c", RUN, *words], stdin=pipe, stdout=pipe) as run:
        assert run.stdout is not None
        while float(run.stdout.readline()) < 1.0:
            pass
        run.kill()


def test_what_a_killed_run_left_is_fetched_and_removed(
    load: dict[str, Any], server: Server, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    killed(load, spec_of(server, run))
    api = JobApi(settings(load))
    assert sum(pod.runs for pod in api.pods(record(run)["job"])) == 3

    assert recover(settings(load), run)

    for index in "012":
        check_identities(run / "parts" / index)
    assert api.jobs(selector(run.name)) == []
    assert not recover(settings(load), run)


def test_pods_whose_run_was_killed_end_by_themselves(
    load: dict[str, Any], server: Server, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    killed({**load, "hold_s": 1}, spec_of(server, run, linger_s=1.0))
    api, job = JobApi(settings(load)), record(run)["job"]

    def over(pod: Pod) -> bool:
        return pod.ended and pod.exit_code == 0

    await_true(lambda: all(over(pod) for pod in api.pods(job)))
    assert recover(settings(load), run)  # nothing is left of their files; the Job is removed
    assert api.jobs(selector(run.name)) == []
    assert "Completed (exit code 0)" in record(run)["pods"]["0"]["lost"]
