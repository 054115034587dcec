"""Running scripts where a stopped pod's volumes are: in a short-lived pod beside it.

It is made of the node's own image, with its user and its claims at their places, on its machine,
without a token and without any of its labels, so that no service or controller takes it for the
node. It ends by itself; the API removes it with the node's pod, and the next helper one that a
crash of ours left behind.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from secrets import token_hex
from typing import Any

from brownout.base.errors import HostError
from brownout.base.wait import wait_until
from brownout.kubernetes.objects import Object, Objects, in_namespace
from brownout.machine.kubernetes import pod as pods
from brownout.machine.kubernetes.pod import Container, Pod
from brownout.machine.kubernetes.session import PodRunner
from brownout.machine.kubernetes.spec import KubernetesSpec

__all__ = ["HELPER", "await_running", "helper", "manifest", "remove_left"]

#: The label of our own pods; its value is the uid of the pod that they are for.
HELPER = "brownout.dev/helper"
#: Volumes that say or hold something for good. A hostPath may be the machine's own.
_KEPT = ("persistentVolumeClaim", "configMap", "secret")
_CONTAINER = "helper"
_READY_S = 120.0
_SPARE_S = 300.0
_POLL_S = 0.1


@contextmanager
def helper(objects: Objects, spec: KubernetesSpec, pod: Pod) -> Iterator[PodRunner]:
    """Yield what runs scripts with the pod's volumes; the helper is removed at the end."""
    remove_left(objects, pod)
    name = f"{pod.name[:40].rstrip('-.')}-brownout-{token_hex(3)}"
    created = objects.create(
        in_namespace(pod.namespace, "pods"),
        manifest(pod, spec.container, name, spec.wipe_timeout_s + _SPARE_S),
    )
    path, uid = in_namespace(pod.namespace, "pods", name), str(created["metadata"]["uid"])
    try:
        await_running(objects, path, _CONTAINER)
        yield PodRunner(spec, name, _CONTAINER)
    finally:
        objects.delete(path, uid, 0)


def remove_left(objects: Objects, pod: Pod) -> None:
    """Remove helpers that a crash left behind."""
    path = in_namespace(pod.namespace, "pods")
    for left in objects.listed(path, labelSelector=f"{HELPER}={pod.uid}"):
        meta = left["metadata"]
        objects.delete(in_namespace(pod.namespace, "pods", meta["name"]), meta["uid"], 0)


def manifest(pod: Pod, container: str, name: str, ends_after_s: float) -> Object:
    """Return the helper for a container of `pod`. Pure."""
    own = next(one for one in pod.spec["containers"] if one["name"] == container)
    kept = {v["name"]: v for v in pod.spec.get("volumes") or [] if any(k in v for k in _KEPT)}
    mounts = [m for m in own.get("volumeMounts") or [] if m["name"] in kept]
    mounted = {m["name"] for m in mounts}
    spec_of_container: dict[str, Any] = {
        "name": _CONTAINER,
        "image": own["image"],
        "command": ["/bin/sh", "-c", f"exec sleep {ends_after_s:.0f}"],
        "volumeMounts": mounts,
    }
    if "securityContext" in own:
        spec_of_container["securityContext"] = own["securityContext"]
    copied = ("securityContext", "imagePullSecrets", "tolerations", "runtimeClassName")
    owner = {"apiVersion": "v1", "kind": "Pod", "name": pod.name, "uid": pod.uid}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "labels": {HELPER: pod.uid}, "ownerReferences": [owner]},
        "spec": {
            **{key: pod.spec[key] for key in copied if key in pod.spec},
            "nodeName": pod.node,
            "restartPolicy": "Never",
            "activeDeadlineSeconds": int(ends_after_s),
            "automountServiceAccountToken": False,
            "enableServiceLinks": False,
            "terminationGracePeriodSeconds": 0,
            "containers": [spec_of_container],
            "volumes": [volume for volume in kept.values() if volume["name"] in mounted],
        },
    }


def await_running(objects: Objects, path: str, container: str) -> None:
    """Wait until the one container of a pod of ours runs; `HostError` if it does not."""

    def look() -> Container | None:
        document = objects.find(path)
        return pods.read(document).containers[container] if document is not None else None

    own = wait_until(
        look,
        _READY_S,
        _POLL_S,
        so=lambda own: own is None or own.state in ("running", "terminated"),
    )
    if own is None or own.state != "running":
        state = f"{own.state} {own.reason}".strip() if own is not None else "gone"
        raise HostError(
            f"our pod {path.rpartition('/')[2]} beside the node's does not run: {state}",
            "`kubectl describe pod` says more",
        )
