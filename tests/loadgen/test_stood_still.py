"""A generator that stands still says so, whatever its loop: the database did nothing then."""

import os
import signal
import time
from collections.abc import Mapping
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from tests.loadgen.driving import check_identities, rows, running, stream

#: Nothing is wrong with this server.
SOUND: Mapping[str, Any] = {"latency_ms": 10}
STALL_S = 1.5


def stopped_in(directory: Path, *streams: Mapping[str, Any], times: int = 1) -> Path:
    """Run a load for some seconds, stand it still in the middle of it, and return its directory."""
    with running(directory, SOUND, *streams) as (load, _, run):
        load.until(2.0)
        for _ in range(times):
            os.kill(load.process.pid, signal.SIGSTOP)
            time.sleep(STALL_S)
            os.kill(load.process.pid, signal.SIGCONT)
            time.sleep(1.0)
        load.until(3.0 + times * (STALL_S + 1.0))
        load.ask("stop", "stopped")
        assert load.finish() == 0
    return run


def missed_s(run: Path, stream: str, stalls: int = 1) -> float:
    """Return what a stream missed as seconds of what it does in one otherwise."""
    series = [row for row in rows(run / "series.csv") if row["stream"] == stream]
    buckets = sorted({row.t for row in series})
    served = sum(row.n("ok") for row in series)
    missed = sum(row.n("missed") for row in series)
    return missed * (len(buckets) / 10 - stalls * STALL_S) / served


def longest_gap_s(run: Path) -> float:
    """Return for how long more was missed than served, at a stretch.

    A busy machine may keep the generator waiting at other times too, which is missed as well.
    """
    dark = {round(10 * r.t) for r in rows(run / "outcomes.csv") if r.n("missed") > r.n("ok")}
    begins = [bucket for bucket in dark if bucket - 1 not in dark]
    lengths = [next(n for n in count(1) if begin + n not in dark) for begin in begins]
    return max(lengths, default=0) / 10


def test_a_closed_loop_misses_what_it_usually_does_while_its_generator_stands_still(
    tmp_path: Path,
) -> None:
    run = stopped_in(tmp_path, stream(rate=0, concurrency=2))
    check_identities(run)
    assert missed_s(run, "app") == pytest.approx(STALL_S, abs=0.3)
    assert max(float(row["lag_max_ms"]) for row in rows(run / "generator.csv")) > 1000 * (
        STALL_S - 0.1
    )
    assert longest_gap_s(run) == pytest.approx(STALL_S, abs=0.4)


@pytest.mark.matrix
def test_both_loops_of_a_mixed_load_miss_the_same_time_and_each_stall_counts(
    tmp_path: Path,
) -> None:
    closed, opened = stream("closed", rate=0, concurrency=2), stream("open", rate=200)
    run = stopped_in(tmp_path, closed, opened, times=3)
    check_identities(run)
    for name in ("closed", "open"):
        assert missed_s(run, name, 3) == pytest.approx(3 * STALL_S, abs=0.9)


@pytest.mark.matrix
def test_a_database_that_stands_still_for_as_long_makes_no_closed_loop_miss_anything(
    tmp_path: Path,
) -> None:
    frozen = {"latency_ms": 10, "effects": [{"at": 2, "for": STALL_S, "effect": "freeze"}]}
    with running(tmp_path, frozen, stream(rate=0, concurrency=2)) as (load, _, run):
        load.until(5.0)
        load.ask("stop", "stopped")
        assert load.finish() == 0
    check_identities(run)
    late_s = max(float(row["lag_max_ms"]) for row in rows(run / "generator.csv")) / 1000
    assert missed_s(run, "app", 0) < max(0.01, 5 * late_s)
