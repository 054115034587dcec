"""A real generator on a real cluster, and what its files say."""

import csv
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from brownout.base.errors import ClusterError
from brownout.base.wait import wait_until
from brownout.databases.adapter import Adapter, adapter_for
from brownout.inventory.model import Cluster, Node
from brownout.load import workload as workloads
from brownout.load.generator import Generator
from brownout.machine.host import Host, host_for
from brownout.run.ledger import Ledger, classify
from brownout.run.ledger_lines import read_ledger_lines

#: A busy machine that falls behind the shipped 800 operations a second never catches up: whatever
#: times out closes its connection, and opening another one costs more than the operation.
KEYS = 2000
GENTLY = (
    "streams.lookups.rate=60,streams.orders.rate=100,"
    f"streams.orders.ledger_keys={KEYS},data.keys={KEYS}"
)


def kill_with_writes_on_their_way(host: Host) -> None:
    """Kill a node that has not answered everything: some of what it was sent is in doubt."""
    host.pause()
    time.sleep(0.3)
    host.stop("kill")


class Running:
    """A load on a cluster. `lives` are its live events so far."""

    def __init__(
        self, cluster: Cluster, directory: Path, changes: str = GENTLY, name: str = "lab"
    ) -> None:
        self.cluster = cluster
        self.adapter: Adapter = adapter_for(cluster)
        self.directory = directory
        self.workload = workloads.load(name, changes)
        self.lives: list[Mapping[str, Any]] = []
        self._looked_at = 0
        self._came = threading.Condition()
        self.generator = Generator(directory, on_live=self._take)

    def start(self) -> None:
        """Load the data and begin; returns when operations succeed."""
        self.load()
        self.begin()

    def load(self) -> None:
        """Connect and load the data."""
        spec = self.workload.to_spec(
            directory=self.directory,
            seed=4711,
            writer=self.directory.name,
            **self.adapter.load_spec(),
        )
        self.generator.open(spec)
        self.generator.load()

    def begin(self) -> None:
        """Start the schedule; returns when operations succeed."""
        self.generator.start()
        self.until("the load is well", self.well)

    def until(self, what: str, reached: Callable[[], bool], within_s: float = 120) -> None:
        """Wait for a state that live events or the cluster show."""
        deadline = time.monotonic() + within_s
        while not reached():
            assert time.monotonic() < deadline, (
                f"not within {within_s} s: {what}; {self.lives[-1:]}"
            )
            assert self.generator.alive, f"the generator died before: {what}"
            with self._came:
                self._came.wait(0.1)
        self._looked_at = len(self.lives)

    def well(self, *streams: str) -> bool:
        """Whether all that ended in the last live event was ok, some of it in each of the streams.

        These are all streams, or those that are named.
        """
        return bool(self.lives) and _well(self.lives[-1], streams)

    def caused(self, cause: str) -> bool:
        """Whether operations failed with this cause since the last wait was over.

        A fault is seen by the cause that only it has. Operations that were late, or any that were
        not ok, would not do: a busy machine makes some in the moment before the fault.
        """
        return any(live["causes"].get(cause) for live in self.lives[self._looked_at :])

    def primary(self) -> tuple[Node, Host]:
        """The primary and its host; on a busy machine it may not answer at once."""
        (node,) = wait_until(lambda: self.adapter.targets("primary", 1), 60, despite=ClusterError)
        return node, host_for(node)

    def finish(self, copies: bool = False) -> Mapping[str, Any]:
        """Stop after a few seconds, read the ledger back; what the generator says."""
        self.until("there are whole seconds to look at", lambda: self.lives[-1]["t"] > 3)
        stopped = self.generator.stop()
        self.generator.verify(copies=copies)
        self.generator.close()
        return stopped

    def close(self) -> None:
        """End it all."""
        self.generator.close()
        self.adapter.close()

    def rows(self, name: str) -> list[dict[str, str]]:
        """The rows of one of the run's CSV files."""
        with (self.directory / name).open(newline="") as file:
            return list(csv.DictReader(file))

    def causes(self, stream: str) -> Counter[str]:
        """What was not ok in a stream, by cause."""
        found: Counter[str] = Counter()
        for row in self.rows("errors.csv"):
            if row["stream"] == stream:
                found[row["cause"]] += int(row["n"])
        return found

    def lanes(self) -> list[str]:
        """The lanes that had operations, in the order of their first."""
        return list(dict.fromkeys(r["lane"] for r in self.rows("lanes.csv") if int(r["offered"])))

    def ledger(self) -> Ledger:
        """What the ledger that was read back comes to."""
        return classify(read_ledger_lines(self.directory / "ledger.ndjson"))

    def offered_each_second(self, stream: str) -> list[int]:
        """How many operations were offered in each whole second."""
        seconds: Counter[int] = Counter()
        rows = [row for row in self.rows("series.csv") if row["stream"] == stream]
        for row in rows:
            seconds[int(float(row["t"]))] += int(row["offered"])
        return [seconds[s] for s in range(len(seconds) - 1)]

    def _take(self, event: Mapping[str, Any]) -> None:
        with self._came:
            self.lives.append(event)
            self._came.notify_all()


def _well(live: Mapping[str, Any], streams: tuple[str, ...]) -> bool:
    ok, bad = Counter[str](), 0
    for row in live["series"]:
        if not streams or row[1] in streams:
            ok[row[1]] += row[4]
            bad += sum(row[5:10])
    return bool(ok) and all(ok.values()) and bad == 0


def _runs(cluster: Cluster, directory: Path) -> Iterator[Callable[..., Running]]:
    made: list[Running] = []

    def run(changes: str = GENTLY) -> Running:
        made.append(Running(cluster, directory / f"run-{len(made)}", changes))
        made[-1].start()
        return made[-1]

    yield run
    for one in made:
        one.close()


@pytest.fixture
def running(lab_mongodb: Cluster, tmp_path: Path) -> Iterator[Callable[..., Running]]:
    """Put the lab workload, with changes, on the shared replica set; ended after the test."""
    yield from _runs(lab_mongodb, tmp_path)


@pytest.fixture
def running_aerospike(lab_aerospike: Cluster, tmp_path: Path) -> Iterator[Callable[..., Running]]:
    """Put the lab workload, with changes, on the shared stand-in; ended after the test."""
    yield from _runs(lab_aerospike, tmp_path)


@pytest.fixture
def running_cassandra(lab_cassandra: Cluster, tmp_path: Path) -> Iterator[Callable[..., Running]]:
    """Put the lab workload, with changes, on the shared Cassandra; ended after the test."""
    yield from _runs(lab_cassandra, tmp_path)


@pytest.fixture
def running_postgresql(lab_postgresql: Cluster, tmp_path: Path) -> Iterator[Callable[..., Running]]:
    """Put the lab workload, with changes, on the shared PostgreSQL; ended after the test."""
    yield from _runs(lab_postgresql, tmp_path)


@pytest.fixture
def running_etcd(lab_etcd: Cluster, tmp_path: Path) -> Iterator[Callable[..., Running]]:
    """Put the lab workload, with changes, on the shared members of etcd; ended after the test."""
    yield from _runs(lab_etcd, tmp_path)


@pytest.fixture
def running_redis(lab_redis: Cluster, tmp_path: Path) -> Iterator[Callable[..., Running]]:
    """Put the lab workload, with changes, on the shared Redis Cluster; ended after the test."""
    yield from _runs(lab_redis, tmp_path)
