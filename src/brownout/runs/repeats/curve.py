"""The points of a sweep as a picture: how long the cluster was vulnerable, and how users waited.

Plain SVG that stands by itself: a point a value, joined in the order of the values. In open loop
below the cluster's capacity nothing is lost while data moves; what is felt is response time.
"""

from collections.abc import Sequence
from html import escape

from brownout.runs.repeats.sweep import Point
from brownout.show.report.axes import linear
from brownout.show.report.plot import Plot

__all__ = ["svg"]

_LINE = "#0b6bcb"


def svg(title: str, variable: str, points: Sequence[Point]) -> str | None:
    """Return the picture; None where fewer than two points have both of its measures."""
    known = [
        (each.value, time, waited / 1000)
        for each in points
        if (time := each.measures["rebalance_time"]) is not None
        and (waited := each.measures["latency.during.p99_us"]) is not None
    ]
    if len(known) < 2:
        return None
    plot = Plot(
        linear(max(time for _, time, _ in known), " s"),
        linear(max(waited for _, _, waited in known), " ms"),
    )
    places = [(plot.at_x(time), plot.at_y(waited), value) for value, time, waited in known]
    stand_in = ", stand-in" if any(each.stand_in for each in points) else ""
    path = " ".join(f"{a:.1f},{b:.1f}" for a, b, _ in places)
    marks = "".join(_mark(plot, a, b, f"{variable} {value}") for a, b, value in places)
    return plot.svg(
        title + stand_in,
        "until nothing was left to move",
        "response time p99 meanwhile",
        f'<polyline points="{path}" fill="none" stroke="{_LINE}" stroke-width="2"/>{marks}',
    )


def _mark(plot: Plot, x: float, y: float, label: str) -> str:
    left = x > plot.width * 0.7
    at, anchor = (x - 9, "end") if left else (x + 9, "start")
    return (
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{_LINE}"/>'
        f'<text x="{at:.1f}" y="{y - 8:.1f}" text-anchor="{anchor}">{escape(label)}</text>'
    )
