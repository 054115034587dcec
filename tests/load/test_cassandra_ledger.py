"""The ledger on Cassandra: it finds what one replica acknowledged alone and lost, nothing else.

    n1   backup ── acknowledges ── dies ── put back from the backup ──▶
    n2   ───────── away, or acknowledges too ──────────────────────────▶
    n3   ───────── away ───────────────────────────── back ────────────▶

At ONE n1 acknowledges writes without the others, and their hints die with its data. At QUORUM it
acknowledges only what n2 has as well, and nothing while that one is away too.

The later time decides which of two writes wins. Writes that got it from n1, whose clock is ahead,
win over what the others acknowledge once n1 is gone, unless the client gives the times.
"""

import shutil
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest
from tests.own_lab import own_lab
from tests.waiting import await_true

from brownout.databases.start import start
from brownout.inventory.model import Cluster, Node
from brownout.machine import clock
from brownout.machine.host import host_for

from .conftest import Running

pytestmark = [pytest.mark.matrix, pytest.mark.quiet, pytest.mark.timeout(2400)]

GENTLY = "streams.lookups.rate=20,streams.orders.rate=60,streams.orders.ledger_keys=1000"
GENTLY += ",data.keys=300,options.cassandra.consistency="
_WHOLE_S = 600
#: Columns of a row of a live event.
OK, NOT_OK = slice(4, 5), slice(5, 10)


def start_again(load: Running, nodes: Iterable[Node]) -> None:
    for node in nodes:
        start(node, host_for(node), load.adapter, emptied=False)
    await_true(lambda: load.adapter.stable("whole").reached, "the cluster is whole", _WHOLE_S)
    load.until("the load is well again", load.well)


def data_of(node: Node) -> Path:
    assert node.host is not None
    assert node.host.config_file is not None
    return node.host.config_file.parent / "data"


def await_orders(load: Running, wanted: int, columns: slice) -> None:
    """Wait until so many more orders ended so."""

    def ended() -> int:
        rows = [row for live in load.lives for row in live["series"] if row[1] == "orders"]
        return sum(sum(row[columns]) for row in rows)

    before = ended()
    load.until(f"{wanted} more orders ended", lambda: ended() >= before + wanted)


@pytest.mark.parametrize(
    ("consistency", "away", "acknowledges"),
    [("ONE", 2, True), ("QUORUM", 2, False), ("QUORUM", 1, True)],
)
def test_a_node_put_back_from_a_backup_has_lost_what_it_alone_acknowledged_since(
    consistency: str,
    away: int,
    acknowledges: bool,
    running_cassandra: Callable[..., Running],
    tmp_path: Path,
) -> None:
    load = running_cassandra(GENTLY + consistency)
    node, *others = load.cluster.nodes
    host_for(node).stop("clean")
    shutil.copytree(data_of(node), tmp_path / "backup")
    start_again(load, [node])
    absent = others[-away:]
    for other in absent:
        host_for(other).stop("clean")  # a node that is killed may lose its last tenth of a second
    await_orders(load, 200, OK if acknowledges else NOT_OK)
    host_for(node).stop("kill")
    shutil.rmtree(data_of(node))
    shutil.copytree(tmp_path / "backup", data_of(node))
    start_again(load, [*absent, node])
    load.finish()
    ledger = load.ledger()
    print(ledger)  # `pytest -rP` shows it
    assert ledger.acknowledged > 200 * acknowledges
    assert ledger.unread == 0
    if consistency == "ONE":
        assert ledger.state == "lost"
        assert ledger.lost > 100
    else:
        assert ledger.state == "clean"


@pytest.fixture
def clocked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Cluster]:
    if reason := clock.why_not_here():
        pytest.skip(f"NOT TESTED: own clocks: {reason}")
    with own_lab("lab-cassandra-clock", tmp_path / "lab", monkeypatch) as own:
        yield own


@pytest.mark.parametrize("timestamps", ["server", "client"])
def test_what_follows_the_writes_of_a_node_whose_clock_was_ahead_is_lost_with_the_servers_times(
    timestamps: str, clocked: Cluster, tmp_path: Path
) -> None:
    directory = tmp_path / "load"
    directory.mkdir()
    changes = f"{GENTLY}QUORUM,options.cassandra.timestamps={timestamps}"
    load = Running(clocked, directory, changes)
    try:
        load.start()
        ahead = clocked.nodes[0]
        clock.skew(ahead, host_for(ahead), 1200, 0, 900)
        await_orders(load, 200, OK)
        host_for(ahead).stop("kill")
        await_orders(load, 200, OK)
        start_again(load, [ahead])
        load.finish()
        ledger = load.ledger()
    finally:
        load.close()
    print(ledger)
    assert ledger.unread == 0
    if timestamps == "server":
        assert ledger.state == "lost"
        assert ledger.lost > 20
    else:
        assert ledger.state == "clean"
