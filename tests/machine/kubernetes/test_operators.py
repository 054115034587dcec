"""Faults on pods without a StatefulSet, which a small operator of the test keeps, on a real API."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.control_plane import ControlPlane, awaited
from tests.machine.kubernetes.conftest import DATA, await_ready, release
from tests.machine.kubernetes.roles import account
from tests.machine.kubernetes.small_operator import SmallOperator, define

from brownout.base.errors import ClusterError, Refused
from brownout.databases.postgresql.instance import Resource
from brownout.inventory.model import Node
from brownout.kubernetes.access import Access
from brownout.kubernetes.objects import Objects, in_namespace
from brownout.machine.kubernetes import KubernetesHost, KubernetesSpec

pytestmark = pytest.mark.kubernetes

#: A manager that is PID 1, its server, and a child that has the server's name, as PostgreSQL has.
_SERVER = (
    f"echo precious > {DATA}/PG_VERSION; cp /bin/sleep /tmp/stoned; cp /bin/bash /tmp/parent; "
    "exec -a manager bash -c \"trap 'kill %1; exit 0' TERM; "
    'bash -c \'exec -a stoned bash -c \\"(exec -a stoned sleep infinity) & wait\\"\' & wait"'
)


def _containers(_name: str) -> list[dict[str, Any]]:
    mounts = [{"name": "pgdata", "mountPath": DATA}]
    command = ["/bin/bash", "-c", _SERVER]
    return [{"name": "postgres", "image": "none", "command": command, "volumeMounts": mounts}]


@pytest.fixture
def operator(
    control_plane: ControlPlane, objects: Objects, namespace: str
) -> Iterator[SmallOperator]:
    define(objects)
    access = Access(kubeconfig=control_plane.kubeconfig)
    grace: dict[str, Any] = {"terminationGracePeriodSeconds": 5}
    with SmallOperator(access, namespace, 2, _containers, **grace) as running:
        for name in ("shop-1", "shop-2"):
            await_ready(objects, namespace, name)
        awaited(lambda: _at_rest(objects, running), "the cluster is healthy")
        yield running
    release(objects, namespace)


@pytest.fixture
def instance(
    control_plane: ControlPlane, namespace: str, operator: SmallOperator
) -> KubernetesHost:
    """The host of `shop-2`; its claim is replaced by a wipe."""
    return _host(control_plane, namespace, claims=("shop-2",))


def _host(plane: ControlPlane, namespace: str, **settings: Any) -> KubernetesHost:
    spec = KubernetesSpec(
        kubeconfig=plane.kubeconfig,
        namespace=namespace,
        pod="shop-2",
        container="postgres",
        program="stoned",
        start_timeout_s=60.0,
        **settings,
    )
    return KubernetesHost(Node(name="shop-2", address="127.0.0.1:5432", host=spec))


def _at_rest(objects: Objects, operator: SmallOperator) -> bool:
    status = (objects.find(operator.path) or {}).get("status") or {}
    return bool(status.get("readyInstances") == 2)


def test_an_instance_is_killed_stays_down_and_comes_back_by_its_operator(
    instance: KubernetesHost, objects: Objects, namespace: str, operator: SmallOperator
) -> None:
    before = instance.running()
    assert before.running
    assert before.pid != 1
    proof = instance.stop("kill")
    assert "SIGKILL by exec" in proof.evidence["how"]
    assert not instance.running().running
    pod = objects.find(in_namespace(namespace, "pods", "shop-2"))
    assert pod is not None
    assert pod["metadata"]["uid"] == before.evidence["uid"]
    again = instance.start()
    assert again.evidence["uid"] != before.evidence["uid"]
    assert instance.entries(Path(DATA)) == ["PG_VERSION"]
    awaited(lambda: _at_rest(objects, operator), "the cluster is healthy again")


def test_an_instance_is_paused_and_resumed(instance: KubernetesHost) -> None:
    assert instance.pause().evidence["process"] == "paused"
    assert instance.running().paused
    instance.resume()
    assert not instance.running().paused


def test_a_wiped_instance_gets_another_claim_by_its_operator(
    instance: KubernetesHost, objects: Objects, namespace: str
) -> None:
    path = in_namespace(namespace, "persistentvolumeclaims", "shop-2")
    before = objects.find(path)
    assert before is not None
    assert "DELETE " + path in instance.would("wipe", [Path(DATA)])
    instance.stop("kill")
    assert instance.wipe([Path(DATA)]).evidence["claims"][0]["uid"] == before["metadata"]["uid"]
    (claim,) = instance.start().evidence["claims"]
    assert claim["former_uid"] == before["metadata"]["uid"]
    assert claim["volume"] != before["spec"]["volumeName"]


def test_a_wipe_that_leaves_the_claim_is_refused_since_the_operator_would_not_fill_it(
    control_plane: ControlPlane, namespace: str, operator: SmallOperator
) -> None:
    host = _host(control_plane, namespace)
    with pytest.raises(Refused, match=r"`claims: \[shop-2\]`"):
        host.would("wipe", [Path(DATA)])


def test_a_cluster_at_work_is_left_alone_unless_brownout_holds_an_instance(
    control_plane: ControlPlane,
    instance: KubernetesHost,
    objects: Objects,
    namespace: str,
    operator: SmallOperator,
) -> None:
    instance.stop("kill")
    spec = instance._spec.model_copy(update={"pod": "shop-1"})
    other = KubernetesHost(Node(name="shop-1", address="127.0.0.1:5433", host=spec))
    awaited(lambda: not _at_rest(objects, operator), "the operator misses an instance")
    other.would("kill")  # the missing one is brownout's own doing
    instance.start()


def test_a_switchover_needs_a_role_of_its_own_and_is_written_as_the_plug_in_does(
    control_plane: ControlPlane, objects: Objects, namespace: str, operator: SmallOperator
) -> None:
    def as_account(*manifests: str) -> Resource:
        kubeconfig = account(control_plane, objects, namespace, *manifests)
        return Resource(
            KubernetesSpec(
                kubeconfig=kubeconfig,
                namespace=namespace,
                pod="shop-1",
                container="postgres",
                program="postgres",
            )
        )

    looking, switching = as_account("look"), as_account("look", "switchover")
    assert (looking.may_promote(), switching.may_promote()) == (False, True)
    assert looking.read()["status"]["currentPrimary"] == "shop-1"
    with pytest.raises(ClusterError, match=r"403 Forbidden.*clusters/status.*rbac"):
        looking.promote("shop-2", "2026-11-27T10:00:00.000000Z")
    switching.promote("shop-2", "2026-11-27T10:00:00.000000Z")
    awaited(lambda: switching.role_of("shop-2") == "primary", "the operator makes it the primary")
    status = switching.read()["status"]
    assert status["targetPrimaryTimestamp"] == "2026-11-27T10:00:00.000000Z"
    assert looking.role_of("shop-1") == "replica"
