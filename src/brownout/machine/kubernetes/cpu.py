"""Limiting the CPU of a pod's container by an in-place resize, through the API server.

The pod keeps running: the kubelet sets the quota of the container's control group. What the
container had before is an annotation of the pod, written first, so that a later process can
put it back. There is no timer: nothing that is done here can cut the way to the API server.

Source: Kubernetes, "Resize CPU and Memory Resources assigned to Containers" (stable since 1.35).
"""

import json
import time
from copy import deepcopy
from typing import Any

from kubernetes.utils.quantity import parse_quantity

from brownout.base.errors import HostError, Refused, after_effect
from brownout.base.wait import wait_until
from brownout.inventory.model import Node
from brownout.kubernetes.objects import Object, Objects, in_namespace
from brownout.kubernetes.problems import Away
from brownout.machine.host import Host, Proof
from brownout.machine.kubernetes.location import objects_of
from brownout.machine.kubernetes.spec import KubernetesSpec

__all__ = ["ANNOTATION", "MEANS", "before", "left_on", "limit", "resized", "undo_on", "why_not"]

MEANS = "an in-place resize of its pod"
#: Holds the resources that the container had.
ANNOTATION = "brownout.dev/cpu"
_WITHIN_S = 60.0
_POLL_S = 0.1


def why_not(node: Node, host: Host) -> str:
    """Return why the pod cannot be resized and back; empty if it can."""
    spec = _spec(node)
    with objects_of(spec) as objects:
        pod = _pod(objects, spec)
    if "cpu" in (_own(pod, spec.container).get("resources") or {}).get("limits", {}):
        return ""
    return (
        f"node `{node.name}`: container {spec.container} of pod {spec.namespace}/{spec.pod} has no "
        "CPU limit, and one that is added to a running pod cannot be removed again; give it one "
        "(`resources.limits.cpu`)"
    )


def before(node: Node, host: Host) -> None:
    """Return nothing: the pod's annotation says what it had."""


def limit(node: Node, host: Host, cpus: float, undo_after_s: float | None) -> Proof:
    """Limit it; proven when the kubelet says that the container has this limit."""
    spec = _spec(node)
    with objects_of(spec) as objects:
        pod = _pod(objects, spec)
        resources = _own(pod, spec.container).get("resources") or {}
        is_first = ANNOTATION not in (pod["metadata"].get("annotations") or {})
        if is_first:
            _annotate(objects, spec, json.dumps(resources, sort_keys=True))
        wanted = resized(resources, cpus)
        already = _cpus(resources) == cpus
        try:
            sent, seen = _resize(objects, spec, pod, wanted)
        except Refused:
            if is_first:
                _annotate(objects, spec, None)
            raise
        except HostError:
            with after_effect():
                _resize_back(objects, spec)
            raise
    evidence = {"state": "throttled", "by": MEANS, "cpus": cpus, "before": resources}
    return Proof(seen, seen - sent, evidence, already=already)


def undo_on(node: Node, host: Host, earlier: Any) -> Proof:
    """Give the container the resources that its pod's annotation names; safe to repeat."""
    spec = _spec(node)
    with objects_of(spec) as objects:
        times = _resize_back(objects, spec)
    now = time.monotonic()
    sent, seen = times or (now, now)
    return Proof(seen, seen - sent, {"state": "not throttled"}, already=times is None)


def left_on(node: Node, host: Host) -> str:
    """Return the limit in words, where the pod bears our annotation."""
    spec = _spec(node)
    with objects_of(spec) as objects:
        pod = objects.find(in_namespace(spec.namespace, "pods", spec.pod))
    if pod is None or ANNOTATION not in (pod["metadata"].get("annotations") or {}):
        return ""
    return f"{_cpus(_own(pod, spec.container).get('resources') or {}):g} CPUs by {MEANS}"


