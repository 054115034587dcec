"""A fault on a pod that something else ends is seen to have ended."""

from pathlib import Path

import pytest
from tests.faults.lasting import watched
from tests.machine.kubernetes.conftest import Make

from brownout.faults import watch
from brownout.kubernetes.objects import Objects, in_namespace
from brownout.machine.commands import script
from brownout.machine.kubernetes.pod import HELD

pytestmark = pytest.mark.kubernetes


@pytest.fixture(autouse=True)
def _often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "EVERY_S", 0.2)


def test_a_pod_that_somebody_lets_come_back_is_seen(
    made: Make, objects: Objects, namespace: str, tmp_path: Path
) -> None:
    host = made({"kill_by_deletion": True})
    killed = watched(host, "kill_node", "start_node", host.stop("kill"), tmp_path / "events")
    killed.await_looks(2)  # its StatefulSet, which would make another one, is held off
    path = in_namespace(namespace, "pods", "db-0")
    held = dict(objects.find(path) or {})["metadata"]["finalizers"]
    objects.merge(path, {"metadata": {"finalizers": [one for one in held if one != HELD]}})
    assert "undo_after_s" not in killed.breach().detail
    assert killed.undone(host.start)["watched"]["until_undo"] is False


def test_a_paused_pod_that_somebody_lets_go_on_is_seen(made: Make, tmp_path: Path) -> None:
    host = made(shareProcessNamespace=True)
    paused = watched(host, "pause_node", "resume_node", host.pause(60), tmp_path / "events")
    paused.await_looks(2)
    host._runner().run(script('kill -CONT "$1"', host.running().pid))
    assert "undo_after_s" not in paused.breach().detail
    assert paused.undone(host.resume)["watched"]["until_undo"] is False
