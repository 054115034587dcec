"""The files by which Prometheus finds running runs."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from brownout.base.errors import HostError
from brownout.machine import procfs
from brownout.observe import targets


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BROWNOUT_STATE", str(tmp_path))


def test_a_run_is_there_until_it_is_over() -> None:
    targets.register("r1", "127.0.0.1:4711", os.getpid())
    assert list(targets.running()) == [targets.Target("r1", "127.0.0.1:4711")]
    (group,) = json.loads((targets.directory() / "r1.json").read_text())
    assert group["targets"] == ["127.0.0.1:4711"]
    assert all(name.startswith("__") for name in group["labels"])  # Prometheus drops these
    targets.unregister("r1")
    targets.unregister("r1")
    assert list(targets.running()) == []


def test_what_dead_runs_left_is_forgotten() -> None:
    dead = subprocess.Popen([sys.executable, "-c", ""])
    targets.register("dead", "127.0.0.1:1", dead.pid)
    dead.wait()
    (targets.directory() / "damaged.json").write_text("[")
    targets.register("r1", "127.0.0.1:2", os.getpid())
    assert [run.run for run in targets.running()] == ["r1"]
    assert [path.name for path in targets.directory().iterdir()] == ["r1.json"]


def test_a_run_whose_process_cannot_be_looked_at_is_not_forgotten(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refused(pid: int) -> None:
        raise HostError(f"process {pid} cannot be looked at: Too many open files")

    targets.register("r1", "127.0.0.1:4711", os.getpid())
    with monkeypatch.context() as patched:
        patched.setattr(procfs, "identify", refused)
        assert list(targets.running()) == []
    assert [run.run for run in targets.running()] == ["r1"]
