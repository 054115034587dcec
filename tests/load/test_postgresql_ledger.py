"""The ledger on PostgreSQL: it finds what a lagging replica lacks that was promoted, nothing else.

The primary's senders of WAL are frozen, so that its replicas get nothing more, and then it dies.
What it has acknowledged meanwhile is lost, unless commits wait for a replica.
"""

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.own_lab import own_lab
from tests.waiting import await_true

from brownout.inventory.model import Cluster, Node, ProcessSpec
from brownout.machine import server_directory
from brownout.machine.commands import LocalRunner
from brownout.machine.host import host_for

from .conftest import Running

pytestmark = [pytest.mark.matrix, pytest.mark.quiet, pytest.mark.timeout(600)]

GENTLY = "streams.lookups.rate=5,streams.orders.rate=20,streams.orders.ledger_keys=2000"
GENTLY += ",data.keys=500"


@pytest.fixture
def lab_sync(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Cluster]:
    """A lab whose commits wait for a replica, for one test."""
    with own_lab("lab-postgresql-sync", tmp_path / "lab", monkeypatch) as own:
        yield own


def primary_of(load: Running) -> Node:
    (node,) = load.adapter.targets("primary", 1)
    return node


def stop_sending(node: Node) -> int:
    """Freeze the processes by which the node's server sends its WAL; return how many."""
    assert isinstance(node.host, ProcessSpec)
    assert node.host.server_directory is not None
    frozen = 0
    for pid in server_directory.pids(LocalRunner(), node.host.server_directory):
        if b"walsender" in Path(f"/proc/{pid}/cmdline").read_bytes():
            os.kill(pid, signal.SIGSTOP)
            frozen += 1
    return frozen


def fail_over_unreplicated(load: Running) -> None:
    """Have the replicas get nothing for three seconds of load, then lose the primary."""
    old = primary_of(load)
    assert stop_sending(old) == 2
    began = load.lives[-1]["t"]
    load.until("the load went on", lambda: load.lives[-1]["t"] > began + 3)
    host_for(old).stop("kill")
    await_true(lambda: not load.adapter.would_lose([old]), "another one is promoted")
    host_for(old).start()
    await_true(lambda: load.adapter.stable("whole").reached, "the cluster is whole")
    load.until("the load is well again", load.well)
    load.finish()


def test_what_an_asynchronous_primary_alone_had_is_found_lost(
    running_postgresql: Callable[..., Running],
) -> None:
    load = running_postgresql(GENTLY)
    fail_over_unreplicated(load)
    ledger = load.ledger()
    assert ledger.state == "lost"
    assert ledger.lost > 10


def test_without_a_lag_nothing_is_found_lost(running_postgresql: Callable[..., Running]) -> None:
    load = running_postgresql(GENTLY)
    old = primary_of(load)
    load.adapter.drain(old)
    await_true(lambda: load.adapter.stable("whole").reached, "the cluster is whole")
    load.until("the load is well again", load.well)
    load.finish()
    assert load.ledger().state == "clean"
    assert load.ledger().acknowledged > 0


def test_where_commits_wait_for_a_replica_nothing_is_found_lost(
    lab_sync: Cluster, tmp_path: Path
) -> None:
    load = Running(lab_sync, tmp_path / "run", GENTLY)
    try:
        load.start()
        fail_over_unreplicated(load)
        assert load.ledger().state == "clean"
        assert load.ledger().acknowledged > 0
    finally:
        load.close()
