"""What a run leaves is its owner's alone, whatever the umask; what was there keeps its mode."""

import os
import stat
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.run_builder import RunScript, build_run

from brownout.base.files import private_directory, private_file
from brownout.faults import open_runs
from brownout.observe import targets
from brownout.run.directory import RunDirectory
from brownout.run.events import EventLog
from brownout.runs.evidence.bundle import bundle
from brownout.runs.gameday.leases import Leases
from brownout.runs.history.place import find
from brownout.runs.history.store import Store
from brownout.testing.hold import Holds


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder without anything, and a umask that lets everybody read and write."""
    for name in ("BROWNOUT_HISTORY", "BROWNOUT_GAMEDAYS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("BROWNOUT_STATE", str(tmp_path / "deep" / "state"))
    monkeypatch.setenv("BROWNOUT_RUNS", str(tmp_path / "runs"))
    before = os.umask(0)
    yield tmp_path
    os.umask(before)


def _modes(path: Path) -> dict[str, str]:
    found = {path, *path.rglob("*")}
    return {str(each.relative_to(path)): oct(stat.S_IMODE(each.stat().st_mode)) for each in found}


def _check_private(path: Path) -> None:
    wrong = {name: mode for name, mode in _modes(path).items()
             if mode != ("0o700" if (path / name).is_dir() else "0o600")}  # fmt: skip
    assert wrong == {}


def test_the_claim_of_a_run_and_its_lock_are_private(home: Path) -> None:
    open_runs.claim("shop", home / "run", "shop", brought_up=False)
    try:
        _check_private(home / "deep")
    finally:
        open_runs.release("shop")


def test_a_run_directory_and_what_is_written_there_are_private(home: Path) -> None:
    run = RunDirectory.create("node-kill", 1, least_free_bytes=0)
    run.write_metadata({"a": 1})
    EventLog(run.events).point("note", "x")
    _check_private(home / "runs")


def test_the_history_the_leases_and_the_workers_locks_are_private(home: Path) -> None:
    place = find()
    assert place is not None
    with Store(place):
        pass
    Leases().close()
    holds = Holds("gw0")
    holds.take("shop")
    holds.release()
    _check_private(home / "deep")


def test_an_archive_of_evidence_and_what_is_in_it_are_private(home: Path) -> None:
    run = build_run(home / "runs", RunScript(duration_s=45, rate=150))
    bundle(RunDirectory.open(run), home / "evidence.tar.gz")
    assert oct((home / "evidence.tar.gz").stat().st_mode & 0o777) == "0o600"
    with tarfile.open(home / "evidence.tar.gz") as archive:
        assert {entry.mode for entry in archive} == {0o600}


def test_where_a_run_is_scraped_may_be_read_by_a_prometheus_of_another_user(home: Path) -> None:
    assert oct(targets.directory().stat().st_mode & 0o777) == "0o777"  # less the umask
    assert oct((home / "deep" / "state").stat().st_mode & 0o777) == "0o700"


def test_what_an_older_version_made_keeps_its_mode_and_works(home: Path) -> None:
    (home / "deep" / "state" / "open").mkdir(parents=True, mode=0o755)
    open_runs.claim("shop", home / "run", "shop", brought_up=False)
    open_runs.release("shop")
    private_file(home / "deep" / "file").write_text("x")
    (home / "deep" / "file").chmod(0o444)
    assert private_file(home / "deep" / "file").read_text() == "x"
    assert private_directory(home / "deep").stat().st_mode & 0o777 == 0o777
