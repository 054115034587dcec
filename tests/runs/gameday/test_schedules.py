"""A crontab's time is due once a day, whatever a zone does with its clocks."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brownout.runs.gameday.schedules import clock_changes, next_times
from brownout.runs.gameday.spec import Schedule

ZONES = (
    "Europe/Berlin", "America/New_York", "America/Santiago", "America/St_Johns",
    "Australia/Lord_Howe", "Antarctica/Troll", "Africa/Casablanca", "Pacific/Chatham",
    "Asia/Kolkata", "Africa/Nairobi", "UTC",
)  # fmt: skip


def due(cron: str, zone: str, after: str, n: int) -> list[str]:
    start = datetime.fromisoformat(after).replace(tzinfo=UTC)
    times = next_times(Schedule(cron=cron, zone=zone), start, n)
    return [f"{moment.astimezone(UTC):%m-%d %H:%M}" for moment in times]


@pytest.mark.parametrize(
    ("cron", "zone", "after", "wanted"),
    [
        # 02:30 comes twice in Berlin on 25 October 2026, and not at all on 28 March 2027.
        ("30 2 * * sun", "Europe/Berlin", "2026-10-20", ["10-25 00:30", "11-01 01:30"]),
        ("30 2 * * sun", "Europe/Berlin", "2026-10-25T01:00", ["11-01 01:30"]),
        ("30 2 * * sun", "Europe/Berlin", "2027-03-27", ["03-28 01:30", "04-04 00:30"]),
        ("30 2 * * sun", "Europe/Berlin", "2027-03-28T01:10", ["03-28 01:30", "04-04 00:30"]),
        ("0,30 2-3 * * sun", "Europe/Berlin", "2027-03-28", ["03-28 01:00", "03-28 01:30"]),
        # Lord Howe's clocks change by half an hour.
        ("45 1 * * sun", "Australia/Lord_Howe", "2026-04-04", ["04-04 14:45", "04-11 15:15"]),
        ("15 2 * * sun", "Australia/Lord_Howe", "2026-09-28", ["10-03 15:45", "10-10 15:15"]),
        ("30 2 * * sun", "Africa/Nairobi", "2026-10-20", ["10-24 23:30", "10-31 23:30"]),
    ],
)
def test_a_time_that_comes_twice_or_not_at_all_is_due_once(
    cron: str, zone: str, after: str, wanted: list[str]
) -> None:
    assert due(cron, zone, after, len(wanted)) == wanted


@settings(max_examples=8)
@given(
    zone=st.sampled_from(ZONES),
    year=st.integers(2024, 2036),
    hour=st.integers(0, 23),
    minute=st.integers(0, 59),
)
def test_a_daily_time_is_due_once_on_every_day_of_a_year(
    zone: str, year: int, hour: int, minute: int
) -> None:
    local, start = ZoneInfo(zone), datetime(year, 1, 1, tzinfo=ZoneInfo(zone))
    times = next_times(Schedule(cron=f"{minute} {hour} * * *", zone=zone), start, 365)
    days = [moment.astimezone(local).date() for moment in times]
    assert days == [start.date() + timedelta(days=n) for n in range(365)]
    for moment in times:
        shown = moment.astimezone(local)
        assert shown.fold == 0
        wall = shown.replace(hour=hour, minute=minute)
        exists = wall.astimezone(UTC).astimezone(local).replace(tzinfo=None) == wall.replace(
            tzinfo=None
        )
        assert (shown.hour, shown.minute) == (hour, minute) or not exists


def test_a_plan_can_say_what_a_change_of_clocks_does() -> None:
    schedule = Schedule(cron="30 2 * * sun", zone="Europe/Berlin")
    assert clock_changes(schedule, datetime(2026, 10, 1, tzinfo=UTC)) == [
        "Sun 2026-10-25 02:30 in Europe/Berlin comes twice; it begins the first time, 00:30 UTC",
        "Sun 2027-03-28 02:30 in Europe/Berlin does not exist; it begins at 03:30, 01:30 UTC",
    ]
    assert clock_changes(Schedule(cron="30 2 * * *"), datetime(2026, 10, 1, tzinfo=UTC)) == []
