"""One episode as one scope of the load saw it: what each family of measures is given."""

from dataclasses import dataclass

from brownout.measure.dips import Dip, clip, find_dips
from brownout.measure.episodes import Episode
from brownout.measure.level import Level
from brownout.measure.settings import MeasureSettings
from brownout.measure.signal import Signal
from brownout.run.table import BUCKETS_PER_S, bucket_of

__all__ = ["View", "view_of"]


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """A scope's `signal` and `level`, and the episode's times in seconds since the load began.

    What happens from `start` to `end` is put down to the fault, which took effect at `effective`.
    Recovery may be looked for until `until`. `dips` are the episode's; `all_dips` the run's.
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


def view_of(
    signal: Signal, level: Level, episode: Episode, effective: float, end: float,
    settings: MeasureSettings,
) -> View:  # fmt: skip
    """Return the view of `episode`, which is over at `end`; its first bucket counts whole."""
    start = bucket_of(episode.start) / BUCKETS_PER_S
    found = find_dips(signal, level, settings)
    return View(
        signal=signal,
        level=level,
        settings=settings,
        effective=effective,
        start=start,
        end=end,
        until=min(episode.until, signal.end),
        dips=tuple(clip(found, start, end)),
        all_dips=tuple(found),
    )
