"""For how long more than one node of a shard said that it accepts writes: two primaries at once."""

import math
from collections.abc import Iterable, Sequence
from itertools import groupby, pairwise
from operator import attrgetter

from brownout.measure.data import RunData, Seen
from brownout.measure.silence import needed_until, telling
from brownout.measure.view import View
from brownout.run.events import Event
from brownout.run.primaries import Look

__all__ = ["primary_overlap"]

Span = tuple[float, float]


def primary_overlap(view: View, data: RunData) -> Seen | None:
    """Return the minimum and the maximum that it may have been, of several shards the largest.

    A node was primary at least from its first yes to its last of one election, and at most from
    the no before to the no after, whatever it was while it gave no answer. A process that surely
    did not run takes no writes. None where no node was asked.
    """
    shards = groupby(sorted(data.primaries, key=attrgetter("shard")), attrgetter("shard"))
    spans = [_overlap(list(looks), view, data.events) for _, looks in shards]
    if not spans:
        return None
    return max(minimum for minimum, _ in spans), max(maximum for _, maximum in spans)


def _overlap(looks: Sequence[Look], view: View, events: Sequence[Event]) -> Span:
    """Return the minimum and the maximum of one shard."""
    minimum: list[Span] = []
    maximum: list[Span] = []
    ordered = sorted(looks, key=attrgetter("node", "answered"))
    for node, of_node in groupby(ordered, attrgetter("node")):
        rows = _rows(seen := list(of_node))
        minimum += ((row[0].answered, row[-1].asked) for row in rows if row[0].primary)
        answers = telling(seen, events)
        if not answers or answers[-1].answered < needed_until(view):
            # It may have become anything since.
            answers.append(Look(math.inf, math.inf, "", node, True, "unknown"))
        maximum += _most(_rows(answers))
    return _shared(minimum, view), _shared(maximum, view)


def _rows(looks: Iterable[Look]) -> list[list[Look]]:
    """Return the looks of one node in rows of the same answer."""
    return [list(row) for _, row in groupby(looks, attrgetter("primary", "election"))]


def _most(rows: Sequence[Sequence[Look]]) -> Iterable[Span]:
    """Yield when one node may have been primary, election by election; silent, it did not run.

    One that was primary before it was stopped may be so again until the no after it.
    """
    was_primary = False
    for place, row in enumerate(rows):
        first, before = row[0], rows[place - 1][-1] if place else None
        after = rows[place + 1][0] if place + 1 < len(rows) else None
        if first.primary:
            since, until = -math.inf, math.inf  # as far as this node goes
            if before is not None:
                ends = {True: first.asked, False: before.asked, None: before.answered}
                since = ends[before.primary]
            if after is not None:
                until = after.answered if after.primary is False else after.asked
            yield since, until
        elif was_primary and first.primary is False and before and before.primary is None:
            yield before.answered, first.answered
        if first.primary is not None:
            was_primary = first.primary


def _shared(spans: Sequence[Span], view: View) -> float:
    """Return for how long in the fault two of the spans, or more, were at once."""
    inside = [(max(a, view.start), min(b, view.until)) for a, b in spans]
    edges = sorted(edge for a, b in inside if a < b for edge in ((a, 1), (b, -1)))
    total, at_once = 0.0, 0
    for (t, change), (following, _) in pairwise([*edges, (view.until, 0)]):
        at_once += change
        total += (following - t) * (at_once > 1)
    return total
