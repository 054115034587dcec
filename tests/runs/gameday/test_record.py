"""A game day's verdict, its summary, and how fresh its passes are."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from brownout.runs.gameday.freshness import freshness, known_duration, stale_words
from brownout.runs.gameday.record import Record, StepRecord, verdict_of
from brownout.runs.gameday.spec import GameDay
from brownout.runs.gameday.summary import markdown, table

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
DAY = GameDay.model_validate(
    {
        "name": "day",
        "cluster": "shop",
        "experiments": ["a", {"experiment": "b", "variables": {"x": 1}, "takes": "2m"}],
        "freshness": "30d",
    }
)


def step(name: str, verdict: str, ago: timedelta = timedelta(), **variables: Any) -> StepRecord:
    made = StepRecord(name, name, variables)
    made.begin((NOW - ago - timedelta(seconds=40)).isoformat())
    made.end((NOW - ago).isoformat(), verdict, Path("/runs/one"), ["because | of it"])
    return made


def record(*steps: StepRecord, **more: Any) -> Record:
    began = NOW.isoformat()
    return Record("day", "", "shop", "shop", "day.yaml", 0, list(steps), began, **more)


@pytest.mark.parametrize(
    ("verdicts", "more", "wanted"),
    [
        (["pass", "pass"], {}, "pass"),
        (["pass", ""], {}, "inconclusive"),
        (["pass", "not run"], {}, "inconclusive"),
        (["pass", "inconclusive"], {}, "inconclusive"),
        (["inconclusive", "aborted"], {}, "aborted"),
        (["pass", ""], {"stopped": "a person"}, "aborted"),
        (["fail", "aborted"], {"stopped": "a person"}, "fail"),
        (["fail", "pass"], {"unmended": "n1 is down"}, "not put back"),
    ],
)
def test_the_worst_counts_and_what_is_missing_is_no_pass(
    verdicts: list[str], more: dict[str, str], wanted: str
) -> None:
    assert verdict_of(record(*(step("a", verdict) for verdict in verdicts), **more)) == wanted


def test_a_step_that_was_aborted_or_cut_off_remains() -> None:
    cut = StepRecord("c", "c", {})
    cut.begin(NOW.isoformat())
    found = record(step("a", "fail"), step("b", "aborted"), cut, StepRecord("d", "d", {}))
    assert [each.name for each in found.remaining] == ["b", "c", "d"]


def test_the_summary_names_every_step_and_links_each_run() -> None:
    waits = StepRecord("b", "b", {})
    found = record(step("a", "fail"), waits, verdict="fail", stopped="a failed", proof="all whole")
    page = markdown(found, Path("/runs/gamedays/x"))
    assert page.startswith("# FAIL: game day day")
    assert "| a | fail | 11:59:20 UTC | 40 s | [one](../../one/report.html) |" in page
    assert "because \\| of it" in page
    assert "| b | not run | – |" in page
    told = table(found)
    assert "ended early: a failed" in told
    assert told.splitlines()[-1] == "FAIL   game day day"


def test_a_pass_grows_stale() -> None:
    old, new = timedelta(days=31), timedelta(days=2)
    past = [record(step("a", "pass", old), step("b", "pass", new, x=1))]
    first, second = freshness(DAY, past, NOW)
    assert (first.stale, stale_words(first, NOW)) == (True, "STALE: passed 31 days ago")
    assert (second.stale, stale_words(second, NOW)) == (False, "passed 2 days ago")


def test_a_later_fail_leaves_the_pass_and_is_shown() -> None:
    past = [record(step("a", "pass", timedelta(days=3))), record(step("a", "fail"))]
    found = freshness(DAY, past, NOW)[0]
    assert (found.stale, found.last) == (False, "fail")


def test_a_pass_with_other_variables_or_on_another_cluster_is_none() -> None:
    elsewhere = record(step("a", "pass"))
    elsewhere.inventory = "other"
    first, second = freshness(DAY, [elsewhere, record(step("b", "pass", x=2))], NOW)
    assert stale_words(first, NOW) == stale_words(second, NOW) == "STALE: never passed"


def test_an_experiment_takes_as_long_as_it_says_or_as_last_time() -> None:
    past = [record(step("a", "pass"), step("b", "pass", x=1))]
    assert known_duration(DAY, "a", past) == timedelta(seconds=40)
    assert known_duration(DAY, "b", past) == timedelta(minutes=2)
    assert known_duration(DAY, "a", []) is None
