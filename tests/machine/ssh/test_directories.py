"""Which directories a wipe may empty, here and over ssh: the judgements, and the real removal."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path, PurePosixPath

import pytest
from tests.wording import naming

from brownout.base.errors import HostError, Refused
from brownout.inventory.model import Node
from brownout.machine import directories
from brownout.machine.commands import LocalRunner
from brownout.machine.directories import Facts, mount, refusals
from brownout.machine.host import Host
from brownout.machine.process import ProcessHost
from brownout.machine.ssh import SshHost

NodeAt = Callable[..., Node]

ROOT = mount("25 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw")
DATA = mount("36 25 8:17 / /data rw shared:2 master:3 - xfs /dev/sdb1 rw")
GOOD = Facts(
    path=PurePosixPath("/data/db"),
    kind="directory",
    real=PurePosixPath("/data/db"),
    owner=108,
    we=0,
    homes=(PurePosixPath("/root"), PurePosixPath("/home/ann")),
    mounts=(ROOT, DATA),
    looked=True,
    keep=(PurePosixPath("/etc/mongod.conf"),),
)
SHARED = (
    *("9p", "afs", "beegfs", "ceph", "cifs", "gfs2", "glusterfs", "lustre", "nfs", "nfs4"),
    *("ocfs2", "smb2", "smb3", "virtiofs", "fuse.sshfs"),
)
SYSTEM = (
    *("/", "/bin", "/boot", "/boot/efi", "/data", "/dev", "/etc", "/home", "/lib", "/lib32"),
    *("/lib64", "/media", "/mnt", "/opt", "/proc", "/root", "/run", "/sbin", "/srv", "/sys"),
    *("/tmp", "/usr", "/usr/bin", "/usr/lib", "/usr/local", "/usr/sbin", "/usr/share", "/var"),
    *("/var/cache", "/var/lib", "/var/log", "/var/spool", "/var/tmp"),
)


def test_a_data_directory_that_nothing_speaks_against_may_be_emptied() -> None:
    assert list(refusals(GOOD)) == []


def _at(path: str) -> Facts:
    return replace(GOOD, path=PurePosixPath(path), real=PurePosixPath(path))


@pytest.mark.parametrize(
    ("facts", "reason"),
    [
        (replace(GOOD, kind="", real=None), "it does not exist"),
        (replace(GOOD, kind="regular file", real=None), "not a directory but a regular file"),
        (replace(GOOD, kind="symbolic link", link="/etc"), "it is a symbolic link to `/etc`"),
        (_at("/home/ann"), "or is or holds a home directory"),
        (replace(_at("/srv/people"), homes=(PurePosixPath("/srv/people/ann"),)),
         "or is or holds a home directory"),
        (_at("/data"), "it is a mount point"),
        (replace(_at("/srv/x"), mounts=(ROOT, mount("9 25 0:9 / /srv/x/y rw - tmpfs t rw"))),
         "another file system is mounted in it at `/srv/x/y`"),
        (replace(GOOD, mounts=(ROOT, DATA, mount("9 25 8:17 /db/sub /jail/db rw - xfs d rw"))),
         "it can be seen at `/jail/db` too"),
        (replace(GOOD, mounts_of=((4711, mount("9 25 8:17 /db /mnt/db rw - xfs d rw")),)),
         "process 4711, in a mount namespace of its own, sees it at `/mnt/db`"),
        (replace(GOOD, mounts=()), "its file system is not known"),
        (replace(GOOD, closed="/data/db/journal"), "`/data/db/journal` may not be emptied by us"),
        (replace(GOOD, looked=False), "who uses it could not be found out"),
        (replace(GOOD, keep=(PurePosixPath("/data/db/mongod.conf"),)),
         "`/data/db/mongod.conf`, which must survive, lies in it"),
        (replace(GOOD, inner_links=(("/data/db/l", PurePosixPath("/x")),)),
         "holds the link `/data/db/l`, whose target `/x`"),
        (replace(GOOD, users=(4711, 4712)), "in use by process 4711, 4712"),
        (replace(GOOD, we=1000), "it belongs to user id 108, not to ours (1000)"),
    ],
)  # fmt: skip
def test_what_speaks_against_a_directory_is_said(facts: Facts, reason: str) -> None:
    assert reason in "; ".join(refusals(facts))


@pytest.mark.parametrize("path", SYSTEM)
def test_a_directory_of_the_system_is_not_emptied(path: str) -> None:
    assert directories._OF_THE_SYSTEM in refusals(_at(path))


@pytest.mark.parametrize("kind", SHARED)
def test_a_file_system_that_other_machines_may_share_is_not_emptied(kind: str) -> None:
    shared = mount(f"9 25 0:5 / /data rw - {kind} nas:/x rw")
    told = "; ".join(refusals(replace(GOOD, mounts=(ROOT, shared))))
    assert told == f"its file system ({kind}) may be in use by another machine"


def test_another_mount_namespace_that_sees_the_whole_file_system_does_no_harm() -> None:
    assert list(refusals(replace(GOOD, mounts_of=((4711, ROOT), (4711, DATA))))) == []


def test_every_reason_is_told_at_once() -> None:
    bad = replace(GOOD, users=(1,), inner_links=(("/data/db/l", PurePosixPath("/x")),), we=7)

    assert len(list(refusals(bad))) == 3


def test_a_mount_point_with_a_space_is_read_as_the_kernel_writes_it() -> None:
    found = mount(r"36 25 8:17 /a\134b /my\040disk rw - xfs /dev/sdb1 rw")

    assert (str(found.root), str(found.point)) == (r"/a\b", "/my disk")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data directory with files, one deep down and one with an odd name."""
    directory = tmp_path / "da[t]a *"
    (directory / "journal" / "deep").mkdir(parents=True)
    (directory / "WiredTiger").write_bytes(b"x" * 1000)
    (directory / "journal" / "deep" / "-rf ~\n").write_bytes(b"y" * 24)
    return directory


