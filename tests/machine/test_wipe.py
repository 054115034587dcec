"""Wiping: every wrong target refused with its reason, and a right one proven empty."""

import time
from pathlib import Path, PurePosixPath

import pytest
from tests.wording import naming

from brownout.base.errors import Refused
from brownout.inventory.model import Node, ProcessSpec
from brownout.machine import directories
from brownout.machine.commands import LocalRunner
from brownout.machine.process import ProcessHost


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A node's data directory with something in it."""
    directory = tmp_path / "data"
    (directory / "journal").mkdir(parents=True)
    (directory / "WiredTiger").write_text("w" * 10)
    (directory / "journal" / "log.1").write_text("l" * 100)
    return directory


@pytest.fixture
def node(waiting_node: Node) -> Node:
    return waiting_node


def assert_refused(directory: Path, reason: str, keep: list[Path] | None = None) -> None:
    with pytest.raises(Refused, match=reason):
        directories.check(
            LocalRunner(), [PurePosixPath(directory)], [PurePosixPath(path) for path in keep or []]
        )


def test_a_wiped_directory_is_kept_and_proven_empty(node: Node, data: Path) -> None:
    asked = time.monotonic()

    proof = ProcessHost(node).wipe([data])

    assert data.is_dir()
    assert list(data.iterdir()) == []
    assert asked < proof.effective_monotonic <= time.monotonic()
    assert proof.evidence == {
        "state": "empty",
        "directories": [
            {
                "directory": str(data),
                "files_removed": 2,
                "bytes_removed": 110,
                "entries_left": 0,
            }
        ],
    }


def test_wiping_again_changes_nothing(node: Node, data: Path) -> None:
    ProcessHost(node).wipe([data])

    assert ProcessHost(node).wipe([data]).already


def test_a_running_node_is_not_wiped(node: Node, data: Path) -> None:
    host = ProcessHost(node)
    host.start()
    try:
        with pytest.raises(Refused, match=r"is not wiped: it is running, pid \d+; stop it first"):
            host.wipe([data])
        host.pause()
        with pytest.raises(Refused, match=r"is not wiped: it is paused, pid \d+; stop it first"):
            host.wipe([data])
        assert list(data.iterdir())
    finally:
        host.stop("kill")


def test_no_directory_is_no_wipe(node: Node) -> None:
    with pytest.raises(Refused, match="no directory was named"):
        ProcessHost(node).wipe([])


def test_nothing_is_touched_if_one_of_several_directories_is_refused(
    node: Node, data: Path, tmp_path: Path
) -> None:
    with pytest.raises(Refused, match="does not exist"):
        ProcessHost(node).wipe([data, tmp_path / "missing"])
    assert list(data.iterdir())


def test_a_home_directory_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))

    assert_refused(tmp_path, "is or holds a home directory")


def test_a_parent_of_what_must_survive_is_refused(node: Node, data: Path, tmp_path: Path) -> None:
    assert_refused(tmp_path, "which must survive, lies in it", [data / "journal"])
    with pytest.raises(Refused, match=r"node\.conf`"):
        ProcessHost(node).wipe([tmp_path])


def test_a_nodes_own_program_survives_its_wipe(node: Node, data: Path) -> None:
    assert isinstance(node.host, ProcessSpec)
    spec = node.host.model_copy(update={"command": (str(data / "mongod"),)})

    with pytest.raises(Refused, match=naming(data / "mongod")):
        ProcessHost(node.model_copy(update={"host": spec})).wipe([data])


@pytest.mark.parametrize(
    ("other", "together"),
    [("/x/n1", True), ("/x/n1/sub", True), ("/x", True), ("/x/n10", False), ("/x/n2", False)],
)
def test_directories_that_are_the_same_or_lie_in_each_other_are_told(
    other: str, together: bool
) -> None:
    assert directories.same_or_nested([Path("/x/n1")], Path(other)) is together


def test_a_link_of_this_machine_hides_no_nesting_on_another(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "n1").mkdir()
    (tmp_path / "n1" / "db").symlink_to(tmp_path / "elsewhere")
    assert directories.same_or_nested([tmp_path / "n1"], tmp_path / "n1" / "db")


def test_a_plan_says_what_is_emptied_as_part_of_another_directory() -> None:
    wanted = [Path("/d/wal"), Path("/d"), Path("/e"), Path("/d")]
    assert directories.in_words(wanted) == "/d (/d/wal in it stays, empty), /e"
