"""The report of a search: one HTML file with the result, every step, and the steps as a picture.

The picture has rate against the slowest promise: how much of its limit each step's worst
percentile took, so that streams with different limits share one axis. Above 1 the SLA is broken.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from brownout.runs.capacity.words import percentiles, render
from brownout.show.report import sections
from brownout.show.report.axes import linear
from brownout.show.report.grid import Grid, columns
from brownout.show.report.palette import LOOKS
from brownout.show.report.plot import Form, Plot
from brownout.show.report.sections import Section
from brownout.show.report.values import NONE
from brownout.show.report.words import STAND_IN

__all__ = ["page", "svg"]

_HEADS = "step:n | rate:n | kind | verdict:once | served:n | percentiles:wrap | why:wrap"
#: How each phase looks, and what it is called.
_PHASES = {"whole": ("one", "nothing broken"), "faulted": ("two", "with the fault")}
_FORMS: Mapping[str, Form] = {"holds": "pass", "breach": "fail", "limited": "open"}
_KEY = "● holds (large: long run)   × breach   ○ not judged"
#: A step that took more of its limit is drawn at the upper edge.
_MOST = 3.0


def svg(result: Mapping[str, Any], in_page: bool = False) -> str:
    """Return the picture of a result, as `capacity.json` has it."""
    limits = {_promise(p): p["limit_us"] for p in result["sla"]}
    points = [(step, _share(step, limits)) for step in result["steps"]]
    x = linear(max((step["rate"] for step, _ in points), default=1.0), "/s")
    y = linear(max([1.0, *(share for _, share in points)]))
    plot = Plot(x, y, width=760, height=420, top=70, in_page=in_page)
    parts = [plot.rule("bad", y=1.0)]
    for row, (phase, (style, name)) in enumerate(_PHASES.items()):
        own = [(step, share) for step, share in points if step["phase"] == phase]
        colour = LOOKS[style].colour
        if own or phase == "whole":
            parts.append(plot.text(plot.left + 130 * row, 44, name, colour))
        judged = [(s["rate"], share) for s, share in own if s["verdict"] != "limited"]
        parts += [plot.line(sorted(judged), style), *_marks(plot, result, phase, row, colour)]
        parts += [_mark(plot, step, share, colour) for step, share in own]
    parts.append(plot.text(plot.width - plot.right, 44, _KEY, anchor="end"))
    stand_in = ", stand-in" if result["stand_in"] else ""
    return plot.svg(
        f"{result['workload']['name']} on {result['cluster']['name']}{stand_in}",
        parts,
        "operations a second offered",
        "share of its limit that the slowest percentile took",
    )


def _promise(promise: Mapping[str, Any]) -> str:
    scope = "" if promise["scope"] == "total" else f" {promise['scope']}"
    return f"{promise['stream']}{scope} {promise['percentile']}"


def _share(step: Mapping[str, Any], limits: Mapping[str, int]) -> float:
    """The largest part of a limit that a step took; the most for longer than the deadline."""
    shares = [(limits[name], value) for each in step["figures"]
            for name, value in each["percentiles_us"].items()]  # fmt: skip
    if not shares or any(value is None for _, value in shares):
        return _MOST
    return min(_MOST, max(float(value) / limit for limit, value in shares))


def _mark(plot: Plot, step: Mapping[str, Any], share: float, colour: str) -> str:
    words = f"{step['rate']:,.0f}/s {step['verdict']} {'; '.join(step['reasons'])}"
    size = 6 if step["kind"] == "confirm" else 4
    return plot.mark(step["rate"], share, _FORMS[step["verdict"]], colour, words, size)


def _marks(
    plot: Plot, result: Mapping[str, Any], phase: str, row: int, colour: str
) -> Sequence[str]:
    """An upright line at the rate that was found."""
    rate = (result["resilient" if phase == "faulted" else "capacity"] or {}).get("rate")
    if rate is None:
        return ()
    x = plot.at_x(rate)
    at, anchor = (x - 6, "end") if x > plot.width / 2 else (x + 6, "start")
    words = plot.text(at, plot.top + 14 + 16 * row, f"{rate:,.0f}/s", colour, anchor=anchor)
    return plot.rule(colour, x=rate), words


def page(result: Mapping[str, Any], where: str) -> str:
    """Return the report of a result, as `capacity.json` has it; it needs no other file.

    Raises `Unsupported` without jinja2.
    """
    cluster, workload = result["cluster"]["name"], result["workload"]["name"]
    fault = f" · {result['fault']}" if result["fault"] else ""
    headline, *lines = render(result, where).splitlines()
    return sections.page(
        f"Capacity of {cluster}",
        f"capacity · {workload} on {cluster}{fault} · seed {result['seed']}",
        headline,
        [Section("Steps", [_steps(result)], pictures=[svg(result, in_page=True)])],
        say=[line for line in lines if line not in (STAND_IN, where)],
        warnings=[STAND_IN] if result["stand_in"] else [],
        stand_in=result["stand_in"],
        made_from=f"the search in {where}",
    )


def _steps(result: Mapping[str, Any]) -> Grid:
    return Grid("Every step", columns(_HEADS), list(map(_row, result["steps"])))


def _row(step: Mapping[str, Any]) -> list[str]:
    offered = sum(each["offered"] for each in step["figures"])
    served = sum(each["ok"] for each in step["figures"])
    return [
        str(step["number"]),
        f"{step['rate']:,.0f}/s",
        "with the fault" if step["phase"] == "faulted" else step["kind"],
        step["verdict"],
        f"{served / offered:.2%}" if offered else NONE,
        ", ".join(percentiles(each["percentiles_us"]) for each in step["figures"]),
        "; ".join(step["reasons"]),
    ]
