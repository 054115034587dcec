"""A fault of the chart as Litmus would start it: a job's pod, its account, its mounts, its end.

The kubelet is real and the pod's processes are processes of this machine; Litmus's runner is a
STAND-IN that only makes the job, and the API of Atlas is that of lab-atlas.
"""

import json
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from kubernetes import client
from tests import chaos_runner as chaos
from tests.docs.documents import ROOT
from tests.litmus.conftest import Place, place_in
from tests.litmus.standin import job_of

from brownout.faults.litmus.api import Litmus
from brownout.faults.litmus.engines import litmus_at
from brownout.infra import lab
from brownout.inventory import labs
from brownout.litmus.status import tell
from brownout.measure.document import read_impact
from brownout.run.directory import RunDirectory

if TYPE_CHECKING:
    from tests.control_plane import ControlPlane

pytestmark = [pytest.mark.kubernetes, pytest.mark.quiet]
Document = dict[str, Any]
FAULT = "atlas-test-failover"
CHART = ROOT / "infra/litmus/faults/brownout" / FAULT
#: Where the image keeps runs, here on a volume of the node as `hostFileVolumes` has them.
KEPT = "/var/lib/brownout"
GIVEN = {
    "BROWNOUT_WORKLOAD": "lab",
    "BROWNOUT_LOAD": chaos.LOAD,
    "BROWNOUT_BASELINE_S": str(chaos.LEAST_BASELINE_S),
}


@dataclass(frozen=True)
class Started:
    """A job that was started, and where its run writes."""

    place: Place
    litmus: Litmus
    job: str
    engine: str
    runs: Path

    def status(self) -> Document:
        result = self.litmus.result(f"{self.engine}-{FAULT}")
        return dict((result or {}).get("status") or {})

    def log(self) -> str:
        core = client.CoreV1Api(self.place.api)
        (pod,) = core.list_namespaced_pod(
            self.place.namespace, label_selector=f"batch.kubernetes.io/job-name={self.job}"
        ).items
        text: str = core.read_namespaced_pod_log(pod.metadata.name, self.place.namespace)
        return text

    def has_asked(self) -> bool:
        """Say whether the failover was asked for; fails where the run is over before."""
        verdict = self.status().get("experimentStatus", {}).get("verdict")
        assert verdict in (None, "Awaited"), self.log()
        return "test_failover" in self.events()

    def events(self) -> str:
        return "".join(path.read_text() for path in self.runs.glob("*/events.ndjson"))


@pytest.fixture
def atlas(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Document]:
    """The inventory of a running lab-atlas as a pod has it: where it is, and no process of it."""
    monkeypatch.setenv("BROWNOUT_LAB_DIR", str(tmp_path / "lab"))
    monkeypatch.delenv("BROWNOUT_CLUSTERS", raising=False)
    try:
        lab.up("lab-atlas")
        found: Document = yaml.safe_load(
            (labs.directory("lab-atlas") / "inventory.yaml").read_text()
        )
        for node in found["nodes"]:
            del node["host"]
        del found["lab"], found["name"]
        yield found
    finally:
        lab.down("lab-atlas")


@pytest.fixture
def started(litmus_plane: "ControlPlane", atlas: Document, tmp_path: Path) -> Iterator[Started]:
    litmus_plane.add_process_node("process-1")
    place = place_in(litmus_plane, litmus_plane.new_namespace(on="process"))
    litmus = litmus_at(place.where())
    try:
        yield _start(place, litmus, atlas, tmp_path)
    finally:
        litmus.close()


def _start(place: Place, litmus: Litmus, atlas: Document, where: Path) -> Started:
    core, account = client.CoreV1Api(place.api), atlas["atlas"]["service_account"]
    base = labs.directory("lab-atlas")
    secret = {key: (base / account[key]["file"]).read_text() for key in account}
    account.update({key: {"file": f"/etc/brownout-secrets/{key}"} for key in secret})
    core.create_namespaced_secret(
        place.namespace, {"metadata": {"name": "brownout-secrets"}, "stringData": secret}
    )
    data = {"database.yaml": yaml.safe_dump(atlas)}
    core.create_namespaced_config_map(
        place.namespace, {"metadata": {"name": "brownout-clusters"}, "data": data}
    )
    fault = yaml.safe_load((CHART / "fault.yaml").read_text())
    volume = {"name": "kept", "mountPath": KEPT, "nodePath": str(where / "kept"),
              "type": "DirectoryOrCreate"}  # fmt: skip
    fault["spec"]["definition"]["hostFileVolumes"] = [volume]
    engine = yaml.safe_load((CHART / "engine.yaml").read_text())
    engine["metadata"]["namespace"] = place.namespace
    for each in engine["spec"]["experiments"][0]["spec"]["components"]["env"]:
        each["value"] = GIVEN.get(each["name"], each["value"])
    made = litmus.create_engine(engine)
    job = job_of(fault, made, _on_this_machine(where))
    client.BatchV1Api(place.api).create_namespaced_job(place.namespace, job)
    return Started(
        place, litmus, job["metadata"]["name"], made["metadata"]["name"], where / "kept" / "runs"
    )


def _on_this_machine(where: Path) -> dict[str, str]:
    """What the image has and this machine has not: its paths, and tini."""
    tini = where / "bin" / "tini"
    tini.parent.mkdir()
    tini.write_text('#!/bin/sh\nshift\nexec "$@"\n')
    tini.chmod(0o755)
    path = os.pathsep.join([str(tini.parent), str(Path(sys.executable).parent), "/usr/bin", "/bin"])
    return {
        "PATH": path, "HOME": str(where), "BROWNOUT_CLUSTERS": "/etc/brownout",
        "BROWNOUT_RUNS": f"{KEPT}/runs", "BROWNOUT_STATE": f"{KEPT}/state",
    }  # fmt: skip


def test_its_verdict_is_that_of_the_run_and_its_job_is_complete(started: Started) -> None:
    from tests.control_plane import awaited

    jobs, space = client.BatchV1Api(started.place.api), started.place.namespace

    def over() -> Any:
        status = jobs.read_namespaced_job(started.job, space).status
        return status.succeeded or status.failed

    awaited(over, "the job is over", within_s=240.0)  # a whole run, from its baseline to its end
    print(started.log())
    assert jobs.read_namespaced_job(started.job, space).status.failed is None
    (run,) = started.runs.glob("*/impact.json")
    impact = json.loads(run.read_text())
    told = tell(read_impact(RunDirectory.open(run.parent)), None).status()
    assert started.status()["experimentStatus"] == told["experimentStatus"]
    assert started.status()["probeStatuses"] == told["probeStatuses"]
    assert len(told["probeStatuses"]) > 2
    assert impact["faults"][0]["effective"] is not None


def test_its_engine_is_stopped_so_its_job_is_deleted_and_it_tells_that(started: Started) -> None:
    from tests.control_plane import awaited

    awaited(started.has_asked, "the failover was asked for")
    assert started.status()["experimentStatus"]["phase"] == "Running"
    jobs = client.BatchV1Api(started.place.api)  # as chaos-operator does
    jobs.delete_namespaced_job(
        started.job, started.place.namespace, propagation_policy="Background"
    )
    awaited(lambda: started.status()["experimentStatus"]["verdict"] == "Stopped", "it said Stopped")
    assert started.status()["history"]["stoppedRuns"] == 1
    assert '"put_back"' in started.events()
