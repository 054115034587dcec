"""The tables of a comparison: summary, throughput, response time, cost. Pure.

Systems of different speed are compared by shares of their own baseline, and by seconds of their
own normal load; counts and rates stand beside them.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from brownout.measure.measures import label
from brownout.runs.compare.systems import System
from brownout.show.report.grid import Cell, Grid, columns
from brownout.show.report.measured import NONE, worded
from brownout.show.report.words import number

__all__ = ["grids"]

_HOURS_A_MONTH = 730
_PHASES = ("before", "during", "after")
_PERCENTILES = ("p50", "p99", "p999")


def grids(systems: Sequence[System]) -> list[Grid]:
    """Return the four tables."""
    return [_summary(systems), _throughput(systems), _latency(systems), _cost(systems)]


def _summary(systems: Sequence[System]) -> Grid:
    names = ("tps_drop", "blackout", "recovery_time", "redundancy_time", "lost_seconds",
             "lost_operations", "lost_writes")  # fmt: skip
    heads = " | ".join(["system", "runs:n", "verdicts:once", *(f"{label(n)}:n" for n in names)])
    rows: list[list[str | Cell]] = [
        [_name(s), str(len(s.runs)), _verdicts(s), *(_words(n, s.median(n)) for n in names)]
        for s in systems
    ]
    return Grid("Summary", columns(heads), rows, _NOTE)


def _throughput(systems: Sequence[System]) -> Grid:
    heads = (
        "system | loop | offered:n | served before:n | lowest second:n | lowest, of baseline:n | "
        "mean of the dips, of baseline:n | "
    ) + " | ".join(f"{label(name)}:n" for name in ("degraded_time", "availability"))
    return Grid("Throughput", columns(heads), [_throughput_row(s) for s in systems])


def _throughput_row(system: System) -> list[str]:
    before, drop, mean = (
        system.baseline_tps, system.median("tps_drop"), system.median("mean_drop")
    )  # fmt: skip
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
        _words("degraded_time", system.median("degraded_time")),
        _words("availability", system.median("availability")),
    ]


def _latency(systems: Sequence[System]) -> Grid:
    """Of what was served; beside it the p99 of everything during the fault."""
    shown = {"p50": "median", "p99": "p99", "p999": "p99.9"}
    heads = " | ".join(f"{phase} {shown[p]}:n" for phase in _PHASES for p in _PERCENTILES)
    rows = []
    for system in systems:
        for scope in ("read", "write"):
            names = [f"latency.{phase}.{p}_us" for phase in _PHASES for p in _PERCENTILES]
            values = [_words(name, system.median(name, scope)) for name in names]
            everything = system.median("latency_all.during.p99_us", scope)
            if any(value != NONE for value in values):
                told = "> deadline" if everything == math.inf else _words(names[0], everything)
                rows.append([_name(system), scope, *values, told])
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
    before, lost = system.baseline_tps, system.median("lost_seconds")
    return [
        _name(system),
        str(nodes),
        f"{hourly / nodes:,.4g} {currency}" if nodes else NONE,
        f"{monthly:,.2f} {currency}",
        NONE if before is None else f"{before / monthly:,.3g}",
        NONE if lost is None or math.isinf(lost) else f"{lost * hourly / 3600:,.3g} {currency}",
    ]


def _price(system: System) -> Mapping[str, Any]:
    return (system.runs[0].impact.get("cluster") or {}).get("price") or {}


def _hourly(system: System) -> float | None:
    """What the whole cluster costs an hour; None without a price."""
    price = _price(system)
    if price.get("per_cluster_hour"):
        return float(price["per_cluster_hour"])
    nodes = system.subject["members"]
    return float(price["per_node_hour"]) * nodes if price.get("per_node_hour") and nodes else None


def _name(system: System) -> str:
    return f"{system.name} (STAND-IN)" if system.stand_in else system.name


def _verdicts(system: System) -> Cell:
    words = [run.verdict for run in system.runs]
    if len(set(words)) == 1:
        return Cell(words[0])
    return Cell(", ".join(f"{words.count(w)} {w}" for w in dict.fromkeys(words)))


def _words(measure: str, value: float | None) -> str:
    if value is None:
        return NONE
    return "never" if math.isinf(value) else worded(measure, value)


_NOTE = (
    "Of several runs the median. The drop and the seconds of load lost are by each system's own "
    "baseline."
)
