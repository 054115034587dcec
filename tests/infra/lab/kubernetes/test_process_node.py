"""A node of the lab is a real kubelet, and its containers are processes that behave like some."""

import json
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from kubernetes import client
from kubernetes.stream import stream
from tests.control_plane import BINARY, ControlPlane, awaited, binary

pytestmark = pytest.mark.kubernetes

#: Lives until it is asked to end, and says so then.
_LIVES = ["sh", "-c", "trap 'echo asked; exit 0' TERM; echo lives; while :; do sleep 0.1; done"]

#: Asks the API server who it is, with what every pod is given.
_WHO_AM_I = """
import json, os, ssl, urllib.request
place = "/run/secrets/kubernetes.io/serviceaccount/"
trust = ssl.create_default_context(cafile=place + "ca.crt")
group = "authentication.k8s.io/v1"
url = f"https://{os.environ['KUBERNETES_SERVICE_HOST']}/apis/{group}/selfsubjectreviews"
body = json.dumps({"kind": "SelfSubjectReview", "apiVersion": group}).encode()
head = {"Authorization": "Bearer " + open(place + "token").read()}
head["Content-Type"] = "application/json"
answer = urllib.request.urlopen(urllib.request.Request(url, body, head), context=trust)
print(json.load(answer)["status"]["userInfo"]["username"])
"""


@pytest.fixture
def namespace(control_plane: ControlPlane) -> str:
    """A namespace of this test's own, on a node with processes."""
    control_plane.add_process_node("process-1")
    return control_plane.new_namespace(on="process")


def _pod(name: str, command: Sequence[str], **more: Any) -> dict[str, Any]:
    container = {"name": "main", "image": "example.org/any:1", "command": list(command)}
    container |= more.pop("container", {})
    spec = {"containers": [container], "terminationGracePeriodSeconds": 20, **more}
    return {"metadata": {"name": name}, "spec": spec}


def _start(plane: ControlPlane, namespace: str, pod: Mapping[str, Any]) -> None:
    client.CoreV1Api(plane.api).create_namespaced_pod(namespace, pod)
    _await(plane, namespace, pod["metadata"]["name"], "Running", "Succeeded", "Failed")


def _await(plane: ControlPlane, namespace: str, name: str, *phases: str) -> Any:
    core = client.CoreV1Api(plane.api)

    def reached() -> Any:
        pod = core.read_namespaced_pod(name, namespace)
        return pod if pod.status.phase in phases else None

    return awaited(reached, f"{name} is {' or '.join(phases)}")


def _log(plane: ControlPlane, namespace: str, name: str) -> str:
    return str(client.CoreV1Api(plane.api).read_namespaced_pod_log(name, namespace))


def _exec(plane: ControlPlane, namespace: str, name: str, script: str) -> str:
    """Run a script of sh in a pod by WebSocket, as the official client does."""
    core = client.CoreV1Api(plane.api)
    ask = core.connect_get_namespaced_pod_exec
    wanted = {"command": ["sh", "-c", script], "stdout": True, "_preload_content": False}
    answer = stream(ask, name, namespace, **wanted)
    try:
        answer.run_forever(timeout=60)
        return str(answer.read_all())
    finally:
        answer.sock.shutdown()  # its own close() leaves the socket open where the server was first


