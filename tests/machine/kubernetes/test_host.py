"""What is done to a pod on a real kubelet, whose containers are processes of this machine."""

from pathlib import Path

import pytest
from tests.control_plane import awaited
from tests.machine.kubernetes.conftest import DATA, Make, await_ready

from brownout.base.errors import HostError, Refused, Unsupported
from brownout.kubernetes.objects import Objects, in_namespace
from brownout.machine.host import Proof
from brownout.machine.kubernetes.pod import HELD

pytestmark = pytest.mark.kubernetes

#: More than this between the last sign of life and the end is no sharp proof of an end.
_SHARP_S = 1.0


@pytest.mark.parametrize("shared", [False, True])
def test_a_pod_that_is_killed_stays_down_until_it_is_started(
    made: Make, objects: Objects, namespace: str, shared: bool
) -> None:
    host = made({"kill_by_deletion": True}, shareProcessNamespace=shared)
    before = host.running()
    assert before.running
    assert (before.pid == 1) is not shared
    proof = host.stop("kill")
    how, exit_code = proof.evidence["how"], proof.evidence["exit_code"]
    assert ("SIGKILL by exec" in how, exit_code) == (shared, 137 if shared else 0)
    assert ("it ended on the kubelet's SIGTERM" in how) is not shared
    _ended(proof)
    assert host.running().describe() == "not running"
    assert host.stop("kill").already
    again = host.start()
    assert again.evidence["former_uid"] == before.evidence["uid"]
    assert again.evidence["uid"] != before.evidence["uid"]
    assert host.running().running
    assert host.start().already
    assert "finalizers" not in await_ready(objects, namespace, "db-0")["metadata"]


def test_what_its_process_shows_of_itself_is_seen_in_the_container(made: Make) -> None:
    host = made()
    seen = host.footprint(("PATH",))
    assert seen is not None
    assert seen.command
    assert seen.directory is not None
    assert list(seen.variables) == ["PATH"]
    assert host.resolved([Path("/proc/self/../1")]) == [Path("/proc/1")]
    host.stop("clean")
    assert host.footprint() is None
    host.start()


def test_a_clean_stop_gives_the_pod_its_grace(made: Make) -> None:
    host = made(terminationGracePeriodSeconds=20)
    proof = host.stop("clean")
    assert proof.evidence["exit_code"] == 0
    _ended(proof)
    assert not host.running().running
    host.start()


def test_a_server_that_outlives_its_grace_was_not_stopped_cleanly(made: Make) -> None:
    deaf = ["/bin/bash", "-c", "trap '' TERM; while :; do sleep 0.02; done"]
    host = made(command=deaf, terminationGracePeriodSeconds=1)
    with pytest.raises(HostError, match="did not end within its grace period of 1 s"):
        host.stop("clean")
    assert not host.running().running
    host.start()


def test_a_kill_of_pid_1_that_does_not_hear_sigterm_is_the_kubelets(made: Make) -> None:
    deaf = ["/bin/bash", "-c", "trap '' TERM; while :; do sleep 0.02; done"]
    host = made({"kill_by_deletion": True}, command=deaf)
    proof = host.stop("kill")
    assert proof.evidence["exit_code"] == 137
    assert "SIGTERM and then SIGKILL by the kubelet" in proof.evidence["how"]
    host.start()


def test_a_kill_or_pause_of_pid_1_is_refused_before_anything_is_touched(
    made: Make, objects: Objects, namespace: str
) -> None:
    host = made()
    with pytest.raises(Unsupported, match=r"cannot be killed.*SIGKILL.*kill_by_deletion"):
        host.stop("kill")
    with pytest.raises(Unsupported, match="kill_by_deletion"):
        host.would("kill")
    assert "finalizers" not in await_ready(objects, namespace, "db-0")["metadata"]
    with pytest.raises(Unsupported, match=r"is the first process.*nothing is touched"):
        host.pause()
    with pytest.raises(Unsupported, match="shareProcessNamespace"):
        host.would("pause")
    assert host.running().describe() == "running, pid 1"


def test_a_pause_holds_until_it_is_resumed_or_undoes_itself(made: Make) -> None:
    host = made(shareProcessNamespace=True)
    proof = host.pause()
    assert proof.evidence["process"] == "paused"
    assert proof.evidence["liveness_probe"] is False
    assert host.running().paused
    assert host.pause().already
    with pytest.raises(Refused, match="it is paused and would not hear it"):
        host.stop("clean")
    host.resume()
    assert host.resume().already
    assert host.pause(undo_after_s=2.0).evidence["undo_after_s"] == 2.0
    awaited(lambda: not host.running().paused, "the pause to undo itself")
    host.pause()
    host.stop("kill")  # what is frozen can be killed
    assert not host.running().running


