"""What a server of schedules tells Prometheus: what the page says, and nothing else."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.parser import text_string_to_metric_families
from tests.prometheus import promtool
from tests.runs.gameday.conftest import Write

from brownout.runs.gameday import gameday_file
from brownout.runs.gameday.metrics import GameDayCollector
from brownout.runs.gameday.record import Record, StepRecord
from brownout.runs.gameday.spec import GameDay
from brownout.runs.gameday.watch_log import WatchLog

_, DOCUMENT = (Path(__file__).parents[3] / "docs" / "metrics.md").read_text().split("## Game days")
ROW = re.compile(r"^\| `(brownout_\w+)` \| (\w+) \|([^|]*)\|", re.MULTILINE)


@pytest.fixture
def told(write: Write) -> str:
    """The page of one game day: a day that passed, one that died, and one that was missed."""
    schedule = {"cron": "0 3 * * tue"}
    gameday = gameday_file.read(str(write(experiments=["stepdown"], schedule=schedule)))
    began = (datetime.now(UTC) - timedelta(days=2)).isoformat()
    step = StepRecord("stepdown", "stepdown", {})
    step.begin(began)
    step.end(began, "pass", Path("runs/one"), ())
    cluster = gameday.cluster
    passed = Record("day", "", cluster, cluster, "day.yaml", 0, [step], began, began, "pass")
    died = Record("day", "", cluster, cluster, "day.yaml", 0, [], began, verdict="died", died=True)
    log = WatchLog(missed={str(gameday.path.resolve()): {"count": 2, "noticed": 1_795_858_200.0}})
    return page_of(gameday, [passed, died], log)


def test_the_table_has_every_metric_and_no_other(told: str) -> None:
    documented = {row[0]: (row[1], row[2]) for row in ROW.findall(DOCUMENT)}
    families = {
        family.name + ("_total" if family.type == "counter" else ""): family
        for family in text_string_to_metric_families(told)
    }
    assert set(families) == set(documented)
    for name, family in families.items():
        kind, labels = documented[name]
        assert family.type == kind, name
        assert family.samples, name
        for sample in family.samples:
            own = set(re.findall(r"`(\w+)`", labels))
            assert set(sample.labels) == {"gameday", "cluster", *own}, name


def test_prometheus_finds_nothing_to_mend(told: str) -> None:
    checked = promtool("check", "metrics", text=told)
    assert checked.returncode == 0, checked.stdout + checked.stderr


def sample(page: str, name: str, **labels: str) -> float:
    """Return the one sample of that name with these labels."""
    (value,) = [
        each.value
        for family in text_string_to_metric_families(page)
        for each in family.samples
        if each.name == name and labels.items() <= each.labels.items()
    ]
    return float(value)


def page_of(gameday: GameDay, past: Sequence[Record], log: WatchLog) -> str:
    registry = CollectorRegistry()
    registry.register(GameDayCollector([gameday], lambda: past, log))
    return generate_latest(registry).decode()


def test_alerts_count_from_when_a_missed_or_dead_day_was_noticed(write: Write) -> None:
    """A server that was down for three days tells of what happened in them when it is back."""
    gameday = gameday_file.read(str(write(experiments=["stepdown"])))
    cluster, now = gameday.cluster, datetime.now(UTC)
    began = (now - timedelta(days=3)).isoformat()
    dead = Record("day", "", cluster, cluster, "day.yaml", 0, [], began, now.isoformat(), died=True)
    log = WatchLog()
    log.miss(str(gameday.path.resolve()))
    page = page_of(gameday, [dead], log)
    for what in ("missed", "died"):
        noticed = sample(page, f"brownout_gameday_last_{what}_time_seconds")
        assert noticed == pytest.approx(now.timestamp(), abs=60)


def test_a_day_that_died_without_a_record_has_its_time(write: Write) -> None:
    gameday = gameday_file.read(str(write(experiments=["stepdown"])))
    log = WatchLog()
    log.die(str(gameday.path.resolve()))
    died = sample(page_of(gameday, [], log), "brownout_gameday_last_died_time_seconds")
    assert died == pytest.approx(datetime.now(UTC).timestamp(), abs=60)


def test_a_day_of_the_same_name_on_another_cluster_is_not_counted(write: Write) -> None:
    gameday = gameday_file.read(str(write(experiments=["stepdown"])))
    now = datetime.now(UTC).isoformat()
    other = Record("day", "", "b", "b", "b.yaml", 0, [], now, now, verdict="died", died=True)
    page = page_of(gameday, [other], WatchLog())
    assert sample(page, "brownout_gameday_ended_total", verdict="died") == 0
    assert "brownout_gameday_last_died_time_seconds{" not in page


def test_the_next_time_is_shown_until_nothing_more_is_due(write: Write) -> None:
    name, soon = "brownout_gameday_next_due_time_seconds", datetime.now(UTC) + timedelta(hours=1)
    for at in (soon, soon - timedelta(hours=2)):
        gameday = gameday_file.read(str(write(schedule={"at": at.isoformat()})))
        page = page_of(gameday, [], WatchLog())
        if at == soon:
            assert sample(page, name) == pytest.approx(soon.timestamp())
        else:
            assert f"{name}{{" not in page
