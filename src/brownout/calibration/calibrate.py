"""A whole calibration: every run of a layout, some at a time, and a row for every figure."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from brownout.base.errors import BrownoutError
from brownout.calibration.figures import measured_of
from brownout.calibration.judgement import Row, judge, not_measured
from brownout.calibration.layout import RunPlan, lay_out
from brownout.calibration.scenario import Scenario
from brownout.calibration.trial import drive
from brownout.measure import MeasureSettings

__all__ = ["calibrate"]

#: Gets a run and how many of its seconds are over.
Progress = Callable[[RunPlan, float], None]


def calibrate(
    scenarios: Sequence[Scenario],
    settings: MeasureSettings,
    directory: Path,
    *,
    seed: int,
    together: int,
    again: int = 0,
    progress: Progress | None = None,
) -> list[Row]:
    """Measure `scenarios`, `together` runs at a time; return their rows in the order given.

    A run in which something could not be measured is made `again` so many times; what is not
    measured even then has rows that say why. What is measured counts, whatever it is: nothing is
    made again because it was out. The files lie in `directory`.
    """
    plans = lay_out(scenarios, settings, seed)
    with ThreadPoolExecutor(together) as pool:
        measured = pool.map(lambda plan: _rows(plan, directory, settings, again, progress), plans)
        rows = [row for of_run in measured for row in of_run]
    order = {scenario.name: number for number, scenario in enumerate(scenarios)}
    return sorted(rows, key=lambda row: order[row.scenario])


def _rows(
    plan: RunPlan,
    directory: Path,
    settings: MeasureSettings,
    again: int,
    progress: Progress | None,
) -> list[Row]:
    """Return what is measured first of each figure of a run, over as many runs as are allowed."""
    rows = _once(plan, directory, settings, progress)
    for _ in range(again):
        if not any(row.state == "unmeasured" for row in rows):
            break
        later = {
            (row.scenario, row.figure): row for row in _once(plan, directory, settings, progress)
        }
        rows = [
            later[row.scenario, row.figure] if row.state == "unmeasured" else row for row in rows
        ]
    return rows


def _once(
    plan: RunPlan, directory: Path, settings: MeasureSettings, progress: Progress | None
) -> list[Row]:
    on_progress = None if progress is None else lambda t: progress(plan, t)
    try:
        driven = drive(plan, directory, settings, on_progress)
    except BrownoutError as error:
        return [row for placed in plan.placed for row in not_measured(placed, str(error))]
    finally:
        if on_progress is not None:
            on_progress(plan.seconds)
    if driven.starved is not None:
        return [row for placed in plan.placed for row in not_measured(placed, driven.starved)]
    return [
        row
        for placed in plan.placed
        for row in judge(driven.truth, placed, measured_of(driven, placed))
    ]
