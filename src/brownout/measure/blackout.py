"""Time in which nothing at all was served although something was wanted.

It is seen in two ways, and dark is what either sees. By intended start: an unbroken row of
operations that did not succeed, from the first of them to the first that did; this holds at any
rate. By completion: no success comes in while so many are to be expected; this also sees that
everybody waits though all succeed in the end, and is all that can be told from `ok` alone.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from brownout.measure.data import RunData
from brownout.measure.level import Level
from brownout.measure.settings import MeasureSettings
from brownout.measure.signal import Counts, Signal, bucket_range, runs
from brownout.measure.view import View
from brownout.run.lanes import Lane
from brownout.run.table import BUCKETS_PER_S

__all__ = [
    "Blackout",
    "blackout_of",
    "blackouts_by_lane",
    "left_after",
    "partial_outage",
    "rate_of",
]

#: Of random arrivals, none comes while so many are expected once in three million times.
_LEFT_OPERATIONS = 15
#: From and to, in buckets; parts of buckets count in part.
Stretch = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Blackout:
    """Seconds without a single `ok`: all together, the longest stretch, and from when to when that
    was, in seconds since t0 (None without one).

    `resolution` is the time between two operations: a stretch may begin or end so much later.
    """

    total: float
    longest: float
    longest_at: tuple[float, float] | None
    resolution: float


def blackout_of(
    signal: Signal, level: Level, start: float, end: float, settings: MeasureSettings
) -> Blackout | None:
    """Return the blackout of a scope from `start` to `end`; None without a baseline."""
    if not level.tps:
        return None
    here = bucket_range(start, end, len(signal.ok))
    wanted = (signal.offered[here] > 0) | (signal.pending[here] > 0)
    born = bucket_range(start, end, len(signal.born))
    # In open loop a bucket is held against what it was offered: its rate may not be that of B.
    usual = signal.offered[here] if signal.open_loop else level.tps / BUCKETS_PER_S
    stretches = _joined(
        [
            *_silent(signal.ok[here], wanted, usual, level.tps, settings),
            *_unserved(signal.born[born], signal.served[born]),
        ]
    )
    lengths = [(last - first) / BUCKETS_PER_S for first, last in stretches]
    longest = max(stretches, key=lambda stretch: stretch[1] - stretch[0], default=None)
    return Blackout(
        total=sum(lengths),
        longest=max(lengths, default=0.0),
        longest_at=None if longest is None else _seconds(here.start, longest),
        resolution=1 / (level.offered or level.tps),
    )


def blackouts_by_lane(
    lanes: Mapping[str, Lane],
    baseline: tuple[float, float],
    episode: tuple[float, float],
    settings: MeasureSettings,
) -> Mapping[str, float]:
    """Return the longest blackout of each lane that had a level in the baseline, in seconds.

    A lane that came up later, such as a new primary, has nothing to be expected of it.
    """
    stretches = _dark_lanes(lanes, baseline, episode, settings)
    return {name: _longest(dark) for name, dark in stretches.items()}


def partial_outage(view: View, data: RunData) -> float | None:
    """Return the longest time in which one lane served nothing while others did, in seconds.

    None with fewer than two lanes, as for votes that all go to one HTTP server. A cluster of which
    a third is down has no blackout. The others are judged together as one lane is: a moment in
    which nothing succeeds does not yet make them silent.
    """
    if len(data.lanes) < 2:
        return None
    baseline, episode = (view.level.start, view.level.end), (view.start, view.end)
    dark = _dark_lanes(data.lanes, baseline, episode, data.settings)
    if not dark:
        return None
    parts = list[Stretch]()
    for name, stretches in dark.items():
        others = _together([lane for other, lane in data.lanes.items() if other != name])
        ok = others["ok"][bucket_range(*episode, len(others["ok"]))]
        rate = rate_of(others["ok"], *baseline)
        # Nothing comes to lanes that had no part before, or while every worker waits for this one.
        always = not rate or not view.signal.open_loop
        rate = rate or rate_of(data.lanes[name]["ok"], *baseline)
        silent = _silent_lane(others, episode, rate, data.settings, always=always)
        for stretch in stretches:
            beside = (
                (first, last)
                for first, last in _without(stretch, silent, len(ok))
                if ok[math.ceil(first) : int(last)].any()  # in a whole bucket
            )
            parts += _joined(beside, data.settings.dip_gap_s * BUCKETS_PER_S)
    return _longest(parts)


def rate_of(counts: Counts, start: float, end: float) -> float:
    """Return how many there were a second from `start` to `end`; 0 where nothing is known."""
    here = counts[bucket_range(start, end, len(counts))]
    return float(here.mean()) * BUCKETS_PER_S if len(here) else 0.0


def left_after(rate: float, settings: MeasureSettings) -> int:
    """Return after how many buckets without an operation the driver has left a lane of `rate`.

    So many that, at the lane's rate a second before the fault, none coming is no chance.
    """
    expected = _LEFT_OPERATIONS * BUCKETS_PER_S / rate if rate else 0.0
    return max(round(settings.dip_gap_s * BUCKETS_PER_S), math.ceil(expected - 1e-9))


def _together(lanes: Sequence[Lane]) -> Lane:
    """Return the sums of what the measures ask of lanes."""
    length = max((len(lane["ok"]) for lane in lanes), default=0)
    sums = {name: np.zeros(length, np.int64) for name in ("offered", "ok", "pending")}
    for lane in lanes:
        for name, counts in sums.items():
            counts[: len(lane[name])] += lane[name]
    return sums


def _without(stretch: Stretch, silent: Iterable[Stretch], known: int) -> Iterable[Stretch]:
    """Yield the parts of a stretch before bucket `known` that are in none of the silent ones."""
    begin = stretch[0]
    for first, last in (*silent, (float(known), math.inf)):
        end = min(first, stretch[1])
        if begin < end:
            yield begin, end
        begin = max(begin, last)


def _dark_lanes(
    lanes: Mapping[str, Lane],
    baseline: tuple[float, float],
    episode: tuple[float, float],
    settings: MeasureSettings,
) -> dict[str, list[Stretch]]:
    """Return the stretches in which each lane with a level in the baseline served nothing."""
    found = {}
    for name, lane in sorted(lanes.items()):
        rate, during = rate_of(lane["ok"], *baseline), bucket_range(*episode, len(lane["ok"]))
        if rate and during.stop > during.start:
            found[name] = _silent_lane(lane, episode, rate, settings)
    return found


def _silent_lane(
    lane: Lane,
    episode: tuple[float, float],
    rate: float,
    settings: MeasureSettings,
    *,
    always: bool = False,
) -> list[Stretch]:
    """Return the stretches of an episode in which a lane served nothing.

    It counts where something was wanted of the lane, or `always`. Once the driver has left the
    lane, nothing is.
    """
    here = bucket_range(*episode, len(lane["ok"]))
    wanted = (lane["offered"][here] > 0) | (lane["pending"][here] > 0) | always
    ok = lane["ok"][here].astype(np.float64)
    for first, end in runs(~wanted):
        if end - first > left_after(rate, settings):
            ok[first:end], wanted[first:end] = rate / BUCKETS_PER_S, True  # as good as served
    return _silent(ok, wanted, rate / BUCKETS_PER_S, rate, settings)


def _longest(stretches: Iterable[Stretch]) -> float:
    return max(((last - first) / BUCKETS_PER_S for first, last in stretches), default=0.0)


def _seconds(since: int, stretch: Stretch) -> tuple[float, float]:
    """Return when a stretch that is counted from bucket `since` began and ended, since t0."""
    return ((since + stretch[0]) / BUCKETS_PER_S, (since + stretch[1]) / BUCKETS_PER_S)


def _silent(
    ok: Counts,
    wanted: npt.NDArray[np.bool_],
    usual: Counts | float,
    tps: float,
    settings: MeasureSettings,
) -> list[Stretch]:
    """Return the stretches in which `blackout_operations` or more were to be expected and none
    came in; the part by which the buckets beside them served less than `usual` is dark, too."""
    share = np.clip(1.0 - ok / np.maximum(usual, 1e-9), 0.0, 1.0) * wanted
    return [
        (first, last)
        for first, last, whole in _dark(wanted | (ok > 1e-9), ok < 1e-9, share)
        if tps * whole / BUCKETS_PER_S >= settings.blackout_operations - 1e-6
    ]


def _unserved(born: Counts, served: Counts) -> list[Stretch]:
    """Return the rows of operations that did not succeed, from intended start to intended start."""
    any_born = born > 1e-9
    share = 1.0 - np.divide(served, born, out=np.ones(len(born)), where=any_born)
    return [(first, last) for first, last, _ in _dark(any_born, served < 1e-9, share)]


def _dark(
    counted: npt.NDArray[np.bool_], dark: npt.NDArray[np.bool_], share: npt.NDArray[np.float64]
) -> Iterable[tuple[float, float, int]]:
    """Yield each unbroken row of dark buckets among those that are counted, as (from, to, whole
    buckets); of the buckets beside it `share` is dark, which counts for one row only."""
    places = np.flatnonzero(counted)
    lit = -1
    for first, end in runs(dark[places]):
        begin = int(places[first])
        last = int(places[end]) if end < len(places) else int(places[end - 1]) + 1
        whole = last - begin
        before = float(share[places[first - 1]]) if first > 0 and places[first - 1] != lit else 0.0
        after = float(share[last]) if end < len(places) else 0.0
        since = int(places[first - 1]) + 1 if before else begin
        yield since - before, last + after, whole
        lit = last


def _joined(stretches: Iterable[Stretch], gap: float = 0.0) -> list[Stretch]:
    """Join stretches that overlap, touch, or are at most `gap` apart."""
    joined: list[Stretch] = []
    for first, last in sorted(stretches):
        if joined and first <= joined[-1][1] + gap + 1e-9:
            joined[-1] = (joined[-1][0], max(last, joined[-1][1]))
        else:
            joined.append((first, last))
    return joined
