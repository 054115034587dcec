"""Schedules as APScheduler's triggers, when they are due next, and what a change of clocks does.

A crontab's time is one of the clock on the wall. Where the clock is put back, a time comes twice
and is due the first time only; where it is put forward, a time that does not come is due by how
much the clock jumped later (02:30 at 03:30). So each time of a crontab is due once, every day.
"""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from apscheduler.triggers.base import BaseTrigger
from apscheduler.triggers.cron import CronTrigger
from apscheduler.triggers.date import DateTrigger

from brownout.runs.gameday.spec import Schedule

__all__ = ["WallClock", "clock_changes", "next_times", "trigger_of"]

#: No clock in use is put forward or back by more.
_JUMP = timedelta(hours=3)
_YEAR = timedelta(days=366)


class WallClock(BaseTrigger):  # type: ignore[misc]  # APScheduler has no types
    """A crontab by the clock on the wall of a zone; the scheduler's store keeps it by pickle."""

    def __init__(self, cron: str, zone: str) -> None:
        self.cron, self.zone = cron, zone

    def __repr__(self) -> str:
        """What tells a changed schedule from the stored one."""
        return f"<WallClock {self.cron!r} {self.zone}>"

    def get_next_fire_time(
        self, previous_fire_time: datetime | None, now: datetime
    ) -> datetime | None:
        """Return the first moment, in UTC, from `now` on; after `previous` none is left out."""
        start = now.astimezone(UTC)
        if previous_fire_time is not None:
            # What was missed since then is due, too; the scheduler decides whether it is too late.
            start = previous_fire_time.astimezone(UTC) + timedelta(microseconds=1)
        zone = ZoneInfo(self.zone)
        first: datetime | None = None
        for wall in _walls(self.cron, start.astimezone(zone).replace(tzinfo=UTC) - _JUMP):
            moment = _moment(wall, zone)
            if first is not None and moment > first + _JUMP:
                break  # later times of the wall cannot come before it
            if moment >= start and (first is None or moment < first):
                first = moment
        return first


def trigger_of(schedule: Schedule) -> BaseTrigger:
    """Return a schedule's trigger; raises `ValueError` with what was wanted of its `cron`."""
    if schedule.at is not None:
        return DateTrigger(schedule.at)
    fields = schedule.cron.split()
    if len(fields) != 5:
        raise ValueError("wanted a crontab's five fields: minute hour day month weekday")
    if re.search(r"\d", fields[4]):
        raise ValueError("wanted weekdays by name, as mon-fri: programs number them differently")
    try:
        CronTrigger.from_crontab(schedule.cron.lower(), timezone=UTC)
    except ValueError as error:
        raise ValueError(f"wanted a crontab's five fields ({error})") from error
    return WallClock(schedule.cron.lower(), schedule.zone)


def next_times(schedule: Schedule, now: datetime, n: int) -> list[datetime]:
    """Return the next `n` moments from `now` on at which it is due; fewer where it ends."""
    trigger, after, previous = trigger_of(schedule), now, None
    times: list[datetime] = []
    while len(times) < n:
        due = trigger.get_next_fire_time(previous, after)
        if due is None or due < now:
            break
        times.append(due)
        previous = after = due
    return times


def clock_changes(schedule: Schedule, now: datetime) -> list[str]:
    """Say what becomes of each time of the coming year that a change of clocks repeats or skips."""
    if schedule.at is not None:
        return []
    zone, words = ZoneInfo(schedule.zone), []
    for begin, end in _changed(zone, now):
        for wall in _walls(schedule.cron.lower(), begin):
            if wall >= end:
                break
            due = _moment(wall, zone)
            local = due.astimezone(zone)
            if local.replace(tzinfo=UTC) == wall:
                what = f"comes twice; it begins the first time, {due:%H:%M} UTC"
            else:
                what = f"does not exist; it begins at {local:%H:%M}, {due:%H:%M} UTC"
            words.append(f"{wall:%a %Y-%m-%d %H:%M} in {schedule.zone} {what}")
    return words


def _walls(cron: str, start: datetime) -> Iterator[datetime]:
    """Yield the times of the wall, written as UTC, from `start` on."""
    trigger = CronTrigger.from_crontab(cron, timezone=UTC)
    previous, after = None, start
    while (due := trigger.get_next_fire_time(previous, after)) is not None:
        yield due
        previous = after = due


def _moment(wall: datetime, zone: ZoneInfo) -> datetime:
    """Return when the wall's clock shows it first, or would have but for a jump."""
    return wall.replace(tzinfo=zone, fold=0).astimezone(UTC)


def _changed(zone: ZoneInfo, now: datetime) -> Iterator[tuple[datetime, datetime]]:
    """Yield the times of the wall, from one to the other, that a year's changes repeat or skip."""
    hour = now.astimezone(UTC).replace(minute=0, second=0, microsecond=0)
    while hour < now + _YEAR:
        later = hour + timedelta(hours=1)
        if _offset(zone, hour) != _offset(zone, later):
            edge = next(
                moment
                for moment in (hour + timedelta(minutes=n) for n in range(1, 61))
                if _offset(zone, moment) != _offset(zone, hour)
            )
            walls = sorted(
                edge + _offset(zone, moment) for moment in (edge - timedelta(minutes=1), edge)
            )
            yield walls[0], walls[1]
        hour = later


def _offset(zone: ZoneInfo, moment: datetime) -> timedelta:
    return moment.astimezone(zone).utcoffset() or timedelta()
