"""Pods that really run: their node is a real kubelet whose containers are our processes."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from tests.control_plane import ControlPlane, awaited
from tests.machine.kubernetes.sets import stateful_set

from brownout.inventory.model import Node
from brownout.kubernetes.access import Access, connect
from brownout.kubernetes.objects import Objects, in_namespace
from brownout.machine.kubernetes import KubernetesHost, KubernetesSpec

#: Ends on SIGTERM, as the first process of a container too.
SERVER = ["/bin/bash", "-c", "trap 'exit 0' TERM; while :; do sleep 0.02; done"]
PROGRAM = "bash"
DATA = "/data/db"

Make = Callable[..., KubernetesHost]


@pytest.fixture
def objects(control_plane: ControlPlane) -> Iterator[Objects]:
    """The API as its administrator sees it."""
    with connect(Access(kubeconfig=control_plane.kubeconfig)) as client:
        yield Objects(client)


@pytest.fixture(scope="session")
def _node(control_plane: ControlPlane) -> str:
    control_plane.add_process_node("pods-1")
    return "pods-1"


@pytest.fixture
def namespace(control_plane: ControlPlane, _node: str) -> str:
    """A namespace whose pods run for real."""
    return control_plane.new_namespace("process")


@pytest.fixture
def made(control_plane: ControlPlane, objects: Objects, namespace: str) -> Iterator[Make]:
    """Make a StatefulSet of one pod that is Ready, and return the host of it.

    `spec` are settings of the host, the rest adds to the pod's specification.
    """

    def make(
        spec: dict[str, Any] | None = None, command: list[str] = SERVER, **template: Any
    ) -> KubernetesHost:
        path = in_namespace(namespace, "statefulsets")
        objects.create(path, stateful_set("db", 1, command, mounts={"data": DATA}, **template))
        await_ready(objects, namespace, "db-0")
        settings = {"program": PROGRAM, "kubeconfig": control_plane.kubeconfig, **(spec or {})}
        return host(namespace, **settings)

    yield make
    release(objects, namespace)


def host(namespace: str, **settings: Any) -> KubernetesHost:
    """Return the host of pod `db-0`, container `main`."""
    spec = KubernetesSpec(
        namespace=namespace, pod="db-0", container="main", start_timeout_s=60.0, **settings
    )
    return KubernetesHost(Node(name="db-0", address="127.0.0.1:27017", host=spec))


def await_ready(objects: Objects, namespace: str, name: str) -> dict[str, Any]:
    """Wait until a pod is Ready, and return it."""

    def ready() -> dict[str, Any]:
        found = dict(objects.find(in_namespace(namespace, "pods", name)) or {})
        conditions = found.get("status", {}).get("conditions", [])
        return found if {"Ready": "True"}.items() <= _by_type(conditions).items() else {}

    return awaited(ready, f"pod {name} is Ready")


def release(objects: Objects, namespace: str) -> None:
    """Have nothing of ours keep the namespace's pods when the control plane ends."""
    for pod in objects.listed(in_namespace(namespace, "pods")):
        path = in_namespace(namespace, "pods", pod["metadata"]["name"])
        objects.merge(path, {"metadata": {"finalizers": []}})
    for found in objects.listed(in_namespace(namespace, "statefulsets")):
        meta = found["metadata"]
        objects.delete(in_namespace(namespace, "statefulsets", meta["name"]), meta["uid"])


def _by_type(conditions: list[dict[str, str]]) -> dict[str, str]:
    return {one["type"]: one["status"] for one in conditions}
