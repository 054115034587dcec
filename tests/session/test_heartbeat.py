"""A process that did not run for a while knows it."""

import os
import signal
import subprocess
import sys
import time

import pytest
from tests.waiting import await_true

from brownout.base.wait import since_boot
from brownout.session.heartbeat import Heartbeat

_STOPPED = """
import sys
from brownout.base.wait import since_boot
from brownout.session.heartbeat import Heartbeat
heartbeat = Heartbeat()
heartbeat.start()
began = since_boot()
print("beats", flush=True)
sys.stdin.readline()
print(heartbeat.missed_s(began), heartbeat.missed_s(since_boot()))
"""


def test_a_process_that_was_stopped_missed_that_time_and_none_of_what_follows() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", _STOPPED],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "beats\n"
        process.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, process.pid, os.WSTOPPED)
        began = time.monotonic()
        time.sleep(2.0)  # the length of the stop is what is measured
        stopped_s = time.monotonic() - began
        process.send_signal(signal.SIGCONT)
        output, _ = process.communicate("go\n", timeout=30)
        missed, after = map(float, output.split())
    assert missed >= stopped_s - 0.3
    assert after < 0.1


def test_a_machine_that_was_suspended_missed_that_time(monkeypatch: pytest.MonkeyPatch) -> None:
    heartbeat = Heartbeat()
    heartbeat.start()
    began = since_boot()
    monkeypatch.setattr("brownout.session.heartbeat.since_boot", lambda: since_boot() + 65.0)
    await_true(lambda: heartbeat.missed_s(began) >= 64.0)
    heartbeat.stop()


def test_a_process_that_runs_misses_nothing() -> None:
    heartbeat = Heartbeat()
    assert heartbeat.missed_s(since_boot()) == 0.0
