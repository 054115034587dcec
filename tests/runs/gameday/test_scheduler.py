"""What a server of schedules tells people where something of it, or of a day, fails."""

import signal
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from apscheduler.events import EVENT_JOB_MISSED, JobSubmissionEvent
from tests.runs.gameday.conftest import Hook, Write
from tests.wording import mentions

from brownout.base.errors import ConfigurationError
from brownout.inventory import inventory
from brownout.runs.gameday import days, gameday_file, scheduler
from brownout.runs.gameday.days import Day
from brownout.runs.gameday.leases import Lease, Leases
from brownout.runs.gameday.record import Record
from brownout.runs.gameday.scheduler import Server
from brownout.runs.gameday.spec import GameDay
from brownout.runs.gameday.watch_log import WatchLog

KILLED = "import os; os.kill(os.getpid(), 9)"


@pytest.fixture
def day(home: Path, write: Write, hook: Hook, monkeypatch: pytest.MonkeyPatch) -> GameDay:
    """A scheduled game day on a lab that is down, so that nothing of it can be broken."""
    monkeypatch.setenv("OPS", hook.url)
    monkeypatch.setenv("BROWNOUT_LAB_DIR", str(home / "lab"))
    clusters = home / "infra" / "clusters"
    clusters.mkdir(parents=True)
    text = "database: mongodb\nenvironment: lab\nlab: {engine: mongodb}\n"
    (clusters / "mine.yaml").write_text(text)
    people = [{"name": "ops", "url": {"env": "OPS"}}]
    path = write(cluster="mine", notify=people, schedule={"cron": "0 3 * * tue"})
    return gameday_file.read(str(path))


@pytest.fixture
def handlers() -> Iterator[None]:
    """Take the signal handlers of a server away again."""
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = {number: signal.getsignal(number) for number in numbers}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def full(home: Path) -> None:
    """Leave the server a place to which its watch log cannot be written, even for root."""
    (home / "state" / "serving.json").mkdir(parents=True)


def leased(name: str, expires: float = 0, place: str | None = None) -> Lease:
    """Hold the cluster for a day that has died here, or for one of another host."""
    path = str(inventory.path_of("mine"))
    record = Record(name, "", "mine", "mine", "x.yaml", 1, [], "2026", inventory_path=path)
    day = Day(days.new_place(name), record)
    day.save()
    change = "UPDATE gameday_leases SET started = 1, expires = :expires, place = :place"
    with Leases() as leases:
        lease, _ = leases.take("mine", day.path)
        assert leases._change(change, expires=expires, place=place or lease.place)
    return lease


class Looked(Server):
    """Ends itself at its third look."""

    looks = 0

    def _look_at_passes(self) -> None:
        self.looks += 1
        if self.looks == 3:
            self._ended.set()


def test_a_server_whose_log_cannot_be_written_says_so_once_and_serves(
    home: Path, day: GameDay, handlers: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    full(home)
    monkeypatch.setattr(scheduler, "LOOK_EVERY_S", 0)
    words: list[str] = []
    server = Looked([day], words.append)
    server.serve()
    assert server.looks == 3
    assert len([each for each in words if mentions(each, "serving.json", "written")]) == 1


def test_a_missed_day_is_told_although_the_log_cannot_be_written(
    home: Path, day: GameDay, hook: Hook
) -> None:
    full(home)
    server = Server([day], lambda words: None)
    moment = datetime(2026, 11, 24, 3, tzinfo=UTC)
    path = str(day.path.resolve())
    server._missed(JobSubmissionEvent(EVENT_JOB_MISSED, path, "default", [moment]))
    assert "MISSED, due at 2026-11-24 03:00:00 UTC" in hook.titles[0]


def test_a_day_that_is_killed_before_it_has_its_lease_is_told(
    day: GameDay, hook: Hook, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scheduler, "leashed", lambda _: (sys.executable, "-c", KILLED))
    server = Server([day], lambda words: None)
    server.fire(str(day.path.resolve()))
    assert str(day.path.resolve()) in WatchLog.read().died
    (message,) = hook.heard
    assert message["type"] == "warning"
    assert "died: its process was killed by SIGKILL" in message["title"]
    assert message["message"].startswith("it held no cluster")


def test_a_day_that_did_not_begin_is_not_told_as_dead_by_the_next_server(
    home: Path, day: GameDay, hook: Hook, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / "state").mkdir()
    monkeypatch.setattr(scheduler, "leashed", lambda _: (sys.executable, "-c", "exit(64)"))
    Server([day], lambda words: None).fire(str(day.path.resolve()))
    succeeded(day, running=WatchLog.read().running)
    assert len(hook.titles) == 1


def succeeded(day: GameDay, **before: object) -> Server:
    """Return a server after one that was killed."""
    server = Server([day], lambda words: None)
    server._succeed(WatchLog(4711, **before))  # type: ignore[arg-type]
    server._look_at_inherited()
    return server


def test_a_day_that_died_with_its_server_before_it_had_its_lease_is_told(
    day: GameDay, hook: Hook
) -> None:
    succeeded(day, running={str(day.path.resolve()): "2026-11-28T08:00:00.000Z"})
    assert [title.partition("mine: ")[2] for title in hook.titles] == [
        "its server died", "died: its server was killed",
    ]  # fmt: skip


def test_a_day_that_concluded_itself_after_its_server_is_not_told_as_dead(
    day: GameDay, hook: Hook
) -> None:
    began = "2026-11-28T08:00:01.000Z"
    record = Record("day", "", "mine", "mine", "x.yaml", 1, [], began, began, "aborted")
    Day(days.new_place("day"), record).save()
    succeeded(day, running={str(day.path.resolve()): "2026-11-28T08:00:00.000Z"})
    assert len(hook.titles) == 1


def test_the_lease_of_another_game_day_on_the_same_cluster_is_left_alone(
    day: GameDay, hook: Hook
) -> None:
    lease = leased("other")
    succeeded(day)
    assert len(hook.titles) == 1
    with Leases() as leases:
        assert [held.token for held in leases.held()] == [lease.token]


def test_a_lease_that_expires_after_a_restart_of_the_machine_is_seen_later(
    day: GameDay, hook: Hook
) -> None:
    leased("day", expires=9e9, place="this machine before")
    server = succeeded(day)
    assert len(hook.titles) == 1
    with Leases() as leases:
        assert leases._change("UPDATE gameday_leases SET expires = 0")
    server._look_at_inherited()
    assert ": died: " in hook.titles[1]
    assert "the lab `mine` is down" in hook.heard[1]["message"]
    with Leases() as leases:
        assert leases.held() == []
    server._look_at_inherited()
    assert len(hook.titles) == 2


def test_files_of_the_same_game_day_on_the_same_cluster_are_refused_at_once(
    day: GameDay, write: Write
) -> None:
    path = write("again", cluster="mine", schedule={"cron": "0 4 * * tue"})
    path.write_text(f"name: day\n{path.read_text()}")
    again = gameday_file.read(str(path))
    unscheduled = gameday_file.read(str(write("unscheduled", cluster="mine")))
    with pytest.raises(ConfigurationError) as refusal:
        Server([day, again, unscheduled], lambda words: None)
    first, second = refusal.value.problems
    assert mentions(first, "unscheduled.yaml", "schedule")
    assert mentions(second, "day.yaml", "again.yaml", "`day`", "`mine`")
    assert Server([day, day], lambda words: None)
