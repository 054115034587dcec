"""Each message says how severe it is, where the report is, and who must do what."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from brownout.runs.gameday import messages
from brownout.runs.gameday.freshness import Freshness
from brownout.runs.gameday.messages import Message
from brownout.runs.gameday.record import Record, StepRecord, verdict_of
from brownout.runs.gameday.spec import GameDay

NOW = datetime(2026, 11, 28, 8, tzinfo=UTC)


@pytest.fixture
def day(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> GameDay:
    monkeypatch.setenv("BROWNOUT_RUNS", str(tmp_path))
    return GameDay.model_validate(
        {"name": "release", "cluster": "shop", "experiments": ["a"], "on_call": "the database team",
         "reports": "https://ci.example.com/runs/"}
    )  # fmt: skip


def step(verdict: str, runs: Path) -> StepRecord:
    one = StepRecord("a", "a", {})
    one.begin(NOW.isoformat())
    one.end(NOW.isoformat(), verdict, runs / "one", ["outage 9 s, limit 5 s"])
    return one


def record(*steps: StepRecord, **more: str) -> Record:
    one = Record("release", "", "shop", "shop", "day.yaml", 0, list(steps), NOW.isoformat(), **more)  # type: ignore[arg-type]
    one.verdict = verdict_of(one)
    return one


@pytest.mark.parametrize(
    ("verdict", "severity"), [("fail", "failure"), ("inconclusive", "warning")]
)
def test_a_step_is_as_severe_as_its_verdict_and_links_its_report(
    day: GameDay, tmp_path: Path, verdict: str, severity: str
) -> None:
    message = messages.step_ended(day, record(one := step(verdict, tmp_path)), one)
    assert message.severity == severity
    assert message.title == f"{severity}: game day release on shop: a: {verdict}"
    lines = message.body.splitlines()
    assert lines[:2] == [
        "outage 9 s, limit 5 s", "report: https://ci.example.com/runs/one/report.html"
    ]  # fmt: skip
    assert lines[-1].startswith("to do (the database team): ")


def test_a_step_that_left_something_broken_is_a_failure_that_says_so_first(
    day: GameDay, tmp_path: Path
) -> None:
    for verdict in ("pass", "fail", "inconclusive"):
        one = step(verdict, tmp_path)
        message = messages.step_ended(day, record(one, unmended="n1 is paused"), one)
        assert message.severity == "failure"
        assert message.title.endswith(f"a: {verdict}, NOT PUT BACK")
        lines = message.body.splitlines()
        assert lines[0] == "not put back: n1 is paused"
        assert lines[-1].endswith("the cluster is still broken: run `brownout heal shop` now")


@pytest.mark.parametrize(
    ("verdict", "more", "severity", "todo"),
    [
        ("pass", {}, "info", "nothing"),
        ("fail", {}, "failure", "read the reports"),
        ("aborted", {}, "warning", "--resume"),
        ("pass", {"unmended": "n1 is paused"}, "failure", "brownout heal shop"),
    ],
)
def test_the_end_says_what_is_left_to_do(
    day: GameDay, tmp_path: Path, verdict: str, more: dict[str, str], severity: str, todo: str
) -> None:
    message = messages.ended(day, record(step(verdict, tmp_path), **more), tmp_path / "gamedays/x")
    assert message.severity == severity
    assert todo in message.body.splitlines()[-1]
    assert "summary: https://ci.example.com/runs/gamedays/x/summary.md" in message.body


def test_without_an_address_a_report_is_named_by_host_and_path(
    day: GameDay, tmp_path: Path
) -> None:
    plain = day.model_copy(update={"reports": ""})
    assert messages.report_of(plain, tmp_path / "one").endswith(f":{tmp_path / 'one'}")


def severities(*several: Message) -> list[str]:
    return [message.severity for message in several]


def test_what_did_not_happen_is_a_warning_and_what_may_be_broken_a_failure(day: GameDay) -> None:
    entry = Freshness("a", datetime(2026, 10, 1, tzinfo=UTC), True, "pass", "")
    assert severities(
        messages.begins(day, record()),
        messages.missed(day, "now", "no server", None),
        messages.stale(day, entry, NOW, NOW),
        messages.died(day, "killed", "whole", None, broken=False),
        messages.died(day, "killed", "n1 is paused", None, broken=True),
    ) == ["info", "warning", "warning", "warning", "failure"]
    assert "passed 58 days ago, wanted within 30 days" in messages.stale(day, entry, None, NOW).body
