"""A machine with a kernel of its own, one that has netem: Linux as a process, in user mode.

Its kernel is Debian's `user-mode-linux` with the modules that come with it, and `busybox-static`
loads them; both are fetched by `apt-get download` and unpacked, nothing is installed. Its root is
this machine's, read-only; `/run` and `/dev` are its own. It takes the address of a place in a
lab's network:

    here ── bo… ── [hub: bridge] ── [eth0 ── bridge ── tap0] ── user-mode Linux: vec0
"""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.sshd import Sshd, descendants

from brownout.base.wait import wait_until
from brownout.databases.lab.network import Place
from brownout.machine import network

__all__ = ["Machine", "run_alone", "unpacked", "why_not"]

_PACKAGES = ("user-mode-linux", "busybox-static")
_BOOTS_WITHIN_S = 240.0

#: What the kernel calls for a module that it lacks. None of those that are wanted needs another.
_MODPROBE = """\
#!/bin/sh
for name; do :; done
for module in $(find {modules} -name "$name.ko"); do exec {busybox} insmod "$module"; done
exit 1
"""
_INIT = """\
#!/bin/sh
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin; export PATH
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t tmpfs run /run
mount -t devtmpfs dev /dev
mkdir -p /run/sshd
echo {modprobe} > /proc/sys/kernel/modprobe
ip link set lo up
ip address add {address}/24 dev vec0
ip link set vec0 up
{python} {program} {words} &
exec {sshd} -D -e -f {config}
"""

_INIT_ALONE = """\
#!/bin/sh
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin; export PATH
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t cgroup2 cgroup2 /sys/fs/cgroup
mount -t tmpfs run /run
mount -t devtmpfs dev /dev
mkdir /run/data
mount -t ext4 /dev/ubda /run/data
cd /run
TMPDIR=/run HOME=/run PYTHONDONTWRITEBYTECODE=1 {python} {program}
echo o > /proc/sysrq-trigger
"""


def why_not() -> str:
    """Return why no such machine can be made here; empty if it can."""
    if reason := network.why_not():
        return reason
    if lacking := [tool for tool in ("apt-get", "dpkg") if shutil.which(tool) is None]:
        return f"{', '.join(lacking)} not found on PATH"
    if not Path("/dev/net/tun").exists():
        return "there is no /dev/net/tun"
    if " amx_tile" in Path("/proc/cpuinfo").read_text():
        # "userspace - ptrace set fp regs failed": the kernel takes all registers or none.
        return "user-mode Linux has no room for the registers of a processor with AMX"
    return ""


