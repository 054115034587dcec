"""The lab of Kubernetes is a Kubernetes: it keeps what is asked for, and refuses what is not."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from kubernetes import client, config
from tests.control_plane import PARENT, ControlPlane, awaited, binary
from tests.waiting import state_of

from brownout.databases.lab.ports import reserve_ports

pytestmark = pytest.mark.kubernetes

_IMAGE = {"containers": [{"name": "server", "image": "example.org/server:1"}]}


@pytest.fixture(scope="module", autouse=True)
def _node(control_plane: ControlPlane) -> None:
    control_plane.add_kwok_node("kwok-1")


def _stateful_set(name: str, replicas: int) -> dict[str, Any]:
    labels = {"app": name}
    return {
        "metadata": {"name": name},
        "spec": {
            "replicas": replicas,
            "serviceName": name,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": _IMAGE},
        },
    }


def test_a_deleted_pod_of_a_stateful_set_comes_back_as_another_of_the_same_name(
    control_plane: ControlPlane,
) -> None:
    namespace = control_plane.new_namespace()
    core, apps = client.CoreV1Api(control_plane.api), client.AppsV1Api(control_plane.api)
    apps.create_namespaced_stateful_set(namespace, _stateful_set("db", 3))

    def all_ready() -> bool:
        status = apps.read_namespaced_stateful_set("db", namespace).status
        return bool(status.ready_replicas == 3)

    awaited(all_ready, "three pods are ready")
    before = core.read_namespaced_pod("db-1", namespace).metadata.uid
    core.delete_namespaced_pod("db-1", namespace)

    def another() -> bool:
        pod = core.read_namespaced_pod("db-1", namespace)
        return bool(pod.metadata.uid != before and pod.status.phase == "Running")

    awaited(another, "db-1 runs again")


def test_an_indexed_job_completes_every_index(control_plane: ControlPlane) -> None:
    namespace = control_plane.new_namespace()
    batch = client.BatchV1Api(control_plane.api)
    spec = {
        "completions": 3,
        "parallelism": 3,
        "completionMode": "Indexed",
        "template": {"spec": {**_IMAGE, "restartPolicy": "Never"}},
    }
    batch.create_namespaced_job(namespace, {"metadata": {"name": "load"}, "spec": spec})

    def indexes() -> bool:
        return bool(batch.read_namespaced_job("load", namespace).status.completed_indexes == "0-2")

    awaited(indexes, "indexes 0 to 2 are done")


def test_a_service_account_may_do_what_its_role_says_and_nothing_else(
    control_plane: ControlPlane,
) -> None:
    namespace = control_plane.new_namespace()
    rules = [{"apiGroups": [""], "resources": ["pods"], "verbs": ["list"]}]
    access = client.RbacAuthorizationV1Api(control_plane.api)
    access.create_namespaced_role(namespace, {"metadata": {"name": "looks"}, "rules": rules})
    subject = {"kind": "ServiceAccount", "name": "default", "namespace": namespace}
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "looks"}
    binding = {"metadata": {"name": "looks"}, "subjects": [subject], "roleRef": role}
    access.create_namespaced_role_binding(namespace, binding)
    login = control_plane.kubeconfig_as(namespace, "default")
    with config.new_client_from_config(str(login)) as api:
        core = client.CoreV1Api(api)
        assert core.list_namespaced_pod(namespace).items == []
        with pytest.raises(client.ApiException) as refused:
            core.delete_namespaced_pod("db-0", namespace)
    assert refused.value.status == 403


def test_what_is_started_ends_with_a_parent_that_is_killed(tmp_path: Path) -> None:
    client_url, peer_url = (f"http://127.0.0.1:{port}" for port in reserve_ports(2, tmp_path))
    command = [str(binary()), "etcd", f"--data-dir={tmp_path / 'etcd'}"]
    command += [f"--listen-client-urls={client_url}", f"--advertise-client-urls={client_url}"]
    command += [f"--listen-peer-urls={peer_url}"]
    script = "import os, subprocess, sys, time\n"
    script += f"os.environ[{PARENT!r}] = str(os.getpid())\n"
    script += f"print(subprocess.Popen({command!r}, stderr=subprocess.DEVNULL).pid, flush=True)\n"
    script += "time.sleep(1000)"
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE) as started:
        try:
            assert started.stdout is not None
            pid = int(started.stdout.readline())
            awaited((tmp_path / "etcd/member").exists, "etcd runs")
        finally:
            started.kill()
    awaited(lambda: state_of(pid) in ("gone", "Z"), "etcd has ended")
