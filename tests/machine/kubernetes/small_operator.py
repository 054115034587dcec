"""A small operator for tests: it keeps pods of a resource without a StatefulSet.

It treats pods, claims and its Cluster's status as CloudNativePG does, as far as faults are
concerned: each instance is a pod and a claim of the same name, both controlled by the resource. It
recreates a missing pod on its claim, and both if the claim is missing too. A change of
`status.targetPrimary` is a switchover. It contains no code of CloudNativePG.
"""

import threading
from collections.abc import Callable
from typing import Any

from tests.control_plane import STORAGE_CLASS, awaited

from brownout.base.errors import BrownoutError
from brownout.kubernetes.access import Access, connect
from brownout.kubernetes.objects import Object, Objects, in_namespace

__all__ = ["GROUP", "HEALTHY", "SmallOperator", "define"]

GROUP, _VERSION = "postgresql.cnpg.io", "v1"
HEALTHY = "Cluster in healthy state"
_CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
_POLL_S = 0.1


def define(objects: Objects) -> None:
    """Have the API know Clusters, with a status of its own, and any content."""
    name = f"clusters.{GROUP}"
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = {
        "name": _VERSION,
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": schema},
        "subresources": {"status": {}},
    }
    names = {"plural": "clusters", "singular": "cluster", "kind": "Cluster"}
    spec = {"group": GROUP, "scope": "Namespaced", "names": names, "versions": [version]}
    if objects.find(f"{_CRDS}/{name}") is None:
        kind = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition"}
        objects.create(_CRDS, {**kind, "metadata": {"name": name}, "spec": spec})

    def established() -> bool:
        status = (objects.find(f"{_CRDS}/{name}") or {}).get("status") or {}
        kinds = {one["type"]: one["status"] for one in status.get("conditions") or ()}
        return kinds.get("Established") == "True"

    awaited(established, f"{name} is established")


class SmallOperator:
    """Keeps the instances `shop-1` to `shop-n` of the Cluster `shop` until it is left.

    `containers` returns the containers of an instance by its name, `switch` makes one primary in
    place of another one, which is empty where it is gone.
    """

    def __init__(
        self,
        access: Access,
        namespace: str,
        instances: int,
        containers: Callable[[str], list[dict[str, Any]]],
        switch: Callable[[str, str], None] = lambda _old, _new: None,
        **template: Any,
    ) -> None:
        self._objects, self._namespace = Objects(connect(access)), namespace
        self._names = [f"shop-{number}" for number in range(1, instances + 1)]
        self._containers, self._switch, self._template = containers, switch, template
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._keep, daemon=True)
        self.failures: list[str] = []
        path = in_namespace(namespace, "clusters", group=f"/apis/{GROUP}/{_VERSION}")
        self.path = f"{path}/shop"
        made = {"apiVersion": f"{GROUP}/{_VERSION}", "kind": "Cluster"}
        resource = {**made, "metadata": {"name": "shop"}, "spec": {"instances": instances}}
        self._resource = self._objects.create(path, resource)
        self._report("shop-1", ready=0)

    def __enter__(self) -> "SmallOperator":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()
        print("the operator met:", *self.failures[-5:], sep="\n")  # pytest shows it on a failure

    def _keep(self) -> None:
        while not self._ended.wait(_POLL_S):
            try:
                self._reconcile()
            except BrownoutError as error:  # a conflict with the API's other clients: once more
                self.failures.append(str(error))

    def _reconcile(self) -> None:
        own = self._resource["metadata"]["uid"]
        pods = _by_name(self._objects, self._namespace, "pods", own)
        claims = _by_name(self._objects, self._namespace, "persistentvolumeclaims", own)
        for name in self._names:
            if name not in claims:
                self._make("persistentvolumeclaims", self._claim(name))
            elif name in pods:
                if not pods[name]["status"].get("podIP"):
                    break  # the next one is told where this one is
            elif "deletionTimestamp" not in claims[name]["metadata"]:
                self._make("pods", self._pod(name))
                break
        status = (self._objects.find(self.path) or {}).get("status") or {}
        current, target = status.get("currentPrimary"), status.get("targetPrimary")
        if current and target and current != target:
            self._switch(current, target)
            current = target
        ready_names = [name for name, pod in pods.items() if _ready(pod)]
        if status.get("phase") == HEALTHY and current not in ready_names and ready_names:
            target = ready_names[0]
            self._switch("", target)
            current = target
        for name, pod in pods.items():
            role = "primary" if name == current else "replica"
            if (pod["metadata"]["labels"]).get("cnpg.io/instanceRole") != role:
                path = in_namespace(self._namespace, "pods", name)
                self._objects.merge(path, {"metadata": {"labels": {"cnpg.io/instanceRole": role}}})
        ready = len(ready_names)
        phase = (
            HEALTHY if ready == len(self._names) else "Waiting for the instances to become active"
        )
        if (status.get("readyInstances"), status.get("currentPrimary"), status.get("phase")) != (
            ready,
            current,
            phase,
        ):
            self._report(str(current), ready=ready, phase=phase)

    def _report(self, primary: str, ready: int, phase: str = "Setting up primary") -> None:
        status = {"phase": phase, "readyInstances": ready, "instanceNames": self._names}
        status |= {"currentPrimary": primary, "targetPrimary": primary}
        self._objects.merge(f"{self.path}/status", {"status": status})

    def _make(self, kind: str, document: dict[str, Any]) -> None:
        self._objects.create(in_namespace(self._namespace, kind), document)

    def _meta(self, name: str) -> dict[str, Any]:
        reference = {key: self._resource[key] for key in ("apiVersion", "kind")}
        reference |= {key: self._resource["metadata"][key] for key in ("name", "uid")}
        labels = {"cnpg.io/cluster": "shop", "cnpg.io/instanceName": name}
        owners = [{**reference, "controller": True, "blockOwnerDeletion": True}]
        return {"name": name, "labels": labels, "ownerReferences": owners}

    def _claim(self, name: str) -> dict[str, Any]:
        wanted = {"accessModes": ["ReadWriteOnce"], "storageClassName": STORAGE_CLASS}
        spec = {**wanted, "resources": {"requests": {"storage": "1Gi"}}}
        kind = {"apiVersion": "v1", "kind": "PersistentVolumeClaim"}
        return {**kind, "metadata": self._meta(name), "spec": spec}

    def _pod(self, name: str) -> dict[str, Any]:
        volumes = [{"name": "pgdata", "persistentVolumeClaim": {"claimName": name}}]
        spec = {"hostname": name, "containers": self._containers(name), "volumes": volumes}
        return {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": self._meta(name),
            "spec": {**spec, **self._template},
        }


def _by_name(objects: Objects, namespace: str, kind: str, owner: str) -> dict[str, Object]:
    return {
        str(one["metadata"]["name"]): one
        for one in objects.listed(in_namespace(namespace, kind))
        if any(each["uid"] == owner for each in one["metadata"].get("ownerReferences") or ())
    }


def _ready(pod: Object) -> bool:
    conditions = pod["status"].get("conditions") or []
    ready = any(one["type"] == "Ready" and one["status"] == "True" for one in conditions)
    return ready and "deletionTimestamp" not in pod["metadata"]
