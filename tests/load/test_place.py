"""A generator on this machine goes ahead of whatever else runs there, where we may say so."""

import contextlib
import os
from pathlib import Path

import pytest
from tests.waiting import await_true

from brownout.load.place import start
from brownout.machine.capabilities import CAP_SYS_NICE, may

AUTOGROUP = Path("/proc/self/autogroup")


@pytest.mark.skipif(not may(CAP_SYS_NICE), reason="NOT TESTED: priority: we may not raise it")
def test_a_generator_goes_ahead_of_other_processes_and_other_sessions(tmp_path: Path) -> None:
    process = start(["sleep", "60"], tmp_path / "log")
    try:
        await_true(lambda: Path(f"/proc/{process.pid}/comm").read_text() == "sleep\n")
        assert os.getpriority(os.PRIO_PROCESS, process.pid) == -10
        if AUTOGROUP.exists():
            assert Path(f"/proc/{process.pid}/autogroup").read_text().endswith("nice -10\n")
        assert (tmp_path / "log").read_text() == ""
    finally:
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            with contextlib.suppress(OSError):
                assert pipe is not None
                pipe.close()


def test_where_priority_may_not_be_raised_a_generator_starts_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("brownout.load.place.may", lambda *_: False)
    process = start(["echo", "here"], tmp_path / "log")
    assert process.stdin is not None
    process.stdin.close()
    assert process.stdout is not None
    with process.stdout as said:
        assert said.read() == b"here\n"
    assert process.wait() == 0
    assert (tmp_path / "log").read_text() == ""
