"""A game day as people read it: a table in the terminal, and a page in Markdown. Pure."""

import os
from datetime import datetime
from pathlib import Path

from brownout.base.words import duration
from brownout.runs.gameday.record import Record, StepRecord
from brownout.show.report.grid import Grid, columns
from brownout.show.report.values import NONE

__all__ = ["markdown", "table"]

_HEADS = "experiment | verdict | began | took | run"


def table(record: Record) -> str:
    """Return the day as the table that ends `brownout gameday run`."""
    rows = [[*_row(record, step), step.run or NONE] for step in record.steps]
    lines = [Grid("", columns(_HEADS), rows).plain()]
    lines += [f"{step.name}: {'; '.join(step.reasons)}" for step in record.steps if step.reasons]
    if record.stopped:
        lines.append(f"ended early: {record.stopped}")
    if record.proof:
        lines.append(f"at the end {record.proof}")
    if record.unmended:
        lines.append(f"NOT PUT BACK: {record.unmended}")
    return "\n".join([*lines, "", f"{record.verdict.upper()}   {_title(record)}"])


def markdown(record: Record, place: Path) -> str:
    """Return the day as Markdown that lies in `place`: a link to each run, and what was said."""
    state = record.verdict.upper() or "IN PROGRESS"
    times = f"began {record.began}" + (f", ended {record.ended}" if record.ended else "")
    lines = [f"# {state}: {_title(record)}", ""]
    lines.append(f"Cluster `{record.cluster}`, {record.file}, {times}")
    lines += [f"\nEnded early: {record.stopped}"] if record.stopped else []
    lines += [f"\n**Not put back:** {record.unmended}"] if record.unmended else []
    rows = [
        [*_row(record, step), _link(step, place), "; ".join(step.reasons)] for step in record.steps
    ]
    lines += ["", Grid("", columns(f"{_HEADS} | why"), rows).markdown()]
    lines += [f"\nAt the end {record.proof}."] if record.proof else []
    lines += ["", *(f"- {note}" for note in record.notes)]
    return "\n".join(lines) + "\n"


def _row(record: Record, step: StepRecord) -> list[str]:
    open_still = "not run" if record.verdict and step.status == "waiting" else step.status
    return [
        step.name,
        step.verdict if step.status == "over" else open_still,
        f"{datetime.fromisoformat(step.began):%H:%M:%S} UTC" if step.began else NONE,
        _took(step),
    ]


def _title(record: Record) -> str:
    return f"game day {record.name}" + (f", {record.title}" if record.title else "")


def _took(step: StepRecord) -> str:
    if not step.began or not step.ended:
        return NONE
    took = datetime.fromisoformat(step.ended) - datetime.fromisoformat(step.began)
    return duration(took.total_seconds())


def _link(step: StepRecord, place: Path) -> str:
    if not step.run:
        return NONE
    run = Path(step.run)
    report = Path(os.path.relpath(run, place)) / "report.html"
    return f"[{run.name}]({report.as_posix()})"
