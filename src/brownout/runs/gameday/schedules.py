"""Schedules as APScheduler's triggers, and when they come round next."""

import re
from datetime import datetime

from apscheduler.triggers.base import BaseTrigger
from apscheduler.triggers.cron import CronTrigger
from apscheduler.triggers.date import DateTrigger

from brownout.runs.gameday.spec import Schedule

__all__ = ["next_times", "trigger_of"]


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
        return CronTrigger.from_crontab(schedule.cron.lower(), timezone=schedule.zone)
    except ValueError as error:
        raise ValueError(f"wanted a crontab's five fields ({error})") from error


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
