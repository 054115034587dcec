"""Preparing a load host removes what is old and ours, and nothing else."""

import os
import shutil
import time
from pathlib import Path, PurePosixPath

import pytest

from brownout.base.errors import GeneratorError
from brownout.load.remote import LoadHost
from brownout.load.remote.files import hash_of
from brownout.load.remote.machine import LoadMachine
from brownout.machine.ssh.pool import connection_for

LONG_AGO = time.time() - 40 * 86_400


def _old(path: Path) -> Path:
    """Make a file or a directory with all that is in it look 40 days old."""
    for each in (*path.rglob("*"), path):
        os.utime(each, (LONG_AGO, LONG_AGO))
    return path


def _prepared(machine: LoadMachine, base: Path) -> Path:
    return Path(machine.prepare(PurePosixPath(base), "0" * 64).run)


@pytest.fixture
def machine(bare_host: LoadHost) -> LoadMachine:
    """The load host, over a real ssh."""
    return LoadMachine(connection_for(bare_host.login()))


def test_only_old_directories_with_our_mark_are_removed(
    machine: LoadMachine, tmp_path: Path
) -> None:
    base = tmp_path / "there"
    theirs = base / "run-20250101"
    theirs.mkdir(parents=True)
    (theirs / "thesis.txt").write_text("the only copy")
    ours, young = _prepared(machine, base), _prepared(machine, base)
    linked = base / "run-linked00"
    linked.symlink_to(shutil.copytree(ours, tmp_path / "elsewhere"), target_is_directory=True)
    for each in (theirs, ours, tmp_path / "elsewhere"):
        _old(each)

    new = _prepared(machine, base)

    assert sorted(base.iterdir()) == sorted([theirs, young, linked, new])
    assert (theirs / "thesis.txt").read_text() == "the only copy"
    assert (tmp_path / "elsewhere").is_dir()


def test_only_old_binaries_of_ours_are_removed(machine: LoadMachine, tmp_path: Path) -> None:
    base = tmp_path / "there"
    base.mkdir()
    (base / "loadgen-ours").write_text("a generator of long ago")
    ours = (base / "loadgen-ours").rename(base / f"loadgen-{hash_of(base / 'loadgen-ours')}")
    theirs = base / "loadgen-settings"
    theirs.write_text("somebody else's")
    _old(ours), _old(theirs)

    new = _prepared(machine, base)

    assert sorted(base.iterdir()) == sorted([theirs, new])


def test_a_run_is_removed_by_its_mark_only(machine: LoadMachine, tmp_path: Path) -> None:
    ours, theirs = _prepared(machine, tmp_path / "there"), tmp_path / "run-20250101"
    theirs.mkdir()
    machine.remove(PurePosixPath(ours))
    machine.remove(PurePosixPath(ours))  # safe to repeat
    with pytest.raises(GeneratorError, match="does not carry our mark; it is left alone"):
        machine.remove(PurePosixPath(theirs))
    assert (ours.exists(), theirs.exists()) == (False, True)
