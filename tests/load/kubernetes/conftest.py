"""A namespace for a load, and a login that may do what `infra/kubernetes/rbac/load.yaml` allows."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

if TYPE_CHECKING:
    from tests.control_plane import ControlPlane

ROLE = Path(__file__).resolve().parents[3] / "infra/kubernetes/rbac/load.yaml"

Settled = Callable[[str], dict[str, Any]]


@pytest.fixture
def settled(control_plane: "ControlPlane") -> Settled:
    """Make a namespace whose pods run on nodes of a kind; return how a load gets there.

    The login is a service account's with the Role of `load.yaml` and no other, and the namespace
    enforces the restricted standard for pods.
    """
    from kubernetes import client

    def make(on: str) -> dict[str, Any]:
        namespace = control_plane.new_namespace(on)
        core = client.CoreV1Api(control_plane.api)
        enforced = {"pod-security.kubernetes.io/enforce": "restricted"}
        core.patch_namespace(namespace, {"metadata": {"labels": enforced}})
        core.create_namespaced_service_account(namespace, {"metadata": {"name": "brownout"}})
        rbac = client.RbacAuthorizationV1Api(control_plane.api)
        role = yaml.safe_load(ROLE.read_text())
        rbac.create_namespaced_role(namespace, role)
        rbac.create_namespaced_role_binding(
            namespace,
            {
                "metadata": {"name": "brownout"},
                "roleRef": {
                    "apiGroup": "rbac.authorization.k8s.io",
                    "kind": "Role",
                    "name": role["metadata"]["name"],
                },
                "subjects": [{"kind": "ServiceAccount", "name": "brownout"}],
            },
        )
        kubeconfig = control_plane.kubeconfig_as(namespace, "brownout")
        return {
            "where": "kubernetes",
            "image": "brownout",
            "kubeconfig": str(kubeconfig),
            "namespace": namespace,
        }

    return make
