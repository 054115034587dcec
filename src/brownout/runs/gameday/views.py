"""Game days as `status` and `history` show them. Pure, but for what is handed to them."""

from collections.abc import Collection, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from brownout.runs.gameday.days import Day
from brownout.runs.gameday.freshness import Freshness, stale_words
from brownout.runs.gameday.leases import Lease
from brownout.runs.gameday.record import Record
from brownout.show.report.grid import Grid, columns
from brownout.show.report.values import NONE

__all__ = ["fresh_document", "fresh_words", "going_on", "history_rows", "history_words"]


def going_on(lease: Lease, state: str, record: Record | None) -> str:
    """Return what a lease's game day does now: who holds it, which step, what came before."""
    lines = [f"{lease.cluster}: {lease.holder()}: {state}"]
    if state != "running":
        lines.append("  continue it with `brownout gameday run … --resume`, or put back what it "
                     "left and end it with `brownout gameday stop`")  # fmt: skip
    for step in record.steps if record else ():
        words = step.verdict or step.status
        lines.append(f"  {step.name}: {words}" + (f"  {step.run}" if step.run else ""))
    return "\n".join(lines + [f"  {note}" for note in (record.notes[-1:] if record else ())])


def history_rows(past: Sequence[Day], running: Collection[str] | None) -> list[dict[str, Any]]:
    """Return a row a day, the latest last, for programs; `running` as for `history_words`."""
    return [
        {**asdict(day.record), "day": str(day.path), "verdict": _word(day, running)} for day in past
    ]


def history_words(past: Sequence[Day], running: Collection[str] | None) -> str:
    """Return a line a day, the latest last.

    `running` are the directories of those in progress, None where that is unknown.
    """
    rows = []
    for day in past:
        record = day.record
        steps = ", ".join(f"{step.name} {step.verdict or step.status}" for step in record.steps)
        rows.append([record.began[:16], record.name, record.cluster, _word(day, running), steps,
                     str(day.path)])  # fmt: skip
    return Grid("", columns("began | game day | cluster | verdict | steps | where"), rows).plain()


def fresh_words(entries: Sequence[Freshness], now: datetime) -> str:
    """Return a line an experiment: how old its last pass is, what came of it last."""
    rows = [
        [each.name, stale_words(each, now), each.last or "never ran", each.run or NONE]
        for each in entries
    ]
    return Grid("", columns("experiment | last pass | last verdict | run"), rows).plain()


def fresh_document(entries: Sequence[Freshness]) -> list[dict[str, Any]]:
    """Return the same for programs."""
    return [
        {**asdict(each), "passed": each.passed.isoformat() if each.passed else None}
        for each in entries
    ]


def _word(day: Day, running: Collection[str] | None) -> str:
    """Its verdict, with *died* where it did not conclude itself."""
    verdict = day.record.verdict
    if not verdict:
        if running is None:
            return "in progress or died"
        return "in progress" if str(day.path.absolute()) in running else "died"
    return f"{verdict}, died" if day.record.died and verdict != "died" else verdict
