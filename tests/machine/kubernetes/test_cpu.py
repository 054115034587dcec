"""A pod gets little CPU by an in-place resize, which the API server checks."""

import json
import threading
from collections.abc import Iterator
from contextlib import nullcontext
from copy import deepcopy
from typing import Any

import pytest
from tests.control_plane import ControlPlane
from tests.machine.kubernetes.conftest import Make

from brownout.base.errors import Denied, HostError, Refused
from brownout.inventory.model import Node
from brownout.kubernetes.objects import Objects, in_namespace
from brownout.kubernetes.problems import Away, Conflict
from brownout.machine import cpu
from brownout.machine.kubernetes import KubernetesHost, KubernetesSpec
from brownout.machine.kubernetes import cpu as pod_cpu
from brownout.machine.kubernetes.cpu import ANNOTATION, resized


@pytest.mark.parametrize(
    ("resources", "wanted"),
    [
        ({"limits": {"cpu": "2"}}, {"limits": {"cpu": "200m"}}),
        (
            {"limits": {"cpu": "2", "memory": "1Gi"}, "requests": {"cpu": "100m"}},
            {"limits": {"cpu": "200m", "memory": "1Gi"}, "requests": {"cpu": "100m"}},
        ),
        (
            {"limits": {"cpu": "2"}, "requests": {"cpu": "1500m"}},
            {"limits": {"cpu": "200m"}, "requests": {"cpu": "200m"}},
        ),
        (  # a guaranteed pod stays one: its quality of service may not change
            {"limits": {"cpu": "100m"}, "requests": {"cpu": "100m"}},
            {"limits": {"cpu": "200m"}, "requests": {"cpu": "200m"}},
        ),
    ],
)
def test_the_limit_is_the_one_asked_for_and_no_request_is_above_it(
    resources: dict[str, Any], wanted: dict[str, Any]
) -> None:
    before = json.dumps(resources)
    assert resized(resources, 0.2) == wanted
    assert json.dumps(resources) == before


def _node(host: KubernetesHost) -> Node:
    return Node(name="db-0", address="127.0.0.1:27017", host=host._spec)


@pytest.mark.kubernetes
def test_a_pod_without_a_limit_says_so_and_is_not_touched(
    made: Make, objects: Objects, namespace: str
) -> None:
    host = made()
    assert "resources.limits.cpu" in cpu.why_not(_node(host), host)
    assert cpu.left_on(_node(host), host) == ""
    pod = objects.find(in_namespace(namespace, "pods", "db-0"))
    assert pod is not None
    assert ANNOTATION not in (pod["metadata"].get("annotations") or {})


@pytest.fixture
def host(control_plane: ControlPlane, objects: Objects) -> Iterator[KubernetesHost]:
    """The host of a pod that has limits, and that no kubelet runs: the test says what one would.

    The kubelet of these tests has no control groups, so it takes no pod with limits.
    """
    namespace = control_plane.new_namespace("resize")
    main: dict[str, Any] = {"name": "main", "image": "none"}
    main["resources"] = {"limits": {"cpu": "500m"}, "requests": {"cpu": "100m"}}
    body = {"metadata": {"name": "db-0"}, "spec": {"containers": [main]}}
    objects.create(in_namespace(namespace, "pods"), body)
    spec = KubernetesSpec(
        namespace=namespace,
        pod="db-0",
        container="main",
        program="bash",
        kubeconfig=control_plane.kubeconfig,
    )
    over = threading.Event()

    def kubelet() -> None:
        path = in_namespace(namespace, "pods", "db-0")
        while not over.wait(0.05):
            pod = objects.find(path)
            assert pod is not None
            resources = pod["spec"]["containers"][0]["resources"]
            status = {"name": "main", "image": "none", "imageID": "", "ready": True,
                      "restartCount": 0, "resources": resources}  # fmt: skip
            objects.merge(f"{path}/status", {"status": {"containerStatuses": [status]}})

    thread = threading.Thread(target=kubelet)
    thread.start()
    yield KubernetesHost(Node(name="db-0", address="127.0.0.1:27017", host=spec))
    over.set()
    thread.join()


