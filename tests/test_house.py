"""One thing in one place: what knows of a database stands in that database's own folder."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
NAMES = ("aerospike", "cassandra", "couchbase", "etcd", "mongo", "patroni", "postgresql",
         "redis(?![jt])")  # fmt: skip
NAMED = re.compile("|".join(NAMES), re.IGNORECASE)
SOURCES = ("src/brownout/**/*.py", "actions/*.py", "probes/*.py", "infra/**/*.py",
           "dashboards/*.py", "loadgen/**/*.go")  # fmt: skip

#: Where a database may be named, and why. A folder means all that is in it.
ALLOWED = {
    "src/brownout/databases/mongodb/": "its own folder",
    "src/brownout/databases/aerospike/": "its own folder",
    "src/brownout/databases/cassandra/": "its own folder",
    "src/brownout/databases/couchbase/": "its own folder",
    "src/brownout/databases/etcd/": "its own folder",
    "src/brownout/databases/postgresql/": "its own folder",
    "src/brownout/databases/redis/": "its own folder",
    "loadgen/driver/mongodb/": "its own driver",
    "loadgen/driver/aerospike/": "its own driver",
    "loadgen/driver/cassandra/": "its own driver",
    "loadgen/driver/couchbase/": "its own driver",
    "loadgen/driver/etcd/": "its own driver",
    "loadgen/driver/postgresql/": "its own driver",
    "loadgen/driver/redis/": "its own driver",
    "loadgen/main.go": "the list of drivers",
    "actions/mongodb.py": "what only it can do",
    "actions/aerospike.py": "what only it can do",
    "actions/etcd.py": "what only it can do",
    "actions/postgresql.py": "what only it needs",
    "actions/redis.py": "what only it can do",
    "probes/mongodb.py": "what only it is asked",
    "probes/aerospike.py": "what only it is asked",
    "dashboards/cassandra.py": "its own dashboard",
    "dashboards/etcd.py": "its own dashboard",
    "dashboards/mongodb.py": "its own dashboard",
    "dashboards/postgresql.py": "its own dashboard",
    "dashboards/redis.py": "its own dashboard",
    "dashboards/aerospike.py": "its own dashboard",
    "dashboards/build.py": "the list of dashboards",
    "src/brownout/cli/extras.py": "the list of extras",
    "src/brownout/runs/database.py": "where the history may be",
    "src/brownout/runs/gameday/leases.py": "where the history may be",
    "src/brownout/runs/history/": "where the history may be",
    "src/brownout/base/usual.py": "what is taken where nothing is said",
    "src/brownout/inventory/importers/aerolab.py": "of one vendor's tool",
    "infra/clients/": "programs for one database each, which nothing imports",
    "src/brownout/run/foreign/": "tools that have a database's name",
    # Atlas runs MongoDB and nothing else.
    "src/brownout/atlas/": "Atlas",
    "src/brownout/faults/atlas/": "Atlas",
    "src/brownout/inventory/atlas.py": "Atlas",
    "probes/atlas.py": "Atlas",
}
#: Single lines elsewhere. Chaos Toolkit shows the help of an action, which says it by example.
LINES = {
    "actions/rolling.py": {"(Aerospike Enterprise)"},
    "src/brownout/base/redact.py": {"|mongo|"},  # `MONGOPASS` and `REDISPASS` are passwords
    "src/brownout/cli/impact.py": {"sysbench, cassandra-stress,"},
    "src/brownout/faults/delay.py": {"lab-mongodb-slow"},
    "src/brownout/faults/membership.py": {
        "as Aerospike.",
        "Aerospike Enterprise quiesces it first, a primary of",
    },
    "src/brownout/faults/partition.py": {"lab-mongodb-partition"},
    # Which module of actions shows a fault that only one database has.
    "src/brownout/faults/promote.py": {'module = "postgresql"'},
    "src/brownout/faults/quiesce.py": {'module = "aerospike"'},
    "src/brownout/faults/stepdown.py": {'module, of_role = "mongodb"'},
}


def sources() -> Iterator[Path]:
    """Yield every source file once; src/brownout has links to the root folders, not followed."""
    for pattern in SOURCES:
        yield from (path for path in ROOT.glob(pattern) if path.resolve() == path)


def naming(root: Path, paths: Iterator[Path]) -> list[str]:
    """Return each line that names a database where none is to be named."""
    found = []
    for path in paths:
        name = str(path.relative_to(root))
        if any(name == place or name.startswith(place) for place in ALLOWED):
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if NAMED.search(line) and not any(known in line for known in LINES.get(name, ())):
                found.append(f"{name}:{number}: {line.strip()}")
    return found


def test_no_other_file_names_a_database() -> None:
    assert naming(ROOT, sources()) == []


@pytest.mark.parametrize("line", ['if cluster.database == "mongodb":', "# As Aerospike does."])
def test_a_name_elsewhere_is_found(tmp_path: Path, line: str) -> None:
    path = tmp_path / "src" / "brownout" / "session" / "targets.py"
    path.parent.mkdir(parents=True)
    path.write_text(f"x = 1\n{line}\n", encoding="utf-8")

    assert naming(tmp_path, iter([path])) == [f"src/brownout/session/targets.py:2: {line}"]


@pytest.mark.parametrize("place", [*ALLOWED, *LINES])
def test_every_place_that_may_name_one_is_there_and_does(place: str) -> None:
    path = ROOT / place
    files = [path] if path.is_file() else [p for p in path.rglob("*") if p.suffix in (".py", ".go")]
    text = "".join(file.read_text(encoding="utf-8") for file in files)
    assert NAMED.search(text), f"{place} is on the list and names no database any more"
    for known in LINES.get(place, ()):
        assert known in text


def test_every_file_of_the_core_was_looked_at() -> None:
    found = {str(path.relative_to(ROOT)) for path in sources()}
    assert {"src/brownout/session/session.py", "infra/lab/lifecycle.py", "actions/node.py"} <= found
    assert len(found) > 500


def test_no_program_of_ours_runs_a_module_with_the_current_folder_on_its_path() -> None:
    """A file there that is called like the module would be executed: `python -P` leaves it out."""
    without = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in sources()
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if '"-m"' in line and '"-P", "-m"' not in line
    ]
    assert without == []
