"""Reading the ledger back: with a bound, and until somebody is in a hurry."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.load.conftest import Running

from brownout.inventory.model import Cluster
from brownout.machine.host import host_for
from brownout.run.events import EventLog
from brownout.session.ending import read_ledger_back


@pytest.fixture
def load(lab_etcd: Cluster, tmp_path: Path) -> Iterator[Running]:
    """A load that is over, on a cluster whose every member hangs."""
    running = Running(lab_etcd, tmp_path / "run")
    hosts = [host_for(node) for node in lab_etcd.nodes]
    try:
        running.load()
        running.generator.start()
        running.generator.stop()
        for host in hosts:
            host.pause()
        yield running
    finally:
        for host in hosts:
            host.resume()
        running.close()


@pytest.mark.parametrize(
    ("limit_s", "told", "why"),
    [(1.0, lambda: False, "it took longer than 1 s"), (None, lambda: True, "it was told to end")],
    ids=["bounded", "told"],
)
def test_a_ledger_that_nobody_answers_for_is_given_up(
    limit_s: float | None, told: Callable[[], bool], why: str, load: Running, tmp_path: Path
) -> None:
    log, began = EventLog(tmp_path / "events.ndjson"), time.monotonic()
    problem = read_ledger_back(load.generator, load.adapter, log, lambda _: None, limit_s, told)
    assert problem is not None
    assert why in problem
    load.generator.close()
    assert time.monotonic() - began < 30, "a member that hangs is asked for minutes"
    assert not (load.directory / "ledger.ndjson").read_text().rstrip().endswith('"end":true}')
