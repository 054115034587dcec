"""When a game day may run: its window, its freeze days, and the cluster's own allowed hours. Pure.

A moment is open where all three allow it. What is open changes only at the edges of windows and
days, so only edges are looked at.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from brownout.inventory.hours import Window, parse_window
from brownout.runs.gameday.spec import Freeze, GameDay

__all__ = ["HORIZON", "Calendar", "calendar_of"]

#: So far ahead, from the begin of the window on, an opening is looked for.
HORIZON = timedelta(days=366)


@dataclass(frozen=True, slots=True)
class Calendar:
    """Weekly windows of the game day and of the cluster (none: any time), ends, freeze days."""

    weekly: tuple[Window, ...]
    allowed: tuple[Window, ...]
    begins: datetime | None
    ends: datetime | None
    freeze: tuple[Freeze, ...]

    def why_not(self, moment: datetime) -> str | None:
        """Why nothing may be broken at the aware `moment`; None where it may."""
        if self.begins and moment < self.begins:
            return f"the window begins at {_words(self.begins)}"
        if self.ends and moment >= self.ends:
            return f"the window ended at {_words(self.ends)}"
        if self.weekly and not any(window.holds(moment) for window in self.weekly):
            return f"it is {_words(moment)}, outside the game day's weekly window"
        if self.allowed and not any(window.holds(moment) for window in self.allowed):
            return f"it is {_words(moment)}, outside the cluster's allowed hours"
        for freeze in self.freeze:
            if _begin(freeze) <= moment < _end(freeze):
                return f"{freeze.first} to {freeze.last} is a freeze: {freeze.why}"
        return None

    def next_opening(self, now: datetime) -> datetime | None:
        """Return the first moment from `now` on that is open; None where none is for a year."""
        return next((edge for edge in self._edges(now) if self.why_not(edge) is None), None)

    def closes(self, now: datetime) -> datetime | None:
        """Return when the open time that `now` lies in ends; None where it does not for a year."""
        return next((edge for edge in self._edges(now) if self.why_not(edge) is not None), None)

    def _edges(self, now: datetime) -> Iterator[datetime]:
        """Yield `now` and each moment after it at which something opens or closes, in order."""
        last = max(now, self.begins or now) + HORIZON
        fixed = [edge for edge in (self.begins, self.ends) if edge]
        fixed += [edge for freeze in self.freeze for edge in (_begin(freeze), _end(freeze))]
        edges = {edge.astimezone(UTC) for edge in fixed}
        for window in (*self.weekly, *self.allowed):
            edges.update(_daily(window, now, last))
        yield now
        yield from sorted(edge for edge in edges if now < edge <= last)


def calendar_of(gameday: GameDay, allowed_hours: tuple[str, ...]) -> Calendar:
    """Return the calendar of a game day on a cluster with these `guards.allowed_hours`."""
    window = gameday.window
    return Calendar(
        tuple(parse_window(text) for text in window.weekly),
        tuple(parse_window(text) for text in allowed_hours),
        window.begins,
        window.ends,
        gameday.freeze,
    )


def _daily(window: Window, now: datetime, last: datetime) -> Iterator[datetime]:
    """Yield the begin and end of `window` on each of its days.

    Where the clocks change on such a day, it may also open or close at that moment, and a time
    that comes twice is an edge both times.
    """
    day = now.astimezone(window.zone).date()
    while day <= last.astimezone(window.zone).date():
        if day.weekday() in window.days:
            for edge in (window.begin, window.end):
                yield _at(day, edge, window.zone)
                yield _at(day, edge.replace(fold=1), window.zone)
            yield from _clock_change(day, window.zone)
        day += timedelta(days=1)


def _clock_change(day: date, zone: ZoneInfo) -> Iterator[datetime]:
    """Yield the moment of `day` at which the clocks of `zone` change, if there is one."""
    before, after = _at(day, time(), zone), _at(day + timedelta(days=1), time(), zone)
    offset = before.astimezone(zone).utcoffset()
    if offset == after.astimezone(zone).utcoffset():
        return
    while after - before > timedelta(minutes=1):
        middle = (before + (after - before) / 2).replace(second=0, microsecond=0)
        if middle.astimezone(zone).utcoffset() == offset:
            before = middle
        else:
            after = middle
    yield after


def _begin(freeze: Freeze) -> datetime:
    return _at(date.fromisoformat(freeze.first), time(), ZoneInfo(freeze.zone))


def _end(freeze: Freeze) -> datetime:
    day = date.fromisoformat(freeze.last) + timedelta(days=1)
    return _at(day, time(), ZoneInfo(freeze.zone))


def _at(day: date, clock: time, zone: ZoneInfo) -> datetime:
    return datetime.combine(day, clock, zone).astimezone(UTC)


def _words(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%a %Y-%m-%d %H:%M} UTC"
