"""A comparison of clients as people and programs read it: one HTML page, Markdown, and JSON data.

Pure, but for `write`.
"""

import json
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from brownout.base.errors import Unsupported
from brownout.base.files import replace_file
from brownout.base.words import duration
from brownout.measure.impact import NEVER
from brownout.measure.measures import label
from brownout.run.metadata import write_json
from brownout.runs.clients.figures import (
    PROMOTED,
    RECOVERED,
    SERVED,
    Meeting,
    Result,
    cure_of,
    finding,
    span,
    times,
)
from brownout.runs.clients.record import Record
from brownout.runs.clients.spec import Comparison
from brownout.runs.outcomes import cells
from brownout.runs.run_set import FinishedRun, Runs, never
from brownout.show.report import sections
from brownout.show.report.grid import Cell, Grid, columns
from brownout.show.report.html import save
from brownout.show.report.sections import Section
from brownout.show.report.values import NONE, signed, worded

__all__ = ["document", "headline", "html", "markdown", "write"]

_CLIENTS = (
    "client | runs:n | served again after:n | after the database:n | never served again:n | "
    f"{label(RECOVERED)}:n | errors in all runs:wrap | {label('lost_writes')}:n"
)
_CURES = "client | setting:wrap | what | without it:n | with it:n"
_SETTINGS = "client | program | command:wrap | options:wrap | rate:n"
_RUNS = (
    f"run | verdict:once | server:wrap | {label(PROMOTED)}:n | all nodes rejoined:n | "
    "built-in driver served again:n | clients:wrap | report"
)
_NOTE = (
    "Times count from the fault's effect: median, lowest and highest of the runs. A client is "
    "served again when both its reads and its writes are. The time after the database is counted "
    "from its new primary. A part of the operations, as those of one shard, may fail for longer: "
    "the service has recovered when the last dip is over. Each run is a dot, `>` one in which the "
    "client was never served again."
)
_CURE = (
    "Options of the same command. A setting is named only if every run with it was served again "
    "sooner than every run without it, or recovered sooner; so few runs show that, and no more."
)


def headline(results: Sequence[Result]) -> str:
    """Return the result in a sentence: who was never served again, or who was last."""
    measured = [each for each in results if each.served]
    if not measured:
        return "no client was measured"
    gone = [each for each in measured if each.never]
    if gone:
        names = ", ".join(f"{e.row.name} ({e.never} of {len(e.served)} runs)" for e in gone)
        return f"{len(gone)} of {len(measured)} clients never served again: {names}"
    slowest = max(measured, key=lambda each: max(each.served))
    after = signed(SERVED, max(slowest.served))
    sentence = f"every client was served again, the last one, {slowest.row.name}, after {after}"
    partly = [each for each in measured if each.is_partly_out]
    if not partly:
        return sentence
    last = max(partly, key=lambda each: max(each.times(RECOVERED)))
    if NEVER in last.times(RECOVERED):
        return f"{sentence}; {last.row.name} never recovered in part"
    return f"{sentence}; the last dip was over after {times(last, RECOVERED)} with {last.row.name}"


def write(comparison: Comparison, record: Record, results: Sequence[Result]) -> list[Path]:
    """Write the data, the Markdown and the page into the record's directory; return their paths.

    Without jinja2, the page is left out.
    """
    files = [record.path / name for name in ("figures.json", "clients.md", "clients.html")]
    write_json(files[0], document(comparison, record, results))
    replace_file(files[1], markdown(comparison, record, results))
    with suppress(Unsupported):
        save(files[2], html(comparison, record, results))
        return files
    return files[:2]


def html(comparison: Comparison, record: Record, results: Sequence[Result]) -> str:
    """Return the page as HTML that needs nothing else; raises `Unsupported` without jinja2."""
    title = comparison.title or comparison.name
    runs = _runs_of(results)
    return sections.page(
        title,
        f"clients · {comparison.experiment} on {comparison.cluster} · {record.began[:10]}",
        headline(results),
        _sections(comparison, record, results),
        say=[_summary(comparison, record, results)],
        deadline=f"deadline of {duration(comparison.deadline_s)}",
        stand_in=runs.stand_in,
        made_from=f"{len(runs)} runs",
    )


def markdown(comparison: Comparison, record: Record, results: Sequence[Result]) -> str:
    """Return the same as Markdown."""
    parts = [f"# {comparison.title or comparison.name}", f"**{headline(results)}**"]
    parts.append(_summary(comparison, record, results))
    for section in _sections(comparison, record, results):
        say = "\n".join(f"- {each}" for each in section.say)
        parts += [f"## {section.title}", *([say] if say else [])]
        parts += [grid.markdown() for grid in section.grids]
    return "\n\n".join(parts) + "\n"


def document(comparison: Comparison, record: Record, results: Sequence[Result]) -> dict[str, Any]:
    """Return all figures as JSON data: what each client met in each run."""
    contents = {
        "schema_version": 1,
        "comparison": record.comparison,
        "began": record.began,
        "ended": record.ended,
        "headline": headline(results),
        "clients": [
            {
                "name": each.row.name,
                "finding": finding(each, cure_of(each, results)),
                "setting": cure.setting if (cure := cure_of(each, results)) else "",
                "runs": [_meeting_document(record, meeting) for meeting in each.meetings],
            }
            for each in results
        ],
    }
    return dict(never(contents))


