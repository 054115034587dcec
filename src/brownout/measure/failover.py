"""How soon the database had a new primary, and how soon the client was served again.

promoted_time           what the nodes said, each asked by itself (`primaries.csv`)
client_recovered_time   what the load generator's driver was served (`lanes.csv`, `series.csv`)
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from brownout.measure.data import RunData, Seen
from brownout.measure.lanes import any_bad, left_after, rate_of
from brownout.measure.signal import Counts, Signal, bucket_range, runs, signal_of
from brownout.measure.silence import needed_until, telling
from brownout.measure.view import View
from brownout.run.events import Event
from brownout.run.lanes import LaneKey
from brownout.run.primaries import Look
from brownout.run.table import BUCKETS_PER_S

__all__ = [
    "Succession",
    "client_recovered_in",
    "client_recovered_time",
    "promoted_time",
    "successions",
]


@dataclass(frozen=True, slots=True)
class Succession:
    """Who was primary of one shard when the fault took effect, and who next, by their own account.

    `after` became primary between `last_no` and `first_yes`, in seconds since the effect. It is
    `before` with (0, 0) where that one is still the primary of the same election; None with never
    (None) where no primary was seen to the end. `before` is empty where there was none.
    """

    shard: str
    before: str
    after: str | None
    last_no: float
    first_yes: float | None

    @property
    def at(self) -> Seen:
        """[last no, first yes]."""
        return self.last_no, self.first_yes


def promoted_time(view: View, data: RunData) -> Seen | None:
    """Return between which two looks, since the effect, each shard had a new primary.

    The last at which a node said no, and the first at which it said that it is primary by another
    election than before the fault. (0, 0) where the primary is still the one before; [last no,
    never] where none was seen to the end: that is until when it is known that there was none. None
    where no node was asked, or where it is unknown whether the first one that claimed to be primary
    was so before the fault.
    """
    by_shard = _successions(view, data)
    measured = [each.at for each in by_shard if each is not None]
    return max(measured, key=_latest) if by_shard and len(measured) == len(by_shard) else None


def successions(view: View, data: RunData) -> tuple[Succession, ...]:
    """Return who followed whom in each shard of which that is known."""
    return tuple(each for each in _successions(view, data) if each is not None)


def client_recovered_time(view: View, data: RunData) -> Seen | None:
    """Return between when, since the effect, the driver was served again wherever it asked.

    The end of the last outage that began before a mend took effect: operations came and none
    succeeded, in the scope or, for the whole load, among its reads, its writes or those of a lane.
    (0, 0) without one, never where it lasted to the end.
    """
    _, end = _last_outage(view, data)
    if end <= view.effective * BUCKETS_PER_S:
        return 0.0, 0.0
    last_no = max(0.0, end / BUCKETS_PER_S - view.effective)
    if end >= bucket_range(view.start, view.until, len(view.signal.ok)).stop:
        return last_no, None
    return last_no, (end + 1) / BUCKETS_PER_S - view.effective


def client_recovered_in(view: View, data: RunData) -> LaneKey | None:
    """Return in what the driver was served again last; None without an outage."""
    where, end = _last_outage(view, data)
    return where if end > view.effective * BUCKETS_PER_S else None


def _last_outage(view: View, data: RunData) -> tuple[LaneKey | None, int]:
    """Return in what the last outage was that began before the first mend, and the bucket that
    it ended before."""
    outages = list(_outages(view, data))
    mended = view.mended * BUCKETS_PER_S
    last: tuple[LaneKey | None, int] = (None, 0)
    for where, begin, end in outages:
        if begin < mended and end > last[1]:
            last = where, end
    return last


def _outages(view: View, data: RunData) -> Iterable[tuple[LaneKey, int, int]]:
    """Yield each outage with what was not served: all of the scope, reads or writes, or a lane."""
    signals = {"": view.signal}
    for op, scope in data.series.parts(view.signal.scope).items():
        signals[op] = signal_of(data.series, scope, view.signal.case, data.deadline_s)
    for op, signal in signals.items():
        bad = np.ones_like(signal.ok) if signal.ok_only else signal.errors
        for row in _unserved(signal.ok, bad, _came(signal), view, len(signal.ok)):
            yield LaneKey("", op), *row
    if view.signal.scope == "total":
        for key, lane in data.lanes.items():
            before = rate_of(lane["offered"], view.level.start, view.level.end)
            gap = left_after(before or view.level.offered, data.settings)
            for row in _unserved(lane["ok"], lane["bad"], lane["offered"], view, gap):
                yield key, *row


def _successions(view: View, data: RunData) -> list[Succession | None]:
    return [_succession(looks, view, data.events) for looks in _by_shard(data.primaries).values()]


def _by_shard(looks: Iterable[Look]) -> dict[str, list[Look]]:
    shards: dict[str, list[Look]] = {}
    for look in looks:
        shards.setdefault(look.shard, []).append(look)
    return shards


def _latest(seen: Seen) -> tuple[float, float]:
    return math.inf if seen[1] is None else seen[1], seen[0]


def _succession(looks: Sequence[Look], view: View, events: Sequence[Event]) -> Succession | None:
    """Return who followed whom in one shard; its looks are in the order of their answers.

    Where none was seen, a node of which nothing is known may have become it since, and the old
    primary may still be the one.
    """
    before = _primary_before(looks, view)
    denied = {look.node for look in looks if look.primary is False and look.asked <= view.effective}
    last = {look.node: Look(view.effective, -math.inf, "", look.node, None) for look in looks}
    old = "" if before is None else before[0]
    shard = looks[0].shard
    is_primary = before is not None  # that old one, by its latest answer
    for look in telling(looks, events):
        if not view.start <= look.answered <= view.until:
            continue
        if look.primary and before is None and look.node not in denied:
            return None
        if look.primary and (look.node, look.election) != before:
            last_no = max(0.0, last[look.node].asked - view.effective)
            first_yes = max(0.0, look.answered - view.effective)
            return Succession(shard, old, look.node, last_no, first_yes)
        if look.node == old and look.primary is not None:
            is_primary = look.primary
        last[look.node] = look
    unknown = {node for node, look in last.items() if look.answered < needed_until(view)}
    if is_primary and (last[old].primary or old in unknown):
        return Succession(shard, old, None if unknown else old, 0.0, None if unknown else 0.0)
    last_no = max(0.0, min(look.asked for look in last.values()) - view.effective)
    return Succession(shard, old, None, last_no, None)


def _primary_before(looks: Sequence[Look], view: View) -> tuple[str, str] | None:
    """Return the node that was primary when the fault was requested, with its election.

    Nodes are asked from just before the first break on, so a slow one's first answer may be later.
    """
    claims = [look for look in looks if look.primary and look.asked <= view.effective]
    earlier = [look for look in claims if look.answered <= view.start]
    chosen = earlier[-1] if earlier else next(iter(claims), None)
    return None if chosen is None else (chosen.node, chosen.election)


def _came(signal: Signal) -> Counts:
    """Return how many operations wanted an answer: in closed loop those that wait want it still."""
    return signal.offered if signal.open_loop else signal.offered + signal.pending


def _unserved(
    ok: Counts, bad: Counts, came: Counts, view: View, gap: int
) -> Iterable[tuple[int, int]]:
    """Yield the rows of buckets, as [first, end), in which enough came and nothing succeeded.

    Only a success ends a row, or that nothing came for more than `gap` buckets: the driver went
    elsewhere. A row in which everything was served in time is not an outage.
    """
    here, settings = bucket_range(view.start, view.until, len(ok)), view.settings
    unserved, came = ok[here] < 1e-9, came[here]
    shortest = round(settings.dip_gap_s * BUCKETS_PER_S)
    for begin, stop in runs(unserved):
        for first, last in runs(came[begin:stop] > 0, gap):
            row = slice(begin + first, stop if stop - begin - last <= gap else begin + last)
            enough = came[row].sum() >= settings.blackout_operations
            begun, ended = here.start + row.start, here.start + row.stop
            if enough and row.stop - row.start >= shortest and any_bad(bad, begun, ended):
                yield begun, ended
