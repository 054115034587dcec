"""A run in a cluster: the Job, the CronJob, a pod that is deleted or dies, metrics, the store.

Real: API server, controllers, scheduler, kubelet, database, fault, load, S3 server, Prometheus. The
image's root is this machine's, since no registry can be reached; so no builder's image ran here.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from kubernetes import client
from tests import chaos_runner as chaos
from tests.control_plane import ControlPlane, awaited
from tests.infra.kubernetes.in_cluster import IMAGE, NODE, InCluster, image
from tests.prometheus import get, serving, wanted
from tests.s3_server import S3Server
from tests.s3_server import serving as s3_serving
from tests.sshd import Sshd
from tests.waiting import await_whole

from brownout.databases.adapter import adapter_for
from brownout.databases.lab.ports import reserve_ports
from brownout.inventory.model import Cluster

pytestmark = [pytest.mark.kubernetes, pytest.mark.timeout(600)]

NODE_KILL = "/opt/brownout/experiments/node-kill.json"
SETTINGS = {
    "BROWNOUT_BASELINE_S": str(chaos.LEAST_BASELINE_S),
    "BROWNOUT_LOAD": "streams.lookups.rate=80,streams.orders.rate=60",
}
SECRET = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[S3Server]:
    """The S3 server that runs are copied to."""
    with s3_serving(tmp_path / "s3") as server:
        yield server


@pytest.fixture
def place(
    control_plane: ControlPlane, fresh_lab: Cluster, sshd: Sshd, store: S3Server, tmp_path: Path
) -> InCluster:
    """A namespace with everything applied but the schedule, which is suspended."""
    control_plane.add_process_node(NODE, images={IMAGE: image()})
    given = store.environment
    secrets = {name: given.pop(name) for name in SECRET}
    made = InCluster(control_plane, fresh_lab, sshd, tmp_path, {**SETTINGS, **given}, secrets)
    made.apply()
    made.kubectl("patch", "cronjob", "brownout-gameday", '--patch={"spec":{"suspend":true}}')
    return made


def impact(run: Path) -> dict[str, Any]:
    """Return what was found."""
    found: dict[str, Any] = json.loads((run / "impact.json").read_text())
    return found


def test_a_job_is_a_whole_experiment_and_its_verdict_the_jobs(
    place: InCluster, store: S3Server, tmp_path: Path
) -> None:
    with prometheus(tmp_path) as url:
        job = place.create_job(NODE_KILL, "--var=cluster=shop")
        awaited(lambda: announce(place, job, tmp_path), "the pod has an address")
        awaited(lambda: scraped(url, job), "Prometheus has metrics of the run's pod")
        ended = place.await_job(job)
    (run,) = place.runs()
    found = impact(run)
    assert ended == ("Complete" if found["verdict"] == "pass" else "Failed")
    assert found["faults"][0]["effective"] is not None, found["reasons"]
    assert found["ledger"]["state"] == "clean"
    assert run.stat().st_uid == 10001
    there = store.bucket / "runs" / run.name
    assert (there / "impact.json").read_bytes() == (run / "impact.json").read_bytes()
    assert (there / "manifest.json").is_file()


def test_a_pod_that_is_deleted_in_mid_fault_puts_back_first(
    place: InCluster, store: S3Server, fresh_lab: Cluster
) -> None:
    job = in_mid_fault(place)
    place.kubectl("delete", "pod", place.pod_of(job).metadata.name, "--wait=true", "--timeout=300s")
    assert place.await_job(job) == "Failed"
    (run,) = place.runs()
    assert impact(run)["verdict"] == "aborted"
    assert '"put_back"' in place.events()
    assert list(place.volume.glob("state/open/*.json")) == []
    assert (store.bucket / "runs" / run.name / "manifest.json").is_file()
    check_whole(fresh_lab)


def test_what_a_killed_pod_had_broken_the_next_one_puts_back(
    place: InCluster, store: S3Server, fresh_lab: Cluster
) -> None:
    job = in_mid_fault(place)
    name = place.pod_of(job).metadata.name
    # As as out of memory: a pod that is deleted, be it by force, hears SIGTERM first.
    kill = "kill -9 $(cat /proc/1/task/1/children)"
    place.kubectl("exec", name, "--container=brownout", "--", "/bin/sh", "-c", kill)
    assert place.await_job(job) == "Failed"
    awaited(lambda: not any(map(lives, place.volume.glob("state/open/*.lock"))), "the run is dead")
    assert list(place.volume.glob("state/open/*.json")) != []
    next_one = place.create_job("/opt/brownout/experiments/stepdown.json", "--var=cluster=shop")
    place.await_job(next_one)
    dead, alive = place.runs()
    assert '"mend"' in (dead / "events.ndjson").read_text()
    assert (store.bucket / "runs" / dead.name / "manifest.json").is_file()
    assert impact(alive)["faults"][0]["effective"] is not None
    check_whole(fresh_lab)


def test_the_cronjob_holds_a_game_day_by_itself(place: InCluster, store: S3Server) -> None:
    place.kubectl("patch", "cronjob", "brownout-gameday", '--patch={"spec":{"suspend":false}}')
    batch = client.BatchV1Api(place.plane.api)

    def begun() -> str:
        jobs = batch.list_namespaced_job(place.namespace).items
        return str(jobs[0].metadata.name) if jobs else ""

    job = awaited(begun, "the schedule has made a job")
    place.kubectl("patch", "cronjob", "brownout-gameday", '--patch={"spec":{"suspend":true}}')
    ended = place.await_job(job)
    (day,) = place.volume.glob("runs/gamedays/*")
    record = json.loads((day / "gameday.json").read_text())
    assert [step["status"] for step in record["steps"]] == ["over"]
    assert ended == ("Complete" if record["verdict"] == "pass" else "Failed")
    assert (store.bucket / "runs" / "gamedays" / day.name / "manifest.json").is_file()


def test_every_manifest_is_accepted_by_the_api_server(place: InCluster) -> None:
    joined = str(place.where / "base")
    place.kubectl("apply", "--kustomize", joined, "--dry-run=server", "--validate=strict")
    job = str(place.where / "base" / "job.yaml")
    place.kubectl("create", "--filename", job, "--dry-run=server", "--validate=strict")


def test_the_restricted_pod_security_standard_lets_the_pods_in(
    place: InCluster,
) -> None:
    """A namespace with nothing of the tests' own: what is written in the manifests is enough."""
    strict = place.plane.new_namespace(on="process")
    enforce = "pod-security.kubernetes.io/enforce=restricted"
    place.plane.kubectl("label", "namespace", strict, enforce)
    core = client.CoreV1Api(place.plane.api)
    place.plane.kubectl("--namespace", strict, "apply", "--kustomize", str(place.where / "base"))
    job = str(place.where / "base" / "job.yaml")
    place.plane.kubectl("--namespace", strict, "create", "--filename", job)
    awaited(lambda: core.list_namespaced_pod(strict).items, "a pod was let in")


