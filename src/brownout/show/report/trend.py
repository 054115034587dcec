"""A long load as people read it: a row an interval, and how each figure changes."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from brownout.measure.trend import LEAST, Trend, trend_of
from brownout.measure.unit import data_size
from brownout.run.longrun import Interval
from brownout.show.report.axes import linear, time
from brownout.show.report.grid import Column, Grid
from brownout.show.report.palette import LOOKS
from brownout.show.report.plot import Plot
from brownout.show.report.words import number

__all__ = ["FIGURES", "document", "render", "svg", "trends"]

#: What is looked at, with its name for people.
FIGURES = {
    "tps": "throughput",
    "p50_us": "p50",
    "p99_us": "p99",
    "p999_us": "p99.9",
    "records": "records held",
    "bytes": "data held",
}
#: How those that are drawn look.
_STYLES = {"tps": "one", "p99_us": "two"}


def trends(rows: Sequence[Interval]) -> dict[str, Trend | None]:
    """Return the trend of each figure; None where too little is known."""
    times = [(row.start + row.end) / 2 for row in rows]
    return {name: trend_of(times, [getattr(row, name) for row in rows]) for name in FIGURES}


def document(rows: Sequence[Interval], every_s: float) -> dict[str, Any]:
    """Return it for programs."""
    by_name = {
        name: {**asdict(trend), "steady": trend.steady} if trend else None
        for name, trend in trends(rows).items()
    }
    return {
        "schema_version": 1,
        "every_s": every_s,
        "intervals": [asdict(row) for row in rows],
        "trends": by_name,
    }


def render(rows: Sequence[Interval]) -> str:
    """Return the table and the trends."""
    heads = [Column(name, "n") for name in ("from", *FIGURES.values())]
    table = [[f"{row.start:,.0f} s", *(_cell(row, name) for name in FIGURES)] for row in rows]
    return "\n".join([Grid("", heads, table).plain(), "", *_lines(trends(rows))])


def svg(title: str, rows: Sequence[Interval]) -> str | None:
    """Return throughput and p99 over time, each as a share of its highest; None for under two."""
    if len(rows) < 2:
        return None
    plot = Plot(time(rows[0].start, rows[-1].end), linear(1.0))
    parts = []
    for place, (name, style) in enumerate(_STYLES.items()):
        points = [(r.start + r.end, v) for r in rows if (v := getattr(r, name)) is not None]
        top = max((value for _, value in points), default=0) or 1
        parts.append(plot.line([(t / 2, value / top) for t, value in points], style))
        words, colour = f"{FIGURES[name]}, 1 is {_value(name, top)}", LOOKS[style].colour
        edge = plot.width - plot.right
        parts.append(plot.text(edge, 24 + 14 * place, words, colour, anchor="end"))
    return plot.svg(title, parts, "since the start of the load", "share of the highest")


def _lines(by_name: Mapping[str, Trend | None]) -> list[str]:
    measured = {name: trend for name, trend in by_name.items() if trend is not None}
    if not measured:
        return [f"too short for a trend: it wants {LEAST} intervals"]
    return [f"{FIGURES[name]}: {_words(name, trend)}" for name, trend in measured.items()]


def _words(name: str, trend: Trend) -> str:
    """`-3.1 % an hour (-312/h, 95 % from -401 to -220)`."""
    share = "" if trend.relative_per_hour is None else f"{trend.relative_per_hour:+.2%} an hour "
    low, mid, high = (_signed(name, v) for v in (trend.low, trend.per_hour, trend.high))
    steady = "; that is within the noise" if trend.steady else ""
    return f"{share}({mid} an hour, 95 % from {low} to {high}){steady}"


def _signed(name: str, value: float) -> str:
    return f"{'-' if value < 0 else '+'}{_value(name, abs(value))}"


def _cell(row: Interval, name: str) -> str:
    value = getattr(row, name)
    return "–" if value is None else _value(name, value)


def _value(name: str, value: float) -> str:
    if name == "tps":
        return f"{value:,.1f}/s"
    if name.endswith("_us"):
        return f"{value / 1000:,.2f} ms"
    return data_size(value) if name == "bytes" else number(value)
