"""A namespace for a load, and a login that may do what `infra/kubernetes/rbac/load.yaml` allows."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from brownout.base.binary import find_loadgen

if TYPE_CHECKING:
    from tests.control_plane import ControlPlane

RBAC = Path(__file__).resolve().parents[3] / "infra/kubernetes/rbac"

#: As an image's; root is refused.
USER = 10001

Settled = Callable[[str], dict[str, Any]]


@pytest.fixture
def settled(control_plane: "ControlPlane") -> Settled:
    """Make a namespace whose pods run on nodes of a kind; return the settings of a load there.

    The login is a service account's with the Role of `load.yaml` and no other, and the namespace
    enforces the restricted standard for pods.
    """

    def make(on: str) -> dict[str, Any]:
        namespace = control_plane.new_namespace(on)
        enforced = "pod-security.kubernetes.io/enforce=restricted"
        control_plane.kubectl("label", "namespace", namespace, enforced)
        for manifest in ("service-account.yaml", "load.yaml"):
            control_plane.kubectl("apply", "--namespace", namespace, "-f", str(RBAC / manifest))
        _await_allowed(control_plane, namespace)
        kubeconfig = control_plane.kubeconfig_as(namespace, "brownout")
        return {
            "where": "kubernetes",
            "image": "brownout",
            "kubeconfig": str(kubeconfig),
            "namespace": namespace,
        }

    return make


def _await_allowed(control_plane: "ControlPlane", namespace: str) -> None:
    """Wait until the API server's authorizer has heard of the Role."""
    from kubernetes import client
    from tests.control_plane import awaited

    asked = {
        "user": f"system:serviceaccount:{namespace}:brownout",
        "resourceAttributes": {
            "group": "batch",
            "resource": "jobs",
            "verb": "create",
            "namespace": namespace,
        },
    }
    reviews = client.AuthorizationV1Api(control_plane.api)
    awaited(
        lambda: reviews.create_subject_access_review({"spec": asked}).status.allowed,
        f"the Role of load.yaml in {namespace}",
    )


@pytest.fixture
def load(control_plane: "ControlPlane", settled: Settled) -> dict[str, Any]:
    """The settings of a load from three machines."""
    for index in range(3):
        control_plane.add_process_node(f"process-{index}")
    return {
        **settled("process"),
        "hosts": 3,
        "program": str(find_loadgen()),
        "user": USER,
        "cpu": "10m",
        "memory": "64Mi",
    }
