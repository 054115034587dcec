"""The generator beside that of an earlier commit: processor time for an operation.

Both answer to the same loads on a scripted server, in turns.
"""

import io
import os
import subprocess
import tarfile
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.bench.clients import THREADS, Spent, spent_by_generator, spread
from tests.bench.go import ROOT, go
from tests.bench.table import table
from tests.loadgen.driving import measure, rows, stream

from brownout.base import binary

#: Names the earlier commit; by default the last one before the generator's cost was halved.
VARIABLE, COMMIT = "BROWNOUT_BENCH_BASE", "a9e497b"
#: Operations a second; None for THREADS at a time.
RATES: tuple[int | None, ...] = (20, 500, 5_000, None)
ROUNDS, SECONDS = 5, 5


def tables() -> str:
    """Build both, measure them and return the table."""
    base, lines = os.environ.get(VARIABLE, COMMIT), []
    with TemporaryDirectory() as name:
        folder = Path(name)
        _unpack(base, folder / "base")
        now, before = _built(ROOT, folder / "now"), _built(folder / "base", folder / "before")
        for rate in RATES:
            rounds = [(_spent(now, rate), _spent(before, rate)) for _ in range(ROUNDS)]
            ours = spread([one.us for one, _ in rounds], 1)
            ratio = spread([one.us / other.us for one, other in rounds], 2)
            lines.append([f"{rate}/s" if rate else f"{THREADS} at a time", f"{ours} µs", ratio])
    head = ["load", "processor time for an operation", f"as a ratio to {base}"]
    return table(f"The generator beside that of {base}, on the scripted server", head, lines)


def _unpack(commit: str, into: Path) -> None:
    """Write the files of a commit into a new folder."""
    archive = subprocess.run(["git", "archive", commit], cwd=ROOT, capture_output=True)
    if archive.returncode:
        raise SystemExit(f"{VARIABLE}={commit}: {archive.stderr.decode()}")
    with tarfile.open(fileobj=io.BytesIO(archive.stdout)) as files:
        files.extractall(into, filter="data")


def _built(tree: Path, program: Path) -> Path:
    subprocess.run([go(), "build", "-o", program, "./loadgen"], cwd=tree, check=True)
    return program


def _spent(program: Path, rate: int | None) -> Spent:
    """Apply one load and return what its whole seconds came to."""
    app = stream(rate=rate or 0, concurrency=0 if rate else THREADS)
    named = os.environ.get(binary.VARIABLE)
    os.environ[binary.VARIABLE] = str(program)
    try:
        with TemporaryDirectory() as name:
            run = measure(Path(name), SECONDS + 0.5, {"latency_ms": 0}, app).run
            return spent_by_generator(rows(run / "generator.csv"), rows(run / "series.csv"))
    finally:
        del os.environ[binary.VARIABLE]
        if named is not None:
            os.environ[binary.VARIABLE] = named
