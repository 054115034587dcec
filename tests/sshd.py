"""A real sshd of our own on loopback: own host key, own port, own list of whom it lets in."""

import contextlib
import os
import shutil
import signal
import socket
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import asyncssh

from brownout.base.wait import wait_until
from brownout.databases.lab.ports import reserve_ports

PROGRAM = shutil.which("sshd", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")
WHY_NOT = "" if PROGRAM else "there is no sshd: apt-get install -y openssh-server"

_CONFIG = """\
ListenAddress {address}
Port {port}
HostKey {directory}/host_key
AuthorizedKeysFile {directory}/authorized_keys
PidFile none
StrictModes no
UsePAM no
UseDNS no
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin yes
MaxStartups 200
LogLevel VERBOSE
Subsystem sftp internal-sftp
SetEnv {environment}
"""


class Sshd:
    """One server. What it needs lies in `directory`, which the test removes.

    It listens at `address`, in the network namespace that `enter` goes before a command to enter.
    """

    def __init__(
        self,
        directory: Path,
        environment: Mapping[str, str] | None = None,
        more: str = "",
        address: str = "127.0.0.1",
        enter: Sequence[str] = (),
    ) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self.directory, self.program = directory, PROGRAM
        self.address, self._enter = address, enter
        (self.port,) = reserve_ports(1, directory)
        self.identity = directory / "identity"
        self.known_hosts = directory / "known_hosts"
        self._process: subprocess.Popen[bytes] | None = None
        key = asyncssh.generate_private_key("ssh-ed25519")
        key.write_private_key(str(self.identity))
        key.write_public_key(str(directory / "authorized_keys"))
        self.change_host_key()
        self.trust()
        # Without the level, bash would read the user's ~/.bashrc for every command.
        variables = {"PATH": os.environ["PATH"], "SHLVL": "2", **(environment or {})}
        words = " ".join(f'"{name}={value}"' for name, value in variables.items())
        text = _CONFIG.format(
            address=address, port=self.port, directory=directory, environment=words
        )
        (directory / "sshd_config").write_text(text + more)

    def change_host_key(self) -> None:
        """Give it another host key; it counts from the next start."""
        key = asyncssh.generate_private_key("ssh-ed25519")
        key.write_private_key(str(self.directory / "host_key"))
        (self.directory / "host_key").chmod(0o600)
        key.write_public_key(str(self.directory / "host_key.pub"))

    def trust(self) -> None:
        """Write its present host key to `known_hosts`."""
        public = (self.directory / "host_key.pub").read_text()
        self.known_hosts.write_text(f"[{self.address}]:{self.port} {public}")

    def start(self) -> "Sshd":
        """Start it and wait until it accepts connections."""
        if os.geteuid() == 0:
            Path("/run/sshd").mkdir(exist_ok=True)  # sshd wants it of root, and empty
        command = [
            *self._enter,
            str(PROGRAM),
            "-D",
            "-e",
            "-f",
            str(self.directory / "sshd_config"),
        ]
        with (self.directory / "log").open("ab") as log:
            self._process = subprocess.Popen(command, stderr=log, start_new_session=True)
        process = self._process
        if not wait_until(self.answers, 10, 0.01, stopped=lambda: process.poll() is not None):
            raise RuntimeError((self.directory / "log").read_text())
        return self

    def answers(self) -> bool:
        """Whether somebody listens on its port."""
        return _listens(self.address, self.port)

    def stop(self) -> None:
        """End it and every connection to it; its port can be taken then.

        A child that it forks for a connection listens as well for a moment, and may be born while
        the others are killed. So it is frozen first, and what was too young to be seen is awaited.
        """
        if self._process is None:
            return
        self._process.send_signal(signal.SIGSTOP)
        self.cut()
        self._process.kill()
        self._process.wait()
        self._process = None
        if not wait_until(lambda: not self.answers(), 10, 0.01):
            raise RuntimeError(f"somebody still listens on port {self.port}")

    def cut(self) -> None:
        """Kill what serves each connection: they break, and what runs over them goes on."""
        for pid in self.serving():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def serving(self) -> list[int]:
        """Return the processes that serve connections, outermost first."""
        assert self._process is not None
        return [pid for pid in descendants(self._process.pid) if _name(pid).startswith("sshd")]

    def login(self, **changed: Any) -> dict[str, Any]:
        """Return the settings of a login here, for an inventory."""
        settings: dict[str, Any] = {
            "address": self.address,
            "port": self.port,
            "identity_file": str(self.identity),
            "known_hosts": str(self.known_hosts),
            "connect_timeout_s": 30.0,
            "reconnect_s": 30.0,
        }
        return {**settings, **changed}

    def log(self) -> str:
        """Return what it said."""
        return (self.directory / "log").read_text()


def _listens(address: str, port: int) -> bool:
    with contextlib.suppress(OSError), socket.create_connection((address, port), timeout=1):
        return True
    return False


def descendants(root: int) -> list[int]:
    """Return the processes that come from `root`, outermost first."""
    parents = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError, IndexError):
                stat = (entry / "stat").read_text().rpartition(")")[2].split()
                parents[int(entry.name)] = int(stat[1])
    found, ring = [], [root]
    while ring:
        ring = [pid for pid, parent in parents.items() if parent in ring]
        found += ring
    return found


def _name(pid: int) -> str:
    with contextlib.suppress(OSError):
        return (Path("/proc") / str(pid) / "comm").read_text().strip()
    return ""
