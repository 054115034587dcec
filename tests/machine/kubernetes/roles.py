"""Service accounts that have some of the manifests of infra/kubernetes/rbac, and nothing else."""

from pathlib import Path
from typing import Any

import yaml
from tests.control_plane import ControlPlane
from tests.infra.kubernetes.manifests import HERE

from brownout.kubernetes.objects import Objects

__all__ = ["account"]

_ROLES = "/apis/rbac.authorization.k8s.io/v1"


def account(plane: ControlPlane, objects: Objects, namespace: str, *manifests: str) -> Path:
    """Make an account with these manifests, as `look`, and return a kubeconfig with its token."""
    name = "-".join(("brownout", *manifests))
    meta = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": name}}
    objects.create(f"/api/v1/namespaces/{namespace}/serviceaccounts", meta)
    for manifest in manifests:
        for document in yaml.safe_load_all((HERE / "rbac" / f"{manifest}.yaml").read_text()):
            objects.create(*_for(document, namespace, name))
    return plane.kubeconfig_as(namespace, name)


def _for(document: dict[str, Any], namespace: str, account: str) -> tuple[str, dict[str, Any]]:
    """Return where a manifest is made, as one of this account's alone."""
    of_cluster = document["kind"].startswith("Cluster")
    plural = f"{document['kind'].lower()}s"
    name = f"{document['metadata']['name']}-{account}"
    made = {**document, "metadata": {"name": f"{namespace}-{name}" if of_cluster else name}}
    if "roleRef" in document:
        made["roleRef"] = {**document["roleRef"], "name": made["metadata"]["name"]}
        subject = {"kind": "ServiceAccount", "name": account}
        made["subjects"] = [{**subject, "namespace": namespace}] if of_cluster else [subject]
    return f"{_ROLES}/{plural}" if of_cluster else f"{_ROLES}/namespaces/{namespace}/{plural}", made
