"""The manifests of what brownout may do: valid, complete, and no more than is said of them."""

from typing import Any

import kubernetes_validate
import pytest
import yaml
from tests.infra.kubernetes.manifests import HERE

RBAC = HERE / "rbac"
MANIFESTS = sorted(path.name for path in RBAC.glob("*.yaml") if path.name != "kustomization.yaml")
#: What may never be granted: these rights lead to all others.
_FORBIDDEN = {"*", "escalate", "bind", "impersonate", "update", "deletecollection"}


def _documents(name: str) -> list[dict[str, Any]]:
    return list(yaml.safe_load_all((RBAC / name).read_text()))


@pytest.mark.parametrize("name", MANIFESTS)
def test_every_manifest_is_valid(name: str) -> None:
    newest = kubernetes_validate.latest_version()
    for document in _documents(name):
        kubernetes_validate.validate(document, newest, strict=True)


def test_kustomize_is_told_of_every_manifest_but_that_of_the_loads_namespace() -> None:
    listed = yaml.safe_load((RBAC / "kustomization.yaml").read_text())["resources"]
    assert sorted([*listed, "load.yaml"]) == MANIFESTS


@pytest.mark.parametrize("name", [name for name in MANIFESTS if name != "service-account.yaml"])
def test_every_role_is_bound_to_brownout_and_grants_named_things_only(name: str) -> None:
    role, binding = _documents(name)
    assert role["kind"] in ("Role", "ClusterRole")
    assert binding["kind"] == f"{role['kind']}Binding"
    assert binding["roleRef"]["name"] == role["metadata"]["name"]
    assert [subject["name"] for subject in binding["subjects"]] == ["brownout"]
    for rule in role["rules"]:
        assert not _FORBIDDEN & {*rule["verbs"], *rule["resources"], *rule["apiGroups"]}
        assert "secrets" not in rule["resources"]


def test_only_the_volumes_are_asked_of_the_whole_cluster_and_only_read() -> None:
    of_cluster = [d for name in MANIFESTS for d in _documents(name) if d["kind"] == "ClusterRole"]
    assert [role["rules"] for role in of_cluster] == [
        [{"apiGroups": [""], "resources": ["persistentvolumes"], "verbs": ["get"]}]
    ]
