"""Letting a held pod go, and waiting for the one that its controller makes in its place."""

import time
from typing import Any

from brownout.base.errors import HostError
from brownout.base.wait import wait_until
from brownout.kubernetes.objects import Objects
from brownout.machine.host import Proof
from brownout.machine.kubernetes import hold, storage
from brownout.machine.kubernetes.helper import remove_left
from brownout.machine.kubernetes.location import Located, locate
from brownout.machine.kubernetes.pod import Pod
from brownout.machine.kubernetes.spec import KubernetesSpec

__all__ = ["start"]

#: A container that has not ended after this long is taken as started.
_GRACE_S = 1.0
_POLL_S = 0.1


def start(objects: Objects, spec: KubernetesSpec, pod: Pod | None, node: str) -> Proof:
    """Have the controller bring the pod back; proven when another one runs the database.

    `pod` is the held one, one whose container is just down, or None. Claims that a wipe has
    deleted must have been replaced by others, with another volume, by then.
    """
    replaced: dict[str, str] = {}
    sent = time.monotonic()
    if pod is not None and pod.held:
        replaced = storage.deleting(objects, spec)
        remove_left(objects, pod)
        hold.release(objects, pod)
    former = pod.uid if pod is not None and pod.deleting else ""
    located = _await_running(objects, spec, former, node)
    process = located.process
    if process is None or located.pod is None:
        raise HostError(f"node `{node}` did not start: its pod {spec.pod} ended at once")
    earliest, latest = max(sent, process.born_after), min(time.monotonic(), process.born_by)
    seen: dict[str, Any] = {**process.evidence(), "process": "running", "former_uid": former}
    if replaced:
        seen["claims"] = [_replacement(objects, spec, name, uid) for name, uid in replaced.items()]
    uncertainty_s = max(0.0, latest - earliest)
    return Proof(max(latest, earliest), uncertainty_s, located.pod.evidence(spec.container, **seen))


def _await_running(objects: Objects, spec: KubernetesSpec, former: str, node: str) -> Located:
    """Wait until the same process has been there for a while, in a pod other than `former`."""
    located: Located
    first: Located | None = None
    since = 0.0

    def stays() -> bool:
        nonlocal located, first, since
        located = locate(objects, spec)
        if located.pod is None or located.process is None or located.pod.uid == former:
            first = None
        elif first is None or not _same(first, located):
            first, since = located, time.monotonic()
        return first is not None and time.monotonic() > since + _GRACE_S

    if not wait_until(stays, spec.start_timeout_s, _POLL_S):
        raise HostError(
            f"node `{node}` did not start within {spec.start_timeout_s:g} s: "
            f"{_state(spec, located, former)}",
            "`kubectl describe` of the pod and its StatefulSet says more",
        )
    return located


def _same(first: Located, later: Located) -> bool:
    """Whether it is the same process of the same container of the same pod."""
    one, other = first.process, later.process
    if one is None or other is None or first.pod is None or later.pod is None:
        return False
    return (first.pod.uid, one.pid, one.started) == (later.pod.uid, other.pid, other.started)


def _state(spec: KubernetesSpec, located: Located, former: str) -> str:
    """Return in words what the pod is instead of running."""
    pod = located.pod
    if pod is None:
        return (
            f"pod {spec.namespace}/{spec.pod} does not exist; did its controller create one under "
            "another name?"
        )
    if pod.uid == former:
        kept = ", ".join(pod.finalizers) or "nothing of ours"
        return f"the former pod {spec.pod} is still there, kept by {kept}"
    own = pod.containers[spec.container]
    machine = pod.node or "no machine yet"
    return (
        f"pod {spec.pod} is {pod.phase} on {machine}, its container is {own.state} {own.reason} "
        f"after {own.restarts} restarts"
    )


def _replacement(
    objects: Objects, spec: KubernetesSpec, name: str, former: str
) -> dict[str, object]:
    """Return the claim that took another one's place; `HostError` if it is still the old one."""
    claim = storage.claim_of(objects, spec.namespace, name)
    if claim is None or claim.uid == former or claim.phase != "Bound":
        state = (
            "missing" if claim is None else claim.phase if claim.uid != former else "the old one"
        )
        raise HostError(f"the claim {spec.namespace}/{name} was not replaced: it is {state}")
    return claim.evidence(former_uid=former)
