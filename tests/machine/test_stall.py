"""Writes to a node's disk wait, on a real file system that is frozen, and are through again."""

import mmap
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path, PurePosixPath

import pytest
from tests.faults.lasting import watched
from tests.loopdevice import file_system, is_frozen
from tests.sshd import descendants
from tests.waiting import await_true, state_of

from brownout.base.errors import HostError, Refused
from brownout.databases.lab import file_systems
from brownout.inventory.model import Node, ProcessSpec
from brownout.machine import stall
from brownout.machine.directories import Mount
from brownout.machine.host import Host, host_for
from brownout.machine.own_disk import Facts

WHY_NOT = file_systems.why_not()
needs_loop_devices = pytest.mark.skipif(
    bool(WHY_NOT), reason=f"NOT TESTED: stalled disks: {WHY_NOT}"
)
#: Has a file on its disk open, and writes to it whenever it gets a line.
_SERVER = """
import os, sys
with open(sys.argv[1], "wb", buffering=0) as file:
    while sys.stdin.buffer.readline():
        file.write(b"x"); os.fdatasync(file.fileno())
        print("written", flush=True)
"""


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    with file_system(tmp_path) as point:
        (point / "data").mkdir()
        yield point


@pytest.fixture
def server(disk: Path) -> Iterator[subprocess.Popen[bytes]]:
    command = (sys.executable, "-c", _SERVER, str(disk / "data" / "file"))
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        await_true((disk / "data" / "file").exists, "its file")
        yield process
        process.kill()


@pytest.fixture
def node(server: subprocess.Popen[bytes], tmp_path: Path) -> Iterator[Node]:
    """A node that runs, with its data on a file system of its own."""
    (tmp_path / "pid").write_text(str(server.pid))
    command = tuple(map(str, server.args))  # type: ignore[arg-type]
    node = Node(
        name="stalled",
        address="127.0.0.1:1",
        host=ProcessSpec(pid_file=tmp_path / "pid", command=command),
    )
    if reason := stall.why_not(node, host_for(node)):
        pytest.skip(f"NOT TESTED: stalled disks: {reason}")
    yield node
    stall.undo_on(node, host_for(node))
    assert not list(Path("/run").glob("brownout-stalled-1.*"))


@pytest.fixture
def host(node: Node) -> Host:
    return host_for(node)


@pytest.fixture
def data(disk: Path) -> list[Path]:
    return [disk / "data"]


@needs_loop_devices
@pytest.mark.live
def test_a_write_waits_as_long_as_the_disk_is_stalled_and_a_read_does_not(
    node: Node, host: Host, data: list[Path], server: subprocess.Popen[bytes], disk: Path
) -> None:
    (disk / "data" / "page").write_bytes(b"read me")
    proof = stall.stall(node, host, data, [], 60)
    assert not proof.already
    assert proof.evidence["state"] == "stalled"
    assert proof.uncertainty_s < 5
    assert stall.left_on(node, host) == f"writes to {disk} wait"
    assert server.stdin is not None
    assert server.stdout is not None
    server.stdin.write(b"\n")
    server.stdin.flush()
    await_true(lambda: state_of(server.pid) == "D", "a write that waits")
    assert (disk / "data" / "page").read_bytes() == b"read me"
    os.kill(server.pid, signal.SIGKILL)
    assert stall.stall(node, host, data, [], 60).already  # it is not gone, and its disk is stalled
    assert state_of(server.pid) == "D"
    assert not stall.undo_on(node, host).already
    await_true(lambda: state_of(server.pid) == "Z", "its end")
    assert stall.left_on(node, host) == ""
    assert not is_frozen(disk)
    assert stall.undo_on(node, host).already


