"""`make test`: what measures has quiet processors, and no failure is lost on the way."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.waiting import await_true
from tools import run_tests

#: It is busy until the moment that it is told.
BUSY = "import sys, time\nwhile time.monotonic() < float(sys.argv[1]): pass"


def make_that(fails: str, directory: Path) -> Path:
    """Write a `make` that writes down what it was asked for, and fails in one target."""
    make = directory / "make"
    make.write_text(
        f"""#!/bin/sh
        echo "$*" >> "{directory}/asked"
        echo "said by $*"
        case "$*" in *{fails}*) exit 2 ;; esac
        """
    )
    make.chmod(0o755)
    return make


@pytest.mark.parametrize(
    "fails", ["test-go", "test-alone", "test-together", "test-live", "nothing"]
)
def test_all_parts_run_whichever_fails_and_the_failure_is_kept(
    fails: str, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    failed = run_tests.main(str(make_that(fails, tmp_path)), controllers=[])
    assert failed == (fails != "nothing")
    parts = (tmp_path / "asked").read_text().splitlines()
    assert parts == [
        "-s -j2 -k test-go test-behind",
        "-s test-alone",
        "-s test-together",
        "-s test-live",
    ]
    assert capfdbinary.readouterr().out.decode().splitlines() == [f"said by {it}" for it in parts]


def test_ctrl_c_ends_the_part_that_runs_in_its_own_way_and_nothing_follows(tmp_path: Path) -> None:
    make = tmp_path / "make"
    make.write_text(
        f"""#!/bin/sh
        trap 'sleep 1; echo put back >> "{tmp_path}/said"; exit 2' INT
        echo begun > "{tmp_path}/said"
        while sleep 0.1; do :; done
        """
    )
    make.chmod(0o755)
    command = [sys.executable, run_tests.__file__, str(make)]
    running = subprocess.Popen(command, start_new_session=True)
    await_true((tmp_path / "said").exists, "a part runs")
    os.killpg(running.pid, signal.SIGINT)
    assert running.wait(60) == 130
    assert set((tmp_path / "said").read_text().splitlines()[1:]) == {"put back"}


def test_a_folder_that_is_no_control_group_is_left_as_it_was(tmp_path: Path) -> None:
    with run_tests.idle_group([tmp_path / "missing", tmp_path]) as group:
        assert group is None
    assert list(tmp_path.iterdir()) == []


@pytest.mark.live  # the other tests may themselves be in such a group
def test_what_can_wait_gets_only_the_time_that_is_left() -> None:
    with run_tests.idle_group() as group:
        if group is None:
            pytest.skip("NOT TESTED: this machine lets us make no idle control group")
        processor, end = {min(os.sched_getaffinity(0))}, time.monotonic() + 3

        def busy(within: Path) -> "subprocess.Popen[bytes]":
            def prepare() -> None:
                os.sched_setaffinity(0, processor)
                (within / "cgroup.procs").write_text(str(os.getpid()))

            return subprocess.Popen([sys.executable, "-c", BUSY, str(end)], preexec_fn=prepare)

        spent = [os.times().children_user]
        waiting, wanting = busy(group), busy(group.parent)
        for process in (wanting, waiting):
            assert process.wait() == 0
            spent.append(os.times().children_user)
        assert spent[2] - spent[1] < 0.2 * (spent[1] - spent[0])
    assert not group.exists()