def _limits(objects: Objects, host: KubernetesHost) -> Any:
    pod = objects.find(in_namespace(host._spec.namespace, "pods", "db-0"))
    assert pod is not None
    return pod["spec"]["containers"][0]["resources"]


@pytest.mark.kubernetes
def test_a_pod_is_resized_and_has_its_own_resources_again(
    host: KubernetesHost, objects: Objects
) -> None:
    node, before = _node(host), _limits(objects, host)
    assert cpu.why_not(node, host) == ""
    proof = cpu.limit(node, host, 0.2)
    assert (proof.evidence["cpus"], proof.already) == (0.2, False)
    assert _limits(objects, host)["limits"] == {"cpu": "200m"}
    assert cpu.left_on(node, host).startswith("0.2 CPUs")
    cpu.limit(node, host, 0.05)  # a second one does not forget what was there at first
    assert _limits(objects, host) == {"limits": {"cpu": "50m"}, "requests": {"cpu": "50m"}}
    assert not cpu.undo_on(node, host).already
    assert _limits(objects, host) == before
    assert cpu.left_on(node, host) == ""
    assert cpu.undo_on(node, host).already


@pytest.mark.kubernetes
def test_a_resize_that_the_kubelet_does_not_do_is_taken_back(
    host: KubernetesHost, objects: Objects, monkeypatch: pytest.MonkeyPatch
) -> None:
    node, before = _node(host), _limits(objects, host)
    monkeypatch.setattr(pod_cpu, "_in_effect", lambda pod, spec: 9.0)
    monkeypatch.setattr(pod_cpu, "_WITHIN_S", 0.3)
    with pytest.raises(HostError, match="db-0"):
        cpu.limit(node, host, 0.2)
    assert _limits(objects, host) == before


class Answering:
    """An API server with one pod, whose answer to the resize is what the test wants."""

    def __init__(self, answer: Exception, does_it: bool) -> None:
        resources = {"limits": {"cpu": "500m"}}
        self.pod: dict[str, Any] = {
            "metadata": {"annotations": {}},
            "spec": {"containers": [{"name": "main", "resources": resources}]},
        }
        self._answer: Exception | None = answer
        self._does_it = does_it

    @property
    def limits(self) -> Any:
        return self.pod["spec"]["containers"][0]["resources"]["limits"]["cpu"]

    def find(self, path: str) -> Any:
        status = {"name": "main", "resources": {"limits": {"cpu": self.limits}}}
        return deepcopy({**self.pod, "status": {"containerStatuses": [status]}})

    def merge(self, path: str, body: Any) -> None:
        if not path.endswith("/resize"):
            annotations = self.pod["metadata"]["annotations"]
            for name, text in body["metadata"]["annotations"].items():
                annotations.pop(name, None) if text is None else annotations.update({name: text})
            return
        answer, self._answer = self._answer, None
        if answer is None or self._does_it:
            self.pod["spec"]["containers"] = body["spec"]["containers"]
        if answer is not None:
            raise answer


def limited(api: Answering, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pod_cpu, "objects_of", lambda _: nullcontext(api))
    spec = KubernetesSpec(namespace="db", pod="db-0", container="main", program="bash")
    node = Node(name="db-0", address="127.0.0.1:27017", host=spec)
    pod_cpu.limit(node, KubernetesHost(node), 0.05, None)


@pytest.mark.parametrize("does_it", [True, False])
def test_a_resize_whose_answer_is_lost_is_taken_back_and_is_not_a_refusal(
    does_it: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    api = Answering(Away("timed out"), does_it)
    with pytest.raises(HostError) as caught:
        limited(api, monkeypatch)
    assert not isinstance(caught.value, Refused)
    assert (api.limits, api.pod["metadata"]["annotations"]) == ("500m", {})


@pytest.mark.parametrize("answer", [Denied("403"), Conflict("409"), HostError("422")])
def test_a_resize_that_is_refused_leaves_no_mark_on_the_pod(
    answer: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    api = Answering(answer, does_it=False)
    with pytest.raises(Refused):
        limited(api, monkeypatch)
    assert (api.limits, api.pod["metadata"]["annotations"]) == ("500m", {})
