"""Which directories a wipe over ssh may empty: the judgements, and the removal for real."""

import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path, PurePosixPath

import pytest

from brownout.cluster import directories
from brownout.cluster.commands import LocalRunner
from brownout.cluster.directories import Facts, mount, refusals
from brownout.cluster.model import Node
from brownout.cluster.ssh import SshHost
from brownout.errors import HostError, Refused

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
    keep=(PurePosixPath("/etc/mongod.conf"),),
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
        (_at("/"), "it belongs to the system"),
        (_at("/var/lib"), "it belongs to the system"),
        (_at("/home/ann"), "or is or holds a home directory"),
        (_at("/home"), "it belongs to the system"),
        (_at("/data"), "it is a mount point"),
        (replace(_at("/srv/x"), mounts=(ROOT, mount("9 25 0:9 / /srv/x/y rw - tmpfs t rw"))),
         "another file system is mounted in it at `/srv/x/y`"),
        (replace(GOOD, mounts=(ROOT, DATA, mount("9 25 8:17 /db/sub /jail/db rw - xfs d rw"))),
         "it can be seen at `/jail/db` too"),
        (replace(GOOD, mounts=(ROOT, mount("9 25 0:5 / /data rw - nfs4 nas:/x rw"))),
         "its file system (nfs4) may be in use by another machine"),
        (replace(GOOD, keep=(PurePosixPath("/data/db/mongod.conf"),)),
         "`/data/db/mongod.conf`, which must survive, lies in it"),
        (replace(GOOD, inner_link="/data/db/journal"), "holds the link `/data/db/journal`"),
        (replace(GOOD, users=(4711, 4712)), "in use by process 4711, 4712"),
        (replace(GOOD, we=1000), "it belongs to user id 108, not to ours (1000)"),
    ],
)  # fmt: skip
def test_what_speaks_against_a_directory_is_said(facts: Facts, reason: str) -> None:
    assert reason in "; ".join(refusals(facts))


def test_every_reason_is_told_at_once() -> None:
    bad = replace(GOOD, users=(1,), inner_link="/data/db/l", we=7)

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


@pytest.fixture
def stopped(node_at: NodeAt) -> SshHost:
    return SshHost(node_at())


def test_a_wipe_empties_the_directory_keeps_it_and_proves_it(stopped: SshHost, data: Path) -> None:
    before = data.stat()

    proof = stopped.wipe([data])

    assert list(data.iterdir()) == []
    assert (data.stat().st_ino, data.stat().st_mode) == (before.st_ino, before.st_mode)
    assert proof.evidence["directories"] == [
        {"directory": str(data), "files_removed": 2, "bytes_removed": 1024, "entries_left": 0}
    ]
    assert not proof.already
    assert stopped.wipe([data]).already


def test_a_running_node_is_not_wiped(host: SshHost, data: Path) -> None:
    with pytest.raises(Refused, match=r"node `n1` is not wiped: running, pid \d+; stop it first"):
        host.wipe([data])

    assert (data / "WiredTiger").exists()


def test_a_node_whose_status_command_says_that_it_runs_is_not_wiped(
    node_at: NodeAt, data: Path
) -> None:
    host = SshHost(node_at(commands={"status": "true"}))

    with pytest.raises(Refused, match="its status command says that it runs"):
        host.wipe([data])

    assert (data / "WiredTiger").exists()


def test_nothing_is_wiped_if_one_of_several_must_not_be(stopped: SshHost, data: Path) -> None:
    with pytest.raises(Refused, match=r"`/var/lib` on 127\.0\.0\.1 .* is not wiped"):
        stopped.wipe([data, Path("/var/lib")])

    assert (data / "WiredTiger").exists()


def test_a_link_in_place_of_the_directory_is_refused(
    stopped: SshHost, data: Path, tmp_path: Path
) -> None:
    link = tmp_path / "link"
    link.symlink_to(data)

    with pytest.raises(Refused, match="it is a symbolic link to"):
        stopped.wipe([link])


def test_a_link_inside_is_refused(stopped: SshHost, data: Path) -> None:
    (data / "journal" / "elsewhere").symlink_to("/etc")

    with pytest.raises(Refused, match="it holds the link"):
        stopped.wipe([data])


def test_a_directory_somebody_works_in_is_refused(stopped: SshHost, data: Path) -> None:
    holder = subprocess.Popen([sys.executable, "-c", "input()"], cwd=data, stdin=subprocess.PIPE)
    try:
        with pytest.raises(Refused, match=f"in use by process {holder.pid}"):
            stopped.wipe([data])
    finally:
        holder.communicate()


def test_a_parent_of_what_must_survive_is_refused(node_at: NodeAt, data: Path) -> None:
    config = data / "journal" / "mongod.conf"
    config.touch()
    host = SshHost(node_at(config_file=str(config)))

    with pytest.raises(Refused, match="which must survive, lies in it"):
        host.wipe([data])


@pytest.mark.parametrize("path", ["relative/data", "/var/../etc", "/tmp/a\nb"])
def test_an_odd_path_is_refused_before_anything_is_asked(stopped: SshHost, path: str) -> None:
    with pytest.raises(Refused, match=r"wanted an absolute path|control characters"):
        stopped.wipe([Path(path)])


def test_no_directory_at_all_is_refused(stopped: SshHost) -> None:
    with pytest.raises(Refused, match="no directory or device was named"):
        stopped.wipe([])


def test_a_directory_exchanged_after_its_check_is_left_alone(data: Path) -> None:
    runner = LocalRunner()
    facts = directories.check(runner, PurePosixPath(data), [])
    data.rename(data.with_name("moved"))
    data.mkdir()
    (data / "other").touch()

    with pytest.raises(HostError, match="exchanged for another one"):
        directories.empty(runner, facts, 30.0)

    assert [entry.name for entry in data.iterdir()] == ["other"]
