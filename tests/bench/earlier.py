"""An earlier commit of this repository, to compare with."""

import io
import os
import subprocess
import tarfile
from pathlib import Path

from tests.bench.go import ROOT

#: Names the earlier commit; by default the last one before the generator's cost was halved.
VARIABLE, COMMIT = "BROWNOUT_BENCH_BASE", "a9e497b"


def earlier_commit() -> str:
    """Return its name."""
    return os.environ.get(VARIABLE, COMMIT)


def unpack(commit: str, into: Path) -> None:
    """Write the files of a commit into a new folder; `SystemExit` if git does not have it."""
    archive = subprocess.run(["git", "archive", commit], cwd=ROOT, capture_output=True)
    if archive.returncode:
        raise SystemExit(f"{VARIABLE}={commit}: {archive.stderr.decode()}")
    with tarfile.open(fileobj=io.BytesIO(archive.stdout)) as files:
        files.extractall(into, filter="data")
