"""Outages of a single lane, which is a server or a shard: its reads and its writes apart."""

import math
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from brownout.measure.blackout import Stretch, joined, silences
from brownout.measure.data import RunData
from brownout.measure.settings import MeasureSettings
from brownout.measure.signal import Counts, bucket_range, runs
from brownout.measure.view import View
from brownout.run.lanes import Lane, LaneKey
from brownout.run.table import BUCKETS_PER_S

__all__ = [
    "any_bad",
    "blackouts_by_lane",
    "left_after",
    "partial_outage",
    "rate_of",
    "worst_partial_outage",
]

#: Of random arrivals, none comes while so many are expected once in three million times.
_LEFT_OPERATIONS = 15
Lanes = Mapping[LaneKey, Lane]


def blackouts_by_lane(
    lanes: Lanes,
    baseline: tuple[float, float],
    episode: tuple[float, float],
    settings: MeasureSettings,
    *,
    open_loop: bool,
) -> Mapping[LaneKey, float]:
    """Return the longest blackout of each lane that had a level in the baseline, in seconds.

    A lane that came up later, such as a new primary, has nothing to be expected of it.
    """
    stretches = _dark_lanes(lanes, baseline, episode, settings, open_loop=open_loop)
    return {key: _longest(dark) for key, dark in stretches.items()}


def partial_outage(view: View, data: RunData) -> float | None:
    """Return the longest time in which one lane served nothing while others did, in seconds.

    None with fewer than two lanes, as for votes that all go to one HTTP server. A cluster of which
    a third is down has no blackout.
    """
    worst = worst_partial_outage(view, data)
    return None if worst is None else worst[1]


def worst_partial_outage(view: View, data: RunData) -> tuple[LaneKey, float] | None:
    """Return the lane with the longest partial outage, and its length in seconds.

    A lane's writes are held against the writes of the others, and its reads against their reads.
    The others are judged together as one lane is: a moment in which nothing succeeds does not yet
    make them silent.
    """
    outages = dict[LaneKey, float]()
    for op in sorted({key.op for key in data.lanes}):
        outages |= _partial_outages({k: lane for k, lane in data.lanes.items() if k.op == op}, view)
    return max(outages.items(), key=lambda item: item[1], default=None)


def _partial_outages(lanes: Lanes, view: View) -> dict[LaneKey, float]:
    """Return the longest partial outage of each of several lanes; none with fewer than two."""
    if len(lanes) < 2:
        return {}
    settings, open_loop = view.settings, view.signal.open_loop
    baseline, episode = (view.level.start, view.level.end), (view.start, view.end)
    dark = _dark_lanes(lanes, baseline, episode, settings, open_loop=open_loop)
    outages = {}
    for name, stretches in dark.items():
        others = _together([lane for other, lane in lanes.items() if other != name])
        ok = others["ok"][bucket_range(*episode, len(others["ok"]))]
        rate = rate_of(others["ok"], *baseline)
        # Nothing comes to lanes that had no part before, or while every worker waits for this one.
        always = not rate or not open_loop
        rate = rate or rate_of(lanes[name]["ok"], *baseline)
        silent = _silent(others, episode, rate, settings, open_loop=open_loop, always=always)
        parts = list[Stretch]()
        for stretch in stretches:
            beside = (
                (first, last)
                for first, last in _without(stretch, silent, len(ok))
                if ok[math.ceil(first) : int(last)].any()  # in a whole bucket
            )
            parts += joined(beside, settings.dip_gap_s * BUCKETS_PER_S)
        outages[name] = _longest(parts)
    return outages


def rate_of(counts: Counts, start: float, end: float) -> float:
    """Return how many there were a second from `start` to `end`; 0 where nothing is known."""
    here = counts[bucket_range(start, end, len(counts))]
    return float(here.mean()) * BUCKETS_PER_S if len(here) else 0.0


def left_after(rate: float, settings: MeasureSettings) -> int:
    """Return after how many buckets without an operation the driver has left a lane of `rate`.

    Enough that, at the lane's rate before the fault, an empty row cannot be chance.
    """
    expected = _LEFT_OPERATIONS * BUCKETS_PER_S / rate if rate else 0.0
    return max(round(settings.dip_gap_s * BUCKETS_PER_S), math.ceil(expected - 1e-9))


def any_bad(bad: Counts, first: int, end: int) -> bool:
    """Whether anything that was wanted in the buckets [first, end) was not served in time.

    What was late ended with the first success after them.
    """
    return bool(bad[first : end + 1].any())


def _together(lanes: Sequence[Lane]) -> Lane:
    """Return the sums of what the measures ask of lanes."""
    length = max((len(lane["ok"]) for lane in lanes), default=0)
    sums = {name: np.zeros(length, np.int64) for name in ("offered", "ok", "bad", "pending")}
    for lane in lanes:
        for name, counts in sums.items():
            counts[: len(lane[name])] += lane[name]
    return sums


def _without(stretch: Stretch, silent: Iterable[Stretch], end_bucket: int) -> Iterable[Stretch]:
    """Yield the parts of a stretch before `end_bucket` that are in none of the silent ones."""
    begin = stretch[0]
    for first, last in (*silent, (float(end_bucket), math.inf)):
        end = min(first, stretch[1])
        if begin < end:
            yield begin, end
        begin = max(begin, last)


def _dark_lanes(
    lanes: Lanes,
    baseline: tuple[float, float],
    episode: tuple[float, float],
    settings: MeasureSettings,
    *,
    open_loop: bool,
) -> dict[LaneKey, list[Stretch]]:
    """Return the stretches in which each lane with a level in the baseline served nothing.

    Where all was served in time in the end, the lane stalled and was not out.
    """
    dark = {}
    for key, lane in sorted(lanes.items()):
        rate, during = rate_of(lane["ok"], *baseline), bucket_range(*episode, len(lane["ok"]))
        if rate and during.stop > during.start:
            bad = lane["bad"][during]
            dark[key] = [
                (first, last)
                for first, last in _silent(lane, episode, rate, settings, open_loop=open_loop)
                if any_bad(bad, int(first), math.ceil(last))
            ]
    return dark


def _silent(
    lane: Lane,
    episode: tuple[float, float],
    rate: float,
    settings: MeasureSettings,
    *,
    open_loop: bool,
    always: bool = False,
) -> list[Stretch]:
    """Return the stretches of an episode in which a lane served nothing.

    It counts where something was wanted of the lane, or `always`. Once the driver has left the
    lane, nothing is: in open loop what still waits there hides nothing that comes.
    """
    here = bucket_range(*episode, len(lane["ok"]))
    wanted = (lane["offered"][here] > 0) | (lane["pending"][here] > 0) | always
    came = (lane["offered"][here] > 0) | always if open_loop else wanted
    ok = lane["ok"][here].astype(np.float64)
    for first, end in runs(~came):
        if end - first > left_after(rate, settings):
            ok[first:end], wanted[first:end] = rate / BUCKETS_PER_S, True  # as good as served
    return silences(ok, wanted, rate / BUCKETS_PER_S, rate, settings)


def _longest(stretches: Iterable[Stretch]) -> float:
    return max(((last - first) / BUCKETS_PER_S for first, last in stretches), default=0.0)