def _meeting_document(record: Record, meeting: Meeting) -> dict[str, Any]:
    return {
        "run": record.where(meeting.run.path),
        "program": meeting.program,
        "served_again_s": meeting.served,
        "recovered_s": meeting.recovered,
        "driver_served_again_s": meeting.driver,
        "promoted_s": meeting.promoted,
        "rejoined_s": meeting.rejoined,
        "errors": dict(meeting.errors),
        "lost_writes": meeting.lost,
        "observed_s": round(meeting.observed_s, 1),
    }


def _sections(comparison: Comparison, record: Record, results: Sequence[Result]) -> list[Section]:
    cured = [(each, cure) for each in results if (cure := cure_of(each, results)) is not None]
    findings = [finding(each, cure_of(each, results)) for each in results]
    listed = [Section("Findings", say=findings), Section("Clients", [_clients(results)])]
    if cured:
        rows = [
            [
                each.row.name,
                cure.setting,
                label(cure.measure),
                times(each, cure.measure),
                times(cure.result, cure.measure),
            ]
            for each, cure in cured
        ]
        grid = Grid("Times after the fault's effect", columns(_CURES), rows, _CURE)
        listed.append(Section("Settings that made the difference", [grid]))
    return [
        *listed,
        Section("Settings", [_settings(comparison, results)]),
        Section("Runs", [_runs(comparison, record, results)]),
    ]


def _clients(results: Sequence[Result]) -> Grid:
    dots = cells(SERVED, [each.served for each in results])
    rows: list[list[str | Cell]] = [
        [
            Cell(each.row.name, anchor=each.row.name),
            str(len(each.meetings)),
            Cell(times(each, SERVED), dots=strip.dots),
            _later(each),
            f"{each.never} of {len(each.served)}" if each.served else NONE,
            times(each, RECOVERED),
            _errors(each),
            _lost(each),
        ]
        for each, strip in zip(results, dots, strict=True)
    ]
    return Grid("What each client met", columns(_CLIENTS), rows, _NOTE)


def _later(result: Result) -> str:
    later = [each.later for each in result.meetings if each.later is not None]
    came = [value for value in later if value != NEVER]
    return span(came) if came else "never" if later else NONE


def _errors(result: Result) -> str:
    return ", ".join(f"{cause} {n:,.0f}" for cause, n in result.errors.items()) or "none"


def _lost(result: Result) -> str:
    losses = [each.lost for each in result.meetings if each.lost is not None]
    return f"{sum(losses):,}" if losses and len(losses) == len(result.meetings) else NONE


def _settings(comparison: Comparison, results: Sequence[Result]) -> Grid:
    rows: list[list[str | Cell]] = [
        [
            each.row.name,
            ", ".join(dict.fromkeys(m.program for m in each.meetings if m.program)) or NONE,
            Cell(" ".join(each.row.command), "code"),
            Cell(json.dumps(each.row.options), "code") if each.row.options else NONE,
            f"{comparison.rate if each.row.rate is None else each.row.rate:g}/s",
        ]
        for each in results
    ]
    return Grid("", columns(_SETTINGS), rows)


def _runs(comparison: Comparison, record: Record, results: Sequence[Result]) -> Grid:
    """Every run with when the database was back; those that were not judged too."""
    met = {meeting.run.path.resolve(): meeting for each in results for meeting in each.meetings}
    rows: list[list[str | Cell]] = []
    for each in record.runs:
        meeting = met.get((record.path / each.run).resolve()) if each.run else None
        names = ", ".join(row.name for row in comparison.groups[each.group])
        link = f"{each.run}/report.html" if each.run else ""
        times = [meeting.rejoined, meeting.driver] if meeting else [None] * 2
        promoted = meeting.promoted if meeting else None
        rows.append(
            [
                str(len(rows) + 1),
                each.verdict,
                meeting.run.server if meeting else NONE,
                signed(PROMOTED, promoted) if promoted else worded(PROMOTED, promoted),
                *(signed(SERVED, value) for value in times),
                names,
                Cell(Path(each.run).name if each.run else "none was opened", link=link),
            ]
        )
    return Grid("Every run, and when the database was back", columns(_RUNS), rows)


def _summary(comparison: Comparison, record: Record, results: Sequence[Result]) -> str:
    runs = _runs_of(results)
    how = (
        "All clients shared each run, and so met the same fault"
        if comparison.together
        else "Each client had runs of its own"
    )
    servers = " and ".join(dict.fromkeys(run.server for run in runs)) or comparison.cluster
    unfinished = "" if record.ended else " Not complete."
    return (
        f"{len(runs)} runs of {comparison.experiment} on {servers}, begun on {record.began[:10]}. "
        f"{how}, beside the built-in driver at {comparison.driver_rate:g} operations a second."
        f"{unfinished}"
    )


def _runs_of(results: Sequence[Result]) -> Runs:
    by_path: dict[Path, FinishedRun] = {
        meeting.run.path: meeting.run for each in results for meeting in each.meetings
    }
    return Runs(by_path.values())
