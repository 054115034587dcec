"""The quick calibration: the real generator, the real server, the real measures, known truth.

A wrong truth and a broken measure are tried on the same runs, so that it is known to fail.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from tests.calibration.calibrating import Calibrated, calibrate

from brownout.calibration import catalogue
from brownout.calibration.figures import measured_of
from brownout.calibration.judgement import Row, judge, outcome
from brownout.calibration.layout import RunPlan, lay_out, settings_for
from brownout.calibration.scenario import Scenario
from brownout.calibration.trial import TRUTH, measure
from brownout.run.directory import RunDirectory

pytestmark = pytest.mark.quiet


#: Each figure that a quick calibration judges, in fewer seconds.
SOME = ("dip-15.4%", "freeze", "lane", "lost", "late", "kept")


class Kept(NamedTuple):
    """A quick calibration: what it said, where its runs are, and its scenarios."""

    done: Calibrated
    place: Path
    scenarios: list[Scenario]


@pytest.fixture(
    scope="module",
    params=[pytest.param(SOME, id="some"), pytest.param((), id="all", marks=pytest.mark.matrix)],
)
def kept(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Kept:
    """The quick calibration and where its runs are; on a machine too busy, twice more."""
    place = tmp_path_factory.mktemp("calibration")
    only = [word for name in request.param for word in ("--only", name)]
    done = calibrate("--quick", *only, "--again", "2", "--together", "3", "-o", str(place))
    if done.code == 2:
        pytest.skip(f"this machine is too busy to measure on:\n{done.words}")
    return Kept(done, place, catalogue.chosen(request.param, quick=True))


def test_what_is_measured_through_a_client_is_what_truly_happened(tmp_path: Path) -> None:
    names = [name for name in SOME if name not in ("lane", "late")]  # which a client has no part in
    only = [word for name in names for word in ("--only", name)]
    options = ("--quick", "--client", *only, "--again", "2", "--together", "3", "-o", str(tmp_path))
    done = calibrate(*options)
    if done.code == 2:
        pytest.skip(f"this machine is too busy to measure on:\n{done.words}")
    assert done.code == 0, done.words
    scenarios = catalogue.chosen(names, quick=True, client=True)
    assert {row["scenario"] for row in done.rows} == {s.name for s in scenarios}
    assert any(row["figure"] == "lost_writes" and row["truth"] > 0 for row in done.rows)
    for run in tmp_path.iterdir():
        settings = json.loads((run / "generator.json").read_text())["driver_settings"]
        assert settings["clients"]["app"]["name"] == "scripted server"


def test_some_scenarios_judge_every_figure() -> None:
    figures, every = (
        {figure for scenario in scenarios for figure in scenario.figures}
        for scenarios in (catalogue.chosen(SOME, quick=True), catalogue.every(quick=True))
    )
    assert figures == every


def test_what_is_measured_is_what_truly_happened(kept: Kept) -> None:
    done = kept.done
    assert done.code == 0, done.words
    assert {row["scenario"] for row in done.rows} == {s.name for s in kept.scenarios}
    assert any(row["figure"] == "lost_writes" and row["truth"] > 0 for row in done.rows)
    assert any(row["figure"] == "late_keys" and row["truth"] > 0 for row in done.rows)


def run_of(kept: Kept, setup: str) -> tuple[RunPlan, RunDirectory]:
    plans = lay_out(kept.scenarios, settings_for(quick=True), seed=1)
    plan = next(plan for plan in plans if plan.setup.name == setup)
    return plan, RunDirectory.open(sorted(kept.place.glob(f"*-{setup}-{plan.seed}"))[-1])


def judged(kept: Kept, setup: str) -> list[Row]:
    plan, run = run_of(kept, setup)
    driven = measure(plan, run)
    return [row for p in plan.placed for row in judge(driven.truth, p, measured_of(driven, p))]


def test_the_same_files_give_the_same_rows(kept: Kept) -> None:
    assert judged(kept, "quick") == judged(kept, "quick")


def later(truth: dict[str, Any]) -> None:
    for effect in truth["effects"]:
        effect["at"] += 0.5


def deeper(truth: dict[str, Any]) -> None:
    for lane in truth["timeline"]:
        lane["served"] = [round(n * 0.7) if i > 400 else n for i, n in enumerate(lane["served"])]


def more(truth: dict[str, Any]) -> None:
    for effect in truth["effects"]:
        effect["hit"] += 100


@pytest.mark.parametrize(
    ("wrong", "figure"), [(later, "edges"), (deeper, "drop"), (more, "lost_operations")]
)
def test_a_wrong_truth_is_out(
    kept: Kept, wrong: Callable[[dict[str, Any]], None], figure: str
) -> None:
    _, run = run_of(kept, "quick")
    path = run.path / TRUTH
    text = path.read_text()
    truth = json.loads(text)
    wrong(truth)
    try:
        path.write_text(json.dumps(truth))
        rows = judged(kept, "quick")
    finally:
        path.write_text(text)
    assert outcome(rows) == 1
    assert any(row.figure == figure and row.state == "out" for row in rows)


def test_a_broken_measure_is_out(kept: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "brownout.measure.dips.below_ratio",
        lambda born, served, settings: np.zeros(len(born), np.bool_),
    )
    rows = judged(kept, "quick")
    assert outcome(rows) == 1
    assert {row.state for row in rows if row.figure == "edges"} == {"out"}


def test_a_lost_write_that_is_not_found_is_out(kept: Kept) -> None:
    _, run = run_of(kept, "ledger")
    lines = [json.loads(line) for line in run.ledger_lines.read_text().splitlines()]
    text = run.ledger_lines.read_text()
    promised = {line["key"]: line["acked"] for line in lines if "key" in line}
    for line in lines:
        if "read" in line and "stream" in line:
            line["seq"] = promised[line["read"]]
    try:
        run.ledger_lines.write_text("".join(json.dumps(line) + "\n" for line in lines))
        rows = judged(kept, "ledger")
    finally:
        run.ledger_lines.write_text(text)
    assert {row.state for row in rows} == {"out"}
