"""A namespace for a load, and a login that may do what `infra/kubernetes/rbac/load.yaml` allows."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.control_plane import ControlPlane

RBAC = Path(__file__).resolve().parents[3] / "infra/kubernetes/rbac"

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
        kubeconfig = control_plane.kubeconfig_as(namespace, "brownout")
        return {
            "where": "kubernetes",
            "image": "brownout",
            "kubeconfig": str(kubeconfig),
            "namespace": namespace,
        }

    return make