@needs_loop_devices
@pytest.mark.live
def test_a_node_whose_disk_is_stalled_can_be_killed_because_it_is_thawed_first(
    node: Node, host: Host, data: list[Path], server: subprocess.Popen[bytes], disk: Path
) -> None:
    stall.stall(node, host, data, [], 60)
    assert server.stdin is not None
    server.stdin.write(b"\n")
    server.stdin.flush()
    await_true(lambda: state_of(server.pid) == "D", "a write that waits")
    collector = threading.Thread(target=server.wait)
    collector.start()
    proof = host.stop("kill")
    collector.join()
    assert proof.evidence["released"] == [f"stall: writes to {disk} wait"]
    assert not is_frozen(disk)


@needs_loop_devices
def test_the_node_thaws_it_by_itself_after_its_limit(
    node: Node, host: Host, data: list[Path], disk: Path
) -> None:
    switch = stall.stall(node, host, data, [], 600).evidence["undo_pid"]
    (sleep,) = descendants(switch)
    os.kill(sleep, signal.SIGTERM)  # the limit is over
    await_true(lambda: stall.left_on(node, host) == "", "the thaw")
    assert not is_frozen(disk)


@needs_loop_devices
def test_a_thaw_by_others_is_seen_and_only_the_record_is_left_to_be_undone(
    node: Node, host: Host, data: list[Path], disk: Path, tmp_path: Path
) -> None:
    proof = stall.stall(node, host, data, [], 60)
    lasting = watched(host, "stall_disk", "thaw_disk", proof, tmp_path / "events", node)
    lasting.await_looks(1)
    subprocess.run(["fsfreeze", "-u", str(disk)], check=True)
    assert lasting.breach().clause == "duration"
    assert stall.left_on(node, host) == f"{disk} was thawed by others"
    stall.undo_on(node, host)
    assert stall.left_on(node, host) == ""


@needs_loop_devices
def test_what_others_have_frozen_stays_frozen(
    node: Node, host: Host, data: list[Path], disk: Path
) -> None:
    subprocess.run(["fsfreeze", "-f", str(disk)], check=True)
    with pytest.raises(HostError, match="busy"):
        stall.stall(node, host, data, [], 60)
    assert is_frozen(disk)
    assert stall.left_on(node, host) == ""
    subprocess.run(["fsfreeze", "-u", str(disk)], check=True)


@needs_loop_devices
def test_nodes_of_one_name_on_one_machine_are_not_mixed_up(
    node: Node, host: Host, data: list[Path]
) -> None:
    namesake = node.model_copy(update={"address": "127.0.0.1:2"})
    stall.stall(node, host, data, [], 60)
    assert stall.left_on(namesake, host) == ""
    assert stall.undo_on(namesake, host).already
    assert stall.left_on(node, host) != ""


def another_process(disk: Path, stack: ExitStack) -> str:
    stack.enter_context((disk / "theirs").open("w"))
    return f"in use by process {os.getpid()}"


def a_program_of_others(disk: Path, stack: ExitStack) -> str:
    shutil.copy(shutil.which("sleep") or "", disk / "sleep")
    process = subprocess.Popen([str(disk / "sleep"), "60"])
    stack.callback(process.wait)
    stack.callback(process.kill)
    return f"in use by process {process.pid}"


def a_mapping(disk: Path, stack: ExitStack) -> str:
    (disk / "mapped").write_bytes(bytes(4096))
    file = os.open(disk / "mapped", os.O_RDWR)
    stack.callback(mmap.mmap(file, 4096).close)
    os.close(file)
    return f"in use by process {os.getpid()}"


def our_own_shell(disk: Path, stack: ExitStack) -> str:
    process = subprocess.Popen(["sleep", "60"], cwd=disk)
    stack.callback(process.wait)
    stack.callback(process.kill)
    return f"in use by process {process.pid}"


def another_file_system_in_it(disk: Path, stack: ExitStack) -> str:
    (disk / "inner").mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "none", str(disk / "inner")], check=True)
    stack.callback(subprocess.run, ["umount", str(disk / "inner")], check=True)
    return "another file system is mounted in it"


def another_view_of_it(disk: Path, stack: ExitStack) -> str:
    view = disk.parent / "view"
    view.mkdir()
    subprocess.run(["mount", "--bind", str(disk / "data"), str(view)], check=True)
    stack.callback(subprocess.run, ["umount", str(view)], check=True)
    return "can be seen at"


