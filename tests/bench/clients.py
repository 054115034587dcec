"""brownout's generator beside other clients of Aerospike: processor time for an operation.

The official Go client in a bare loop, and Aerospike's own load tool, `asbench`. All offer the same
rate to the same five-node cluster, in turns, and then as much as they can with as many operations
at a time. Without a real server only the bare loop is measured, on the stand-in.
"""

import csv
import json
import os
import re
import resource
import shutil
import statistics
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.bench.go import ROOT, go
from tests.bench.lab_of_one import lab_of
from tests.bench.table import table

from brownout.databases.aerospike.lab.server import find_server

#: Names an asbench.
VARIABLE = "BROWNOUT_ASBENCH"
LAB, NODES = "lab-aerospike", 5
#: Operations a second; None for THREADS at a time, each as soon as the one before is done.
RATES: tuple[int | None, ...] = (20, 500, 5_000, 15_000, None)
ROUNDS, SECONDS = 3, 20
KEYS, VALUE_BYTES = 10_000, 256
#: asbench's own default.
THREADS = 16

_HEAD = ["client", "operations/s", "processor time for an operation", "brownout's as a ratio to it"]
_METRIC = re.compile(r"(\S+) (cpu-s|done|failed)\b")
_TOTAL = re.compile(r"total\(tps=\d+ .*timeouts=(\d+) errors=(\d+)\)")
_COUNT = re.compile(r"hdr: (\w+) +\S+ \d+, (\d+),")


@dataclass(frozen=True)
class Spent:
    """What a client did in one round: operations that were done, and its processor time."""

    done: int
    seconds: float
    cpu_s: float

    @property
    def us(self) -> float:
        """Processor time for an operation, in µs."""
        return 1e6 * self.cpu_s / self.done


def tables() -> str:
    """Measure the clients at each rate and return the table; it names those that are not here."""
    stand_in = find_server().stand_in
    on = "The stand-in for a cluster" if stand_in else "A real cluster"
    title = f"{on} of {NODES} Aerospike nodes, half reads and half updates, {SECONDS} s each"
    rows: list[list[str]] = []
    with lab_of(NODES, LAB) as cluster:
        address = cluster.nodes[0].address
        clients: dict[str, Callable[[int | None], Spent]] = {
            "brownout": lambda rate: by_brownout(LAB, rate, SECONDS),
            "the Go client alone": lambda rate: _alone(address, rate),
        }
        missing = asbench_missing(stand_in)
        if missing is None:
            _asbench([*_words(address), "-w", "I"])
            clients["asbench"] = lambda rate: _by_asbench(address, rate)
        for rate in RATES:
            print(f"  at {pace_of(rate)}", file=sys.stderr, flush=True)
            rounds = [{name: spend(rate) for name, spend in clients.items()} for _ in range(ROUNDS)]
            rows += rows_of(rate, rounds)
    if missing is not None:
        rows.append([f"asbench: left out: {missing}", "", "", ""])
    return table(title, _HEAD, rows)


def asbench_missing(stand_in: bool) -> str | None:
    """Return why asbench cannot be measured here; None if it can."""
    if stand_in:
        return "no real `asd` (BROWNOUT_ASD or PATH)"
    return None if _program() else f"no `asbench` ({VARIABLE} or PATH)"


def _program() -> str | None:
    return shutil.which(os.environ.get(VARIABLE) or "asbench")


def rows_of(rate: int | None, rounds: Sequence[Mapping[str, Spent]]) -> list[list[str]]:
    """Return a row of each client's, from rounds of all; brownout comes first."""
    ours, *others = rounds[0]
    pace = pace_of(rate)
    rows = [[f"{ours}, {pace}", *_cells([each[ours] for each in rounds]), "1"]]
    for other in others:
        ratios = [each[ours].us / each[other].us for each in rounds]
        cells = _cells([each[other] for each in rounds])
        rows.append([f"{other}, {pace}", *cells, spread(ratios, 2)])
    return rows


def pace_of(rate: int | None) -> str:
    """Return a rate in words."""
    return f"{rate}/s" if rate else f"{THREADS} at a time"


def _cells(rounds: Sequence[Spent]) -> list[str]:
    speed = statistics.median(one.done / one.seconds for one in rounds)
    return [f"{speed:.0f}", f"{spread([one.us for one in rounds], 1)} µs"]


def spread(values: Sequence[float], digits: int) -> str:
    """Return the median, and in brackets the least and the most."""
    middle, least, most = statistics.median(values), min(values), max(values)
    return f"{middle:.{digits}f} ({least:.{digits}f}–{most:.{digits}f})"


def _words(address: str) -> list[str]:
    record = ["-s", "asbench", "-k", str(KEYS), "-o", f"B{VALUE_BYTES}", "-z", str(THREADS)]
    return ["-h", address, "-n", "test", *record]


