"""One episode as one scope of the load saw it: what each family of measures is given."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from brownout.measure.blackout import Blackout, blackout_of, worst_blackout
from brownout.measure.dips import Dip, clip, find_dips
from brownout.measure.episodes import Episode, mended
from brownout.measure.level import Level
from brownout.measure.settings import MeasureSettings
from brownout.measure.signal import Signal
from brownout.run.table import BUCKETS_PER_S, bucket_of

__all__ = ["View", "view_of"]


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """A scope's `signal` and `level`, and the episode's times in seconds since the load began.

    Changes from `start` to `end` are attributed to the fault, which took effect at `effective`.
    Recovery may be looked for until `until`. `dips` are the episode's; `all_dips` the run's.
    `mended` is when the first mend took effect, infinite without one. `blackout` is the longer one
    of the scope's reads and writes.
    """

    signal: Signal
    level: Level
    settings: MeasureSettings
    effective: float
    start: float
    end: float
    until: float
    dips: tuple[Dip, ...]
    all_dips: tuple[Dip, ...]
    mended: float = math.inf
    blackout: Blackout | None = None


def view_of(
    signal: Signal, level: Level, episode: Episode, effective: float, end: float,
    settings: MeasureSettings, parts: Mapping[str, tuple[Signal, Level]] | None = None,
) -> View:  # fmt: skip
    """Return the view of `episode`, which is over at `end`; its first bucket counts whole.

    `parts` are the reads and the writes of a scope that has both.
    """
    start = bucket_of(episode.start) / BUCKETS_PER_S
    dips = find_dips(signal, level, settings)
    apart = {
        op: blackout_of(part, usual, start, end, settings)
        for op, (part, usual) in (parts or {}).items()
    }
    return View(
        signal=signal,
        level=level,
        settings=settings,
        effective=effective,
        start=start,
        end=end,
        until=min(episode.until, signal.end),
        dips=tuple(clip(dips, start, end)),
        all_dips=tuple(dips),
        mended=mended(episode),
        blackout=worst_blackout(blackout_of(signal, level, start, end, settings), apart),
    )
