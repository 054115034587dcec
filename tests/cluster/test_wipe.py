"""Wiping: every wrong target refused with its reason, and a right one proven empty."""

import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from brownout.cluster import wipe
from brownout.cluster.model import Node, ProcessSpec
from brownout.cluster.process import ProcessHost
from brownout.errors import Refused


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
        wipe.check(directory, keep or [])


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


@pytest.mark.parametrize("path", ["", ".", "data", "/tmp/../etc"])
def test_a_path_that_is_not_plain_and_absolute_is_refused(path: str) -> None:
    assert_refused(Path(path), "wanted an absolute path")


@pytest.mark.parametrize("path", ["/", "/etc", "/var/lib", "/tmp", "/home"])
def test_a_directory_of_the_system_is_refused(path: str) -> None:
    assert_refused(Path(path), "belongs to the system or is a home directory|is a symbolic link")


def test_a_home_directory_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))

    assert_refused(tmp_path, "is a home directory")


def test_a_missing_directory_a_file_and_a_link_are_refused(data: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(data)

    assert_refused(tmp_path / "missing", "does not exist")
    assert_refused(data / "WiredTiger", "is not a directory")
    assert_refused(tmp_path / "link", "is a symbolic link to")


def test_a_link_inside_is_refused_because_its_target_would_stay(data: Path, tmp_path: Path) -> None:
    (data / "journal" / "elsewhere").symlink_to(tmp_path)

    assert_refused(data, "whose target would keep its data")


def test_a_parent_of_what_must_survive_is_refused(node: Node, data: Path, tmp_path: Path) -> None:
    assert_refused(tmp_path, "which must survive, lies in it", [data / "journal"])
    with pytest.raises(Refused, match=r"node\.conf`, which must survive, lies in it"):
        ProcessHost(node).wipe([tmp_path])


def test_a_nodes_own_program_survives_its_wipe(node: Node, data: Path) -> None:
    assert isinstance(node.host, ProcessSpec)
    spec = node.host.model_copy(update={"command": (str(data / "mongod"),)})

    with pytest.raises(Refused, match="mongod`, which must survive, lies in it"):
        ProcessHost(node.model_copy(update={"host": spec})).wipe([data])


def test_a_directory_that_any_process_works_in_is_refused(data: Path) -> None:
    with subprocess.Popen(["sleep", "60"], cwd=data / "journal") as user:
        assert_refused(data, f"in use by process {user.pid}; stop what uses it first")
        user.kill()


def test_a_directory_in_which_any_process_has_a_file_open_is_refused(data: Path) -> None:
    with (data / "WiredTiger").open():
        assert_refused(data, f"in use by process {os.getpid()}")


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to give a directory away")
def test_a_directory_of_somebody_else_is_refused(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 12345)

    assert_refused(data, r"belongs to user id 0, not to ours \(12345\)")


class TestMounts:
    """File systems that are mounted on or below the directory."""

    @pytest.fixture
    def mount(self, data: Path) -> Iterator[Path]:
        point = data / "journal" / "a mount"
        point.mkdir()
        done = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=64k", "none", point],
            capture_output=True,
            check=False,
        )
        if done.returncode:
            pytest.skip("needs the right to mount")
        yield point
        subprocess.run(["umount", point], check=True)

    def test_a_mount_point_is_refused(self, mount: Path) -> None:
        assert_refused(mount, "it is a mount point; wipe a directory on that file system")

    def test_a_mount_below_is_refused(self, mount: Path, data: Path) -> None:
        assert_refused(data, f"another file system is mounted in it at `{mount}`")


@pytest.mark.parametrize(
    ("other", "together"),
    [("/x/n1", True), ("/x/n1/sub", True), ("/x", True), ("/x/n10", False), ("/x/n2", False)],
)
def test_directories_that_are_the_same_or_lie_in_each_other_are_told(
    other: str, together: bool
) -> None:
    assert wipe.same_or_nested([Path("/x/n1")], Path(other)) is together


def test_a_link_of_this_machine_hides_no_nesting_on_another(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "n1").mkdir()
    (tmp_path / "n1" / "db").symlink_to(tmp_path / "elsewhere")
    assert wipe.same_or_nested([tmp_path / "n1"], tmp_path / "n1" / "db")
