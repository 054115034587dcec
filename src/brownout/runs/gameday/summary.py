"""A game day as people read it: a table in the terminal, and a page in Markdown. Pure."""

import os
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from brownout.base.words import duration
from brownout.runs.gameday.record import Record, StepRecord
from brownout.show.report.grid_text import escaped

__all__ = ["markdown", "table", "text_table"]

COLUMNS = ("experiment", "verdict", "began", "took", "run")


def table(record: Record) -> str:
    """Return the day as the table that ends `brownout gameday run`."""
    rows = [(*_row(record, step), step.run or "–") for step in record.steps]
    lines = [text_table([COLUMNS, *rows])]
    lines += [f"{step.name}: {'; '.join(step.reasons)}" for step in record.steps if step.reasons]
    if record.stopped:
        lines.append(f"ended early: {record.stopped}")
    if record.proof:
        lines.append(f"at the end {record.proof}")
    if record.unmended:
        lines.append(f"NOT PUT BACK: {record.unmended}")
    return "\n".join([*lines, "", f"{record.verdict.upper()}   {_title(record)}"])


def text_table(rows: Sequence[Sequence[str]]) -> str:
    """Return rows as lines in columns of even width."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )


def markdown(record: Record, place: Path) -> str:
    """Return the day as Markdown that lies in `place`: a link to each run, and what was said."""
    state = record.verdict.upper() or "GOES ON"
    times = f"began {record.began}" + (f", ended {record.ended}" if record.ended else "")
    lines = [f"# {state}: {_title(record)}", ""]
    lines.append(f"Cluster `{record.cluster}`, {record.file}, {times}")
    lines += [f"\nEnded early: {record.stopped}"] if record.stopped else []
    lines += [f"\n**Not put back:** {record.unmended}"] if record.unmended else []
    lines += ["", f"| {' | '.join(COLUMNS)} | why |", "|---|---|---|---|---|---|"]
    for step in record.steps:
        why = escaped("; ".join(step.reasons))
        lines.append(f"| {' | '.join(_row(record, step))} | {_link(step, place)} | {why} |")
    lines += [f"\nAt the end {record.proof}."] if record.proof else []
    lines += ["", *(f"- {note}" for note in record.notes)]
    return "\n".join(lines) + "\n"


def _row(record: Record, step: StepRecord) -> tuple[str, str, str, str]:
    open_still = "not run" if record.verdict and step.status == "waiting" else step.status
    return (
        step.name,
        step.verdict if step.status == "over" else open_still,
        _clock(step.began),
        _took(step),
    )


def _title(record: Record) -> str:
    return f"game day {record.name}" + (f", {record.title}" if record.title else "")


def _clock(moment: str) -> str:
    return f"{datetime.fromisoformat(moment):%H:%M:%S} UTC" if moment else "–"


def _took(step: StepRecord) -> str:
    if not step.began or not step.ended:
        return "–"
    took = datetime.fromisoformat(step.ended) - datetime.fromisoformat(step.began)
    return duration(took.total_seconds())


def _link(step: StepRecord, place: Path) -> str:
    if not step.run:
        return "–"
    run = Path(step.run)
    report = Path(os.path.relpath(run, place)) / "report.html"
    return f"[{run.name}]({report.as_posix()})"
