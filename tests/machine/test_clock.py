"""A process has another time of day by a file, and the machine's clock stays as it is."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.faults.lasting import watched
from tests.sshd import descendants
from tests.waiting import await_true

from brownout.base.errors import ConfigurationError, Refused
from brownout.inventory.model import Node, ProcessSpec
from brownout.machine import clock
from brownout.machine.host import host_for
from brownout.machine.launch import start_command

ROOT = Path(__file__).parents[2]
WHY_NOT = clock.why_not_here()
needs_library = pytest.mark.skipif(bool(WHY_NOT), reason=f"NOT TESTED: own clocks: {WHY_NOT}")
#: Answers each line with how far its time of day is ahead of the monotonic clock.
_TELLS = """\
import sys, time
for line in sys.stdin: print(time.time() - time.monotonic(), flush=True)
"""


class Server:
    """A small program, dynamically linked, that tells the time."""

    def __init__(self, node: Node, process: "subprocess.Popen[str]") -> None:
        self.node, self.host, self._process = node, host_for(node), process

    def ahead_s(self) -> float:
        """How far its time of day is ahead of ours."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(file=self._process.stdin, flush=True)
        return float(self._process.stdout.readline()) - (time.time() - time.monotonic())

    def await_ahead(self, seconds: float) -> None:
        await_true(lambda: abs(self.ahead_s() - seconds) < 0.1, f"{seconds} s ahead")


def node_in(directory: Path) -> Node:
    file = directory / clock.NAME
    file.write_text("+0\n")
    command = (sys.executable, "-c", _TELLS, str(directory))
    spec = ProcessSpec(pid_file=directory / "pid", command=command, clock_file=file)
    return Node(name="n1", address="127.0.0.1:1", host=spec)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    node = node_in(tmp_path)
    assert isinstance(node.host, ProcessSpec)
    command = start_command(node.host)
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as process:
        (tmp_path / "pid").write_text(str(process.pid))
        server = Server(node, process)
        server.await_ahead(0)
        clock.unlink_shared(process.pid)
        yield server
        clock.undo_on(node, server.host)
        process.kill()
    assert not list(Path("/dev/shm").glob(f"*faketime_s*_{process.pid}"))


@needs_library
def test_its_clock_is_ahead_then_behind_then_right_and_ours_is_not_touched(server: Server) -> None:
    node, host = server.node, server.host
    ours = time.time() - time.monotonic()
    assert clock.why_not(node, host) == ""
    assert clock.why_not_now(node, host) == []
    proof = clock.skew(node, host, 60.5, 0, 60)
    assert (proof.evidence["state"], proof.evidence["offset_s"]) == ("skewed", 60.5)
    server.await_ahead(60.5)
    assert clock.left_on(node, host) == "+60.5 s"
    assert clock.skew(node, host, 60.5, 0, 60).already
    assert not clock.skew(node, host, -60, 0, 60).already
    server.await_ahead(-60)
    assert not clock.undo_on(node, host).already
    server.await_ahead(0)
    assert clock.left_on(node, host) == ""
    assert clock.undo_on(node, host).already
    assert abs(time.time() - time.monotonic() - ours) < 0.05


@needs_library
def test_a_clock_that_drifts_gains_until_it_is_set_right(server: Server) -> None:
    clock.skew(server.node, server.host, 10, 500_000, 60)
    assert clock.left_on(server.node, server.host) == "+10 s and 500000 ppm"
    await_true(lambda: server.ahead_s() > 10.9, "a gain of more than a step")
    clock.undo_on(server.node, server.host)
    server.await_ahead(0)
    assert clock.left_on(server.node, server.host) == ""


@needs_library
def test_the_node_sets_it_right_by_itself_after_its_limit(server: Server) -> None:
    switch = clock.skew(server.node, server.host, 60, 0, 600).evidence["undo_pid"]
    server.await_ahead(60)
    (sleep,) = descendants(switch)
    os.kill(sleep, signal.SIGTERM)  # the limit is over
    server.await_ahead(0)
    assert clock.left_on(server.node, server.host) == ""