def test_a_container_has_its_volumes_variables_and_identity_and_writes_nothing_here(
    control_plane: ControlPlane, namespace: str
) -> None:
    core = client.CoreV1Api(control_plane.api)
    core.create_namespaced_config_map(
        namespace, {"metadata": {"name": "settings"}, "data": {"a": "1"}}
    )
    script = "id -u; id -G; cat /settings/a; echo; echo > /scratch/x; echo $IP $$$$; hostname"
    script += "; echo > /tmp/of-a-test-of-brownout; ls /run/secrets/kubernetes.io/serviceaccount"
    container = {
        "env": [{"name": "IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}}],
        "volumeMounts": [
            {"name": "settings", "mountPath": "/settings"},
            {"name": "scratch", "mountPath": "/scratch"},
        ],
    }
    pod = _pod(
        "looks",
        ["sh", "-c", script],
        container=container,
        restartPolicy="Never",
        securityContext={"runAsUser": 65532, "runAsGroup": 65532, "fsGroup": 2000},
        volumes=[
            {"name": "settings", "configMap": {"name": "settings"}},
            {"name": "scratch", "emptyDir": {}},
        ],
    )
    _start(control_plane, namespace, pod)
    status = _await(control_plane, namespace, "looks", "Succeeded").status
    said = _log(control_plane, namespace, "looks").split()
    assert said == [
        *("65532", "65532", "2000", "1", status.pod_ip, "1", "looks"),
        *("ca.crt", "namespace", "token"),
    ]
    assert status.pod_ip.startswith("127.")
    for path in ("/scratch", "/settings", "/tmp/of-a-test-of-brownout"):
        assert not Path(path).exists(), path


def test_an_exec_has_streams_both_ways_and_the_exit_status(
    control_plane: ControlPlane, namespace: str
) -> None:
    _start(control_plane, namespace, _pod("lives", _LIVES))
    assert _exec(control_plane, namespace, "lives", "tr a-z A-Z < /etc/hostname").isupper()
    words = [str(binary()), "kubectl", f"--kubeconfig={control_plane.kubeconfig}"]
    words += ["exec", "-i", "lives", f"--namespace={namespace}", "--", "sh", "-c"]
    ended = subprocess.run(
        [*words, "cat; echo wrong >&2; exit 7"], input="said", capture_output=True, text=True
    )
    assert (ended.returncode, ended.stdout) == (7, "said")
    assert ended.stderr.startswith("wrong")


def test_an_attached_one_speaks_to_the_container_and_hears_it(
    control_plane: ControlPlane, namespace: str
) -> None:
    reads = {"stdin": True, "stdinOnce": True}
    pod = _pod("reads", ["sh", "-c", "read x; echo heard $x; exit 3"], container=reads)
    _start(control_plane, namespace, {**pod, "spec": {**pod["spec"], "restartPolicy": "Never"}})
    control_plane.kubectl("attach", "-i", "reads", f"--namespace={namespace}", stdin="a word\n")
    status = _await(control_plane, namespace, "reads", "Failed").status
    assert status.container_statuses[0].state.terminated.exit_code == 3
    assert _log(control_plane, namespace, "reads") == "heard a word\n"


def test_a_signal_from_inside_does_not_end_pid_1_but_one_to_another_process_does(
    control_plane: ControlPlane, namespace: str
) -> None:
    _start(control_plane, namespace, _pod("alone", _LIVES))
    assert (
        _exec(control_plane, namespace, "alone", "kill -9 1; kill -STOP 1; echo tried") == "tried\n"
    )
    shared = _pod("shared", _LIVES, shareProcessNamespace=True)
    _start(control_plane, namespace, shared)
    _exec(control_plane, namespace, "shared", "kill -9 $(pgrep -of 'echo lives')")
    core = client.CoreV1Api(control_plane.api)

    def restarted(name: str) -> Any:
        status = core.read_namespaced_pod(name, namespace).status.container_statuses[0]
        return status if status.restart_count else None

    killed = awaited(lambda: restarted("shared"), "shared is restarted")
    assert killed.last_state.terminated.exit_code == 128 + 9
    assert restarted("alone") is None


def test_a_deleted_pod_gets_its_grace_and_stays_while_a_finalizer_holds_it(
    control_plane: ControlPlane, namespace: str
) -> None:
    core = client.CoreV1Api(control_plane.api)
    pod = _pod("held", _LIVES)
    pod["metadata"]["finalizers"] = ["example.org/held"]
    _start(control_plane, namespace, pod)
    awaited(lambda: "lives" in _log(control_plane, namespace, "held"), "it has set its trap")
    core.delete_namespaced_pod("held", namespace)
    ended = _await(control_plane, namespace, "held", "Succeeded", "Failed")
    assert ended.status.container_statuses[0].state.terminated.exit_code == 0
    assert _log(control_plane, namespace, "held") == "lives\nasked\n"
    core.patch_namespaced_pod("held", namespace, {"metadata": {"finalizers": None}})
    everyone = core.list_namespaced_pod
    awaited(lambda: not everyone(namespace).items, "the pod is gone")


def test_a_pod_finds_the_api_server_by_itself(control_plane: ControlPlane, namespace: str) -> None:
    pod = _pod("asks", ["python3", "-c", _WHO_AM_I], restartPolicy="Never")
    _start(control_plane, namespace, pod)
    _await(control_plane, namespace, "asks", "Succeeded", "Failed")
    who = f"system:serviceaccount:{namespace}:default\n"
    assert _log(control_plane, namespace, "asks") == who


def test_a_stateful_sets_pod_whose_claim_was_deleted_comes_back_with_an_empty_directory(
    control_plane: ControlPlane, namespace: str
) -> None:
    core, apps = client.CoreV1Api(control_plane.api), client.AppsV1Api(control_plane.api)
    template = _pod("any", ["sh", "-c", "ls /data; touch /data/written; echo; exec sleep 1000"])
    template["spec"]["terminationGracePeriodSeconds"] = 0
    template["spec"]["securityContext"] = {"runAsUser": 65532, "fsGroup": 2000}
    template["spec"]["containers"][0]["volumeMounts"] = [{"name": "data", "mountPath": "/data"}]
    wanted = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Mi"}}}
    spec = {
        "replicas": 1,
        "serviceName": "db",
        "selector": {"matchLabels": {"app": "db"}},
        "template": {"metadata": {"labels": {"app": "db"}}, "spec": template["spec"]},
        "volumeClaimTemplates": [{"metadata": {"name": "data"}, "spec": wanted}],
    }
    apps.create_namespaced_stateful_set(namespace, {"metadata": {"name": "db"}, "spec": spec})

    def after(uid: str) -> Any:
        pod = core.read_namespaced_pod("db-0", namespace)
        return pod if pod.metadata.uid != uid and pod.status.phase == "Running" else None

    def said() -> str:
        text = _log(control_plane, namespace, "db-0")
        return text if text.endswith("\n\n") or text == "\n" else ""

    first = awaited(lambda: after(""), "db-0 runs")
    assert awaited(said, "db-0 has written") == "\n"
    core.delete_namespaced_pod("db-0", namespace)
    second = awaited(lambda: after(first.metadata.uid), "db-0 runs again")
    assert awaited(said, "db-0 has written") == "written\n\n"
    core.delete_namespaced_persistent_volume_claim("data-db-0", namespace)
    core.delete_namespaced_pod("db-0", namespace)
    awaited(lambda: after(second.metadata.uid), "db-0 runs with a claim of its own")
    assert awaited(said, "db-0 has written") == "\n"


def test_the_pods_of_an_indexed_job_know_their_index(
    control_plane: ControlPlane, namespace: str
) -> None:
    core, batch = client.CoreV1Api(control_plane.api), client.BatchV1Api(control_plane.api)
    pod = _pod("any", ["sh", "-c", "echo index $JOB_COMPLETION_INDEX"], restartPolicy="Never")
    spec = {
        "completions": 2,
        "parallelism": 2,
        "completionMode": "Indexed",
        "template": {"spec": pod["spec"]},
    }
    batch.create_namespaced_job(namespace, {"metadata": {"name": "load"}, "spec": spec})
    awaited(
        lambda: batch.read_namespaced_job("load", namespace).status.succeeded == 2, "both are done"
    )
    pods = core.list_namespaced_pod(namespace).items
    said = {_log(control_plane, namespace, each.metadata.name) for each in pods}
    assert said == {"index 0\n", "index 1\n"}


def test_a_nodes_processes_end_with_it(control_plane: ControlPlane) -> None:
    control_plane.add_process_node("process-dies")
    namespace = control_plane.new_namespace(on="process")
    pod = _pod("dies", ["sleep", "86399.5"], nodeName="process-dies")
    _start(control_plane, namespace, pod)
    found = ["pgrep", "-fx", "sleep 86399.5"]
    assert subprocess.run(found, stdout=subprocess.DEVNULL).returncode == 0
    control_plane.kill_process_node("process-dies")
    awaited(
        lambda: subprocess.run(found, stdout=subprocess.DEVNULL).returncode == 1, "they have ended"
    )


def test_a_node_says_that_it_is_a_stand_in(control_plane: ControlPlane) -> None:
    control_plane.add_process_node("process-1")
    node = json.loads(control_plane.kubectl("get", "node", "process-1", "--output=json"))
    assert node["status"]["nodeInfo"]["containerRuntimeVersion"].startswith("processes-")
    assert "stand-in" in node["status"]["nodeInfo"]["containerRuntimeVersion"]
    assert node["metadata"]["labels"]["brownout.lab/node"] == "process"
    about = subprocess.run([binary(), "kubelet", "--help"], capture_output=True, text=True)
    assert "stand-in" in about.stderr


def test_without_its_program_the_lab_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(BINARY, "/absent")
    with pytest.raises(FileNotFoundError, match="make kubernetes"):
        binary()
