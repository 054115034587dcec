"""A long load interval by interval: throughput, percentiles, and how large the data set is.

Made from the raw files of a run or of a `brownout load`. What was not measured is None.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from brownout.run.balance import Balance, read_balance
from brownout.run.load import read_load
from brownout.run.table import BUCKETS_PER_S

__all__ = ["Interval", "intervals"]


@dataclass(frozen=True, slots=True)
class Interval:
    """What happened from `start` to `end` seconds: ok a second, response times of what was ok.

    `records` and `bytes` are what all nodes together said that they hold, copies included, when
    they last said so in the interval; None where a node did not.
    """

    start: float
    end: float
    tps: float
    p50_us: int | None
    p99_us: int | None
    p999_us: int | None
    records: int | None
    bytes: int | None


def intervals(directory: Path, every_s: float, start: float = 0.0) -> list[Interval]:
    """Return the whole intervals of a load, from `start` on; a shorter rest is left out."""
    load = read_load(directory)
    log, done = load.latency, load.series.completion
    ok = done.total("total", "ok")
    looks = read_balance(directory / "balance.csv")
    rows, number = [], 0
    while (end := start + (number + 1) * every_s) <= done.end + 1e-6:
        begin = start + number * every_s
        served = ok[round(begin * BUCKETS_PER_S) : round(end * BUCKETS_PER_S)].sum()
        times = log.between(log.tags, begin, end)
        p50, p99, p999 = (times.percentile_us(r) if times else None for r in (0.5, 0.99, 0.999))
        records, size = _held([look for look in looks if begin <= look.t < end], looks)
        rows.append(Interval(begin, end, float(served) / every_s, p50, p99, p999, records, size))
        number += 1
    return rows


def _held(here: Sequence[Balance], looks: Sequence[Balance]) -> tuple[int | None, int | None]:
    """Return what all nodes held at the last look at which none was missing."""
    nodes = {name for look in looks for name in look.nodes}
    whole = [look for look in here if set(look.nodes) == nodes]
    if not whole:
        return None, None
    last = whole[-1].nodes.values()
    return sum(held.records for held in last), sum(held.bytes for held in last)