def unpacked(directory: Path) -> str:
    """Fetch and unpack the packages into `directory`; return why that is not possible."""
    directory.mkdir(parents=True, exist_ok=True)
    directory.chmod(0o755)
    done = subprocess.run(
        ["apt-get", "download", "-q", "-o", "APT::Sandbox::User=root", *_PACKAGES],
        cwd=directory, capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    if done.returncode:
        return f"apt-get download {' '.join(_PACKAGES)}: {done.stderr.strip()}"
    for package in directory.glob("*.deb"):
        subprocess.run(["dpkg", "-x", package, directory], check=True, timeout=300)
        package.unlink()
    return ""


class Machine:
    """One machine at the address of `place`, with a sshd, that also runs the Python `program`."""

    def __init__(
        self, files: Path, directory: Path, place: Place, program: str, *words: str
    ) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self.sshd = Sshd(directory / "sshd", address=place.address)
        self._files, self._directory, self._place = files, directory, place
        modprobe = directory / "modprobe"
        (modules,) = (files / "usr/lib/uml/modules").iterdir()
        modprobe.write_text(_MODPROBE.format(modules=modules, busybox=files / "bin/busybox"))
        init = _INIT.format(
            modprobe=modprobe,
            address=place.address,
            python=sys.executable,
            program=directory / "program.py",
            words=" ".join(words),
            sshd=self.sshd.program,
            config=self.sshd.directory / "sshd_config",
        )
        (directory / "init").write_text(init)
        (directory / "program.py").write_text(program)
        for path in (modprobe, directory / "init"):
            path.chmod(0o755)
        self._process: subprocess.Popen[bytes] | None = None

    def start(self, disk: Path | None = None) -> "Machine":
        """Boot it, with `disk` as /dev/ubda, and wait until its sshd accepts connections."""
        lines = (
            "link add br0 type bridge",
            "address flush dev eth0",
            "link set eth0 master br0",
            "tuntap add tap0 mode tap",
            "link set tap0 master br0",
            "link set tap0 up",
            "link set br0 up",
        )
        subprocess.run(
            ["ip", "-n", self._place.namespace, "-batch", "-"],
            input="\n".join(lines), text=True, check=True, timeout=30,
        )  # fmt: skip
        command = [
            *network.enter(self._place.namespace),
            str(self._files / "usr/bin/linux.uml"),
            "mem=1024M",
            "root=/dev/root",
            "rootfstype=hostfs",
            "rootflags=/",
            "ro",
            f"init={self._directory / 'init'}",
            "vec0:transport=tap,ifname=tap0,depth=64",
            f"uml_dir={self._directory}",
            "umid=machine",
            "con=null",
            "con0=null,fd:1",
            *([f"ubd0={disk}"] if disk else []),
        ]
        with (self._directory / "console").open("ab") as console:
            self._process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=console, stderr=console,
                start_new_session=True,
            )  # fmt: skip
        process, within_s = self._process, _BOOTS_WITHIN_S
        if not wait_until(self.sshd.answers, within_s, stopped=lambda: process.poll() is not None):
            raise RuntimeError(self.console())
        return self

    def stop(self) -> None:
        """Pull its plug: end the kernel and each process that it made."""
        if self._process is None:
            return
        _end(self._process)
        self._process = None

    def console(self) -> str:
        """Return the end of what its kernel and its init said."""
        return (self._directory / "console").read_text(errors="replace")[-4000:]


def run_alone(
    what: str, directory: Path, program: str, disk_mib: int = 64, within_s: float = 300
) -> dict[str, Any]:
    """Boot a machine without a network that runs a Python program; return the JSON that it printed.

    Its control groups are of version 2, and an ext4 file system of `disk_mib` is at /run/data.
    `{busybox}` and `{modules}` in the program become the paths of those. The test is skipped, as
    not having tested `what`, where no such machine can be made.
    """
    files = directory / "files"
    if reason := why_not() or unpacked(files):
        pytest.skip(f"NOT TESTED: {what}: {reason}")
    disk = directory / "disk.img"
    with disk.open("wb") as file:
        file.truncate(disk_mib << 20)
    subprocess.run(["mkfs.ext4", "-qF", str(disk)], check=True)
    (modules,) = (files / "usr/lib/uml/modules").iterdir()
    text = program.replace("{busybox}", str(files / "bin/busybox"))
    printed = _printed_by(directory, text.replace("{modules}", str(modules)), disk, within_s)
    (line,) = [line for line in printed.splitlines() if line.startswith("{")] or [printed]
    seen: dict[str, Any] = json.loads(line)
    return seen


def _printed_by(directory: Path, program: str, disk: Path, within_s: float) -> str:
    """Boot it with `disk`; return what the program printed, with what its kernel did in between."""
    (directory / "program.py").write_text(program)
    init = directory / "init"
    init.write_text(_INIT_ALONE.format(python=sys.executable, program=directory / "program.py"))
    init.chmod(0o755)
    command = [
        str(directory / "files/usr/bin/linux.uml"),
        "mem=512M",
        "root=/dev/root",
        "rootfstype=hostfs",
        "rootflags=/",
        "ro",
        "quiet",
        f"init={init}",
        f"ubd0={disk}",
        f"uml_dir={directory}",
        "con=null",
        "con0=null,fd:1",
    ]
    process = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True, errors="replace",
    )  # fmt: skip
    try:
        return process.communicate(timeout=within_s)[0]
    except subprocess.TimeoutExpired:
        _end(process)
        raise RuntimeError(process.communicate()[0]) from None


def _end(process: "subprocess.Popen[Any]") -> None:
    """End a kernel and each process that it made."""
    for pid in [process.pid, *descendants(process.pid)]:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    process.wait()
