"""Allowed hours: when a cluster may be broken on purpose.

allowed_hours: ["Mon-Fri 09:00-16:30 Europe/Berlin", "Sat 10:00-12:00 Europe/Berlin"]
"""

import re
from dataclasses import dataclass
from datetime import datetime, time
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

__all__ = ["Window", "parse_window", "zone_of"]

DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_DAY = "|".join(DAYS)
_FORM = re.compile(
    rf"(?P<first>{_DAY})(?:-(?P<last>{_DAY}))? "
    r"(?P<begin>\d\d:\d\d)-(?P<end>\d\d:\d\d)(?: (?P<zone>\S+))?"
)


@dataclass(frozen=True, slots=True)
class Window:
    """Weekdays (0 = Monday) and a span of local time in a zone; the span ends before `end`."""

    days: frozenset[int]
    begin: time
    end: time
    zone: ZoneInfo

    def holds(self, moment: datetime) -> bool:
        """Whether the aware `moment` lies in the window."""
        local = moment.astimezone(self.zone)
        return local.weekday() in self.days and self.begin <= local.time() < self.end


def parse_window(text: str) -> Window:
    """Read `Mon-Fri 09:00-16:30 Europe/Berlin`; without a zone it is UTC.

    Raises `ValueError` with what was wanted. A window ends on the day it begins: one over
    midnight is two.
    """
    form = _FORM.fullmatch(text.strip())
    if form is None:
        raise ValueError(f"found {text!r}, wanted for example `Mon-Fri 09:00-16:30 Europe/Berlin`")
    try:
        begin, end = time.fromisoformat(form["begin"]), time.fromisoformat(form["end"])
        zone = zone_of(form["zone"] or "UTC")
    except ValueError as error:
        raise ValueError(f"found {text!r}: {error}") from error
    if begin >= end:
        raise ValueError(f"found {text!r}, wanted an end after the begin, on the same day")
    return Window(_days(form["first"], form["last"] or form["first"]), begin, end, zone)


def zone_of(name: str) -> ZoneInfo:
    """Return the time zone of this name; raises `ValueError` with what was wanted.

    A part of a name, as `Europe`, is a folder of the zones' database.
    """
    try:
        return ZoneInfo(name)
    except (ValueError, OSError, ZoneInfoNotFoundError) as error:
        raise ValueError("wanted a time zone as Europe/Berlin or UTC") from error


def _days(first: str, last: str) -> frozenset[int]:
    """The days from `first` to `last`, over the week's end where need be."""
    begin, end = DAYS.index(first), DAYS.index(last)
    return frozenset((begin + n) % 7 for n in range((end - begin) % 7 + 1))
