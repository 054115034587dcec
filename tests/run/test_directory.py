"""A run directory is made where it can be written, and found again by name."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from brownout.base.errors import ExitCode, RunDirectoryError
from brownout.run.directory import RunDirectory, runs_root


@pytest.fixture(autouse=True)
def _root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BROWNOUT_RUNS", str(tmp_path / "runs"))


def test_a_run_is_named_by_time_experiment_and_seed() -> None:
    made = RunDirectory.create("Node wipe (kill)", 4711)
    assert made.path.parent == runs_root()
    stamp, name = made.run_id.split("-", 1)
    assert len(stamp) == len("20261122T101500Z")
    assert stamp.endswith("Z")
    assert name == "node-wipe-kill-4711"
    assert list(made.path.iterdir()) == []


def test_two_runs_of_one_second_are_two_directories() -> None:
    paths = {RunDirectory.create("node-kill", 1).path for _ in range(5)}
    assert len(paths) == 5


def test_without_a_setting_runs_lie_where_one_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("BROWNOUT_RUNS")
    monkeypatch.chdir(tmp_path)
    assert RunDirectory.create("x", 1).path.resolve().parent == tmp_path / "runs"


def test_too_little_space_is_refused_and_leaves_nothing() -> None:
    with pytest.raises(RunDirectoryError, match="are free, wanted") as error:
        RunDirectory.create("x", 1, least_free_bytes=1 << 60)
    assert "BROWNOUT_RUNS" in error.value.hint
    assert error.value.exit_code == ExitCode.BAD_INPUT
    assert list(runs_root().iterdir()) == []


def test_a_file_in_the_way_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RunDirectoryError, match="cannot be made there"):
        RunDirectory.create("x", 1, root=tmp_path / "file")


def test_a_full_disk_is_refused(tmp_path: Path) -> None:
    """A real one: a small file system of its own, filled to the last byte."""
    script = (
        "import sys; from pathlib import Path; from brownout.base.errors import RunDirectoryError\n"
        "from brownout.run.directory import RunDirectory\n"
        "try: RunDirectory.create('x', 1, root=Path(sys.argv[1]), least_free_bytes=0)\n"
        "except RunDirectoryError as error: sys.exit(str(error))\n"
    )
    small = tmp_path / "small"
    small.mkdir()
    fill = f"dd if=/dev/zero of={small}/filler bs=4096 2>/dev/null"
    steps = f'mount -t tmpfs -o size=256k none {small} || exit 77; {fill}; exec "$@"'
    inside = ["unshare", "-rm", "sh", "-c", steps, "sh", sys.executable, "-c", script, str(small)]
    if shutil.which("unshare") is None:
        pytest.skip("no unshare: a small file system cannot be mounted")
    done = subprocess.run(inside, capture_output=True, text=True, env=os.environ, check=False)
    if done.returncode == 77 or "unshare" in done.stderr:
        pytest.skip(f"a small file system cannot be mounted here: {done.stderr.strip()}")
    assert done.returncode == 1
    assert "No space left on device" in done.stderr


def test_the_record_of_a_run_has_no_secrets() -> None:
    made = RunDirectory.create("node-kill", 1)
    made.write_metadata({"seed": 1, "cluster": {"uri": "mongodb://a:hunter2@db1/"}})
    record = made.read_metadata()
    assert record["cluster"] == {"uri": "mongodb://***@db1/"}
    assert (record["schema_version"], record["run_id"], record["seed"]) == (1, made.run_id, 1)
    assert record["created"].endswith("Z")
    made.write_journal({"experiment": {"secrets": {"password": "hunter2"}}})
    assert "hunter2" not in made.journal.read_text() + made.run_json.read_text()


def test_a_run_is_found_by_path_name_and_latest() -> None:
    first, last = (RunDirectory.create(name, 1) for name in ("a", "b"))
    for made in (first, last):
        made.write_metadata({})
    assert RunDirectory.find(first.path).path == first.path
    assert RunDirectory.find(first.run_id).path == first.path
    assert RunDirectory.find("latest").path == last.path


def test_what_is_no_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RunDirectoryError, match="no run yet"):
        RunDirectory.find("latest")
    with pytest.raises(RunDirectoryError, match="no such run directory"):
        RunDirectory.open(tmp_path / "none")
    with pytest.raises(RunDirectoryError, match="has no run"):
        RunDirectory.open(tmp_path)
