"""Signals by scripts: when their effect came, and on which process."""

import os
import shutil
import subprocess
import threading
import time
from pathlib import Path

import pytest

from brownout.machine import procfs, signals
from brownout.machine.commands import LocalRunner
from brownout.machine.processes import Process


def process_of(pid: int) -> Process:
    found = procfs.identify(pid)
    assert found is not None
    return Process(pid, found.started, frozenset("S"), "sleep", "", found.command, 0.0, 0.0)


@pytest.fixture
def slow_date(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A clock that takes its time before it is read."""
    slow = tmp_path / "date"
    slow.write_text(f'#!/bin/sh\nsleep 0.2\nexec {shutil.which("date")} "$@"\n')
    slow.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")


@pytest.mark.usefixtures("slow_date")
def test_a_process_that_ends_while_the_clock_is_read_was_not_there_at_that_time() -> None:
    with subprocess.Popen(["sleep", "60"]) as child:
        ended: list[float] = []

        def watch() -> None:
            child.wait()
            ended.append(time.monotonic())

        process, thread = process_of(child.pid), threading.Thread(target=watch)
        thread.start()
        proof = signals.end(LocalRunner(), process, 10.0, signal="KILL").proof(process)
        thread.join()

    assert proof.effective_monotonic - proof.uncertainty_s <= ended[0]


def test_a_process_that_has_only_the_same_id_is_not_signalled() -> None:
    with subprocess.Popen(["sleep", "60"]) as child:
        own = process_of(child.pid)
        other = Process(own.pid, own.started + 1, own.states, "sleep", "", own.command, 0.0, 0.0)
        assert signals.end(LocalRunner(), other, 10.0, signal="KILL").already
        assert signals.freeze(LocalRunner(), other, 10.0).state == "gone"
        assert signals.thaw(LocalRunner(), other).state == "gone"
        assert child.poll() is None
        assert procfs.thread_states(child.pid) == {"S"}
        child.kill()
