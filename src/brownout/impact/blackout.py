"""Time in which nothing at all was served although something was wanted."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from brownout.impact.level import Level
from brownout.impact.settings import MeasureSettings
from brownout.impact.signal import Counts, Signal, bucket_range, runs
from brownout.run.lanes import Lane
from brownout.run.table import BUCKETS_PER_S

__all__ = ["Blackout", "blackout_of", "blackouts_by_lane"]


@dataclass(frozen=True, slots=True)
class Blackout:
    """Seconds without a single `ok`: all together, and the longest stretch."""

    total: float
    longest: float


def blackout_of(
    signal: Signal, level: Level, start: float, end: float, settings: MeasureSettings
) -> Blackout | None:
    """Return the blackout of a scope from `start` to `end`; None without a baseline.

    A stretch counts if at least `blackout_operations` ok were to be expected in it: at a few
    operations a second an empty bucket is nothing unusual.
    """
    if not level.tps:
        return None
    here = bucket_range(start, end, len(signal.ok))
    wanted = (signal.offered[here] > 0) | (signal.pending[here] > 0)
    return _measure(signal.ok[here], wanted, level.tps, settings)


def blackouts_by_lane(
    lanes: Mapping[str, Lane],
    baseline: tuple[float, float],
    episode: tuple[float, float],
    settings: MeasureSettings,
) -> Mapping[str, float]:
    """Return the longest blackout of each lane that had a level in the baseline, in seconds.

    A lane that came up later, such as a new primary, has nothing to be expected of it.
    """
    found = {}
    for name, lane in sorted(lanes.items()):
        ok = lane["ok"]
        before, during = (bucket_range(*window, len(ok)) for window in (baseline, episode))
        tps = float(ok[before].mean()) * BUCKETS_PER_S if before.stop > before.start else 0.0
        if tps and during.stop > during.start:
            wanted = (lane["offered"][during] > 0) | (lane["pending"][during] > 0)
            found[name] = _measure(ok[during], wanted, tps, settings).longest
    return found


def _measure(
    ok: Counts, wanted: npt.NDArray[np.bool_], tps: float, settings: MeasureSettings
) -> Blackout:
    """Add up the stretches without ok. They begin and end within a bucket: the part of it by which
    the buckets beside a stretch served less than B is dark, too."""
    share = np.clip(1.0 - ok * BUCKETS_PER_S / tps, 0.0, 1.0) * wanted
    lengths: list[float] = []
    lit_until = 0
    for first, end in runs((ok < 1e-9) & wanted):
        before = float(share[first - 1]) if first > lit_until else 0.0
        after = float(share[end]) if end < len(share) else 0.0
        if tps * (end - first) / BUCKETS_PER_S >= settings.blackout_operations:
            lengths.append((end - first + before + after) / BUCKETS_PER_S)
            lit_until = end + 1
    return Blackout(sum(lengths), max(lengths, default=0.0))
