"""A certain release of Patroni in an environment of its own, which pip makes once.

    ~/.cache/brownout/patroni-3.0.2/bin/python

pip knows where from, by its own settings. Our own environment has only one release, the newest.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from brownout.base.errors import ClusterError
from brownout.databases.lab.engine import Progress

__all__ = ["command", "fetch"]

#: What it needs besides; its own requirements have no upper limits.
_WITH = ("psycopg[binary]>=3.1,<4", "python-etcd==0.4.5", "urllib3<3")


def command(release: str) -> tuple[str, ...]:
    """Return the command of that Patroni; `ClusterError` where it was not fetched."""
    python = _place(release) / "bin" / "python"
    if not python.exists():
        raise ClusterError(
            f"Patroni {release} is not in `{_place(release)}`", "`brownout lab up` gets it"
        )
    return (str(python), "-P", "-m", "patroni")


def fetch(release: str, progress: Progress) -> None:
    """Fetch that Patroni, some 60 MB with what it needs, if it is not there.

    Raises `ClusterError` with pip's own words where it does not get it.
    """
    place = _place(release)
    if place.is_dir():
        return
    place.parent.mkdir(parents=True, exist_ok=True)
    progress(f"fetching Patroni {release} by pip, some 60 MB, once")
    with tempfile.TemporaryDirectory(dir=place.parent, prefix=".patroni-") as scratch:
        venv = Path(scratch) / "venv"
        python = str(venv / "bin" / "python")
        pip = (python, "-P", "-m", "pip", "--disable-pip-version-check")
        _run(release, sys.executable, "-P", "-m", "venv", str(venv))
        _run(release, *pip, "install", "--quiet", f"patroni[etcd3]=={release}", *_WITH)
        if not place.is_dir():
            venv.rename(place)


def _run(release: str, *words: str) -> None:
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        lines = (done.stderr or done.stdout).strip().splitlines() or [f"exit {done.returncode}"]
        raise ClusterError(
            f"Patroni {release} was not fetched: {lines[-1]}",
            "see that `python -m venv` and `pip` work here",
        )


def _place(release: str) -> Path:
    cache = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser()
    return cache / "brownout" / f"patroni-{release}"
