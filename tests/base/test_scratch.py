"""Temporary folders: gone when their block ends, and after a kill with the next heal."""

import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest
from tests.forked_run import brownout

from brownout.base.scratch import remove_left, scratch

_HOLD = """
import sys
from brownout.base.scratch import scratch
with scratch("run") as place:
    print(place, flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def tmp(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where temporary folders are made."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    return tmp_path


def test_a_temporary_folder_is_there_while_its_block_lasts(tmp: Path) -> None:
    with scratch("run") as place:
        assert place.parent == tmp
        assert place.stat().st_mode & 0o777 == 0o700
        assert remove_left() == []
        assert place.is_dir()
    assert list(tmp.iterdir()) == []


def test_only_folders_of_processes_that_were_killed_are_left_and_removed(tmp: Path) -> None:
    foreign = tmp / "brownout-notes-mine"
    foreign.mkdir()
    (tmp / "brownout-link-a").symlink_to(foreign)
    command = [sys.executable, "-c", _HOLD]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    place = Path(process.stdout.readline().strip())
    assert remove_left() == []
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert place.is_dir()
    environment = {"TMPDIR": str(tmp), "BROWNOUT_STATE": str(tmp / "state")}
    healed = brownout("heal", env=environment, timeout=60)
    assert healed.returncode == 0, healed.stderr
    assert not place.exists()
    assert foreign.is_dir()


@pytest.fixture
def shared() -> Iterator[Path]:
    """A folder for temporary files that every account may use."""
    place = Path(tempfile.mkdtemp())
    place.chmod(0o777)
    yield place
    shutil.rmtree(place)


def _removed_by(account: int, tmp: str) -> list[Path]:
    tempfile.tempdir = tmp
    os.seteuid(account)
    return remove_left()


@pytest.mark.skipif(os.geteuid() != 0, reason="NOT TESTED: folders of other accounts: not root")
def test_the_folders_of_other_accounts_are_left_alone(shared: Path) -> None:
    """Nobody else may look into them, not even to see whether they are in use."""
    place = shared / "brownout-run-1"
    place.mkdir(mode=0o700)
    (place / ".in-use").touch()
    with ProcessPoolExecutor(1, multiprocessing.get_context("fork")) as forked:
        assert forked.submit(_removed_by, 65534, str(shared)).result() == []
    assert place.is_dir()


def test_where_no_temporary_folder_can_be_made_nothing_is_left(
    tmp: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full() -> str:
        raise FileNotFoundError("No usable temporary directory found")

    monkeypatch.setattr("tempfile.gettempdir", full)
    assert remove_left() == []
