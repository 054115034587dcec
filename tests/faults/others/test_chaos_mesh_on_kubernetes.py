"""Chaos Mesh in a real API server: its operator is a STAND-IN that writes the status it would."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from kubernetes import client
from tests import chaos_runner as chaos
from tests.faults.others import recorded
from tests.faults.others.breaker import Breaker, experiment

from brownout.faults.others.chaos_mesh import ChaosMesh
from brownout.inventory.model import Cluster

if TYPE_CHECKING:
    from tests.control_plane import ControlPlane

pytestmark = pytest.mark.kubernetes
#: Of our own writing, from the published types: whatever Chaos Mesh has in `spec` and `status`.
CRD = {
    "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
    "metadata": {"name": "podchaos.chaos-mesh.org"},
    "spec": {
        "group": "chaos-mesh.org", "scope": "Namespaced",
        "names": {"kind": "PodChaos", "listKind": "PodChaosList", "plural": "podchaos",
                  "singular": "podchaos"},
        "versions": [{"name": "v1alpha1", "served": True, "storage": True, "schema": {
            "openAPIV3Schema": {"type": "object",
                                "x-kubernetes-preserve-unknown-fields": True}}}],
    },
}  # fmt: skip


class Operator:
    """Writes the status of one PodChaos, as Chaos Mesh's controller does."""

    def __init__(self, plane: "ControlPlane", namespace: str) -> None:
        self._api, self._namespace = client.CustomObjectsApi(plane.api), namespace
        self._times: dict[str, dict[str, float]] = {"Apply": {}, "Recover": {}}

    def create(self) -> None:
        document = recorded.chaos({})
        document["metadata"] = {"name": "stall-one", "namespace": self._namespace}
        del document["status"]
        self._call("create_namespaced_custom_object", body=document)

    def say(self, operation: str, node: str, t: float) -> None:
        self._times[operation][f"{self._namespace}/{node}"] = t
        status = recorded.chaos(self._times["Apply"], self._times["Recover"])["status"]
        self._call("patch_namespaced_custom_object", name="stall-one", body={"status": status})

    def remove(self) -> None:
        self._call("delete_namespaced_custom_object", name="stall-one")

    def _call(self, what: str, **given: Any) -> None:
        getattr(self._api, what)("chaos-mesh.org", "v1alpha1", self._namespace, "podchaos", **given)


@pytest.fixture
def operator(control_plane: "ControlPlane") -> Operator:
    control_plane.kubectl("apply", "-f", "-", stdin=yaml.safe_dump(CRD))
    name = "crd/podchaos.chaos-mesh.org"
    control_plane.kubectl("wait", "--for=condition=Established", "--timeout=60s", name)
    return Operator(control_plane, control_plane.new_namespace())


def test_an_object_is_read_from_before_it_is_there_until_it_is_gone(
    operator: Operator, control_plane: "ControlPlane"
) -> None:
    source = ChaosMesh("PodChaos", "stall-one", operator._namespace, str(control_plane.kubeconfig))
    assert source.look() is None
    operator.create()
    account = source.look()
    assert account is not None
    assert (account.began, account.state) == (None, "not selected yet")
    operator.say("Apply", "db-0", recorded.T0)
    account = source.look()
    assert account is not None
    assert account.targets == (f"{operator._namespace}/db-0",)
    operator.remove()
    assert source.look() is None
    source.close()


def test_a_run_measures_what_chaos_mesh_says_that_it_did(
    operator: Operator, control_plane: "ControlPlane", lab_etcd: Cluster, tmp_path: Path
) -> None:
    operator.create()
    breaker = Breaker(lab_etcd, tmp_path / "runs", operator.say)
    breaker.start()
    arguments = {"kind": "PodChaos", "name": "stall-one", "namespace": operator._namespace,
                 "kubeconfig": str(control_plane.kubeconfig)}  # fmt: skip
    ran = chaos.run(experiment(lab_etcd, "chaos_mesh", arguments), tmp_path)
    breaker.join(10)
    (fault,) = ran.impact["faults"]
    broken, mended = fault["events"]
    assert broken["evidence"]["by"] == "Chaos Mesh"
    assert broken["evidence"]["state"] == "AllInjected"
    (target,) = broken["evidence"]["targets"]
    assert target.startswith(f"{operator._namespace}/")
    assert mended["evidence"]["state"] == "AllRecovered"
    assert broken["uncertainty"] <= 1.0  # Chaos Mesh writes whole seconds
    assert 1.5 < mended["effective"] - broken["effective"] < 4.5
    assert fault["blackout"] > 0.2
    assert ran.impact["verdict"] == "pass", ran.output