@pytest.mark.matrix
@needs_library
def test_a_drift_ends_by_itself_after_its_limit(server: Server) -> None:
    clock.skew(server.node, server.host, 10, 100, 1)
    await_true(lambda: clock.left_on(server.node, server.host) == "", "the undo")
    server.await_ahead(0)


@needs_library
def test_a_clock_that_an_operator_sets_right_is_seen_to_be_over(
    server: Server, tmp_path: Path
) -> None:
    proof = clock.skew(server.node, server.host, 60, 0, 60)
    lasting = watched(
        server.host, "skew_clock", "set_clock_right", proof, tmp_path / "events", server.node
    )
    lasting.await_looks(1)
    (tmp_path / clock.NAME).write_text("+0\n")
    assert lasting.breach().clause == "duration"


def test_a_process_that_does_not_read_the_file_is_refused_and_nothing_is_written(
    tmp_path: Path,
) -> None:
    node = node_in(tmp_path)
    assert isinstance(node.host, ProcessSpec)
    with subprocess.Popen(node.host.command, stdin=subprocess.PIPE) as process:
        (tmp_path / "pid").write_text(str(process.pid))
        host = host_for(node)
        await_true(lambda: host.running().running, "its process")
        (reason,) = clock.why_not_now(node, host)
        assert "does not run under libfaketime" in reason
        with pytest.raises(Refused, match="does not run under libfaketime"):
            clock.skew(node, host, 60, 0, 60)
        process.kill()
    assert {path.name for path in tmp_path.iterdir()} == {"pid", clock.NAME}
    assert (tmp_path / clock.NAME).read_text() == "+0\n"


def test_a_machine_whose_clock_all_share_says_why_not(tmp_path: Path) -> None:
    node = node_in(tmp_path)
    assert isinstance(node.host, ProcessSpec)
    spec = node.host.model_copy(update={"clock_file": None})
    bare = node.model_copy(update={"host": spec})
    assert "belongs to all that runs on it" in clock.why_not(bare, host_for(bare))
    assert clock.left_on(bare, host_for(bare)) == ""


@pytest.mark.parametrize(
    ("program", "reason"),
    [("etcd", "written in Go"), ("loadgen", "written in Go")],
)
def test_a_program_in_go_is_refused_by_what_stands_in_it(program: str, reason: str) -> None:
    path = ROOT / "src" / "brownout" / "bin" / program
    if not path.exists():
        pytest.skip(f"NOT TESTED: {program} is not built")
    assert reason in clock.unsettable(path)


def test_a_statically_linked_program_is_refused_and_a_dynamic_one_or_a_script_is_not(
    tmp_path: Path,
) -> None:
    dynamic = Path(os.path.realpath(sys.executable))
    assert clock.unsettable(dynamic) == ""
    image = bytearray(dynamic.read_bytes()[:4096])
    at, size = int.from_bytes(image[32:40], sys.byteorder), image[54]
    for place in range(at, at + size * image[56], size):
        if image[place] == 3:  # PT_INTERP
            image[place] = 0  # PT_NULL
    static = tmp_path / "static"
    static.write_bytes(image)
    assert "statically linked (no PT_INTERP)" in clock.unsettable(static)
    script = tmp_path / "script"
    script.write_text("#!/bin/sh\n")
    assert clock.unsettable(script) == ""


@pytest.mark.parametrize(("offset_s", "ppm"), [(1e12, 0.0), (float("nan"), 0.0), (0.0, 2e6)])
def test_what_no_clock_can_be_is_refused_before_anything_is_touched(
    tmp_path: Path, offset_s: float, ppm: float
) -> None:
    node = node_in(tmp_path)
    with pytest.raises(ConfigurationError, match=r"offset_s|drift_ppm"):
        clock.skew(node, host_for(node), offset_s, ppm)
    assert [path.name for path in tmp_path.iterdir()] == [clock.NAME]
