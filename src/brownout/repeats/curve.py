"""The points of a sweep as a picture: how long the cluster was vulnerable, and how users waited.

Plain SVG that stands by itself: a point a value, joined in the order of the values. In open loop
below the cluster's capacity nothing is lost while data moves; what is felt is response time.
"""

from collections.abc import Sequence
from html import escape

from brownout.repeats.sweep import Point
from brownout.report.axes import Axis, linear

__all__ = ["svg"]

_WIDTH, _HEIGHT, _LEFT, _TOP, _RIGHT, _BOTTOM = 640, 400, 70, 50, 30, 60
_INK, _GREY, _LINE = "#1a1a1a", "#c8c8c8", "#0b6bcb"


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
    x = linear(max(time for _, time, _ in known), " s")
    y = linear(max(waited for _, _, waited in known), " ms")
    places = [(_x(x, time), _y(y, waited), value) for value, time, waited in known]
    stand_in = ", stand-in" if any(each.stand_in for each in points) else ""
    path = " ".join(f"{a:.1f},{b:.1f}" for a, b, _ in places)
    marks = "".join(_mark(a, b, f"{variable} {value}") for a, b, value in places)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" '
        f'font-family="sans-serif" font-size="12" fill="{_INK}">'
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="#ffffff"/>'
        f'<text x="{_LEFT}" y="24" font-size="15">{escape(title + stand_in)}</text>'
        f"{_grid(x, y)}"
        f'<polyline points="{path}" fill="none" stroke="{_LINE}" stroke-width="2"/>{marks}</svg>\n'
    )


def _x(axis: Axis, value: float) -> float:
    return _LEFT + axis.position(value) * (_WIDTH - _LEFT - _RIGHT)


def _y(axis: Axis, value: float) -> float:
    return _HEIGHT - _BOTTOM - axis.position(value) * (_HEIGHT - _TOP - _BOTTOM)


def _grid(x: Axis, y: Axis) -> str:
    bottom, right = _HEIGHT - _BOTTOM, _WIDTH - _RIGHT
    parts = []
    for tick in x.ticks:
        at = _LEFT + tick.position * (right - _LEFT)
        parts.append(f'<line x1="{at}" y1="{_TOP}" x2="{at}" y2="{bottom}" stroke="{_GREY}"/>')
        parts.append(f'<text x="{at}" y="{bottom + 18}" text-anchor="middle">{tick.label}</text>')
    for tick in y.ticks:
        at = bottom - tick.position * (bottom - _TOP)
        parts.append(f'<line x1="{_LEFT}" y1="{at}" x2="{right}" y2="{at}" stroke="{_GREY}"/>')
        parts.append(f'<text x="{_LEFT - 8}" y="{at + 4}" text-anchor="end">{tick.label}</text>')
    middle = (_LEFT + right) / 2
    parts.append(
        f'<text x="{middle}" y="{_HEIGHT - 16}" text-anchor="middle">'
        "until nothing was left to move</text>"
    )
    parts.append(f'<text x="{_LEFT}" y="{_TOP - 10}">response time p99 meanwhile</text>')
    return "".join(parts)


def _mark(x: float, y: float, label: str) -> str:
    left = x > _WIDTH * 0.7
    at, anchor = (x - 9, "end") if left else (x + 9, "start")
    return (
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{_LINE}"/>'
        f'<text x="{at:.1f}" y="{y - 8:.1f}" text-anchor="{anchor}">{escape(label)}</text>'
    )