def _alone(address: str, rate: int | None) -> Spent:
    """Let a bare loop around the official client work for a round, without its data set's load."""
    asked = {
        "uri": f"aerospike://{address}",
        "rate": rate or 0,
        "seconds": SECONDS,
        "parallel": THREADS,
    }
    words = ["-run", "^$", "-bench", "^BenchmarkBareClient$", "-benchtime", "1x"]
    told = subprocess.run(
        [go(), "test", *words, "./loadgen/driver/aerospike"],
        cwd=ROOT,
        env={**os.environ, "BROWNOUT_BENCH_BARE": json.dumps(asked)},
        capture_output=True,
        text=True,
    )
    if told.returncode:
        raise SystemExit(told.stdout + told.stderr)
    return spent_alone(" ".join(told.stdout.split()))


def spent_alone(told: str) -> Spent:
    """Return what a round came to, from the metrics of its benchmark.

    Raises `SystemExit` if there are none, or an operation failed: a round of those says nothing.
    """
    metrics = {name: float(number) for number, name in _METRIC.findall(told)}
    if set(metrics) != {"cpu-s", "done", "failed"} or metrics["failed"]:
        raise SystemExit(f"the Go client alone: wanted cpu-s, done and 0 failed, found: {told}")
    return Spent(int(metrics["done"]), SECONDS, metrics["cpu-s"])


def _by_asbench(address: str, rate: int | None) -> Spent:
    """Let asbench work for a round; its few milliseconds of start are among its time."""
    length = ["-w", "RU,50", "-g", str(rate or 0), "-t", str(SECONDS), "-L"]
    before = _of_children()
    told = _asbench([*_words(address), *length])
    cpu_s = _of_children() - before
    return Spent(done_by_asbench(told), SECONDS, cpu_s)


def _asbench(words: Sequence[str]) -> str:
    program = _program()
    assert program is not None
    told = subprocess.run([program, *words], capture_output=True, text=True)
    if told.returncode:
        raise SystemExit(told.stdout + told.stderr)
    return told.stdout


def _of_children() -> float:
    """Return what all processes that were waited for have used; one at a time runs here."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def done_by_asbench(told: str) -> int:
    """Return how many operations it did, from what it prints with `-L`: the last counts.

    Raises `SystemExit` if there are none, or an operation failed: a round of those says nothing.
    """
    if any(int(count) for pair in _TOTAL.findall(told) for count in pair):
        raise SystemExit(f"asbench had timeouts or errors:\n{told}")
    counts = {op: int(count) for op, count in _COUNT.findall(told)}
    if set(counts) != {"read", "write"}:
        raise SystemExit(f"asbench: found no counts of reads and writes, wanted `hdr:` in:\n{told}")
    return sum(counts.values())


def by_brownout(lab: str, rate: int | None, seconds: int) -> Spent:
    """Let the generator that `BROWNOUT_LOADGEN` names, or ours, work for a round on a lab."""
    return spent_by_brownout(_workload(rate), lab, seconds)


def spent_by_brownout(workload: Mapping[str, object], lab: str, seconds: int) -> Spent:
    """Apply a workload to a lab, and return what the generator spent on it."""
    runs = Path(os.environ["BROWNOUT_RUNS"])
    file = runs.with_name("workload.yaml")
    file.write_text(json.dumps(workload))
    command = [sys.executable, "-m", "brownout", "load", str(file), "--cluster", lab]
    subprocess.run([*command, "--for", f"{seconds}s"], stdout=subprocess.DEVNULL, check=True)
    run = max(runs.iterdir(), key=lambda path: path.stat().st_mtime_ns)
    with (run / "generator.csv").open() as own, (run / "series.csv").open() as series:
        return spent_by_generator(list(csv.DictReader(own)), list(csv.DictReader(series)))


def _workload(rate: int | None) -> Mapping[str, object]:
    pace = {"rate": rate} if rate else {"concurrency": THREADS}
    stream = {"name": "app", "mix": {"read": 50, "update": 50}, **pace, "deadline_s": 10}
    return {
        "title": "as asbench's",
        "data": {"keys": KEYS, "value_bytes": VALUE_BYTES},
        "streams": [{**stream, "keys": {"distribution": "uniform"}}],
    }


def spent_by_generator(
    own: Sequence[Mapping[str, str]], series: Sequence[Mapping[str, str]]
) -> Spent:
    """Return what the whole seconds of a run came to, from `generator.csv` and `series.csv`.

    `cpu_s` is since the schedule's start, at the end of the second that its row is named after.
    """
    seconds = float(own[-1]["t"]) + 1
    done = sum(int(row["ok"]) for row in series if float(row["t"]) < seconds)
    return Spent(done, seconds, float(own[-1]["cpu_s"]))
