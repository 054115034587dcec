"""A lab that does not become whole is taken down, and what its nodes said is kept."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from brownout.base.errors import ClusterError, UndoFailed
from brownout.infra import lab
from brownout.infra.lab import inspect
from brownout.inventory import inventory
from brownout.runs import repair


@pytest.fixture
def downs(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A lab that is never whole; which labs were taken down."""
    taken: list[str] = []

    def never(*_: object) -> str:
        raise UndoFailed("it is not whole: ['n3 is starting']", "heal it")

    monkeypatch.setattr(repair, "await_whole", never)
    declared = SimpleNamespace(name="lab-mongodb", lab=object())
    monkeypatch.setattr(inventory, "declared", lambda _: declared)
    monkeypatch.setattr(lab, "down", lambda cluster, **_: taken.append(cluster.name))
    return taken


def test_the_logs_of_a_lab_that_is_rebuilt_are_kept_without_secrets(
    downs: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tails = {"n1": ["started"], "n3": ["no space left", "password=hunter2"]}
    monkeypatch.setattr(inspect, "logs", lambda *_, **__: tails)
    said: list[str] = []
    assert not repair.await_whole_or_take_down("lab-mongodb", 1, said.append, tmp_path / "book")
    (folder,) = (tmp_path / "book" / "lab-logs").iterdir()
    assert folder.name.endswith("-lab-mongodb")
    assert {file.name for file in folder.iterdir()} == {"n1.log", "n3.log"}
    kept = (folder / "n3.log").read_text()
    assert kept.startswith("no space left\n")
    assert "hunter2" not in kept
    assert any(str(folder) in each for each in said)
    assert downs == ["lab-mongodb"]


def test_a_lab_whose_logs_cannot_be_kept_is_rebuilt_all_the_same(
    downs: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone(*_: object, **__: object) -> dict[str, list[str]]:
        raise ClusterError("the lab `lab-mongodb` is down")

    monkeypatch.setattr(inspect, "logs", gone)
    said: list[str] = []
    assert not repair.await_whole_or_take_down("lab-mongodb", 1, said.append, tmp_path)
    assert any("logs are not kept" in each for each in said)
    assert downs == ["lab-mongodb"]
