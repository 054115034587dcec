"""A real PostgreSQL for a test: a server of its own on loopback, gone with it."""

import os
import pwd
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from brownout.databases.lab.ports import reserve_ports

__all__ = ["PASSWORD", "WHY_NOT", "postgres"]

#: With what breaks URLs and messages where nobody takes care.
PASSWORD = "s3cret/@:%"
_BINARIES = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
#: Why there is none here; empty where there is.
WHY_NOT = "" if _BINARIES else "NOT TESTED on PostgreSQL: apt-get install postgresql"


@contextmanager
def postgres(place: Path) -> Iterator[int]:
    """Serve in `place` until left; yields the port. The user is `brownout`."""
    place.mkdir(mode=0o700)
    (place / "password").write_text(PASSWORD)
    who = _unprivileged(place)
    initdb, ctl = (str(_BINARIES[-1] / name) for name in ("initdb", "pg_ctl"))
    data, (port,) = str(place / "data"), reserve_ports(1, place)
    _run(who, initdb, "-D", data, "-U", "brownout", "--pwfile", str(place / "password"),
         "-A", "scram-sha-256", "--no-sync", "-E", "UTF8", "--locale", "C")  # fmt: skip
    options = f"-p {port} -h 127.0.0.1 -k {place} -c fsync=off"
    _run(who, ctl, "-D", data, "-o", options, "-l", str(place / "log"), "-w", "start")
    try:
        yield port
    finally:
        _run(who, ctl, "-D", data, "-m", "immediate", "-w", "stop")


def _unprivileged(place: Path) -> list[str]:
    """The server refuses to be root; as root it runs as `postgres`, whom the package has made."""
    if os.geteuid():
        return []
    user = pwd.getpwnam("postgres")
    for path in (place, place / "password"):
        os.chown(path, user.pw_uid, user.pw_gid)
    setpriv = shutil.which("setpriv")
    assert setpriv, "util-linux is everywhere"
    return [setpriv, f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups"]


def _run(who: list[str], *command: str) -> None:
    done = subprocess.run([*who, *command], cwd="/", stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, text=True, check=False)  # fmt: skip
    assert done.returncode == 0, done.stderr
