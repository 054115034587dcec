"""The generator beside that of an earlier commit: processor time for an operation.

Both answer to the same loads in turns: on a scripted server, and on real databases.
"""

import os
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.bench.clients import (
    THREADS,
    Spent,
    by_brownout,
    pace_of,
    spent_by_generator,
    spread,
)
from tests.bench.earlier import earlier_commit, unpack
from tests.bench.go import ROOT, go
from tests.bench.lab_of_one import lab_of
from tests.bench.table import table
from tests.loadgen.driving import measure, rows, stream

from brownout.base import binary
from brownout.base.errors import BrownoutError

#: Operations a second; None for THREADS at a time.
RATES: tuple[int | None, ...] = (20, 500, 5_000, None)
ROUNDS, SECONDS = 3, 5
#: Labs of real servers, and how many nodes each has: as few as it can.
LABS = {"lab-mongodb": 1, "lab-postgresql": 1, "lab-redis": 3}
#: Takes a load by the earlier generator; all else is for this commit's.
_EARLIER = """#!/bin/sh
[ "$1" = run ] && exec {before} "$@"
exec {now} "$@"
"""
#: Applies a load at a rate and returns what its whole seconds came to.
Apply = Callable[[int | None], Spent]


def tables() -> str:
    """Build both, measure them and return the tables."""
    base = earlier_commit()
    head = ["load", "processor time for an operation", f"as a ratio to {base}"]
    with TemporaryDirectory() as name:
        folder = Path(name)
        unpack(base, folder / "base")
        now, before = _built(ROOT, folder / "now"), _built(folder / "base", folder / "before")
        earlier = folder / "earlier"
        earlier.write_text(_EARLIER.format(before=before, now=now))
        earlier.chmod(0o755)
        title = f"The generator beside that of {base}, on the scripted server"
        found = [table(title, head, _in_turns(now, before, RATES, _on_a_scripted_server))]
        for lab, nodes in LABS.items():
            title = f"The generator beside that of {base}, on {lab} (real nodes: {nodes})"
            found.append(table(title, head, _on(lab, nodes, now, earlier)))
    return "\n\n".join(found)


def _on(lab: str, nodes: int, now: Path, earlier: Path) -> list[list[str]]:
    try:
        with lab_of(nodes, lab):
            return _in_turns(now, earlier, RATES[1:], lambda rate: by_brownout(lab, rate, SECONDS))
    except BrownoutError as error:
        return [[f"left out: {error}", "", ""]]


def _in_turns(
    now: Path, before: Path, rates: Sequence[int | None], apply: Apply
) -> list[list[str]]:
    """Return a row for each rate."""
    lines = []
    for rate in rates:
        rounds = [(_spent(now, rate, apply), _spent(before, rate, apply)) for _ in range(ROUNDS)]
        ours = spread([one.us for one, _ in rounds], 1)
        ratio = spread([one.us / other.us for one, other in rounds], 2)
        lines.append([pace_of(rate), f"{ours} µs", ratio])
    return lines


def _built(tree: Path, program: Path) -> Path:
    subprocess.run([go(), "build", "-o", program, "./loadgen"], cwd=tree, check=True)
    return program


def _spent(program: Path, rate: int | None, apply: Apply) -> Spent:
    """Apply one load by a generator."""
    named = os.environ.get(binary.VARIABLE)
    os.environ[binary.VARIABLE] = str(program)
    try:
        return apply(rate)
    finally:
        del os.environ[binary.VARIABLE]
        if named is not None:
            os.environ[binary.VARIABLE] = named


def _on_a_scripted_server(rate: int | None) -> Spent:
    app = stream(rate=rate or 0, concurrency=0 if rate else THREADS)
    with TemporaryDirectory() as name:
        run = measure(Path(name), SECONDS + 0.5, {"latency_ms": 0}, app).run
        return spent_by_generator(rows(run / "generator.csv"), rows(run / "series.csv"))