def resized(resources: Object, cpus: float) -> dict[str, Any]:
    """Return `resources` with a CPU limit of `cpus`, and a request that is not above it. Pure."""
    changed = deepcopy(dict(resources))
    text = f"{round(cpus * 1000)}m"
    limits, requests = changed.setdefault("limits", {}), changed.get("requests") or {}
    same = requests.get("cpu") == limits.get("cpu")
    limits["cpu"] = text
    if "cpu" in requests and (same or float(parse_quantity(requests["cpu"])) > cpus):
        requests["cpu"] = text
    return changed


def _resize(
    objects: Objects, spec: KubernetesSpec, pod: Object, wanted: Object
) -> tuple[float, float]:
    """Set the container's resources; return when that was asked, and when the kubelet had done it.

    Raises `Refused` where the API server answers that it does not do it. Where it does not answer,
    or only that it cannot now, it may have done it all the same.
    """
    containers = [
        {**one, "resources": wanted} if one["name"] == spec.container else one
        for one in pod["spec"]["containers"]
    ]
    path = in_namespace(spec.namespace, "pods", f"{spec.pod}/resize")
    sent = time.monotonic()
    try:
        objects.merge(path, {"spec": {"containers": containers}})
    except Away:
        raise
    except HostError as error:
        raise Refused(f"pod {spec.namespace}/{spec.pod} is not resized: {error.message}") from error

    def there() -> Object:
        return _pod(objects, spec)

    cpus = _cpus(wanted)
    pod = wait_until(there, _WITHIN_S, _POLL_S, so=lambda it: _in_effect(it, spec) == cpus)
    seen = time.monotonic()
    if _in_effect(pod, spec) != cpus:
        raise HostError(
            f"pod {spec.namespace}/{spec.pod} was not resized within {_WITHIN_S:.0f} s: {_why(pod)}"
        )
    return sent, seen


def _resize_back(objects: Objects, spec: KubernetesSpec) -> tuple[float, float] | None:
    """Give the container what its annotation names, and remove that; None where there is none."""
    pod = objects.find(in_namespace(spec.namespace, "pods", spec.pod))
    text = (pod["metadata"].get("annotations") or {}).get(ANNOTATION) if pod is not None else None
    if pod is None or text is None:
        return None
    times = _resize(objects, spec, pod, json.loads(text))
    _annotate(objects, spec, None)
    return times


def _annotate(objects: Objects, spec: KubernetesSpec, text: str | None) -> None:
    path = in_namespace(spec.namespace, "pods", spec.pod)
    objects.merge(path, {"metadata": {"annotations": {ANNOTATION: text}}})


def _pod(objects: Objects, spec: KubernetesSpec) -> Object:
    pod = objects.find(in_namespace(spec.namespace, "pods", spec.pod))
    if pod is None:
        raise HostError(f"pod {spec.namespace}/{spec.pod} is not there")
    return pod


def _own(pod: Object, container: str) -> Object:
    own: Object = next(one for one in pod["spec"]["containers"] if one["name"] == container)
    return own


def _in_effect(pod: Object, spec: KubernetesSpec) -> float | None:
    """Return the CPU limit that the kubelet says the container has; None where it says none."""
    statuses = (pod.get("status") or {}).get("containerStatuses") or []
    own: Object = next((one for one in statuses if one["name"] == spec.container), {})
    return _cpus(own.get("resources") or {})


def _cpus(resources: Object) -> float | None:
    text = (resources.get("limits") or {}).get("cpu")
    return None if text is None else float(parse_quantity(text))


def _why(pod: Object) -> str:
    """Return what the kubelet says of a resize that it has not done."""
    conditions = (pod.get("status") or {}).get("conditions") or []
    words = [
        f"{one['type']}: {one.get('reason', '')} {one.get('message', '')}".strip()
        for one in conditions
        if str(one["type"]).startswith("PodResize")
    ]
    return "; ".join(words) or "the kubelet does not say why"


def _spec(node: Node) -> KubernetesSpec:
    assert isinstance(node.host, KubernetesSpec)
    return node.host
