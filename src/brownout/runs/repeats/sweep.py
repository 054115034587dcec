"""One variable at several values: what each cost, as a table and as a curve. Pure.

A slow migration leaves the cluster vulnerable for long, a fast one takes more from its users: each
value is a point between the two, and its owner chooses one. In open loop below the cluster's
capacity nothing is lost while data moves; what is felt is response time.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import isfinite
from statistics import median

from brownout.measure.measures import label
from brownout.runs.outcomes import cells
from brownout.runs.run_set import Runs, counted
from brownout.runs.share import excluded_words
from brownout.show.report.axes import Axis, Tick, linear
from brownout.show.report.grid import Cell, Column, Grid
from brownout.show.report.plot import Form, Plot
from brownout.show.report.values import NONE, signed
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
    """Return the picture; None where fewer than two points have its measures.

    Where data was moved, it is time against response time, else what users felt at each value.
    """
    title += ", stand-in" if any(each.stand_in for each in points) else ""
    return _trade_off(title, variable, points) or _cliff(title, variable, points)


def _trade_off(title: str, variable: str, points: Sequence[Point]) -> str | None:
    """Draw how long data moved against what its users waited meanwhile."""
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
    left_out = [each.value for each in points if not any(each is one for one, *_ in measured)]
    if left_out:
        words = f"not measured: {variable} {', '.join(left_out)}"
        parts.append(plot.text(plot.width - plot.right, 24, words, anchor="end"))
    return plot.svg(title, parts, "until nothing was left to move", "response time p99 meanwhile")


def _cliff(title: str, variable: str, points: Sequence[Point]) -> str | None:
    """Draw the share that was served at each value, over whether the database failed over."""
    served = [each.measures["availability"] for each in points]
    if sum(value is not None for value in served) < 2:
        return None
    ticks = tuple(Tick((n + 0.5) / len(points), each.value) for n, each in enumerate(points))
    plot = Plot(Axis(-0.5, len(points) - 0.5, ticks), linear(100, " %"), 720, 420, 150, bottom=100)
    shares = [(n, 100 * value) for n, value in enumerate(served) if value is not None]
    pairs = [(one, other) for one, other in pairwise(shares) if other[0] == one[0] + 1]
    parts = [plot.line(pair, "one") for pair in pairs]  # not over a value that was not measured
    for n, value in shares:
        words = f"{variable} {points[n].value}: {signed('availability', value / 100)}"
        parts.append(plot.mark(n, value, _form(points[n]), "first", words))
    bottom = plot.height - plot.bottom
    for row, (head, cell) in enumerate(_FELT.items()):
        y = bottom + 40 + 18 * row
        parts.append(plot.text(plot.left - 8, y, head, anchor="end"))
        parts += [
            plot.text(plot.at_x(n), y, cell(each), "ink", anchor="middle")
            for n, each in enumerate(points)
        ]
    return plot.svg(title, parts, variable, label("availability"))


def _new_primary(point: Point) -> str:
    """Return `stayed`, `1.4 s`, or in how many runs it stayed; a dash if it is not known."""
    times = [value for value in point.values.get("promoted_time", ()) if value is not None]
    if not times:
        return NONE
    stayed = times.count(0.0)
    if stayed == len(times):
        return "stayed"
    return f"stayed {stayed} of {len(times)}" if stayed else signed("promoted_time", median(times))


def _total_outage(point: Point) -> str:
    value = point.measures["blackout"]
    return NONE if value is None else signed("blackout", value)


#: What stands under each value of a picture.
_FELT: Mapping[str, Callable[[Point], str]] = {
    "new primary after": _new_primary,
    label("blackout"): _total_outage,
}


def _form(point: Point) -> Form:
    """A dot where every run passed, a cross where one failed."""
    if "fail" in point.verdicts:
        return "fail"
    return "pass" if set(point.verdicts) == {"pass"} else "open"
