"""Throughput over time: by intended start against its baseline, then by completion."""

from dataclasses import replace

import numpy as np

from brownout.base.words import duration
from brownout.measure.impact import Fault
from brownout.show.report.axes import linear
from brownout.show.report.chart import Bracket, Chart, Floats, Level, Line, Row
from brownout.show.report.figures.frame import means, per_second, time_chart
from brownout.show.report.material import Columns, Material
from brownout.show.report.story import unserved_op

__all__ = ["completions", "total"]

#: Low enough for the first screen.
HERO = 180
SCOPES = (("read", "reads"), ("write", "writes"))
#: Widths of a point of the main figure in buckets of 0.1 s, and how many operations it needs: with
#: fewer, a point tells more of when operations happened to arrive than of the database.
WIDTHS, ENOUGH = (1, 2, 5, 10), 10
#: An axis ends so far above the baseline, whatever a burst of catching up reaches.
HEADROOM = 1.25


def total(material: Material) -> Chart | None:
    """What was served, by intended start; in closed loop by completion."""
    columns = material.outcomes.get("total") if material.open_loop else None
    if columns is None or not columns["offered"].any():
        return _by_completion(material)
    width = next((w for w in WIDTHS if columns["offered"].mean() * w >= ENOUGH), WIDTHS[-1])
    offered, served = (_points(columns, name, width) for name in ("offered", "ok"))
    each = f"each {width / 10:g} s"
    lines = (
        Line("offered", "offered", *offered, "step", "/s"),
        Line(f"served, {each}", "total", *served, "step", "/s"),
    )
    say = "Operations that succeeded in time, per second, by intended start; dips are shaded."
    if outages := [fault for fault in material.impact.faults if _outage_of(fault)]:
        op = unserved_op(outages[0], "longest_blackout")
        unserved = f"No {op}" if op else "Nothing"
        say += f" {unserved} completed during the outage; what started near its end waited for it."
    row, beyond = _row(material, lines, height=HERO)
    return _main(material, say + beyond, row)


def completions(material: Material) -> Chart | None:
    """What was served, by completion: all, reads and writes."""
    rows = []
    for scope, words in (("total", "all"), *SCOPES):
        columns = material.series.get(scope)
        if columns is None or not columns["offered"].any():
            continue
        offered = means(columns, "offered", "offered, 1 s mean", "offered")
        served = means(columns, "ok", f"{words}, 1 s mean", scope)
        row, beyond = _row(material, (offered, served), name=words, levels=scope == "total")
        rows.append(replace(row, note=beyond.strip()))
    if not rows:
        return None
    say = (
        "Successful operations per second, by completion, as the mean of the last second. The "
        "throughput drop is measured here."
    )
    return time_chart(material, "completions", "Throughput by completion", say, rows)


def _by_completion(material: Material) -> Chart | None:
    columns = material.series.get("total")
    if columns is None:
        return None
    raw = Line("each 0.1 s", "raw", columns["t"], per_second(columns["ok"]), "step", "/s")
    served = means(columns, "ok", "served, 1 s mean", "total")
    row, beyond = _row(material, (raw, served), height=HERO)
    say = f"Successful operations per second, by completion. {_shading(material)}"
    return _main(material, say + beyond, row)


def _shading(material: Material) -> str:
    """How the shaded dips were found."""
    totals = [fault.total for fault in material.impact.faults]
    return (
        f"Shaded: dips, found by the {totals[0].course.dip_method}." if totals and totals[0] else ""
    )


def _main(material: Material, say: str, row: Row) -> Chart:
    chart = time_chart(material, "throughput", "Throughput", say, [row])
    return replace(chart, brackets=_brackets(material), named=True)


def _brackets(material: Material) -> list[Bracket]:
    """Each fault's longest outage and its recovery, as they were measured."""
    brackets = [
        outage for fault in material.impact.faults if (outage := _outage_of(fault)) is not None
    ]
    for start, end in material.recoveries:
        words = "not recovered" if end is None else f"recovered after {duration(end - start)}"
        brackets.append(Bracket(start, end, words, "recovery"))
    return brackets


def _outage_of(fault: Fault) -> Bracket | None:
    """The longest outage, and how long all lasted together; runs of old do not tell when it was."""
    place, total = fault.figure("longest_blackout_at"), fault.number("blackout")
    if place is None or total is None:
        return None
    start, end = place
    op = unserved_op(fault, "longest_blackout")
    words = f"{f'outage of {op}s' if op else 'outage'} {duration(end - start)}"
    if total - (end - start) > 0.05:
        words = f"longest {words}, {duration(total)} in all"
    return Bracket(start, end, words, "outage")


def _points(columns: Columns, name: str, width: int) -> tuple[Floats, Floats]:
    """When each point of so many buckets begins, and its rate; a last, shorter one is left out."""
    whole = len(columns[name]) // width * width
    rates = columns[name][:whole].reshape(-1, width).mean(axis=1)
    return columns["t"][:whole:width], per_second(rates)


def _row(
    material: Material, lines: tuple[Line, ...], height: int = 120, name: str = "",
    levels: bool = True,
) -> tuple[Row, str]:  # fmt: skip
    """Return a plot whose axis is scaled to the usual load, and a note on values beyond it."""
    base = material.impact.baseline.tps if levels else None
    usual = [float(np.nanmedian(line.y)) for line in lines if not np.isnan(line.y).all()]
    y = linear(HEADROOM * max([base or 0.0, *usual, 1.0]), unit="/s")
    highest = max((float(np.nanmax(line.y, initial=0.0)) for line in lines), default=0.0)
    beyond = f" Up to {highest:,.0f}/s, beyond the axis." if highest > y.high else ""
    row = Row(lines, y, _baseline(material) if levels else (), name=name, height=height)
    return row, beyond


def _baseline(material: Material) -> tuple[Level, ...]:
    base = material.impact.baseline
    if not base.tests:
        return ()
    return (Level(base.tps, f"baseline {base.tps:,.0f}/s", "baseline", base.interval),)
