"""Only what the kernel says is not there has ended; what cannot be looked at has not."""

import ctypes
import functools
import multiprocessing
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest
from tests.exhausted import no_file_left
from tests.wording import mentions

from brownout.base.errors import HostError
from brownout.inventory.model import Node, ProcessSpec
from brownout.machine import procfs
from brownout.machine.commands import LocalRunner
from brownout.machine.host import host_for
from brownout.machine.ssh.process import locate
from brownout.machine.ssh.spec import SshSpec

_NOBODY = 65534
COMMAND = [sys.executable, "-c", "import time; time.sleep(600)  # for tests of procfs"]


def _why_not_hidden() -> str:
    """Why /proc cannot be mounted for one process alone; before Linux 5.8 it is for all."""
    if os.geteuid() != 0:
        return "only root mounts /proc"
    major, minor = map(int, platform.release().split(".")[:2])
    return "" if (major, minor) >= (5, 8) else "each mount of /proc is the same before Linux 5.8"


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
    with no_file_left(), pytest.raises(HostError) as caught:
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


def _hide_processes_and_be_nobody() -> None:
    """Mount /proc for this process alone, as a hardened server does, and give up all rights."""
    unshare_mounts = 0x20000
    assert ctypes.CDLL(None).unshare(unshare_mounts) == 0
    subprocess.run(["mount", "--make-rprivate", "/"], check=True)
    subprocess.run(["mount", "-t", "proc", "-o", "hidepid=2", "proc", "/proc"], check=True)
    os.setgroups([])
    os.setresgid(_NOBODY, _NOBODY, _NOBODY)
    os.setresuid(_NOBODY, _NOBODY, _NOBODY)


def _said(look: Callable[[], object]) -> str:
    _hide_processes_and_be_nobody()
    try:
        return repr(look())
    except HostError as error:
        return str(error)


@pytest.mark.parametrize("kind", ["here", "ssh"])
@pytest.mark.skipif(_why_not_hidden() != "", reason=f"NOT TESTED: hidepid: {_why_not_hidden()}")
def test_a_process_that_proc_hides_from_us_is_not_said_to_be_stopped(
    kind: str, process: subprocess.Popen[bytes]
) -> None:
    with tempfile.NamedTemporaryFile("w", suffix=".pid") as pid_file:
        pid_file.write(str(process.pid))
        pid_file.flush()
        Path(pid_file.name).chmod(0o644)
        look: Callable[[], object]
        if kind == "here":
            spec = ProcessSpec(pid_file=Path(pid_file.name), command=tuple(COMMAND))
            look = host_for(Node(name="n1", address="127.0.0.1:1", host=spec)).running
        else:
            program = Path(sys.executable).name
            there = SshSpec.model_validate(
                {"kind": "ssh", "address": "db1", "commands": {
                    "pid_file": pid_file.name, "start": "true", "stop": "true", "program": program,
                }}
            )  # fmt: skip
            look = functools.partial(locate, "n1", there, LocalRunner())
        with ProcessPoolExecutor(1, multiprocessing.get_context("fork")) as forked:
            said = forked.submit(_said, look).result()
            assert mentions(said, f"process {process.pid} is hidden from our account", "hidepid")
            process.kill()
            process.wait()
