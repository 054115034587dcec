"""What an application beside the load saw, in words and as tables."""

from collections.abc import Callable
from operator import attrgetter
from typing import Any

from brownout.base.words import duration
from brownout.measure.canary import SCOPES, Canary, Figures
from brownout.show.report.grid import Cell, Column, Grid, Words, columns, flatten
from brownout.show.report.words import number, quantity

__all__ = ["grids", "lines", "summary"]

#: Figures of each scope, with their names for people and how they are worded.
COUNTS = {
    "operations": "operations",
    "failed": "failed",
    "unfinished": "without an end when the canary was stopped",
}
TIMES = {
    "longest_without_success_s": "longest time without a success",
    "slowest_s": "slowest operation",
}
MOMENTS = {"first_failure_t": "first failure began at", "last_failure_t": "last failure began at"}


def summary(canary: Canary) -> str:
    """Return one sentence: `canary (client 4.20.0): 3 of 440 operations failed; …`."""
    who = f"canary ({_client(canary)})"
    total = canary.total
    if total is None:
        return f"{who}: not measured: {canary.detail}"
    bad = f"{number(total.failed)} of {number(total.operations)} operations failed"
    if total.unfinished:
        bad += f", {number(total.unfinished)} had no end"
    longest, slowest = _time(total.longest_without_success_s), _time(total.slowest_s)
    return f"{who}: {bad}; longest without a success {longest}, slowest {slowest}"


def lines(canary: Canary) -> list[str]:
    """Return what the table in the terminal says of it."""
    sentences = [summary(canary)]
    total = canary.total
    if total is None:
        return sentences
    if total.errors:
        sentences.append(f"  {_errors(total)}; {_when(total)}")
    sentences.append(
        f"  p99 {_percentile(total, 'before.p99_us')} before the fault, "
        f"{_percentile(total, 'during.p99_us')} during it"
    )
    return sentences


def grids(canary: Canary) -> list[Grid]:
    """Return the tables of the page: the figures, the errors, the policies."""
    tables = [_figures(canary), _by_error(canary)] if canary.total else []
    settings = {
        "client": _client(canary),
        "reads a second, and as many writes": canary.rate,
        "threads": canary.threads,
        **{f"policy {name}": value for name, value in flatten(canary.policies or {}) if name},
    }
    rows: list[Words] = [[name, Cell(words, "code")] for name, words in flatten(settings)]
    heads = [Column("setting"), Column("value", "wrap")]
    note = "Policies that are not named are the client's own defaults."
    return [*tables, Grid("The canary", heads, rows, note)]


def _figures(canary: Canary) -> Grid:
    def row(words: str, name: str, worded: Callable[[Any], str]) -> Words:
        return [words, *(worded(attrgetter(name)(canary.scopes[scope])) for scope in SCOPES)]

    rows = [row(words, name, number) for name, words in COUNTS.items()]
    rows += [row(words, name, _time) for name, words in TIMES.items()]
    rows += [row(words, name, _moment) for name, words in MOMENTS.items()]
    for figure in ("before.p50_us", "before.p99_us", "during.p50_us", "during.p99_us"):
        phase, name = figure.removesuffix("_us").split(".")
        words = f"{name} of successes {phase} the fault"
        rows.append([words, *(_percentile(canary.scopes[scope], figure) for scope in SCOPES)])
    note = ""
    if (canary.lag_max_ms or 0) > 100:
        note = (
            f"The canary itself was up to {canary.lag_max_ms:,.0f} ms late: this machine had no "
            "time for it, and its response times have that in them."
        )
    return Grid(
        "What an application saw", columns("figure | total:n | read:n | write:n"), rows, note
    )


def _by_error(canary: Canary) -> Grid:
    each = canary.scopes
    rows: list[Words] = [
        [Cell(name, "code"), *(number(each[scope].errors.get(name, 0)) for scope in SCOPES)]
        for name in each["total"].errors
    ]
    heads = columns("error, as the client calls it | total:n | read:n | write:n")
    return Grid("Its failures", heads, rows, "" if rows else "No operation failed.")


def _client(canary: Canary) -> str:
    return f"{canary.client or 'its client'} {canary.version or ''}".rstrip()


def _errors(figures: Figures) -> str:
    return ", ".join(f"{name} {number(n)}" for name, n in figures.errors.items())


def _when(figures: Figures) -> str:
    first, last = figures.first_failure_t, figures.last_failure_t
    return f"first began at {first or 0:.1f} s, last at {last or 0:.1f} s"


def _time(value: float | None) -> str:
    return "no data" if value is None else duration(value)


def _moment(value: float | None) -> str:
    return "–" if value is None else f"{value:,.1f} s"


def _percentile(figures: Figures, name: str) -> str:
    return quantity(f"latency.{name}", attrgetter(name)(figures))
