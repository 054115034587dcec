"""The client protocol beside the built-in driver: operations a second, and processor time of each.

All do the same verified stream on the same PostgreSQL server, in turns: the built-in driver, the
same driver's client in Go and psycopg behind the protocol, and the reference client, which has no
database, so that its figures are the protocol's alone. The client's processor time includes its
start, and the loading of its keys.
"""

import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.bench.clients import THREADS, Spent, pace_of, spent_by_brownout, spread
from tests.bench.go import ROOT, go
from tests.bench.lab_of_one import lab_of
from tests.bench.table import table

LAB = "lab-postgresql"
CLIENTS = ROOT / "infra" / "clients"
RATES: tuple[int | None, ...] = (500, None)
ROUNDS, SECONDS = 3, 5
#: Runs a program and writes its processor time, user's and system's, as the last line of a file.
_TIMED = ("bash", "-c", 'TIMEFORMAT="%U %S"; { time "$@"; } 2>"$0"')
_HEAD = [
    "load", "by", "operations/s", "the generator's, µs an operation", "the client's",
    "both, as a ratio to the driver's",
]  # fmt: skip


def tables() -> str:
    """Measure all and return the table."""
    with TemporaryDirectory() as name, lab_of(1, LAB):
        folder = Path(name)
        commands = {
            "built-in driver (pgx)": None,
            "go_pgx": _built(folder / "go_pgx", CLIENTS / "go_pgx"),
            "postgresql.py (psycopg)": [sys.executable, str(CLIENTS / "postgresql.py")],
            "reference.go, without a database": _built(
                folder / "reference", CLIENTS / "reference" / "reference.go"
            ),
        }
        rows = [row for rate in RATES for row in _at(rate, commands, folder / "times")]
    return table(f"The client protocol beside the built-in driver, on {LAB} (1 node)", _HEAD, rows)


def _built(program: Path, source: Path) -> list[str]:
    subprocess.run([go(), "build", "-o", program, f"./{source.relative_to(ROOT)}"], cwd=ROOT,
                   check=True)  # fmt: skip
    return [str(program)]


def _at(
    rate: int | None, commands: Mapping[str, Sequence[str] | None], times: Path
) -> list[list[str]]:
    """Return a row for each client at one rate; the ratios are to the driver's of each round."""
    rounds = [{name: _round(rate, command, times) for name, command in commands.items()}
              for _ in range(ROUNDS)]  # fmt: skip
    first = next(iter(commands))
    rows = []
    for name in commands:
        each = [(one[name], one[first]) for one in rounds]
        both = [(own.us + client) / driver.us for (own, client), (driver, _) in each]
        rows.append([
            pace_of(rate), name, spread([own.done / own.seconds for (own, _), _ in each], 0),
            spread([own.us for (own, _), _ in each], 1),
            spread([client for (_, client), _ in each], 1), spread(both, 2),
        ])  # fmt: skip
    return rows


def _round(rate: int | None, command: Sequence[str] | None, times: Path) -> tuple[Spent, float]:
    """Return what the generator spent, and the client's processor time for an operation, in µs."""
    pace = {"rate": rate} if rate else {"concurrency": THREADS}
    stream = {"name": "app", "mix": {"read": 50, "update": 50}, **pace, "deadline_s": 10}
    stream |= {"verified": True, "ledger_keys": 2000}
    if command is not None:
        stream["client"] = {"command": [*_TIMED, str(times), *command]}
    workload = {"title": "protocol", "data": {"keys": 1000, "value_bytes": 256}}
    spent = spent_by_brownout({**workload, "streams": [stream]}, LAB, SECONDS)
    if command is None:
        return spent, 0.0
    user, system = map(float, times.read_text().splitlines()[-1].split())
    return spent, 1e6 * (user + system) / spent.done
