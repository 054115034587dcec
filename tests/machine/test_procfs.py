"""Only what the kernel says is not there has ended; what cannot be looked at has not."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.exhausted import no_file_left
from tests.wording import mentions

from brownout.base.errors import HostError
from brownout.inventory.model import Node, ProcessSpec
from brownout.machine import procfs
from brownout.machine.host import host_for

COMMAND = [sys.executable, "-c", "import time; time.sleep(600)  # for tests of procfs"]


@pytest.fixture
def process() -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(COMMAND) as process:
        yield process
        process.kill()


def identity_of(process: subprocess.Popen[bytes]) -> procfs.Identity:
    identity = procfs.identify(process.pid)
    assert identity is not None
    return identity


@pytest.mark.parametrize(
    "look",
    [
        lambda identity: procfs.identify(identity.pid),
        procfs.is_alive,
        lambda identity: procfs.users_of(Path.cwd()),
    ],
    ids=["identify", "is_alive", "users_of"],
)
def test_a_process_that_cannot_be_looked_at_has_not_ended(
    look: Callable[[procfs.Identity], object], process: subprocess.Popen[bytes]
) -> None:
    identity = identity_of(process)
    with no_file_left(), pytest.raises((HostError, OSError)) as caught:
        look(identity)
    assert mentions(str(caught.value), "Too many open files")
    assert look(identity)


def test_a_node_that_cannot_be_looked_at_is_not_said_to_be_stopped(
    process: subprocess.Popen[bytes], tmp_path: Path
) -> None:
    pid_file = tmp_path / "n1.pid"
    pid_file.write_text(str(process.pid))
    spec = ProcessSpec(pid_file=pid_file, command=tuple(COMMAND))
    host = host_for(Node(name="n1", address="127.0.0.1:1", host=spec))
    with no_file_left(), pytest.raises(HostError, match="Too many open files"):
        host.running()
    assert host.running().pid == process.pid
    process.kill()
    process.wait()
    assert not host.running().running


def test_a_process_that_ended_is_gone(process: subprocess.Popen[bytes]) -> None:
    identity = identity_of(process)
    process.kill()
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    assert not procfs.is_alive(identity), "a zombie has ended"
    process.wait()
    assert not procfs.is_alive(identity)
    assert procfs.identify(identity.pid) is None
    assert procfs.find(COMMAND) == []
