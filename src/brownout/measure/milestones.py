"""How long the database took to be itself again, as far as polling can tell."""

from dataclasses import dataclass

from brownout.measure.bootstrap import Interval
from brownout.measure.episodes import Episode, early_ends, has_landed, milestone

__all__ = ["Milestones", "milestones_of", "not_before"]


@dataclass(frozen=True, slots=True)
class Milestones:
    """Seconds as (last no, first yes), or None where it was never reached or never looked for.

    From the fault's effect; those `_after_start` from the last mend requested before it
    (a node started, resumed, joined, added), since the experiment decides how long a node
    stays away.
    """

    rejoin_time: Interval | None
    rejoin_time_after_start: Interval | None
    redundancy_time: Interval | None
    redundancy_time_after_start: Interval | None


def not_before(episode: Episode, effective: float) -> dict[str, float]:
    """Return a lower bound in seconds for each milestone that was not reached:
    until the last look that said no."""
    mends = _mends(episode)
    lower_bounds = {}
    for measure, name in (("rejoin_time", "rejoined"), ("redundancy_time", "redundant")):
        sighting = milestone(episode, name)
        if sighting is None or sighting.first_yes is not None:
            continue
        last = effective if sighting.last_no is None else sighting.last_no
        lower_bounds[measure] = max(0.0, last - effective)
        before = [t for t in mends if t <= last]
        if before:
            lower_bounds[f"{measure}_after_start"] = last - max(before)
    return lower_bounds


def _mends(episode: Episode) -> list[float]:
    """Return when each mend was asked for that had an effect, and when a break ended by itself."""
    mends = (e.requested for e in episode.events if e.type == "mend" and has_landed(e))
    return [*(t for t in mends if t is not None), *early_ends(episode)]


def milestones_of(episode: Episode, effective: float) -> Milestones:
    """Return the milestones of an episode that took effect at `effective`."""
    mends = _mends(episode)

    def since(name: str, origin: float | None) -> Interval | None:
        sighting = milestone(episode, name)
        if origin is None or sighting is None or sighting.first_yes is None:
            return None
        no = origin if sighting.last_no is None else sighting.last_no
        return max(0.0, no - origin), max(0.0, sighting.first_yes - origin)

    def after_start(name: str) -> Interval | None:
        sighting = milestone(episode, name)
        if sighting is None or sighting.first_yes is None:
            return None
        before = [t for t in mends if t <= sighting.first_yes]
        return since(name, max(before)) if before else None

    return Milestones(
        rejoin_time=since("rejoined", effective),
        rejoin_time_after_start=after_start("rejoined"),
        redundancy_time=since("redundant", effective),
        redundancy_time_after_start=after_start("redundant"),
    )