@pytest.fixture(params=["here", "over ssh"])
def stopped(request: pytest.FixtureRequest) -> Host:
    """A node that does not run, on each of the two kinds of host that have a file system."""
    if request.param == "here":
        return ProcessHost(request.getfixturevalue("waiting_node"))
    return SshHost(request.getfixturevalue("node_at")())


@contextmanager
def _in_a_mount_namespace(commands: str) -> Iterator[int]:
    """Run a shell's commands in a mount namespace of its own; yield its pid, ready and waiting."""
    text = f"mount --make-rprivate / && {commands} && echo ready && exec cat"
    with subprocess.Popen(
        ["unshare", "-m", "sh", "-c", text],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as shell:  # fmt: skip
        assert shell.stdout
        assert shell.stderr
        if shell.stdout.readline() != "ready\n":
            pytest.skip(f"needs the right to mount: {shell.stderr.read().strip()}")
        yield shell.pid
        shell.kill()


@contextmanager
def _mounted(*options: str | Path) -> Iterator[None]:
    done = subprocess.run(["mount", *options], capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"needs the right to mount: {done.stderr.strip()}")
    try:
        yield
    finally:
        subprocess.run(["umount", options[-1]], check=True)


def _refused(host: Host, directory: Path, reason: str) -> None:
    """A wipe is refused for this reason, both when it is asked about and when it is done."""
    with pytest.raises(Refused, match=reason):
        host.check_wipe([directory])
    with pytest.raises(Refused, match=reason):
        host.wipe([directory])


def test_a_wipe_empties_the_directory_keeps_it_and_proves_it(stopped: Host, data: Path) -> None:
    before = data.stat()
    stopped.check_wipe([data])

    proof = stopped.wipe([data])

    assert list(data.iterdir()) == []
    assert (data.stat().st_ino, data.stat().st_mode) == (before.st_ino, before.st_mode)
    assert proof.evidence["directories"] == [
        {"directory": str(data), "files_removed": 2, "bytes_removed": 1024, "entries_left": 0}
    ]
    assert not proof.already
    assert stopped.wipe([data]).already


def test_a_wipe_says_that_it_begins_after_every_check_and_before_the_first_removal(
    stopped: Host, data: Path, tmp_path: Path
) -> None:
    seen: list[list[str]] = []

    def began() -> None:
        seen.append(sorted(path.name for path in data.iterdir()))

    with pytest.raises(Refused):
        stopped.wipe([data, tmp_path / "missing"], began)
    assert seen == []
    stopped.wipe([data], began)
    assert seen == [["WiredTiger", "journal"]]


def test_nothing_is_removed_where_the_beginning_cannot_be_written_down(
    stopped: Host, data: Path
) -> None:
    def full() -> None:
        raise OSError("no space left on device")

    with pytest.raises(OSError, match="no space"):
        stopped.wipe([data], full)
    assert (data / "WiredTiger").exists()


def test_a_running_node_is_not_wiped_but_can_be_asked_about(host: SshHost, data: Path) -> None:
    host.check_wipe([data])
    with pytest.raises(
        Refused, match=r"node `n1` is not wiped: it is running, pid \d+; stop it first"
    ):
        host.wipe([data])

    assert (data / "WiredTiger").exists()


def test_what_the_process_of_a_node_shows_of_itself_is_seen(host: SshHost, tmp_path: Path) -> None:
    seen = host.footprint(("PATH", "NONE_OF_ITS"))
    assert seen is not None
    assert seen.command
    assert seen.directory is not None
    assert list(seen.variables) == ["PATH"]
    assert all(file.is_absolute() for file in seen.files)
    (tmp_path / "a link").symlink_to(tmp_path)
    wanted = [tmp_path / "a link" / "x\ny", tmp_path]
    assert host.resolved(wanted) == [tmp_path / "x\ny", tmp_path]


def test_a_node_whose_status_command_says_that_it_runs_is_not_wiped(
    node_at: NodeAt, data: Path
) -> None:
    host = SshHost(node_at(commands={"status": "true"}))

    with pytest.raises(Refused, match="its status command says that it runs"):
        host.wipe([data])

    assert (data / "WiredTiger").exists()


def test_nothing_is_wiped_if_one_of_several_must_not_be(stopped: Host, data: Path) -> None:
    with pytest.raises(Refused, match=r"`/var/lib` on .* is not wiped"):
        stopped.wipe([data, Path("/var/lib")])

    assert (data / "WiredTiger").exists()


def test_what_is_no_directory_is_refused(stopped: Host, data: Path, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(data)

    _refused(stopped, link, "it is a symbolic link to")
    _refused(stopped, data / "WiredTiger", "it is not a directory but a regular file")
    _refused(stopped, tmp_path / "missing", "it does not exist")


def test_a_directory_in_another_one_is_emptied_with_it_and_stays_as_it_was(
    stopped: Host, data: Path
) -> None:
    log, deep = data / "wal [1]", data / "journal" / "deep"
    log.mkdir(mode=0o710)
    (log / "0-0.wal").write_bytes(b"w")
    if os.getuid() == 0:
        os.chown(log, 4711, 4712)
    before = [(each.stat().st_ino, each.stat().st_mode, each.stat().st_uid) for each in (log, deep)]
    wanted = [log, data, deep, data / "never made"]
    stopped.check_wipe(wanted)

    proof = stopped.wipe(wanted)

    left = sorted(data.rglob("*"))
    assert left == [data / "journal", deep, log]
    after = [(each.stat().st_ino, each.stat().st_mode, each.stat().st_uid) for each in (log, deep)]
    assert after == before
    (emptied,) = proof.evidence["directories"]
    assert (emptied["directory"], emptied["files_removed"]) == (str(data), 3)
    assert emptied["kept_empty"] == [str(deep), str(log)]
    assert stopped.wipe(wanted).already


def test_a_link_to_what_is_emptied_as_well_is_no_obstacle(
    stopped: Host, data: Path, tmp_path: Path
) -> None:
    log, other = tmp_path / "log", tmp_path / "other"
    for each in (log, other):
        each.mkdir()
        (each / "file").touch()
    (data / "pg_wal").symlink_to(log)
    (data / "latest").symlink_to("WiredTiger")
    _refused(stopped, data, f"it holds the link `.*/pg_wal`, whose target `{log}` is not among")

    stopped.wipe([log, data])

    assert [*log.iterdir(), *data.iterdir()] == []
    (data / "odd").symlink_to(other)
    _refused(stopped, data, f"it holds the link `.*/odd`, whose target `{other}`")
    assert (other / "file").exists()


def test_a_wipe_that_was_cut_short_is_finished_where_a_directory_is_gone(
    stopped: Host, data: Path, tmp_path: Path
) -> None:
    gone = tmp_path / "gone"

    proof = stopped.wipe([gone, data], finishing=True)

    assert [each["directory"] for each in proof.evidence["directories"]] == [str(data)]
    assert stopped.wipe([gone], finishing=True).already
    _refused(stopped, gone, "it does not exist")


def test_a_link_inside_is_refused(stopped: Host, data: Path) -> None:
    (data / "journal" / "elsewhere").symlink_to("/etc")

    _refused(stopped, data, "it holds the link")


@pytest.mark.parametrize("path", ["/usr/share", "/var/spool", "/boot/efi", "/etc", "/"])
def test_a_directory_of_the_system_is_refused(stopped: Host, path: str) -> None:
    _refused(stopped, Path(path), "it belongs to the system|it does not exist")


def test_a_directory_somebody_works_in_is_refused(stopped: Host, data: Path) -> None:
    holder = subprocess.Popen([sys.executable, "-c", "input()"], cwd=data, stdin=subprocess.PIPE)
    try:
        _refused(stopped, data, f"in use by process {holder.pid}; stop what uses it first")
    finally:
        holder.communicate()


def test_a_directory_in_which_a_file_is_open_is_refused(stopped: Host, data: Path) -> None:
    with (data / "WiredTiger").open():
        _refused(stopped, data, f"in use by process {os.getpid()}")


def test_a_directory_of_which_a_file_is_mapped_and_not_open_is_refused(
    stopped: Host, data: Path
) -> None:
    program = Path(shutil.copy(shutil.which("sleep") or "sleep", data))
    with subprocess.Popen([program, "60"]) as user:
        _refused(stopped, data, f"in use by process {user.pid}")
        user.kill()


def test_a_directory_that_is_open_in_another_mount_namespace_by_another_path_is_refused(
    stopped: Host, data: Path, tmp_path: Path
) -> None:
    above = tmp_path / "above"
    above.mkdir()
    # The directory above it is what is mounted there, as a container's volume may be.
    (tmp_path / "volume").mkdir()
    inner = tmp_path / "volume" / "db"
    data.rename(inner)
    commands = f"mount --bind '{tmp_path}/volume' '{above}' && cd '{above}/db'"
    with _in_a_mount_namespace(commands) as pid:
        _refused(stopped, inner, f"in use by process {pid}")
    assert (inner / "WiredTiger").exists()


def test_a_directory_that_another_mount_namespace_has_mounted_is_refused(
    stopped: Host, data: Path, tmp_path: Path
) -> None:
    (tmp_path / "seen").mkdir()
    with _in_a_mount_namespace(f"mount --bind '{data}' '{tmp_path}/seen'"):
        _refused(stopped, data, f"in a mount namespace of its own, sees it at `{tmp_path}/seen`")


def test_a_directory_that_can_be_seen_at_another_place_is_refused(
    stopped: Host, data: Path, tmp_path: Path
) -> None:
    (tmp_path / "seen").mkdir()
    with _mounted("--bind", data, tmp_path / "seen"):
        _refused(stopped, data, f"it can be seen at `{tmp_path}/seen` too")


def test_a_mount_point_and_a_mount_inside_are_refused(stopped: Host, data: Path) -> None:
    point = data / "journal" / "a mount"
    point.mkdir()
    with _mounted("-t", "tmpfs", "-o", "size=64k", "none", point):
        _refused(stopped, point, "it is a mount point; wipe a directory on that file system")
        _refused(stopped, data, "another file system is mounted in it at .*/journal/a mount`")


def test_a_directory_that_cannot_be_emptied_whole_is_refused(stopped: Host, data: Path) -> None:
    done = subprocess.run(["chattr", "+i", data / "journal"], capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"the file system knows no immutable directory: {done.stderr.strip()}")
    try:
        _refused(stopped, data, "journal` may not be emptied by us")
        assert (data / "WiredTiger").exists()
    finally:
        subprocess.run(["chattr", "-i", data / "journal"], check=True)


def test_a_parent_of_what_must_survive_is_refused(node_at: NodeAt, data: Path) -> None:
    config = data / "journal" / "mongod.conf"
    config.touch()
    host = SshHost(node_at(config_file=str(config)))

    with pytest.raises(Refused, match=naming(data, config)):
        host.wipe([data])


@pytest.mark.parametrize("path", ["relative/data", "/var/../etc", "/tmp/a\nb"])
def test_an_odd_path_is_refused_before_anything_is_asked(stopped: Host, path: str) -> None:
    _refused(stopped, Path(path), r"wanted an absolute path|control characters")


def test_no_directory_at_all_is_refused(stopped: Host) -> None:
    for ask in (stopped.check_wipe, stopped.wipe):
        with pytest.raises(Refused, match="no directory"):
            ask([])


def test_a_directory_exchanged_after_its_check_is_left_alone(data: Path) -> None:
    runner = LocalRunner()
    (facts,) = directories.check(runner, [PurePosixPath(data)], [])
    data.rename(data.with_name("moved"))
    data.mkdir()
    (data / "other").touch()

    with pytest.raises(HostError, match="exchanged for another one"):
        directories.empty(runner, facts, 30.0)

    assert [entry.name for entry in data.iterdir()] == ["other"]