def the_file_of_a_loop_device(disk: Path, stack: ExitStack) -> str:
    (disk / "image").write_bytes(bytes(1 << 20))
    made = subprocess.run(
        ["losetup", "--show", "--find", str(disk / "image")],
        check=True,
        capture_output=True,
        text=True,
    )
    stack.callback(subprocess.run, ["losetup", "--detach", made.stdout.strip()], check=True)
    return "the file of a loop device"


def a_home(disk: Path, stack: ExitStack) -> str:
    before = os.environ.get("HOME", "/root")
    os.environ["HOME"] = str(disk)
    stack.callback(os.environ.__setitem__, "HOME", before)
    return "the home directory"


@needs_loop_devices
@pytest.mark.parametrize(
    "use",
    [another_process, a_program_of_others, a_mapping, our_own_shell,
     another_file_system_in_it, another_view_of_it, the_file_of_a_loop_device, a_home],
)  # fmt: skip
def test_a_disk_that_holds_anything_else_in_use_is_not_touched(
    node: Node, host: Host, data: list[Path], disk: Path, use: Callable[[Path, ExitStack], str]
) -> None:
    with ExitStack() as stack:
        why = use(disk, stack)
        assert any(why in each for each in stall.why_not_now(node, host, data))
        with pytest.raises(Refused, match=why):
            stall.stall(node, host, data, [], 60)
        assert not is_frozen(disk)
        assert stall.left_on(node, host) == ""
    assert stall.why_not_now(node, host, data) == []


@needs_loop_devices
def test_the_root_and_a_disk_with_what_is_to_be_kept_are_refused(
    node: Node, host: Host, data: list[Path], disk: Path, tmp_path: Path
) -> None:
    with pytest.raises(Refused, match="what is the system's"):
        stall.stall(node, host, [Path("/etc")], [], 60)
    with pytest.raises(Refused, match="is not a directory there"):
        stall.stall(node, host, [disk / "none"], [], 60)
    (disk / "other").mkdir()
    with pytest.raises(Refused, match=f"what is not this node's, {disk}/other"):
        stall.stall(node, host, data, [disk / "other"], 60)
    assert not is_frozen(disk)


def facts(mount: Mount, **more: object) -> Facts:
    return Facts(((PurePosixPath("/srv/db"), os.makedev(8, 17)),), (mount,), looked=True, **more)  # type: ignore[arg-type]


MOUNT = Mount("8:17", PurePosixPath("/"), PurePosixPath("/srv"), "xfs")


@pytest.mark.parametrize(
    ("seen", "why"),
    [
        (facts(MOUNT), ""),
        (facts(MOUNT, users=((700, 44, 1),)), ""),
        (facts(MOUNT, users=((701, 1),)), "process 701"),
        (facts(Mount("8:17", PurePosixPath("/"), PurePosixPath("/srv"), "btrfs")), "type btrfs"),
        (facts(Mount("8:17", PurePosixPath("/sub"), PurePosixPath("/srv"), "xfs")), "a part of"),
        (facts(Mount("8:18", PurePosixPath("/"), PurePosixPath("/srv"), "xfs")), "not mounted"),
        (facts(MOUNT, holds=("swap space, /srv/swap",)), "swap space"),
        (
            facts(
                MOUNT,
                mounts_of=((9, Mount("8:17", PurePosixPath("/"), PurePosixPath("/x"), "xfs")),),
            ),
            "process 9",
        ),
        (facts(MOUNT, mounts_of=((9, MOUNT),)), ""),  # systemd's services have views of their own
        (Facts(((PurePosixPath("/srv/db"), os.makedev(8, 17)),), (MOUNT,)), "could not be found"),
    ],
)
def test_what_speaks_against_a_freeze_is_said(seen: Facts, why: str) -> None:
    objections = list(seen.objections({44}))
    assert [why in each for each in objections] == ([True] if why else [])
