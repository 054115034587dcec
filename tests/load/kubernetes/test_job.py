"""The Job of a load on a real API server, with the Role of load.yaml alone: made, awaited, removed.

The nodes are kwok's, whose pods are said to run and have no processes.
"""

import json
import logging
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.control_plane import ControlPlane
    from tests.load.kubernetes.conftest import Settled

from brownout.base.errors import GeneratorError, HostError
from brownout.load.kubernetes.job import RECORD, GeneratorJob
from brownout.load.kubernetes.spec import KubernetesLoad

pytestmark = pytest.mark.kubernetes


def made(settings: dict[str, Any], directory: Path, **changes: Any) -> GeneratorJob:
    load = KubernetesLoad.model_validate({**settings, "hosts": 3, "cpu": "10m", **changes})
    return GeneratorJob(load, directory / "20261121T221000Z-node-kill-1")


def record(job: GeneratorJob, directory: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((directory / job.run / RECORD).read_text())
    return found


@pytest.fixture
def nodes(control_plane: "ControlPlane") -> list[str]:
    """Three machines."""
    names = [f"kwok-{index}" for index in range(3)]
    for name in names:
        control_plane.add_kwok_node(name)
    return names


@pytest.mark.usefixtures("nodes")
def test_a_lack_of_machines_is_said_in_the_scheduler_s_own_words(
    settled: "Settled", tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    job = made(settled("kwok"), tmp_path, node_selector={"pool": "load"}, start_timeout_s=3)

    with (
        caplog.at_level(logging.INFO, "chaostoolkit"),
        pytest.raises(
            GeneratorError,
            match=r"within 3 s: 0 of 3 run; .*: Unschedulable: 0/\d+ nodes are avail",
        ),
    ):
        job.enter(0)

    assert f"waiting for the pods of {job.name}: 0 of 3 run; " in caplog.text
    assert job.api.job(job.name) is None
    assert record(job, tmp_path)["removed"]


@pytest.mark.usefixtures("nodes")
def test_a_quota_is_said_at_once(
    control_plane: "ControlPlane", settled: "Settled", tmp_path: Path
) -> None:
    from kubernetes import client

    settings = settled("kwok")
    quota = {"metadata": {"name": "few"}, "spec": {"hard": {"pods": "0"}}}
    client.CoreV1Api(control_plane.api).create_namespaced_resource_quota(
        settings["namespace"], quota
    )

    with pytest.raises(GeneratorError, match=r"cannot run in namespace .* exceeded quota: few"):
        made(settings, tmp_path).enter(0)


def test_a_program_that_is_not_in_the_image_is_said_at_once(
    load: dict[str, Any], tmp_path: Path
) -> None:
    job = made(load, tmp_path, program="/opt/no-such-program")

    with pytest.raises(GeneratorError, match=r"pod \S+ on node \S+ .*no-such-program"):
        job.enter(0)

    assert job.api.job(job.name) is None


def test_what_may_not_be_done_is_said_with_the_manifest_that_allows_it(
    control_plane: "ControlPlane", tmp_path: Path
) -> None:
    namespace = control_plane.new_namespace()
    kubeconfig = control_plane.kubeconfig_as(namespace, "default")
    settings = {
        "where": "kubernetes",
        "image": "x",
        "kubeconfig": str(kubeconfig),
        "namespace": namespace,
    }
    with pytest.raises(HostError, match=r"POST .*/jobs: .*403 Forbidden: .*infra/kubernetes/rbac"):
        made(settings, tmp_path).enter(0)
