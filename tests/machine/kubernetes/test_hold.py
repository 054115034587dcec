"""A deleted pod that stays in the API for us: no replacement until it is let go.

Its pods are on no node, so that nothing but the API server and the controllers takes part.
"""

from collections.abc import Iterator
from typing import Any

import pytest
from tests.control_plane import ControlPlane, awaited
from tests.machine.kubernetes.sets import stateful_set

from brownout.base.errors import HostError
from brownout.kubernetes.access import Access, connect
from brownout.kubernetes.objects import Objects, in_namespace
from brownout.machine.kubernetes import hold
from brownout.machine.kubernetes import pod as pods
from brownout.machine.kubernetes.pod import HELD, Pod

pytestmark = pytest.mark.kubernetes

_FOREIGN = "example.com/backup"


@pytest.fixture
def objects(control_plane: ControlPlane) -> Iterator[Objects]:
    with connect(Access(kubeconfig=control_plane.kubeconfig)) as client:
        yield Objects(client)


@pytest.fixture
def pod(control_plane: ControlPlane, objects: Objects) -> Pod:
    """The one pod of a StatefulSet."""
    namespace = control_plane.new_namespace()
    nowhere: dict[str, Any] = {"nodeSelector": {"brownout.dev/nowhere": ""}}
    objects.create(
        in_namespace(namespace, "statefulsets"), stateful_set("db", 1, ["sleep", "1000"], **nowhere)
    )
    return _awaited(objects, namespace, other_than="")


def test_no_other_pod_is_made_while_one_is_held_and_one_is_as_soon_as_it_is_let_go(
    objects: Objects, pod: Pod
) -> None:
    hold.hold(objects, pod)
    hold.hold(objects, pod)
    hold.delete(objects, pod, 0)
    held = _read(objects, pod)
    assert held is not None
    assert (held.uid, held.held) == (pod.uid, True)
    _the_controller_has_looked(objects, pod)
    assert _read(objects, pod) == held
    hold.release(objects, pod)
    assert _awaited(objects, pod.namespace, other_than=pod.uid).finalizers == ()
    hold.release(objects, pod)  # of one that is gone, and whose name another has


def test_finalizers_of_others_stay(objects: Objects, pod: Pod) -> None:
    objects.merge(hold.path_of(pod), {"metadata": {"finalizers": [_FOREIGN]}})
    hold.hold(objects, pod)
    found = _read(objects, pod)
    assert found is not None
    assert found.finalizers == (_FOREIGN, HELD)
    hold.release(objects, pod)
    found = _read(objects, pod)
    assert found is not None
    assert found.finalizers == (_FOREIGN,)


def test_a_pod_that_somebody_else_deletes_is_not_held(objects: Objects, pod: Pod) -> None:
    objects.merge(hold.path_of(pod), {"metadata": {"finalizers": [_FOREIGN]}})
    hold.delete(objects, pod, 0)
    with pytest.raises(HostError, match="being deleted by another client"):
        hold.hold(objects, pod)


def test_another_pod_of_the_same_name_is_never_deleted(objects: Objects, pod: Pod) -> None:
    hold.delete(objects, pod, 0)
    successor = _awaited(objects, pod.namespace, other_than=pod.uid)
    with pytest.raises(HostError, match="409 Conflict"):
        hold.delete(objects, pod, 0)
    assert _read(objects, pod) == successor


def test_a_hold_that_somebody_took_off_is_told(objects: Objects, pod: Pod) -> None:
    hold.hold(objects, pod)
    hold.delete(objects, pod, 0)
    objects.merge(hold.path_of(pod), {"metadata": {"finalizers": []}})
    with pytest.raises(HostError, match=f"took the finalizer {HELD} off"):
        hold.await_ended(objects, pod, 10.0)


def _read(objects: Objects, pod: Pod) -> Pod | None:
    said = objects.find(hold.path_of(pod))
    return pods.read(said) if said is not None else None


def _awaited(objects: Objects, namespace: str, other_than: str) -> Pod:
    path = in_namespace(namespace, "pods", "db-0")
    found = awaited(
        lambda: (said := objects.find(path)) and said["metadata"]["uid"] != other_than and said,
        "the pod db-0",
    )
    assert isinstance(found, dict)
    return pods.read(found)


def _the_controller_has_looked(objects: Objects, pod: Pod) -> None:
    """Wait until the StatefulSet's controller has seen a change that came after the deletion."""
    path = in_namespace(pod.namespace, "statefulsets", "db")
    changed = objects.merge(path, {"spec": {"minReadySeconds": 1}})
    generation = changed["metadata"]["generation"]

    def looked() -> bool:
        found = objects.find(path)
        return found is not None and found["status"]["observedGeneration"] >= generation

    awaited(looked, "the controller has seen the change")
