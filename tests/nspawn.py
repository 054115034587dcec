"""A machine of its own for tests: a real systemd as its first process, sshd, a service, reboots.

It is a container of systemd-nspawn over this machine's own files, which it sees but cannot change:
what it writes goes to a layer that the test removes. It shares our loopback, so that its sshd is
reached like any other, and the kernel's boot id is its own and new at each of its boots.
"""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.sshd import Sshd, descendants

from brownout.base.wait import wait_until

_TARGET = """\
[Unit]
Requires=sshd.service
AllowIsolate=yes
DefaultDependencies=no
"""
_SSHD = """\
[Service]
ExecStartPre=/bin/mkdir -p /run/sshd
ExecStart={program} -D -e -f {config}
"""

#: With this status systemd-nspawn says that the machine wants to be booted again.
_AGAIN = '"$0" "$@"; while [ $? = 133 ]; do "$0" "$@"; done'


class Machine:
    """One running machine; `sshd` is how it is reached."""

    def __init__(self, directory: Path, units: dict[str, str]) -> None:
        self.directory = directory
        self.sshd = Sshd(directory / "sshd")
        self._root = directory / "root"
        places = {name: directory / name for name in ("units", "upper", "work")}
        for place in (*places.values(), self._root):
            place.mkdir()
        config = self.sshd.directory / "sshd_config"
        ours = {
            "test.target": _TARGET,
            "sshd.service": _SSHD.format(program=self.sshd.program, config=config),
        }
        for name, text in {**ours, **units}.items():
            (places["units"] / name).write_text(text)
        layers = f"lowerdir=/,upperdir={places['upper']},workdir={places['work']}"
        _run("mount", "-t", "overlay", "overlay", "-o", layers, str(self._root))
        self._process: subprocess.Popen[bytes] | None = None

    def boot(self) -> None:
        """Start it and wait until its sshd answers."""
        command = ["systemd-nspawn", "--quiet", f"--directory={self._root}", "--register=no"]
        command += ["--keep-unit", "--link-journal=no", "--boot", "--console=pipe"]
        command += [f"--bind-ro={self.directory / 'units'}:/etc/systemd/system"]
        # Its /tmp is a new one, and these may lie in ours.
        command += [f"--bind-ro={place}" for place in {sys.prefix, sys.base_prefix}]
        command += [f"--bind={self.sshd.directory}"]
        with (self.directory / "console").open("ab") as console:
            self._process = subprocess.Popen(
                ["/bin/sh", "-c", _AGAIN, *command, "systemd.unit=test.target"],
                stdin=subprocess.DEVNULL,
                stdout=console,
                stderr=console,
                start_new_session=True,
            )
        process = self._process
        if not wait_until(self.sshd.answers, 60, 0.02, stopped=lambda: process.poll() is not None):
            raise RuntimeError((self.directory / "console").read_text()[-2000:])

    def remove(self) -> None:
        """End it at once, with all that runs in it, and remove its layer."""
        process = self._process
        if process is not None:
            process.send_signal(signal.SIGSTOP)  # so that it boots no machine again

        def removed() -> bool:
            for pid in descendants(process.pid) if process is not None else ():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            unmounted = subprocess.run(["umount", str(self._root)], capture_output=True)
            return not unmounted.returncode

        gone = wait_until(removed, 20)
        if process is not None:
            process.kill()
            process.wait()
        if not gone:
            raise RuntimeError(f"{self._root} stays mounted")


@contextlib.contextmanager
def machine(directory: Path, units: dict[str, str]) -> Iterator[Machine]:
    """Boot a machine with `units` beside its own; skip the test where that is impossible."""
    if os.geteuid() or not shutil.which("systemd-nspawn"):
        pytest.skip("needs root and systemd-nspawn: apt-get install -y systemd-container")
    try:
        made = Machine(directory, units)
    except RuntimeError as error:
        pytest.skip(f"no layer over this machine's files: {error}")
    try:
        try:
            made.boot()
        except RuntimeError as error:
            pytest.skip(f"systemd does not boot in a container here: {error}")
        yield made
    finally:
        made.remove()


def _run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr.strip())
