"""The end of a run: the load holds or not, and the ledger is read back within a bound."""

import json
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from tests.load.conftest import Running
from tests.measure.signals import flat_level

from brownout.inventory.model import Cluster
from brownout.machine.host import host_for
from brownout.measure.baseline import Baseline
from brownout.measure.settings import MeasureSettings
from brownout.run.events import EventLog
from brownout.run.series import Series
from brownout.run.table import OUTCOME_COLUMNS, SERIES_COLUMNS, Table, frozen
from brownout.session.wind_down import await_hold, read_ledger_back


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


def _series(bad: int, missed: int = 0, seconds: int = 20) -> Series:
    """A load of 100/s of which `bad` in each bucket fail and `missed` were never sent."""

    def table(columns: tuple[str, ...]) -> Table:
        counts = {name: np.zeros((seconds * 10, 1), np.int64) for name in columns}
        counts["offered"] += 10
        counts["ok"] += 10 - bad - missed
        counts["failed"] += bad
        counts["missed"] += missed
        return Table((("app", "read"),), frozen(counts))

    return Series(table(SERIES_COLUMNS), table(OUTCOME_COLUMNS))


@pytest.mark.parametrize(
    ("series", "outcome"),
    [
        (_series(0), {"ok": True, "hold_s": 5.0}),
        (_series(2), {"ok": False, "hold_s": 5.0, "waited_s": 0.1, "failed": 100, "ours": False}),
        (
            _series(0, missed=2),
            {"ok": False, "hold_s": 5.0, "waited_s": 0.1, "failed": 0, "ours": True},
        ),
    ],
    ids=["held", "failed", "missed"],
)
def test_whether_the_load_held_is_written_down(
    series: Series, outcome: dict[str, Any], tmp_path: Path
) -> None:
    live = SimpleNamespace(snapshot=lambda: series)
    generator: Any = SimpleNamespace(now=lambda: 10.0, alive=True, live=live)
    log, baseline = EventLog(tmp_path / "events.ndjson"), Baseline(flat_level(100.0), ())
    held = await_hold(generator, baseline, MeasureSettings.lab(), 0.1, lambda: False, log)
    assert held is outcome["ok"]
    (event,) = [json.loads(line) for line in (tmp_path / "events.ndjson").read_text().splitlines()]
    assert (event["type"], event["name"]) == ("check", "load_held")
    assert {name: event[name] for name in outcome} == outcome


def test_a_wait_for_the_load_that_is_cut_short_says_nothing_of_it(tmp_path: Path) -> None:
    live = SimpleNamespace(snapshot=lambda: _series(2))
    log, baseline = EventLog(tmp_path / "events.ndjson"), Baseline(flat_level(100.0), ())
    for alive in (True, False):
        generator: Any = SimpleNamespace(now=lambda: 10.0, alive=alive, live=live)
        stopped = {alive}.__contains__
        assert not await_hold(
            generator, baseline, MeasureSettings.lab(), 60.0, partial(stopped, True), log
        )
    assert not (tmp_path / "events.ndjson").exists()
