"""One variable at several values: what each cost, as a table and as a curve. Pure.

A slow migration leaves the cluster vulnerable for long, a fast one takes more from its users: each
value is a point between the two, and its owner chooses one. In open loop below the cluster's
capacity nothing is lost while data moves; what is felt is response time.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite

from brownout.measure.measures import label
from brownout.runs.outcomes import cells
from brownout.runs.run_set import Runs, counted
from brownout.runs.share import excluded_words
from brownout.show.report.axes import linear
from brownout.show.report.grid import Cell, Column, Grid
from brownout.show.report.plot import Form, Plot
from brownout.show.report.words import STAND_IN

__all__ = ["COLUMNS", "Point", "point", "render", "settings_of", "svg"]

#: Measures of a point. A table has those that any run of it knows.
COLUMNS = (
    "rebalance_time",
    "redundancy_time",
    "throughput_while_moving",
    "tps_drop",
    "latency.during.p99_us",
    "promoted_time",
    "blackout",
    "availability",
    "lost_operations",
)


@dataclass(frozen=True, slots=True)
class Point:
    """What the runs with one value measured: the median of each of `COLUMNS`, None if not known.

    `verdicts` are those of its runs, in order; `values` are those of each run.
    """

    value: str
    verdicts: tuple[str, ...]
    measures: Mapping[str, float | None]
    stand_in: bool = False
    values: Mapping[str, Sequence[float | None]] = field(default_factory=dict)


def settings_of(text: str) -> tuple[str, list[str]] | None:
    """Read `migrate_threads=1,2,4` as the variable and its values; None for another form."""
    name, equals, listed = text.partition("=")
    values = [value.strip() for value in listed.split(",") if value.strip()]
    return (name.strip(), values) if equals and name.strip() and len(values) > 1 else None


def point(value: str, verdicts: Sequence[str], runs: Runs) -> Point:
    """Return the point of one value, from its runs; `verdicts` are those of runs and of no run."""
    measures = {name: runs.median(name) for name in COLUMNS}
    values = {name: runs.values(name) for name in COLUMNS}
    return Point(value, tuple(verdicts), measures, runs.stand_in, values)


def render(variable: str, points: Sequence[Point]) -> str:
    """Return the table, a row a value."""
    values = {name: [each.values.get(name, ()) for each in points] for name in COLUMNS}
    measured = [name for name in COLUMNS if any(v is not None for of in values[name] for v in of)]
    heads = [Column(variable), *(Column(label(name), "n") for name in measured), Column("verdict")]
    by_measure = [cells(name, values[name]) for name in measured]
    rows: list[list[str | Cell]] = [
        [each.value, *(column[n] for column in by_measure), counted(each.verdicts)]
        for n, each in enumerate(points)
    ]
    few = sorted({len(each.values.get(COLUMNS[0], ())) for each in points} - {0, 1})
    stand_in = [STAND_IN] if any(each.stand_in for each in points) else []
    return Grid(
        "", heads, rows, "\n".join([*(f"note: {excluded_words(n)}" for n in few), *stand_in])
    ).plain()


def svg(title: str, variable: str, points: Sequence[Point]) -> str | None:
    """Return the picture; None where fewer than two points have both of its measures."""
    measured = [
        (each, time, waited / 1000)
        for each in points
        if (time := each.measures["rebalance_time"]) is not None
        and (waited := each.measures["latency.during.p99_us"]) is not None
        and isfinite(time + waited)
    ]
    if len(measured) < 2:
        return None
    plot = Plot(
        linear(max(time for _, time, _ in measured), " s"),
        linear(max(waited for _, _, waited in measured), " ms"),
    )
    parts = [plot.line([(time, waited) for _, time, waited in measured], "one")]
    for each, time, waited in measured:
        words, x, y = f"{variable} {each.value}", plot.at_x(time), plot.at_y(waited)
        at, anchor = (x - 9, "end") if x > plot.width * 0.7 else (x + 9, "start")
        parts.append(plot.mark(time, waited, _form(each), "first", words))
        parts.append(plot.text(at, y - 8, words, "ink", anchor=anchor))
    stand_in = ", stand-in" if any(each.stand_in for each in points) else ""
    return plot.svg(
        title + stand_in, parts, "until nothing was left to move", "response time p99 meanwhile"
    )


def _form(point: Point) -> Form:
    """A dot where every run passed, a cross where one failed."""
    if "fail" in point.verdicts:
        return "fail"
    return "pass" if set(point.verdicts) == {"pass"} else "open"
