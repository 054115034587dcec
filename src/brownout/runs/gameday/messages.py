"""What people are told of a game day: how severe it is, what happened, and who must do what. Pure.

    warning: game day release on shop: died: its server was killed
    it was at node-kill
    cluster `shop` is whole: n1, n2, n3 are there and in step, 4.2 s after it was asked for
    report: https://ci.example.com/brownout/20261128T083000Z-node-kill/report.html
    to do (the database team): run the rest: `brownout gameday run release.yaml --resume`

A severity is `info`: there is nothing to do; `warning`: something was not tested; `failure`: the
database failed a limit, or is perhaps still broken.
"""

import os
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from brownout.run.directory import runs_root
from brownout.runs.gameday.freshness import Freshness, stale_words
from brownout.runs.gameday.record import Record, StepRecord
from brownout.runs.gameday.spec import GameDay

__all__ = ["Message", "Severity", "Topic", "begins", "died", "died_without_cluster", "ended",
           "missed", "not_begun", "report_of", "server_died", "stale", "step_ended"]  # fmt: skip

Severity = Literal["info", "warning", "failure"]
Topic = Literal["begin", "fail", "end", "stale"]

_OF_VERDICT: dict[str, Severity] = {"pass": "info", "fail": "failure", "not put back": "failure"}


@dataclass(frozen=True, slots=True)
class Message:
    """One message. `about` decides who gets it; the lines of its body are in the order of need."""

    about: Topic
    severity: Severity
    title: str
    body: str


def begins(gameday: GameDay, record: Record) -> Message:
    """The day begins."""
    names = ", ".join(step.name for step in record.remaining)
    todo = f"nothing; `brownout gameday stop {record.cluster}` ends it and puts everything back"
    return _message(gameday, "begin", "info", f"begins: {names}", [], todo)


def step_ended(gameday: GameDay, record: Record, step: StepRecord) -> Message:
    """A step ended with another verdict than pass, or left something broken."""
    lines = [*step.reasons, *_report(gameday, step.run)]
    severity = _OF_VERDICT.get(step.verdict, "warning")
    words = f"{step.name}: {step.verdict}"
    if record.unmended:
        severity, words = "failure", f"{words}, NOT PUT BACK"
        lines.insert(0, f"not put back: {record.unmended}")
        todo = _heal(record)
    elif step.verdict == "fail":
        todo = "read the report: the database broke a limit"
    else:
        todo = f"nothing was proven; run it again: `brownout gameday run {gameday.path} --resume`"
    return _message(gameday, "fail", severity, words, lines, todo)


def ended(gameday: GameDay, record: Record, day: Path) -> Message:
    """The day is over; what is still broken comes first."""
    steps = [f"{step.name}: {step.verdict or step.status}" for step in record.steps]
    lines = [*filter(None, (record.unmended, record.stopped, record.proof)), *steps]
    lines += [f"summary: {report_of(gameday, day / 'summary.md')}"]
    if record.unmended:
        todo = _heal(record)
    elif record.verdict == "pass":
        todo = "nothing"
    elif record.verdict == "fail":
        todo = "read the reports of the experiments that failed"
    else:
        todo = f"run what is missing: `brownout gameday run {gameday.path} --resume`"
    severity = _OF_VERDICT.get(record.verdict, "warning")
    return _message(gameday, "end", severity, record.verdict, lines, todo)


def not_begun(gameday: GameDay, why: str) -> Message:
    """A scheduled day was refused, and nothing was touched."""
    todo = f"see `brownout gameday plan {gameday.path}`; nothing was tested"
    return _message(gameday, "fail", "warning", "did not begin", [why], todo)


def missed(gameday: GameDay, due: str, why: str, next_due: datetime | None) -> Message:
    """A day was not started at its time."""
    then = f"; the next is due at {_moment(next_due)}" if next_due else "; no other is scheduled"
    todo = f"run it by hand: `brownout gameday run {gameday.path}`{then}"
    return _message(gameday, "fail", "warning", f"MISSED, due at {due}", [why], todo)


def died(gameday: GameDay, why: str, state: str, step: StepRecord | None, broken: bool) -> Message:
    """A day ended without its own conclusion; `state` says what of the cluster is proven."""
    lines = [why, *([f"it was at {step.name}"] if step else []), state]
    lines += _report(gameday, step.run) if step else []
    todo = f"run the rest: `brownout gameday run {gameday.path} --resume`"
    if broken:
        todo = f"the cluster may be broken: run `brownout gameday stop {gameday.name}` now"
    severity: Severity = "failure" if broken else "warning"
    return _message(gameday, "fail", severity, f"died: {why}", lines[1:], todo)


def died_without_cluster(gameday: GameDay, why: str) -> Message:
    """A day ended without its own conclusion before it held its cluster, or when it no more did."""
    todo = (
        f"nothing is broken; if `brownout gameday history {gameday.path}` has no verdict of it, "
        f"run it: `brownout gameday run {gameday.path}`"
    )
    lines = ["it held no cluster"]
    return _message(gameday, "fail", "warning", f"died: {why}", lines, todo)


def server_died(gameday: GameDay, why: str, next_due: datetime | None) -> Message:
    """The server of schedules was killed; the one after it says so."""
    lines = [
        why,
        "another serves the schedules now; days that were due in between are reported as missed",
    ]
    then = f"; the next day is due at {_moment(next_due)}" if next_due else ""
    todo = f"find out why that process ended{then}"
    return _message(gameday, "fail", "warning", "its server died", lines, todo)


def stale(gameday: GameDay, entry: Freshness, next_due: datetime | None, now: datetime) -> Message:
    """An experiment has no pass that is fresh enough."""
    limit = f"{gameday.freshness.total_seconds() / 86400:g} days"
    lines = [f"{entry.name}: {stale_words(entry, now).removeprefix('STALE: ')}, wanted within "
             f"{limit}; last verdict: {entry.last or 'never ran'}"]  # fmt: skip
    then = f"; the next is due at {_moment(next_due)}" if next_due else ""
    todo = f"`brownout gameday run {gameday.path}`{then}"
    lines += _report(gameday, entry.run)
    return _message(gameday, "stale", "warning", f"{entry.name} is STALE", lines, todo)


def report_of(gameday: GameDay, path: Path) -> str:
    """Return how people reach a file of the runs' folder: by `reports`, else by host and path."""
    inside = os.path.relpath(path.absolute(), runs_root().absolute())
    if gameday.reports and not inside.startswith(".."):
        return f"{gameday.reports.rstrip('/')}/{Path(inside).as_posix()}"
    return f"{socket.gethostname()}:{path.absolute()}"


def _heal(record: Record) -> str:
    return f"the cluster is still broken: run `brownout heal {record.cluster}` now"


def _report(gameday: GameDay, run: str) -> list[str]:
    return [f"report: {report_of(gameday, Path(run) / 'report.html')}"] if run else []


def _message(
    gameday: GameDay,
    about: Topic,
    severity: Severity,
    words: str,
    lines: Sequence[str],
    todo: str,
) -> Message:
    """The severity stands in the title, too: an e-mail and a telephone show nothing else of it."""
    who = f"to do ({gameday.on_call})" if gameday.on_call else "to do"
    title = f"{severity}: game day {gameday.name} on {gameday.cluster}: {words}"
    return Message(about, severity, title, "\n".join([*lines, f"{who}: {todo}"]))


def _moment(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%a %Y-%m-%d %H:%M} UTC"
