"""The dead man's switch on a real process: it lets it go on when nobody else does."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest
from tests.machine import switches
from tests.waiting import await_true

from brownout.base.errors import HostError
from brownout.machine import deadman, procfs
from brownout.machine.commands import Completed, LocalRunner, answer, script
from brownout.machine.procfs import Identity

HERE = LocalRunner()


@pytest.fixture
def paused() -> Iterator[Identity]:
    """A process that is stopped by SIGSTOP."""
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    identity = procfs.identify(process.pid)
    assert identity is not None
    os.kill(identity.pid, signal.SIGSTOP)
    await_true(lambda: procfs.thread_states(identity.pid) == {"T"})
    yield identity
    ended = switches.cancel(HERE, identity.pid, identity.started)
    await_true(lambda: not any(map(procfs.identify, ended)))
    process.kill()
    process.communicate()


def _armed(process: Identity) -> list[int]:
    return switches.armed(HERE, process.pid, process.started)


def test_a_switch_that_no_search_for_all_would_find_cannot_be_made() -> None:
    with pytest.raises(ValueError, match="disk_slow"):
        deadman.functions("brownout-undo-disk_slow", ":")


def test_a_paused_process_goes_on_after_the_limit_and_the_switch_is_gone(paused: Identity) -> None:
    switches.arm(HERE, paused.pid, paused.started, after_s=0.3)

    await_true(lambda: procfs.thread_states(paused.pid) != {"T"})
    await_true(lambda: not _armed(paused))


def test_an_armed_switch_is_in_a_session_of_its_own_and_has_no_terminal(paused: Identity) -> None:
    switch = switches.arm(HERE, paused.pid, paused.started)

    assert _armed(paused) == [switch]
    assert os.getsid(switch) == switch
    assert {os.readlink(f"/proc/{switch}/fd/{fd}") for fd in (0, 1, 2)} == {"/dev/null"}  # noqa: PTH115


def test_a_cancelled_switch_leaves_nothing_running(paused: Identity) -> None:
    switch = switches.arm(HERE, paused.pid, paused.started, after_s=60)

    assert switches.cancel(HERE, paused.pid, paused.started) == [switch]

    await_true(lambda: not _group(switch))  # then nothing is left that could end the pause
    assert procfs.thread_states(paused.pid) == {"T"}
    assert switches.cancel(HERE, paused.pid, paused.started) == []


def test_disarming_waits_until_a_switch_that_is_slow_to_end_is_gone() -> None:
    slow = 'trap "sleep 0.3; exit" TERM; sleep "$3" & wait'
    body = """
arm one two 60 || return 1
until ps -o pid= --ppid "$switch" >/dev/null; do sleep 0.01; done
disarm "$switch"
echo "left $(switches one two | wc -l)"
"""
    done = HERE.run(script(deadman.functions("brownout-undo-test", slow) + body))
    assert answer(done, "a switch", HERE.where).get("left") == "0"


def test_what_a_switch_has_started_is_no_switch() -> None:
    forked = '(sleep "$3"; :) & wait'  # a shell with the command line of the first
    body = """
arm one two 60 || return 1
until ps -o pid= --ppid "$switch" >/dev/null; do sleep 0.01; done
found=$(switches one two)
disarm "$switch"
echo "found $((found - switch))"
"""
    done = HERE.run(script(deadman.functions("brownout-undo-test", forked) + body))
    assert answer(done, "a switch", HERE.where).get("found") == "0"


def test_arming_again_replaces_the_switch(paused: Identity) -> None:
    first = switches.arm(HERE, paused.pid, paused.started, after_s=60)
    second = switches.arm(HERE, paused.pid, paused.started, after_s=60)

    assert first != second
    await_true(lambda: _armed(paused) == [second])
    await_true(lambda: not _group(first))
    assert procfs.thread_states(paused.pid) == {"T"}


def test_a_process_that_has_only_the_same_id_is_not_touched(paused: Identity) -> None:
    switches.arm(HERE, paused.pid, paused.started + 1, after_s=1)

    await_true(lambda: not switches.armed(HERE, paused.pid, paused.started + 1))
    assert procfs.thread_states(paused.pid) == {"T"}


class WithoutSetsid:
    """A machine that cannot start a detached process."""

    where = "a bare machine"

    def run(self, text: str, timeout_s: float = 30.0) -> Completed:
        return HERE.run(text.replace("setsid /bin/sh", "no-setsid /bin/sh"), timeout_s)


def test_a_switch_that_cannot_be_started_is_an_error(paused: Identity) -> None:
    with pytest.raises(HostError, match=r"no dead man's switch could be started .*setsid"):
        switches.arm(WithoutSetsid(), paused.pid, paused.started)


def _group(leader: int) -> list[int]:
    """Return the living processes of a process group."""
    out = subprocess.run(["ps", "-o", "pid=", "-g", str(leader)], capture_output=True, text=True)
    living = [int(pid) for pid in out.stdout.split()]
    return [pid for pid in living if procfs.identify(pid) is not None]
