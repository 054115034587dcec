"""The Go benchmarks: the engine against a bare driver loop, its schedule, each driver's cost."""

import os
import re
import subprocess
from pathlib import Path

from tests.bench.table import table

from brownout.databases.mongodb.lab.mongod import find_mongod

ROOT = Path(__file__).parents[2]
_METRIC = re.compile(r"(\S+) (\S+)")


def tables() -> str:
    """Run them all, and return a row for each with its metrics as they name them."""
    rows, package = [], ""
    for line in _ran().splitlines():
        if line.startswith("pkg: "):
            package = line.rpartition("/")[2]
        if line.startswith("Benchmark"):
            name, _, rest = line.partition("\t")
            words = " ".join(rest.split()).split(" ", 1)[1]
            took, *own = [f"{n} {unit}" for n, unit in _METRIC.findall(words)]
            rows.append([f"{package}: {_named(name)}", "; ".join(own) or took])
    return table("Load generator (`go test -bench`)", ["benchmark", "measured"], rows)


def _named(name: str) -> str:
    return re.sub(r"-\d+$", "", name.strip()).removeprefix("Benchmark").replace("_", " ")


def go() -> str:
    """Return the path of the `go` that the tree is built with."""
    finder = [ROOT / "tools" / "find_go", ROOT / ".venv"]
    return subprocess.check_output(finder, text=True).strip()


def _ran() -> str:
    command = [go(), "test", "-run", "^$", "-bench", ".", "-benchtime", "3s", "./loadgen/..."]
    environment = {**os.environ, "BROWNOUT_MONGOD": str(find_mongod())}
    told = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    if told.returncode:
        raise SystemExit(told.stdout + told.stderr)
    return told.stdout
