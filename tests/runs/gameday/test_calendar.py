"""When a game day may run."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from brownout.runs.gameday.calendar import Calendar, calendar_of
from brownout.runs.gameday.schedules import next_times
from brownout.runs.gameday.spec import GameDay, Schedule

TUESDAY = datetime(2026, 11, 24, 9, 30, tzinfo=UTC)  # 10:30 in Berlin


def calendar(allowed: tuple[str, ...] = (), **settings: Any) -> Calendar:
    gameday = GameDay.model_validate(
        {"name": "day", "cluster": "c", "experiments": ["x"], **settings}
    )
    return calendar_of(gameday, allowed)


WEEKLY = {"weekly": ["Tue 10:00-12:00 Europe/Berlin"]}


def test_without_a_window_it_is_always_open() -> None:
    assert calendar().next_opening(TUESDAY) == TUESDAY
    assert calendar().closes(TUESDAY) is None


def test_a_weekly_window_opens_and_closes_in_its_own_zone() -> None:
    found = calendar(window=WEEKLY)
    assert found.why_not(TUESDAY) is None
    assert found.closes(TUESDAY) == datetime(2026, 11, 24, 11, tzinfo=UTC)
    after = datetime(2026, 11, 24, 11, tzinfo=UTC)
    assert "outside the game day's weekly window" in str(found.why_not(after))
    assert found.next_opening(after) == datetime(2026, 12, 1, 9, tzinfo=UTC)


def test_the_clock_of_summer_counts_in_summer() -> None:
    found = calendar(window=WEEKLY)
    july = datetime(2027, 7, 5, tzinfo=UTC)
    assert found.next_opening(july) == datetime(2027, 7, 6, 8, tzinfo=UTC)


@pytest.mark.parametrize(
    ("window", "day"),
    [
        (window, day)
        for day in ("2026-10-25", "2027-03-28", "2026-10-24")
        for window in ("00:00-23:59", "01:00-02:30", "02:30-03:00", "02:00-02:30", "03:00-04:00")
    ],
)
def test_it_opens_and_closes_at_the_very_minutes_also_where_the_clocks_change(
    window: str, day: str
) -> None:
    """Each minute of the day and of the day before is asked by itself."""
    found = calendar(window={"weekly": [f"Sat-Sun {window} Europe/Berlin"]})
    first = datetime.fromisoformat(f"{day}T00:00:00+00:00") - timedelta(hours=30)
    minutes = [first + timedelta(minutes=n) for n in range(60 * 60)]
    is_open = [found.why_not(each) is None for each in minutes]
    changes = [n for n in range(1, len(minutes)) if is_open[n] != is_open[n - 1]]
    assert changes
    for n, since in zip(changes, [0, *changes], strict=False):
        asked = minutes[since] + timedelta(seconds=30)
        edge = found.closes(asked) if is_open[since] else found.next_opening(asked)
        assert edge == minutes[n]


def test_a_freeze_takes_whole_days_and_ends_after_its_last() -> None:
    freeze = [{"first": "2026-11-24", "last": "2026-12-01", "why": "sale", "zone": "Europe/Berlin"}]
    found = calendar(window=WEEKLY, freeze=freeze)
    assert found.why_not(TUESDAY) == "2026-11-24 to 2026-12-01 is a freeze: sale"
    assert found.next_opening(TUESDAY) == datetime(2026, 12, 8, 9, tzinfo=UTC)


def test_the_clusters_own_hours_count_as_well() -> None:
    found = calendar(("Tue 11:00-16:00 Europe/Berlin",), window=WEEKLY)
    assert "the cluster's allowed hours" in str(found.why_not(TUESDAY))
    assert found.next_opening(TUESDAY) == datetime(2026, 11, 24, 10, tzinfo=UTC)
    assert calendar(("Wed 11:00-16:00",), window=WEEKLY).next_opening(TUESDAY) is None


def test_begin_and_end_bound_all_openings() -> None:
    begins, ends = TUESDAY + timedelta(days=3), TUESDAY + timedelta(days=9)
    found = calendar(window={**WEEKLY, "begins": begins, "ends": ends})
    assert found.next_opening(TUESDAY) == datetime(2026, 12, 1, 9, tzinfo=UTC)
    assert found.next_opening(ends) is None
    assert "the window ended" in str(found.why_not(ends))


def test_an_opening_more_than_a_year_ahead_is_found_by_its_begin() -> None:
    begins = TUESDAY + timedelta(days=500)
    assert calendar(window={"begins": begins}).next_opening(TUESDAY) == begins


@pytest.mark.parametrize(
    ("schedule", "due"),
    [
        ({"cron": "0 10 * * tue", "zone": "Europe/Berlin"}, ["12-01 09:00", "12-08 09:00"]),
        ({"at": "2026-11-24T12:00:00+01:00"}, ["11-24 11:00"]),
        ({"at": "2026-11-24T09:00:00+01:00"}, []),
    ],
)
def test_a_schedule_comes_round_when_it_says(schedule: dict[str, str], due: list[str]) -> None:
    times = next_times(Schedule.model_validate(schedule), TUESDAY, 2)
    assert [f"{time.astimezone(UTC):%m-%d %H:%M}" for time in times] == due
