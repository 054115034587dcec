"""A fault on a container that something else ends is seen to have ended."""

from pathlib import Path

import pytest
from tests.faults.lasting import watched
from tests.machine.docker.boxes import Box
from tests.machine.docker.recorded import RecordedEngine
from tests.wording import mentions

from brownout.faults import watch
from brownout.machine.docker import DockerHost
from brownout.machine.docker.engine import connected


@pytest.fixture(autouse=True)
def _often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "EVERY_S", 0.1)


def test_a_pause_that_an_operator_ends_by_the_engine_is_seen(
    host: DockerHost, box: Box, tmp_path: Path
) -> None:
    proof = host.pause(60)
    lasting = watched(host, "pause_node", "resume_node", proof, tmp_path / "events")
    with connected(host._spec) as client:
        client.unpause(box.id)
    detail = lasting.breach().detail
    assert "before resume_node" in detail
    assert "undo_after_s" not in detail
    assert lasting.undone(host.resume)["watched"]["until_undo"] is False


def test_a_pause_that_its_switch_ends_is_seen(host: DockerHost, box: Box, tmp_path: Path) -> None:
    proof = host.pause(4)
    lasting = watched(host, "pause_node", "resume_node", proof, tmp_path / "events")
    assert mentions(lasting.breach().detail, "undo_after_s", "4 s")


@pytest.mark.parametrize("fault", ["kill", "clean"])
def test_a_container_that_somebody_starts_again_is_seen(
    host: DockerHost, box: Box, engine: RecordedEngine, tmp_path: Path, fault: str
) -> None:
    proof = host.stop(fault)  # type: ignore[arg-type]
    lasting = watched(host, f"{fault}_node", "start_node", proof, tmp_path / "events")
    engine.start(box)
    assert lasting.breach().clause == "duration"


def test_a_pause_that_lasts_until_its_undo_is_seen_to(
    host: DockerHost, box: Box, tmp_path: Path
) -> None:
    proof = host.pause(60)
    lasting = watched(host, "pause_node", "resume_node", proof, tmp_path / "events")
    lasting.await_looks(2)
    assert lasting.undone(host.resume)["watched"]["until_undo"] is True