def test_a_container_that_ended_by_itself_is_seen_and_awaited(
    made: Make, objects: Objects, namespace: str
) -> None:
    from brownout.machine.commands import script
    from brownout.machine.kubernetes.session import PodRunner

    host = made(shareProcessNamespace=True)
    pid = host.running().pid
    spec = host._spec
    PodRunner(spec, "db-0", "main").run(script('kill -s KILL "$1"', pid))
    proof = host.start()
    assert proof.evidence["pid"] != pid
    path = in_namespace(namespace, "pods", "db-0")

    def restarts() -> int:
        pod = objects.find(path)
        return int(pod["status"]["containerStatuses"][0]["restartCount"]) if pod else 0

    assert awaited(restarts, "the kubelet tells that it started the container again") == 1


def test_a_hold_before_whose_deletion_we_died_is_taken_off_by_a_start(
    made: Make, objects: Objects, namespace: str
) -> None:
    host = made()
    path = in_namespace(namespace, "pods", "db-0")
    objects.merge(path, {"metadata": {"finalizers": [HELD]}})
    assert host.start().already
    assert "finalizers" not in await_ready(objects, namespace, "db-0")["metadata"]


def test_a_wipe_empties_the_claim_of_a_held_pod_and_nothing_else(
    made: Make, objects: Objects, namespace: str
) -> None:
    host = made(command=_writing(), terminationGracePeriodSeconds=5)
    data = Path(DATA)
    assert host.entries(data) == ["WiredTiger"]
    assert host.read_text(data / "WiredTiger") == "precious\n"
    with pytest.raises(Refused, match="is not wiped: its pod runs"):
        host.wipe([data])
    host.stop("clean")
    assert host.entries(data) == ["WiredTiger"]  # by a helper
    with pytest.raises(Refused, match="/tmp"):
        host.wipe([Path("/tmp")])
    proof = host.wipe([data])
    assert proof.evidence["directories"][0]["files_removed"] == 1
    assert host.entries(data) == []
    assert host.wipe([data]).already
    names = [pod["metadata"]["name"] for pod in objects.listed(in_namespace(namespace, "pods"))]
    assert names == ["db-0"]  # no helper is left
    host.start()


def test_a_wipe_of_a_named_claim_gives_the_next_pod_another_volume(
    made: Make, objects: Objects, namespace: str
) -> None:
    host = made(
        {"claims": ["data-db-0"], "kill_by_deletion": True},
        command=_writing(),
        terminationGracePeriodSeconds=5,
    )
    path = in_namespace(namespace, "persistentvolumeclaims", "data-db-0")
    before = objects.find(path)
    assert before is not None
    assert "DELETE " + path in host.would("wipe", [Path(DATA)])
    host.stop("kill")
    proof = host.wipe([Path(DATA)])
    assert proof.evidence["claims"][0]["uid"] == before["metadata"]["uid"]
    assert host.wipe([Path(DATA)]).already
    started = host.start().evidence["claims"][0]
    assert started["former_uid"] == before["metadata"]["uid"]
    assert started["volume"] != before["spec"]["volumeName"]
    volume = f"/api/v1/persistentvolumes/{before['spec']['volumeName']}"
    awaited(lambda: objects.find(volume) is None, "the volume to go")


def test_a_pod_that_a_budget_protects_is_left_alone(
    made: Make, objects: Objects, namespace: str
) -> None:
    host = made()
    budgets = in_namespace(namespace, "poddisruptionbudgets")
    spec = {"minAvailable": 1, "selector": {"matchLabels": {"app": "db"}}}
    objects.create(
        budgets,
        {"kind": "PodDisruptionBudget", "apiVersion": "policy/v1", "metadata": {"name": "one"},
         "spec": spec},
    )  # fmt: skip
    path = in_namespace(namespace, "poddisruptionbudgets", "one")
    awaited(
        lambda: (found := objects.find(path)) and found.get("status", {}).get("expectedPods"),
        "the budget is looked at",
    )
    for act in ("kill", "clean"):
        with pytest.raises(Refused, match="`one`"):
            host.stop("kill" if act == "kill" else "clean")
    with pytest.raises(Refused, match="`one`"):
        host.would("kill")
    assert host.running().running


def test_a_plan_names_the_calls(made: Make, namespace: str) -> None:
    host = made(shareProcessNamespace=True, terminationGracePeriodSeconds=7)
    pid = host.running().pid
    path = f"/api/v1/namespaces/{namespace}/pods/db-0"
    assert host.would("stop") == (
        f"PATCH {path} (finalizer {HELD}); DELETE {path} (gracePeriodSeconds 7)"
    )
    assert f"SIGKILL to process {pid}; DELETE {path} (gracePeriodSeconds 0)" in host.would("kill")
    assert f"SIGSTOP to process {pid}" in host.would("pause")
    assert f"PATCH {path} (without {HELD})" in host.would("start")
    assert host.would("reboot").startswith("skipped")
    assert host.reboot().skipped


def _writing() -> list[str]:
    return [
        "/bin/bash",
        "-c",
        f"echo precious > {DATA}/WiredTiger; trap 'exit 0' TERM; while :; do sleep 0.02; done",
    ]


def _ended(proof: Proof) -> None:
    assert proof.evidence["held"]
    assert proof.evidence["state"] == "terminated"
    assert proof.uncertainty_s < _SHARP_S
