"""A comparison as tables, as one page, as text and as JSON data.

Systems of different speed are compared by shares of their own baseline, and by seconds of their
own normal load; counts and rates stand beside them.
"""

import math
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np

from brownout.base.words import duration
from brownout.measure.measures import label
from brownout.runs.compare.systems import System
from brownout.runs.dip import share_of_baseline
from brownout.runs.outcomes import cells as dotted
from brownout.runs.run_set import FinishedRun
from brownout.runs.share import excluded_words
from brownout.show.report.axes import linear, time
from brownout.show.report.chart import Chart, Line, Pin, Row
from brownout.show.report.grid import Cell, Grid, columns
from brownout.show.report.sections import Section, page
from brownout.show.report.timeline import timeline
from brownout.show.report.values import NONE, signed, worded
from brownout.show.report.words import number

__all__ = ["as_document", "render", "say"]

_HOURS_A_MONTH = 730
_PHASES = ("before", "during", "after")
_PERCENTILES = ("p50", "p99", "p999")
_NOTE = (
    "Of several runs the median, or two outcomes with their counts, and a dot for each run. The "
    "drop and the seconds of load lost are by each system's own baseline."
)
_STYLES = ("one", "two", "three", "four", "five", "six")
_BEFORE_S, _AFTER_S = 10.0, 10.0


def _grids(systems: Sequence[System]) -> list[Grid]:
    """Return the four tables."""
    return [_summary(systems), _throughput(systems), _latency(systems), _cost(systems)]


def _summary(systems: Sequence[System]) -> Grid:
    names = ("lost_writes", "blackout", "recovery_time", "redundancy_time", "lost_operations",
             "lost_seconds", "tps_drop")  # fmt: skip
    lost, *others = (f"{label(name)}:n" for name in names)
    heads = " | ".join(["system", lost, "verdicts:once", "runs:n", *others])
    lost_writes, *rest = (dotted(name, [s.runs.values(name) for s in systems]) for name in names)
    rows: list[list[str | Cell]] = [
        [_name(s), lost_writes[n], s.runs.verdicts, str(len(s.runs)), *(each[n] for each in rest)]
        for n, s in enumerate(systems)
    ]
    few = [excluded_words(n) for n in sorted({len(s.runs) for s in systems}) if n > 1]
    return Grid("Summary", columns(heads), rows, " ".join([_NOTE, *map(_sentence, few)]))


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def _throughput(systems: Sequence[System]) -> Grid:
    heads = (
        "system | loop | offered:n | served before:n | lowest second:n | lowest, of baseline:n | "
        "mean of the dips, of baseline:n | "
    ) + " | ".join(f"{label(name)}:n" for name in ("degraded_time", "availability"))
    return Grid("Throughput", columns(heads), [_throughput_row(s) for s in systems])


def _throughput_row(system: System) -> list[str]:
    before, runs = system.baseline_tps, system.runs
    drop, mean = runs.median("tps_drop"), runs.median("mean_drop")
    lowest = None if before is None or drop is None else before * (1 - drop)
    rate = system.subject["rate"]
    return [
        _name(system),
        str(system.subject["loop"] or NONE),
        f"{number(rate)}/s" if rate else NONE,
        NONE if before is None else f"{number(before)}/s",
        NONE if lowest is None else f"{number(lowest)}/s",
        NONE if drop is None else worded("tps_drop", 1 - drop),
        NONE if mean is None else worded("mean_drop", 1 - mean),
        signed("degraded_time", runs.median("degraded_time")),
        signed("availability", runs.median("availability")),
    ]


def _latency(systems: Sequence[System]) -> Grid:
    """Of what was served; beside it the p99 of everything during the fault."""
    shown = {"p50": "median", "p99": "p99", "p999": "p99.9"}
    heads = " | ".join(f"{phase} {shown[p]}:n" for phase in _PHASES for p in _PERCENTILES)
    rows = []
    for system in systems:
        for scope in ("read", "write"):
            names = [f"latency.{phase}.{p}_us" for phase in _PHASES for p in _PERCENTILES]
            values = [signed(name, system.runs.median(f"{scope}.{name}")) for name in names]
            everything = system.runs.median(f"{scope}.latency_all.during.p99_us")
            if any(value != NONE for value in values):
                late = "> deadline" if everything == math.inf else signed(names[0], everything)
                rows.append([_name(system), scope, *values, late])
    heads = f"system | scope | {heads} | of all, during p99:n"
    return Grid("Response time", columns(heads), rows, "From the intended start.")


def _cost(systems: Sequence[System]) -> Grid:
    heads = (
        "system | nodes:n | a node-hour:n | a month:n | served before, per s and money a month:n | "
        "cost of the load that a fault loses:n"
    )
    rows = [row for system in systems if (row := _cost_row(system))]
    without = [system.name for system in systems if _hourly(system) is None]
    note = f"No price in the inventory of {', '.join(without)}." if without else ""
    return Grid("Cost", columns(heads), rows, note)


def _cost_row(system: System) -> list[str] | None:
    hourly = _hourly(system)
    if hourly is None:
        return None
    currency = str(_price(system)["currency"])
    nodes = int(system.subject["members"] or 0)
    monthly = hourly * _HOURS_A_MONTH
    before, lost = system.baseline_tps, system.runs.median("lost_seconds")
    return [
        _name(system),
        str(nodes),
        f"{hourly / nodes:,.4g} {currency}" if nodes else NONE,
        f"{monthly:,.2f} {currency}",
        NONE if before is None else f"{before / monthly:,.3g}",
        NONE if lost is None or math.isinf(lost) else f"{lost * hourly / 3600:,.3g} {currency}",
    ]


