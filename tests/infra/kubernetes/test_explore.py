"""An exploration as an Indexed Job: four shares with a lab each, one of them killed, and gathered.

Real: API server, Job controller, scheduler, kubelet, store, labs, faults, load. The pods have this
machine's programs instead of an image's, and share its loopback.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from kubernetes import client
from tests.chaos_runner import LOAD
from tests.cli.conftest import Brownout, brownout, home
from tests.control_plane import ControlPlane, awaited
from tests.infra.kubernetes.in_cluster import IMAGE, NODE, image, with_checkout
from tests.infra.kubernetes.manifests import HERE, manifest
from tests.s3_server import S3Server
from tests.s3_server import serving as s3_serving

__all__ = ["brownout", "home"]

pytestmark = [pytest.mark.kubernetes, pytest.mark.timeout(1800)]

LAB = "lab-etcd"
SECRET = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")
#: Four labs on one machine take their time.
PATIENCE_S = 1500.0


@pytest.fixture
def store(tmp_path: Path) -> Iterator[S3Server]:
    """The S3 server that records and runs are copied to."""
    with s3_serving(tmp_path / "s3") as server:
        yield server


@pytest.fixture
def namespace(control_plane: ControlPlane, store: S3Server) -> str:
    """A namespace with what the Job refers to, and a node whose pods are processes."""
    control_plane.add_process_node(NODE, images={IMAGE: image()})
    namespace = control_plane.new_namespace(on="process")
    core = client.CoreV1Api(control_plane.api)
    given = store.environment
    secrets = {name: given.pop(name) for name in SECRET}
    core.create_namespaced_service_account(namespace, manifest("serviceaccount.yaml"))
    for name, data in (("brownout-environment", given), ("brownout-settings", {})):
        core.create_namespaced_config_map(namespace, {"metadata": {"name": name}, "data": data})
    core.create_namespaced_secret(
        namespace, {"metadata": {"name": "brownout"}, "stringData": secrets}
    )
    return namespace


def job() -> dict[str, Any]:
    """Return explore.yaml with arguments for a short and gentle exploration.

    Its pods ask for one processor each, so on a small machine some wait for others to end.
    """
    document = manifest("explore.yaml")
    spec = document["spec"]["template"]["spec"]
    with_checkout(spec)
    (container,) = spec["containers"]
    load = [word for each in LOAD.split(",") for word in ("--set", each)]
    shared = [
        word for word in container["args"] if word.startswith(("--name", "--share", "--seed"))
    ]
    container["args"] = [
        "brownout", "explore", LAB, *shared, "--for=100s", "--only=kill_node,pause_node",
        "--longest=15s", *load,
    ]  # fmt: skip
    return document


def record(store: S3Server, name: str, share: int) -> dict[str, Any]:
    """A share's record as it is in the store; empty before its first run is over."""
    path = store.bucket / "runs" / "explorations" / name / f"{share}-of-4" / "explore.json"
    document: dict[str, Any] = json.loads(path.read_text()) if path.is_file() else {}
    return document


def test_an_index_that_is_killed_continues_and_nothing_is_counted_twice(
    control_plane: ControlPlane, namespace: str, store: S3Server, brownout: Brownout,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    core, batch = client.CoreV1Api(control_plane.api), client.BatchV1Api(control_plane.api)
    text = json.dumps(job())
    created = control_plane.kubectl(
        "--namespace", namespace, "create", "--filename=-", "--output=name", stdin=text
    )
    name = created.strip().partition("/")[2]

    def pods(index: int) -> list[Any]:
        chosen = f"batch.kubernetes.io/job-completion-index={index}"
        listed: list[Any] = core.list_namespaced_pod(namespace, label_selector=chosen).items
        return listed

    # Killed as by a lack of memory, once its first run is over and in the store.
    before: list[Any] = awaited(
        lambda: record(store, name, 3).get("tries", []), "a run is over", PATIENCE_S
    )
    (pod,) = pods(2)
    kill = "kill -9 $(cat /proc/1/task/1/children)"
    control_plane.kubectl(
        "--namespace", namespace, "exec", pod.metadata.name, "--container=brownout", "--",
        "/bin/sh", "-c", kill,
    )  # fmt: skip

    def ended() -> str:
        conditions = batch.read_namespaced_job(name, namespace).status.conditions or ()
        ends = [c.type for c in conditions if c.status == "True"]
        return next((each for each in ends if each in ("Complete", "Failed")), "")

    end = awaited(ended, f"job {name} has ended", PATIENCE_S)
    assert len(pods(2)) == 2, "Kubernetes began the killed index again"
    assert [len(pods(index)) for index in (0, 1, 3)] == [1, 1, 1]
    kept = record(store, name, 3)["tries"]
    assert kept[: len(before)] == before, "it continued with the record of the store"
    for key, value in store.environment.items():
        monkeypatch.setenv(key, value)
    answer = brownout("gather", name, "--json")
    gathered = json.loads(answer.out)
    assert (gathered["gathered"], gathered["unfinished"]) == ([1, 2, 3, 4], []), answer.err
    keys = [
        (each["number"], each["purpose"], str(each["schedule"]), each["attempt"])
        for each in gathered["tries"]
    ]
    assert (
        len(keys)
        == len(set(keys))
        == sum(len(record(store, name, share)["tries"]) for share in (1, 2, 3, 4))
    )
    searched = {each["number"] for each in gathered["tries"] if each["purpose"] == "search"}
    assert {number % 4 for number in searched} == {0, 1, 2, 3}
    assert answer.code == (1 if gathered["findings"] else 0)
    # An index fails on what it found, and so does the Job.
    assert (end == "Failed") is bool(gathered["findings"])


def test_the_api_server_takes_the_manifest_and_the_restricted_standard_its_pods(
    control_plane: ControlPlane,
) -> None:
    """A namespace with nothing of the tests' own: what is written in the manifest is enough."""
    strict, core = control_plane.new_namespace(), client.CoreV1Api(control_plane.api)
    enforce = "pod-security.kubernetes.io/enforce=restricted"
    control_plane.kubectl("label", "namespace", strict, enforce)
    core.create_namespaced_service_account(strict, manifest("serviceaccount.yaml"))
    create = ("--namespace", strict, "create", f"--filename={HERE / 'explore.yaml'}")
    control_plane.kubectl(*create, "--dry-run=server", "--validate=strict")
    control_plane.kubectl(*create)
    pods = awaited(lambda: four(core, strict), "four pods were let in")
    indexes = {pod.metadata.annotations["batch.kubernetes.io/job-completion-index"] for pod in pods}
    assert indexes == {"0", "1", "2", "3"}
    (container,) = pods[0].spec.containers
    names = {each.name for each in container.env}
    assert {"JOB_COMPLETION_INDEX", "NAME"} <= names
    assert pods[0].spec.automount_service_account_token is None


def four(core: client.CoreV1Api, namespace: str) -> list[Any]:
    """Return the pods of a namespace once there are four."""
    pods: list[Any] = core.list_namespaced_pod(namespace).items
    return pods if len(pods) == 4 else []
