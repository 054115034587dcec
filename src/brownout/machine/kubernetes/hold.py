"""Keeping a pod stopped, although its controller wants it to run, and letting it come back.

A StatefulSet makes a new pod as soon as the old one is gone from the API. So the old one gets a
finalizer before it is deleted: its containers end as ever, the object stays, and no other is made
until the finalizer is taken off.

    hold ──▶ delete ──▶ (containers end; the pod is Terminating) ──▶ release ──▶ a new pod

`docs/kubernetes.md` says why not by scaling.
"""

from brownout.base.errors import HostError
from brownout.base.wait import wait_until
from brownout.kubernetes.objects import Objects, in_namespace
from brownout.kubernetes.problems import Conflict
from brownout.machine.kubernetes import pod as pods
from brownout.machine.kubernetes.pod import HELD, Pod

__all__ = ["await_ended", "delete", "hold", "path_of", "release"]

_POLL_S = 0.1
_TRIES = 5


def path_of(pod: Pod) -> str:
    """Return where the API has it."""
    return in_namespace(pod.namespace, "pods", pod.name)


def hold(objects: Objects, pod: Pod) -> None:
    """Put our finalizer on a pod that is not being deleted yet. Safe to repeat."""
    _finalizers(objects, pod, held=True)


def release(objects: Objects, pod: Pod) -> None:
    """Take our finalizer off a pod; one that is gone by now needs nothing. Safe to repeat."""
    _finalizers(objects, pod, held=False)


def delete(objects: Objects, pod: Pod, grace_s: int) -> None:
    """Delete this very pod; the kubelet ends its containers within `grace_s` seconds."""
    objects.delete(path_of(pod), pod.uid, grace_s)


def await_ended(objects: Objects, pod: Pod, timeout_s: float) -> Pod:
    """Wait until the API says that every container of a deleted pod has ended, and return it.

    Raises `HostError` with their states where that does not come, or where the pod is not held.
    """

    def look() -> Pod:
        same = _same(objects, pod)
        if same is None or not same.held:
            raise HostError(
                f"pod {pod.namespace}/{pod.name} is gone and was not held: another client took "
                f"the finalizer {HELD} off it",
                "see who; its controller has made another one",
            )
        return same

    last = wait_until(look, timeout_s, _POLL_S, so=lambda last: last.ended)
    if not last.ended:
        states = ", ".join(f"{c.name} {c.state}" for c in last.containers.values())
        raise HostError(
            f"pod {pod.namespace}/{pod.name} is deleted, and after {timeout_s:g} s its "
            f"containers are still: {states}",
            f"does the kubelet of {pod.node} still answer?",
        )
    return last


def _same(objects: Objects, pod: Pod) -> Pod | None:
    """Return the pod as it is now; None if it is gone, also where another one has its name."""
    document = objects.find(path_of(pod))
    same = pods.read(document) if document is not None else None
    return same if same is not None and same.uid == pod.uid else None


def _finalizers(objects: Objects, pod: Pod, *, held: bool) -> None:
    """Have our finalizer on the pod, or not; others' stay. Only of the version that was read."""
    for left in range(_TRIES, 0, -1):
        same = _same(objects, pod)
        if same is None and not held:
            return
        if same is None or (held and same.deleting and HELD not in same.finalizers):
            raise HostError(f"pod {pod.namespace}/{pod.name} is being deleted by another client")
        if (HELD in same.finalizers) is held:
            return
        others = [one for one in same.finalizers if one != HELD]
        wanted = [*others, HELD] if held else others
        meta = {"uid": same.uid, "resourceVersion": same.version, "finalizers": wanted}
        try:
            objects.merge(path_of(pod), {"metadata": meta})
        except Conflict:
            if left == 1:
                raise
        else:
            return
