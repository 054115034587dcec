"""A store of schedules on a full disk: every day is still begun, each of its times once."""

import sqlite3
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from apscheduler.schedulers.background import BackgroundScheduler
from sqlalchemy import event
from tests.wording import mentions

from brownout.base.errors import RunDirectoryError
from brownout.runs.gameday.job_store import JobStore

begun: list[str] = []
third = threading.Event()


def begin(name: str) -> None:
    begun.append(name)
    if begun.count("often") == 3:
        third.set()


@pytest.fixture
def words() -> list[str]:
    return []


@pytest.fixture
def scheduler(tmp_path: Path, words: list[str]) -> Iterator[BackgroundScheduler]:
    begun.clear()
    third.clear()
    store = JobStore(tmp_path / "schedules.db", words.append)
    scheduler = BackgroundScheduler(jobstores={"default": store}, timezone=UTC)
    scheduler.start(paused=True)
    yield scheduler
    scheduler.shutdown()


def fill(disk: Path) -> None:
    """Have every write to the store fail, and no look at it."""
    with sqlite3.connect(disk) as database:
        for act in ("INSERT", "UPDATE", "DELETE"):
            database.execute(
                f"CREATE TRIGGER no_{act} BEFORE {act} ON apscheduler_jobs "
                "BEGIN SELECT RAISE(ABORT, 'database or disk is full'); END"
            )


def test_days_are_begun_at_each_of_their_times_although_the_disk_is_full(
    tmp_path: Path, scheduler: BackgroundScheduler, words: list[str]
) -> None:
    soon = datetime.now(UTC) + timedelta(seconds=0.2)
    scheduler.add_job(begin, "date", ["once"], id="once", run_date=soon)
    scheduler.add_job(begin, "interval", ["often"], id="often", seconds=0.2, next_run_time=soon)
    fill(tmp_path / "schedules.db")
    scheduler.resume()
    assert third.wait(20), begun
    assert begun.count("once") == 1
    assert [job.id for job in scheduler.get_jobs()] == ["often"]
    (word,) = words
    assert mentions(word, "schedules.db", "cannot be written", "full")


def test_what_could_not_be_written_is_written_when_there_is_space(
    tmp_path: Path, scheduler: BackgroundScheduler, words: list[str]
) -> None:
    later = datetime.now(UTC) + timedelta(hours=1)
    for name in ("moved", "gone"):
        scheduler.add_job(begin, "date", [name], id=name, run_date=later)
    fill(tmp_path / "schedules.db")
    moved = later + timedelta(hours=1)
    scheduler.modify_job("moved", next_run_time=moved)
    scheduler.remove_job("gone")
    with sqlite3.connect(tmp_path / "schedules.db") as database:
        for act in ("INSERT", "UPDATE", "DELETE"):
            database.execute(f"DROP TRIGGER no_{act}")
    scheduler._jobstores["default"].get_due_jobs(datetime.now(UTC))
    with sqlite3.connect(tmp_path / "schedules.db") as database:
        rows = database.execute("SELECT id, next_run_time FROM apscheduler_jobs").fetchall()
    assert rows == [("moved", pytest.approx(moved.timestamp()))]


def test_a_day_that_cannot_be_kept_at_the_start_is_one_clear_error(
    tmp_path: Path, scheduler: BackgroundScheduler
) -> None:
    engine = scheduler._jobstores["default"].engine
    engine.dispose()
    event.listen(engine, "connect", lambda one, _: one.execute("PRAGMA max_page_count = 1"))
    path = tmp_path / "schedules.db"
    with pytest.raises(RunDirectoryError) as failure:
        scheduler.add_job(begin, "interval", ["often" * 10_000], id="often", seconds=60)
    assert mentions(str(failure.value), path, "cannot be written", "full")
