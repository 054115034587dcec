"""Throughput of every system over the time since its fault, as a share of its own baseline."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from brownout.base.errors import BrownoutError
from brownout.measure.signal import trailing_rate
from brownout.run.series import read_series
from brownout.runs.compare.systems import System
from brownout.show.report.axes import linear, time
from brownout.show.report.chart import Chart, Line, Pin, Row

__all__ = ["STYLES", "aligned"]

STYLES = ("one", "two", "three", "four", "five", "six")
_BEFORE_S, _AFTER_S = 10.0, 10.0


def aligned(systems: Sequence[System]) -> Chart | None:
    """Return the figure, one run of each system; None where none has a fault that took effect."""
    lines = [
        line
        for system, style in zip(systems, STYLES, strict=False)
        if (line := _line(system, style)) is not None
    ]
    if not lines:
        return None
    start, end = min(line.x[0] for line in lines), max(line.x[-1] for line in lines)
    start, end = max(-30.0, float(start)), float(end)
    recovered = [s.median("recovery_time") or 0.0 for s in systems]
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
    run = system.typical
    effects = [f["effective"] for f in run.impact["faults"] if f["effective"] is not None]
    level = (run.impact.get("baseline") or {}).get("tps")
    if not effects or not level:
        return None
    served = _served(run.path)
    if served is None:
        return None
    t = np.arange(len(served)) / 10 + 0.1 - min(effects)
    kept = t >= -30.0
    share = 100 * trailing_rate(served) / float(level)
    return Line(system.name, style, t[kept], share[kept], unit=" %", digits=1)


def _served(path: Path) -> np.ndarray[tuple[int], np.dtype[np.int64]] | None:
    try:
        return np.asarray(read_series(path).completion.total("total", "ok"), dtype=np.int64)
    except BrownoutError:  # a run of which only the impact was kept
        return None
