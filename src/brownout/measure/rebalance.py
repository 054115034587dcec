"""What a planned change of the cluster cost: time, records and bytes moved, throughput meanwhile.

Times are from the change's effect. What is not known is None, never 0.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from brownout.measure.bootstrap import Interval
from brownout.measure.level import Level, ok_between
from brownout.measure.settings import MeasureSettings
from brownout.measure.signal import Signal, bucket_range, trailing_rate
from brownout.run.balance import Balance, Holding

__all__ = ["Rebalance", "Span", "rebalance_of"]

#: A mean of throughput is taken over no less: what is shorter was over before it could be felt.
_LEAST_S = 1.0


class Span(NamedTuple):
    """An episode's effect, when redundancy was back (None: never), its end, and the load's."""

    effective: float
    redundant: float | None
    end: float
    until: float


@dataclass(frozen=True, slots=True)
class Rebalance:
    """`rebalance_time` is [last look with something left to move, first one without], in s.

    `records_moved` and `bytes_moved`: what nodes hold at its end that they did not hold before;
    where the database counts what rebalancing brought, records are those (`records_counted`).
    `throughput_while_moving` is mean T from the effect until redundancy was back ÷ B, and over a
    second at least. `capacity_ratio` is median T after the episode ÷ B, in closed loop only: in
    open loop throughput is what is offered.
    """

    rebalance_time: Interval | None = None
    records_moved: int | None = None
    records_counted: bool = False
    bytes_moved: int | None = None
    records_moved_per_s: float | None = None
    bytes_moved_per_s: float | None = None
    throughput_while_moving: float | None = None
    capacity_ratio: float | None = None


def rebalance_of(
    looks: Sequence[Balance],
    signal: Signal,
    level: Level,
    span: Span,
    settings: MeasureSettings,
) -> Rebalance:
    """Return the measures of an episode; `looks` is what the nodes said, for the whole run.

    All is None for a run without such looks: nothing was to be moved in it.
    """
    if not looks:
        return Rebalance()
    effective = span.effective
    capacity = None if signal.open_loop else _capacity(signal, level, span, settings)
    served = _meanwhile(signal, level, span)
    before = [look for look in looks if look.t < effective]
    after = [look for look in looks if effective <= look.t < span.until]
    if not before or not after:
        return Rebalance(throughput_while_moving=served, capacity_ratio=capacity)
    time = _time(after, effective)
    last = next((look for look in after if time and look.t >= effective + time[1]), after[-1])
    counted = _received([before[-1], *(look for look in after if look.t <= last.t)])
    held = _gained(before[-1].nodes, last.nodes)
    records = held[0] if counted is None else counted
    seconds = time[1] if time and time[1] > 0 else None
    return Rebalance(
        rebalance_time=time,
        records_moved=records,
        records_counted=counted is not None,
        bytes_moved=held[1],
        records_moved_per_s=records / seconds if seconds else None,
        bytes_moved_per_s=held[1] / seconds if seconds else None,
        throughput_while_moving=served,
        capacity_ratio=capacity,
    )


def _time(after: Sequence[Balance], effective: float) -> Interval | None:
    """Return when the last thing was moved; None if unknown or not over at the end."""
    left = [(look.t, _left(look)) for look in after]
    moving = [t for t, count in left if count]
    if not moving:
        return None
    done = [t for t, count in left if count == 0 and t > moving[-1]]
    return (moving[-1] - effective, done[0] - effective) if done else None


def _left(look: Balance) -> int | None:
    """Return what is left to move; None where no node told."""
    counts = [held.to_move for held in look.nodes.values() if held.to_move is not None]
    return sum(counts) if counts else None


def _gained(before: Mapping[str, Holding], after: Mapping[str, Holding]) -> tuple[int, int]:
    """Return how many records and bytes nodes hold that they did not hold before."""
    pairs = [(before.get(name, Holding(0, 0)), now) for name, now in after.items()]
    records = sum(max(0, now.records - then.records) for then, now in pairs)
    return records, sum(max(0, now.bytes - then.bytes) for then, now in pairs)


def _received(looks: Sequence[Balance]) -> int | None:
    """Add up what nodes counted as brought to them; a counter that fell began anew at 0."""
    counts: dict[str, list[int]] = {}
    for look in looks:
        for name, held in look.nodes.items():
            if held.received is None:
                return None
            counts.setdefault(name, []).append(held.received)
    first = looks[0].nodes
    total = 0
    for name, seen in counts.items():
        from_there = seen if name in first else [0, *seen]
        steps = pairwise(from_there)
        total += sum(now - then if now >= then else now for then, now in steps)
    return total


def _meanwhile(signal: Signal, level: Level, span: Span) -> float | None:
    """Return mean T while the cluster was not redundant ÷ B; None where it was never again."""
    if span.redundant is None or not level.tps:
        return None
    end = max(span.redundant, span.effective + _LEAST_S)
    return ok_between(signal.ok, span.effective, end) / (end - span.effective) / level.tps


def _capacity(signal: Signal, level: Level, span: Span, settings: MeasureSettings) -> float | None:
    """Return median T over the hold, with which the episode ends, and what comes after it ÷ B."""
    first = max(0.0, span.end - settings.hold_s + 1.0)
    here = bucket_range(first, span.until, len(signal.ok))
    rates = trailing_rate(signal.ok)[here]
    numbers = rates[~np.isnan(rates)]
    return float(np.median(numbers)) / level.tps if len(numbers) and level.tps else None
