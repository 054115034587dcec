"""A machine whose login may do nothing as root but what a sudoers file allows: sshd, user, sudo."""

import fcntl
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import pytest
from tests.sshd import WHY_NOT as NO_SSHD
from tests.sshd import Sshd

from brownout.inventory.model import Cluster, Node
from brownout.machine.ssh import SshSpec
from brownout.machine.ssh.helpers import helpers_of
from brownout.machine.ssh.pool import close_all
from brownout.machine.ssh.sudoers import installation

__all__ = ["USER", "install", "installed", "machine", "sudo_log"]

USER = "brownout-test"
_LOG = Path("/etc/sudoers.d/brownout-test-log")
_RIGHTS = "/etc/sudoers.d/brownout-{}"


def _why_not() -> str:
    """What is missing for a user, a sudo and a sshd of our own."""
    wanted = ("sudo", "visudo", "useradd", "userdel")
    lacking = [name for name in wanted if shutil.which(name, path="/usr/sbin:/usr/bin") is None]
    if lacking:
        return f"it needs {', '.join(lacking)} (Debian: sudo, passwd)"
    return NO_SSHD or ("" if os.geteuid() == 0 else "it makes a user, so it has to be root")


@contextmanager
def machine() -> Iterator[Sshd]:
    """A sshd that lets a user in who is there for this test, and may do nothing by sudo yet."""
    if reason := _why_not():
        pytest.skip(f"NOT TESTED: rights by sudoers: {reason}")
    with ExitStack() as stack:
        alone = stack.enter_context(Path("/tmp/brownout-sudoers.lock").open("w"))
        fcntl.flock(alone, fcntl.LOCK_EX)  # the user and its rights are there once
        home = Path(tempfile.mkdtemp(prefix="brownout-sudoers-", dir="/tmp"))
        stack.callback(shutil.rmtree, home)
        home.chmod(0o755)  # sshd reads the user's keys as the user
        subprocess.run(["useradd", "-M", "-d", "/", "-s", "/bin/sh", "-p", "*", USER], check=True)
        stack.callback(subprocess.run, ["userdel", USER], check=True)
        _LOG.write_text(f"Defaults:{USER} logfile={home / 'sudo.log'}\n")
        stack.callback(_LOG.unlink)
        server = Sshd(home / "sshd").start()
        stack.callback(server.stop)
        stack.callback(close_all)
        yield server


def sudo_log(sshd: Sshd) -> str:
    """What sudo noted, each entry in one line."""
    return (sshd.directory.parent / "sudo.log").read_text().replace("\n    ", " ")


def install(cluster: Cluster, node: Node, directories: Sequence[Path], where: Path) -> None:
    """Do as a person with root does: run what was written, on the node's machine."""
    for name, text in installation(cluster, node, directories).files.items():
        file = where / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    subprocess.run(["/bin/sh", str(where / "install.sh")], check=True)


@contextmanager
def installed(nodes: Sequence[Node]) -> Iterator[None]:
    """Take away afterwards what was installed for these nodes."""
    try:
        yield
    finally:
        for node in nodes:
            assert isinstance(node.host, SshSpec)
            place = Path(helpers_of(node.name, node.host))
            shutil.rmtree(place, ignore_errors=True)
            Path(_RIGHTS.format(node.name)).unlink(missing_ok=True)
            with suppress(OSError):
                place.parent.rmdir()
