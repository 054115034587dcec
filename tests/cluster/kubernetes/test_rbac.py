"""Each act with its own Role alone, and without it, against a real API server."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.cluster.kubernetes.conftest import DATA, PROGRAM, Make, host
from tests.control_plane import ControlPlane
from tests.infra.kubernetes.test_rbac import RBAC

from brownout.cluster.kubernetes import KubernetesHost
from brownout.errors import HostError
from brownout.kubernetes.objects import Objects

pytestmark = pytest.mark.kubernetes

_ROLES = "/apis/rbac.authorization.k8s.io/v1"
As = Callable[..., KubernetesHost]


@pytest.fixture
def as_account(control_plane: ControlPlane, objects: Objects, namespace: str) -> As:
    """Return a host that is a service account of its own with these manifests and no others."""
    made = 0

    def give(*manifests: str, **settings: Any) -> KubernetesHost:
        nonlocal made
        made += 1
        account = f"brownout-{made}"
        meta = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": account}}
        objects.create(f"/api/v1/namespaces/{namespace}/serviceaccounts", meta)
        for name in manifests:
            for document in yaml.safe_load_all((RBAC / f"{name}.yaml").read_text()):
                objects.create(*_for(document, namespace, account))
        kubeconfig = control_plane.kubeconfig_as(namespace, account)
        return host(namespace, program=PROGRAM, kubeconfig=kubeconfig, **settings)

    return give


def test_who_has_no_role_sees_nothing(made: Make, as_account: As) -> None:
    made()
    with pytest.raises(HostError, match=r"403 Forbidden.*cannot get resource .pods"):
        as_account().running()


def test_who_may_look_may_pause_and_plan_and_neither_stop_nor_wipe(
    made: Make, as_account: As
) -> None:
    made(shareProcessNamespace=True)
    looking = as_account("look")
    assert looking.running().running
    assert looking.entries(Path(DATA)) == []
    assert "DELETE" in looking.would("kill")
    assert looking.pause().evidence["process"] == "paused"
    looking.resume()
    with pytest.raises(HostError, match=r"403 Forbidden.*cannot patch resource .pods.*rbac"):
        looking.stop("kill")
    assert looking.running().running


def test_who_may_stop_may_start_and_not_wipe_and_who_may_wipe_may_not_stop(
    made: Make, as_account: As
) -> None:
    made()
    stopping, wiping = as_account("look", "stop"), as_account("look", "wipe")
    with pytest.raises(HostError, match=r"403 Forbidden.*cannot patch resource .pods"):
        wiping.stop("kill")
    stopping.stop("kill")
    with pytest.raises(HostError, match=r"403 Forbidden.*cannot create resource .pods"):
        stopping.wipe([Path(DATA)])
    assert wiping.wipe([Path(DATA)]).evidence["state"] == "empty"
    with pytest.raises(HostError, match=r"403 Forbidden.*cannot patch resource .pods"):
        wiping.start()
    stopping.start()
    assert stopping.running().running


def test_who_may_not_look_at_volumes_may_not_replace_a_claim(made: Make, as_account: As) -> None:
    made()
    stopping = as_account("look", "stop", "wipe", claims=["data-db-0"])
    replacing = as_account("look", "stop", "wipe", "wipe-volumes", claims=["data-db-0"])
    replacing.stop("kill")
    with pytest.raises(HostError, match=r"403 Forbidden.*cannot get resource .persistentvolumes"):
        stopping.wipe([Path(DATA)])
    assert replacing.wipe([Path(DATA)]).evidence["claims"][0]["claim"] == "data-db-0"
    assert replacing.start().evidence["claims"][0]["claim"] == "data-db-0"


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