def in_mid_fault(place: InCluster) -> str:
    """Start an experiment that leaves a node dead for a minute; return once it is dead."""
    job = place.create_job(NODE_KILL, "--var=cluster=shop", "--var=downtime_s:int=60")

    def broken() -> bool:
        lines = [json.loads(line) for line in place.events().splitlines() if line.endswith("}")]
        return any(e["stage"] == "effective" and e["type"] == "break" for e in lines)

    awaited(broken, "a node is dead")
    return job


def check_whole(cluster: Cluster) -> None:
    """See that every member is there and in step."""
    adapter = adapter_for(cluster)
    try:
        await_whole(adapter)
    finally:
        adapter.close()


def lives(lock: Path) -> bool:
    """Whether somebody holds a lock."""
    import fcntl

    with lock.open() as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def prometheus(where: Path) -> Any:
    """Run a Prometheus that scrapes what stands in `pods.json`.

    Debian's has no discovery by the API server; `announce` does what that would.
    """
    program = wanted("prometheus")
    scrape = {"job_name": "pods", "scrape_interval": "1s",
              "file_sd_configs": [{"files": [str(where / "pods.json")]}]}  # fmt: skip
    file = where / "prometheus.yml"
    file.write_text(yaml.safe_dump({"scrape_configs": [scrape]}))
    url = f"http://127.0.0.1:{reserve_ports(1, where)[0]}"
    return serving(
        url, "/-/ready", program, f"--config.file={file}", f"--storage.tsdb.path={where / 'tsdb'}",
        f"--web.listen-address={url.removeprefix('http://')}",
    )  # fmt: skip


def announce(place: InCluster, job: str, where: Path) -> bool:
    """Write down where the pod of `job` is to be scraped, by its annotations; once it has an IP."""
    pod = place.pod_of(job)
    notes = pod.metadata.annotations
    if not pod.status.pod_ip or notes["prometheus.io/scrape"] != "true":
        return False
    target = f"{pod.status.pod_ip}:{notes['prometheus.io/port']}"
    group = {"targets": [target], "labels": {"pod": pod.metadata.name}}
    (where / "pods.part").write_text(json.dumps([group]))
    (where / "pods.part").rename(where / "pods.json")
    return True


def scraped(url: str, job: str) -> bool:
    """Whether Prometheus has operations of the run, from the pod of `job`."""
    answer = json.loads(get(f"{url}/api/v1/query?query=brownout_operations_total"))
    return any(each["metric"]["pod"].startswith(job) for each in answer["data"]["result"])
