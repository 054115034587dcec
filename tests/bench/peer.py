"""brownout beside a plain pool of pymongo threads: processor time, and what each sees of a freeze.

Both offer the same rate to the same mongod, one after the other, and it is frozen for 5 s.
"""

import csv
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

from tests.bench.lab_of_one import LAB, lab_of, tell
from tests.bench.table import table

from brownout.inventory.model import Cluster
from brownout.run.hdr import highest_values
from brownout.run.latency import Histogram, is_response, read_hlog

RATE, SECONDS, WORKERS = 1000, 20, 32
FROZEN_AT_S, FROZEN_S, DEADLINE_S = 8.0, 5.0, 10

WORKLOAD = {
    "title": "as the peer's",
    "data": {"keys": 10_000, "value_bytes": 256},
    "streams": [
        {
            "name": "app",
            "mix": {"read": 50, "update": 50},
            "rate": RATE,
            "deadline_s": DEADLINE_S,
            "keys": {"distribution": "uniform"},
        }
    ],
}


def tables() -> str:
    """Measure both and return the table."""
    with lab_of(1) as cluster:
        theirs = _pymongo(cluster)
        ours = _brownout(cluster)
    rows = [
        ["offered", str(RATE * SECONDS), str(ours["offered"])],
        ["operations done", str(theirs["done"]), str(ours["done"])],
        ["of them slower than 1 s", str(theirs["slow"]), str(ours["slow"])],
        ["p99", f"{theirs['p99_ms']:.0f} ms", f"{ours['p99_ms']:.0f} ms"],
        ["slowest", f"{theirs['max_s']:.1f} s", f"{ours['max_s']:.1f} s"],
        ["processor time for an operation", *(f"{_us(one):.0f} µs" for one in (theirs, ours))],
        ["the same, as a ratio", f"{_us(theirs) / _us(ours):.1f}", "1"],
    ]
    title = f"A real mongod frozen for {FROZEN_S:g} s under {RATE}/s, {SECONDS} s in all"
    return table(title, ["", f"pymongo, {WORKERS} threads", "brownout"], rows)


def _us(told: dict[str, Any]) -> float:
    return 1e6 * float(told["cpu_s"]) / int(told["done"])


def _freeze(cluster: Cluster, after_s: float) -> threading.Thread:
    """Stop the server for a while, from `after_s` on."""

    def act() -> None:
        time.sleep(after_s)
        tell(cluster, signal.SIGSTOP)
        time.sleep(FROZEN_S)
        tell(cluster, signal.SIGCONT)

    thread = threading.Thread(target=act)
    thread.start()
    return thread


def _pymongo(cluster: Cluster) -> dict[str, Any]:
    address = cluster.nodes[0].address
    program = Path(__file__).with_name("pymongo_pool.py")
    words = [f"mongodb://{address}/?replicaSet={LAB}", *map(str, (RATE, SECONDS, WORKERS))]
    process = subprocess.Popen(
        [sys.executable, str(program), *words], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    process.stdout.readline()
    _freeze(cluster, FROZEN_AT_S).join()
    told: dict[str, Any] = json.loads(process.communicate()[0])
    return told


def _brownout(cluster: Cluster) -> dict[str, Any]:
    runs = Path(os.environ["BROWNOUT_RUNS"])
    workload = runs.with_name("peer.yaml")
    workload.write_text(json.dumps(WORKLOAD))
    command = [sys.executable, "-m", "brownout", "load", str(workload), "--cluster", LAB]
    length = ["--for", f"{SECONDS}s"]
    process = subprocess.Popen([*command, *length], stdout=subprocess.DEVNULL)
    series = _await(runs, "series.csv")
    while len(series.read_text().splitlines()) < 3:
        time.sleep(0.05)
    _freeze(cluster, FROZEN_AT_S).join()
    assert process.wait() == 0
    return _read(series.parent)


def _await(root: Path, name: str) -> Path:
    deadline = time.monotonic() + 60
    while not (found := list(root.glob(f"*/{name}"))):
        assert time.monotonic() < deadline, f"no {name} below {root}"
        time.sleep(0.05)
    return found[0]


def _read(run: Path) -> dict[str, Any]:
    told = json.loads((run / "generator.json").read_text())
    log = read_hlog(run / "latency.hlog")
    found = log.between([tag for tag in log.tags if is_response(tag)], 0, 1e9)
    assert found is not None
    with (run / "generator.csv").open() as file:
        cpu_s = [float(row["cpu_s"]) for row in csv.DictReader(file)]
    slower = int(found.counts.sum()) - _up_to(found, 1_000_000)
    return {
        "offered": told["offered"],
        "done": told["ok"],
        "slow": slower,
        "p99_ms": (found.percentile_us(0.99) or 0) / 1000,
        "max_s": (found.max_us or 0) / 1e6,
        "cpu_s": cpu_s[-1],
    }


def _up_to(found: Histogram, limit_us: int) -> int:
    """Count the operations that took no longer than `limit_us`."""
    return int(found.counts[highest_values(found.shape) <= limit_us].sum())
