"""Figures from what Prometheus has, as the probes answer them. Pure: opens no connection.

An answer is `{"value": 0.81, "status": "measured", …}`. Where there is nothing, too little or
not one series, `status` is `no_data`, `value` is null and `missing` says why.
"""

from collections.abc import Callable, Mapping, Sequence
from statistics import fmean, median
from typing import Any

from brownout.base.errors import ConfigurationError
from brownout.observe.source import Samples

__all__ = ["STATISTICS", "compared", "single", "summed_up"]

Answer = dict[str, Any]

STATISTICS: Mapping[str, Callable[[Sequence[float]], float]] = {
    "min": min,
    "max": max,
    "mean": fmean,
    "median": median,
    "last": lambda v: v[-1],
}
#: A window with fewer of its steps has gaps that could hide anything; of a median's half will do,
#: and the first seconds of a baseline are often over before Prometheus has noticed the run.
COVERED, HALF = 0.9, 0.5


def single(series: Sequence[Samples]) -> Answer:
    """Return the one value of an instant query."""
    missing = _not_one(series)
    if missing:
        return _no_data(missing)
    return {"value": series[0].values[-1], "status": "measured", "at": series[0].times[-1]}


def summed_up(series: Sequence[Samples], statistic: str, steps: int) -> Answer:
    """Return one figure of a range query that had so many `steps`.

    Raises `ConfigurationError` for an unknown `statistic`.
    """
    if statistic not in STATISTICS:
        names = ", ".join(STATISTICS)
        raise ConfigurationError(f"statistic: found {statistic!r}, wanted one of {names}")
    missing = _not_one(series) or _gaps(
        series[0], steps, HALF if statistic == "median" else COVERED
    )
    if missing:
        return _no_data(missing)
    values = series[0].values
    value = float(STATISTICS[statistic](values))
    return {"value": value, "status": "measured", "samples": len(values), "steps": steps}


def compared(before: Answer, during: Answer) -> Answer:
    """Return by how much `during` is below `before`, a ratio: 0.2 is 20 % less, -0.2 more.

    Both are answers; one without data, or nothing before, leaves nothing to compare.
    """
    parts: Mapping[str, Answer] = {"baseline": before, "window": during}
    for name, part in parts.items():
        if part["status"] != "measured":
            return {**_no_data(f"{name}: {part['missing']}"), **_figures(parts)}
    if before["value"] <= 0:
        return {**_no_data(f"baseline: {before['value']:g}, wanted above 0"), **_figures(parts)}
    drop = 1 - during["value"] / before["value"]
    return {"value": drop, "status": "measured", **_figures(parts)}


def _figures(parts: Mapping[str, Answer]) -> Answer:
    return {name: part["value"] for name, part in parts.items()}


def _not_one(series: Sequence[Samples]) -> str:
    if not series:
        return "Prometheus has nothing for this query"
    if len(series) > 1:
        return f"{len(series)} series, wanted one: aggregate in the query, as in sum(…)"
    return ""


def _gaps(series: Samples, steps: int, wanted: float) -> str:
    if len(series.values) >= wanted * steps:
        return ""
    return f"{len(series.values)} of {steps} steps have a sample, wanted {wanted:.0%} of them"


def _no_data(missing: str) -> Answer:
    return {"value": None, "status": "no_data", "missing": missing}
