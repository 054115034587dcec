"""One measure over the runs of a history as a small SVG: each run a step, releases marked. Pure.

A run's verdict is told by the form of its point: a dot passed, a cross failed, a ring is open; a
triangle at the upper edge waited for what never came.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from brownout.measure.measures import label
from brownout.show.report.axes import linear
from brownout.show.report.measured import worded

__all__ = ["Point", "svg"]

_WIDTH, _HEIGHT, _LEFT, _RIGHT, _TOP, _BOTTOM = 560, 220, 78, 14, 30, 30


@dataclass(frozen=True, slots=True)
class Point:
    """One run: its value (infinite: never), verdict, day, the words for a pointer.

    `release` is what a new release is called that begins with it, else empty.
    """

    value: float
    verdict: str
    day: str
    words: str
    release: str = ""


def svg(measure: str, points: Sequence[Point], limit: float | None) -> str:
    """Return a figure of at least one point; `limit` is that of the latest run that had one."""
    known = [point.value for point in points if math.isfinite(point.value)]
    axis = linear(max([*known, *([limit] if limit is not None else [])], default=1.0) * 1.05)
    step = (_WIDTH - _LEFT - _RIGHT) / max(1, len(points))
    places = [_LEFT + (n + 0.5) * step for n in range(len(points))]

    def y(value: float) -> float:
        return _HEIGHT - _BOTTOM - min(1.0, axis.position(value)) * (_HEIGHT - _TOP - _BOTTOM)

    parts = [_line(_LEFT, y(at), _WIDTH - _RIGHT, y(at)) + _text(_LEFT - 8, y(at) + 4, "end",
             worded(measure, at)) for at in (axis.high * tick.position for tick in axis.ticks
                                             if not tick.minor)]  # fmt: skip
    if limit is not None:
        parts.append(_line(_LEFT, y(limit), _WIDTH - _RIGHT, y(limit), "limit"))
        parts.append(_text(_WIDTH - _RIGHT, y(limit) - 5, "end", f"limit {worded(measure, limit)}"))
    parts += _releases(points, places, step)
    parts += _days(points, places)
    seen = [(x, y(p.value)) for x, p in zip(places, points, strict=True) if p.value in known]
    parts.append(f'<path class="course" d="M{"L".join(f"{x:.1f} {v:.1f}" for x, v in seen)}"/>'
                 if len(seen) > 1 else "")  # fmt: skip
    parts += [_mark(x, _TOP if math.isinf(p.value) else y(p.value), p)
              for x, p in zip(places, points, strict=True)]  # fmt: skip
    name = escape(label(measure))
    return (
        f'<figure class="trend"><figcaption>{name}</figcaption><svg viewBox="0 0 {_WIDTH} '
        f'{_HEIGHT}" role="img" aria-label="{name} over {len(points)} runs; the table below says '
        f'the same in numbers">{"".join(parts)}</svg></figure>'
    )


def _releases(points: Sequence[Point], places: Sequence[float], step: float) -> list[str]:
    """A line before the first run of each release, with its name; names may not overlap."""
    parts, free = [], 0.0
    for x, point in zip(places, points, strict=True):
        if not point.release:
            continue
        edge = x - step / 2
        parts.append(_line(edge, _TOP - 8, edge, _HEIGHT - _BOTTOM, "release"))
        width = 7 * len(point.release)
        start = min(edge, _WIDTH - _RIGHT - width)
        if start >= free:
            parts.append(_text(start, 14, "start", point.release, "release"))
            free = start + width + 8
    return parts


def _days(points: Sequence[Point], places: Sequence[float]) -> list[str]:
    """The day under its first run, where there is room."""
    parts, free, last = [], 0.0, ""
    for x, point in zip(places, points, strict=True):
        start = min(x - 4, _WIDTH - 72)
        if point.day != last and start >= free:
            parts.append(_text(start, _HEIGHT - 10, "start", point.day))
            free, last = start + 80, point.day
    return parts


def _mark(x: float, y: float, point: Point) -> str:
    title = f"<title>{escape(point.words)}</title>"
    if math.isinf(point.value):
        return f'<path class="never" d="M{x:.1f} {y - 6:.1f}l6 10h-12z">{title}</path>'
    if point.verdict == "fail":
        return f'<path class="fail" d="M{x - 4:.1f} {y - 4:.1f}l8 8m0 -8l-8 8">{title}</path>'
    form = "pass" if point.verdict == "pass" else "open"
    return f'<circle class="{form}" cx="{x:.1f}" cy="{y:.1f}" r="4">{title}</circle>'


def _line(x1: float, y1: float, x2: float, y2: float, form: str = "") -> str:
    named = f' class="{form}"' if form else ""
    return f'<line{named} x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


def _text(x: float, y: float, anchor: str, words: str, form: str = "") -> str:
    named = f' class="{form}"' if form else ""
    place = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"'
    return f"<text{named} {place}>{escape(words)}</text>"
