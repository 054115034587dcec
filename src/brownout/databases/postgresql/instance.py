"""One instance of CloudNativePG: its PostgreSQL by SQL, its cluster by the API of Kubernetes.

The server is asked what it is; the Cluster says which pod its operator has as the primary, as
Patroni's store does elsewhere. `kubectl cnpg` is not needed.
"""

import threading
import time
from collections.abc import Callable
from typing import Any

from brownout.base.errors import ClusterError, HostError
from brownout.databases.postgresql import cloudnative, sql
from brownout.databases.postgresql.access import Access
from brownout.databases.postgresql.view import Listed, View
from brownout.inventory.model import Node
from brownout.kubernetes.objects import Object, Objects, in_namespace
from brownout.machine.kubernetes import pod as pods
from brownout.machine.kubernetes.controllers import operator_of
from brownout.machine.kubernetes.location import objects_of
from brownout.machine.kubernetes.spec import KubernetesSpec

__all__ = ["Instance", "Resource", "look"]

#: So long an answer of the API counts for every instance, which are asked at the same time.
_FRESH_S = 0.2
_GROUP = f"/apis/{cloudnative.GROUP}"


class Resource:
    """The Cluster that the instances are of, as the API has it; safe for several threads."""

    def __init__(self, spec: KubernetesSpec) -> None:
        self._spec, self._lock = spec, threading.Lock()
        self._name, self._seen, self._at = "", dict[str, Any](), 0.0

    def read(self, fresh_s: float = 0.0) -> Object:
        """Return it, at most `fresh_s` old; `ClusterError` where it cannot be read."""
        with self._lock:
            if not self._seen or time.monotonic() > self._at + fresh_s:
                self._seen = dict(self._asked(self._find))
                self._at = time.monotonic()
            return self._seen

    def promote(self, pod: str, now: str) -> None:
        """Have the operator make a pod the primary, by the status that it watches."""
        change = cloudnative.promotion(self.read(), pod, now)
        self._asked(lambda objects: objects.merge(f"{self._path()}/status", change))

    def may_promote(self) -> bool:
        """Return whether our login may change the Cluster's status."""
        attributes = {"group": _GROUP.split("/")[2], "resource": "clusters", "verb": "patch"}
        attributes |= {"subresource": "status", "namespace": self._spec.namespace}
        review = {
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SelfSubjectAccessReview",
            "spec": {"resourceAttributes": attributes},
        }
        path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
        answer = self._asked(lambda objects: objects.create(path, review))
        return bool((answer.get("status") or {}).get("allowed"))

    def role_of(self, pod: str) -> str:
        """Return the role that the operator labelled a pod with; empty where it has none."""
        path = in_namespace(self._spec.namespace, "pods", pod)
        document = self._asked(lambda objects: objects.find(path) or {})
        labels = (document.get("metadata") or {}).get("labels") or {}
        return str(labels.get(cloudnative.ROLE, ""))

    def _path(self) -> str:
        return in_namespace(self._spec.namespace, "clusters", self._name, group=_GROUP)

    def _find(self, objects: Objects) -> Object:
        if not self._name:
            self._name = self._named_by_pod(objects)
        document = objects.find(self._path())
        if document is None:
            raise ClusterError(f"there is no Cluster {self._spec.namespace}/{self._name}")
        return document

    def _named_by_pod(self, objects: Objects) -> str:
        """Return the Cluster that controls the pod of the inventory."""
        where = f"pod {self._spec.namespace}/{self._spec.pod}"
        document = objects.find(in_namespace(self._spec.namespace, "pods", self._spec.pod))
        if document is None:
            raise ClusterError(f"{where} does not exist, so its Cluster is not known")
        pod = pods.read(document)
        operator = operator_of(pod)
        if operator is None or operator.owns_pods != cloudnative.KIND:
            raise ClusterError(
                f"{where} is not of a CloudNativePG Cluster, and its PostgreSQL is not under "
                "Patroni",
                "docs/postgresql.md says which clusters can be broken",
            )
        return pod.controller[1]

    def _asked(self, ask: Callable[[Objects], Object]) -> Object:
        try:
            with objects_of(self._spec) as objects:
                return ask(objects)
        except HostError as error:
            raise ClusterError(error.message, error.hint) from error


class Instance:
    """Asks one instance, and only that one, and its Cluster."""

    def __init__(self, node: Node, access: Access, timeout_s: float, resource: Resource) -> None:
        assert isinstance(node.host, KubernetesSpec)
        self.pod, self._node, self._access = node.host.pod, node, access
        self._timeout_s, self._resource = timeout_s, resource

    def status(self) -> dict[str, Any]:
        """Return what its server says of itself, with its name; see `sql.status`."""
        status = sql.status(self._node, self._access, self._timeout_s)
        return {**status, "patroni": {"name": self.pod, "scope": ""}}

    def listed(self) -> tuple[Listed, ...]:
        """Return the instances as their operator has them; none where the API does not answer."""
        try:
            status = self._resource.read(_FRESH_S).get("status") or {}
        except ClusterError:
            return ()
        primary, timeline = status.get("currentPrimary"), int(status.get("timelineID") or -1)
        return tuple(
            Listed(str(name), name == primary, "", timeline)
            for name in status.get("instanceNames") or ()
        )

    def close(self) -> None:
        """Do nothing: each question has a connection of its own."""


def look(node: Node, instance: Instance) -> View:
    """Ask one instance; whatever goes wrong is in the view's `error`."""
    try:
        status = instance.status()
    except ClusterError as error:
        return View.without(node, error)
    return View(node.name, node.address, status, instance.listed())
