"""A fault on a machine reached by ssh that something else ends is seen to have ended."""

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.faults.lasting import watched
from tests.wording import mentions

from brownout.faults import watch
from brownout.inventory.model import Node
from brownout.machine.commands import LocalRunner, script
from brownout.machine.ssh import SshHost


@pytest.fixture(autouse=True)
def _often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "EVERY_S", 0.1)


@pytest.fixture
def host(node_at: Callable[..., Node]) -> SshHost:
    host = SshHost(node_at())
    host.start()
    return host


def test_a_pause_that_an_operator_ends_is_seen(host: SshHost, tmp_path: Path) -> None:
    proof = host.pause(60)
    lasting = watched(host, "pause_node", "resume_node", proof, tmp_path / "events")
    LocalRunner().run(script('kill -CONT "$1"', proof.evidence["pid"]))
    detail = lasting.breach().detail
    assert "before resume_node" in detail
    assert "undo_after_s" not in detail
    assert lasting.undone(host.resume)["watched"]["until_undo"] is False
    host.stop("kill")


def test_a_pause_that_its_switch_over_there_ends_is_seen(host: SshHost, tmp_path: Path) -> None:
    proof = host.pause(1)
    lasting = watched(host, "pause_node", "resume_node", proof, tmp_path / "events")
    assert mentions(lasting.breach().detail, "undo_after_s", "1 s")
    host.stop("kill")


@pytest.mark.parametrize("fault", ["kill", "clean"])
def test_a_node_that_a_supervisor_starts_again_is_seen(
    host: SshHost, tmp_path: Path, fault: str
) -> None:
    proof = host.stop(fault)  # type: ignore[arg-type]
    lasting = watched(host, f"{fault}_node", "start_node", proof, tmp_path / "events")
    host.start()
    assert lasting.breach().node == "n1"
    host.stop("kill")
    assert lasting.event.evidence["ended_early"]


def test_a_pause_that_lasts_until_its_undo_is_seen_to(host: SshHost, tmp_path: Path) -> None:
    proof = host.pause(60)
    lasting = watched(host, "pause_node", "resume_node", proof, tmp_path / "events")
    lasting.await_looks(2)
    assert lasting.undone(host.resume)["watched"]["until_undo"] is True
    host.stop("kill")