def _every_run(systems: Sequence[System], place: Path) -> Grid:
    """Return what each run was, with a link to it from a page in the directory `place`."""
    heads = (
        "system | run | verdict:once | server | cluster | date (UTC):once | what was broken:wrap"
    )
    rows: list[list[str | Cell]] = [
        [
            _name(system),
            Cell(run.run_id, link=_link(run, place)),
            run.verdict,
            run.server,
            run.cluster,
            f"{run.began:%Y-%m-%d %H:%M}" if run.is_dated else NONE,
            next((each.words for each in timeline(run.impact)), NONE),
        ]
        for system in systems
        for run in system.runs
    ]
    return Grid("Runs", columns(heads), rows)


def _link(run: FinishedRun, place: Path) -> str:
    """Return the way to a run's report, or to its directory where it has none."""
    report = run.path / "report.html"
    target = report if report.is_file() else run.path
    return quote(Path(os.path.relpath(target.resolve(), place.resolve())).as_posix())


def _who(system: System) -> str:
    """`before: stone 6.0.5 on staging, 5 runs of 2026-11-22`."""
    runs, first = system.runs, system.runs[0]
    count = f"{len(runs)} run{'s' * (len(runs) != 1)}"
    return f"{_name(system)}: {first.server} on {first.cluster}, {count} of {runs.dates}."


def _price(system: System) -> Mapping[str, Any]:
    return system.runs[0].impact.cluster.get("price") or {}


def _hourly(system: System) -> float | None:
    """What the whole cluster costs an hour; None without a price."""
    price = _price(system)
    if price.get("per_cluster_hour"):
        return float(price["per_cluster_hour"])
    nodes = system.subject["members"]
    return float(price["per_node_hour"]) * nodes if price.get("per_node_hour") and nodes else None


def _name(system: System) -> str:
    return f"{system.name} (STAND-IN)" if system.runs.stand_in else system.name


def _aligned(systems: Sequence[System]) -> Chart | None:
    """Return the figure, one run of each system; None where none has a fault that took effect."""
    lines = [
        line
        for system, style in zip(systems, _STYLES, strict=False)
        if (line := _line(system, style)) is not None
    ]
    if not lines:
        return None
    start, end = min(line.x[0] for line in lines), max(line.x[-1] for line in lines)
    start, end = max(-30.0, float(start)), float(end)
    recovered = [s.runs.median("recovery_time") or 0.0 for s in systems]
    lasting = max([r for r in recovered if np.isfinite(r)], default=0.0) + _AFTER_S
    highest = max(float(np.nanmax(line.y)) for line in lines)
    say = (
        "Operations that ended well in the last second, of each system's own baseline, from the "
        "moment at which its fault took effect. Of several runs, that which lost the median."
    )
    return Chart(
        key="aligned",
        title="Throughput, of the baseline",
        say=say,
        rows=(Row(tuple(lines), linear(min(200.0, 1.02 * highest), " %")),),
        x=time(start, end),
        view=(max(start, -_BEFORE_S), min(end, max(20.0, lasting))),
        pins=[Pin(0.0, 1, "break", "the fault took effect")],
    )


def _line(system: System, style: str) -> Line | None:
    share = share_of_baseline(system.typical)
    return None if share is None else Line(system.name, style, *share, unit=" %", digits=1)


def say(systems: Sequence[System], notes: Sequence[str]) -> str:
    """Return the tables for a terminal."""
    text = "\n".join(f"note: {note}" for note in notes)
    return "\n\n".join(filter(None, [*(grid.plain() for grid in _grids(systems)), text]))


def render(
    systems: Sequence[System], warnings: Sequence[str], notes: Sequence[str], place: Path
) -> str:
    """Return the page for the directory `place`.

    `warnings` say what is mixed, `notes` what else differs.
    """
    chart, scenario = _aligned(systems), systems[0].subject["scenario"]
    missing = [] if chart else ["No run has a fault that took effect, so nothing is drawn."]
    summary, served, *others = _grids(systems)
    return page(
        f"{scenario} compared",
        f"comparison · {scenario} · {_deadlines(systems)}",
        f"{scenario} on {len(systems)} systems",
        [
            Section(summary.caption, [summary]),
            Section(served.caption, [served], charts=[chart] if chart else [], missing=missing),
            *(Section(grid.caption, [grid]) for grid in others),
            Section("Runs", [_every_run(systems, place)]),
        ],
        say=[*map(_who, systems), *map(_sentence, notes)],
        warnings=[f"Mixed: {warning}." for warning in warnings],
        stand_in=all(system.runs.stand_in for system in systems),
        deadline=_deadlines(systems),
        made_from=", ".join(run.run_id for system in systems for run in system.runs),
    )


def as_document(systems: Sequence[System], notes: Sequence[str]) -> dict[str, Any]:
    """Return the tables as JSON data, in words."""
    return {
        "schema_version": 1,
        "systems": {s.name: [run.run_id for run in s.runs] for s in systems},
        "notes": list(notes),
        "tables": {grid.caption: grid.records() for grid in _grids(systems)},
    }


def _deadlines(systems: Sequence[System]) -> str:
    deadlines = {system.subject["deadline_s"] for system in systems}
    words = ", ".join(sorted(duration(float(each)) for each in deadlines if each is not None))
    return f"deadline {words or 'not known'}"
