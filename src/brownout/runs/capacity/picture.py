"""The steps of a search as a picture: rate against the slowest promise, and what held.

The height is how much of its limit each step's worst percentile took, so that streams with
different limits share one axis: above 1 the SLA is broken.
"""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from brownout.show.report.axes import linear
from brownout.show.report.plot import Plot

__all__ = ["svg"]

_EDGE = "#b3261e"
_COLOURS = {"whole": "#0b6bcb", "faulted": "#b35900"}
_NAMES = {"whole": "nothing broken", "faulted": "with the fault"}
_KEY = "● holds (large: long run)   × breach   ○ not judged"
#: A step that took more of its limit is drawn at the upper edge.
_MOST = 3.0

#: A step and the largest part of a limit that it took; None for longer than the deadline.
Point = tuple[Mapping[str, Any], float | None]


def svg(result: Mapping[str, Any]) -> str:
    """Return the picture of a result, as `capacity.json` has it."""
    limits = {_promise(p): p["limit_us"] for p in result["sla"]}
    points = [(step, _share(step, limits)) for step in result["steps"]]
    highest = max((_MOST if share is None else share for _, share in points), default=1.0)
    x = linear(max((step["rate"] for step, _ in points), default=1.0), "/s")
    plot = Plot(x, linear(max(1.0, min(_MOST, highest))), width=760, height=420, top=70)
    lines = "".join(_line(plot, points, phase) for phase in _COLOURS)
    marks = "".join(_mark(plot, point) for point in points)
    stand_in = ", stand-in" if result["stand_in"] else ""
    return plot.svg(
        f"{result['workload']['name']} on {result['cluster']['name']}{stand_in}",
        "operations a second offered",
        "share of its limit that the slowest percentile took",
        _edge(plot) + lines + _found(plot, result) + marks + _legend(plot, result),
    )


def _promise(found: Mapping[str, Any]) -> str:
    scope = "" if found["scope"] == "total" else f" {found['scope']}"
    return f"{found['stream']}{scope} {found['percentile']}"


def _share(step: Mapping[str, Any], limits: Mapping[str, int]) -> float | None:
    told = [(limits[name], value) for each in step["figures"]
            for name, value in each["percentiles_us"].items()]  # fmt: skip
    if not told or any(value is None for _, value in told):
        return None
    return max(float(value) / limit for limit, value in told)


def _height(plot: Plot, share: float | None) -> float:
    return plot.at_y(plot.y.high if share is None else min(share, plot.y.high))


def _edge(plot: Plot) -> str:
    y, right = plot.at_y(1.0), plot.width - plot.right
    return (f'<line x1="{plot.left}" y1="{y:.1f}" x2="{right}" y2="{y:.1f}" stroke="{_EDGE}" '
            'stroke-dasharray="5 4"/>')  # fmt: skip


def _line(plot: Plot, points: Sequence[Point], phase: str) -> str:
    """Join the steps of one phase that were judged, by rate."""
    chosen = sorted(
        (plot.at_x(step["rate"]), _height(plot, share))
        for step, share in points
        if step["phase"] == phase and step["verdict"] != "limited"
    )
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in chosen)
    return f'<polyline points="{path}" fill="none" stroke="{_COLOURS[phase]}" opacity="0.5"/>'


def _mark(plot: Plot, point: Point) -> str:
    """A full disc held, a cross did not, an empty ring could not be judged."""
    step, share = point
    x, y, colour = plot.at_x(step["rate"]), _height(plot, share), _COLOURS[step["phase"]]
    words = f"{step['rate']:,.0f}/s {step['verdict']} {'; '.join(step['reasons'])}"
    title = f"<title>{escape(words)}</title>"
    if step["verdict"] == "breach":
        cross = f"M{x - 4:.1f},{y - 4:.1f}l8,8m0,-8l-8,8"
        return f'<path d="{cross}" stroke="{colour}" stroke-width="2" fill="none">{title}</path>'
    size = 6 if step["kind"] == "confirm" else 4
    fill = "#ffffff" if step["verdict"] == "limited" else colour
    return (f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{size}" fill="{fill}" '
            f'stroke="{colour}">{title}</circle>')  # fmt: skip


def _found(plot: Plot, result: Mapping[str, Any]) -> str:
    """Draw an upright line at each rate that was found."""
    parts = []
    for row, (phase, key) in enumerate((("whole", "capacity"), ("faulted", "resilient"))):
        rate = (result[key] or {}).get("rate")
        if rate is None:
            continue
        x, bottom, colour = plot.at_x(rate), plot.height - plot.bottom, _COLOURS[phase]
        at, anchor = (x - 6, "end") if x > plot.width / 2 else (x + 6, "start")
        parts.append(
            f'<line x1="{x:.1f}" y1="{plot.top}" x2="{x:.1f}" y2="{bottom}" stroke="{colour}"/>'
            f'<text x="{at:.1f}" y="{plot.top + 14 + 16 * row}" text-anchor="{anchor}" '
            f'fill="{colour}">{rate:,.0f}/s</text>'
        )
    return "".join(parts)


def _legend(plot: Plot, result: Mapping[str, Any]) -> str:
    phases = ["whole", *(["faulted"] if result["fault"] else [])]
    parts = [
        f'<text x="{plot.left + 130 * n}" y="44" fill="{_COLOURS[phase]}">{_NAMES[phase]}</text>'
        for n, phase in enumerate(phases)
    ]
    end = plot.width - plot.right
    return "".join(parts) + f'<text x="{end}" y="44" text-anchor="end">{_KEY}</text>'
