"""The generator's own health: whether the instrument kept up with its schedule."""

import numpy as np

from brownout.show.report.axes import linear
from brownout.show.report.chart import STRIP, Chart, Floats, Level, Line, Row
from brownout.show.report.figures.frame import time_chart
from brownout.show.report.material import Material

__all__ = ["lag"]


def lag(material: Material) -> Chart | None:
    """How far behind its schedule it sent, its pauses, its memory and processor time."""
    health = material.health
    if not health or not len(health["t"]):
        return None
    t = health["t"]
    behind = (
        Line("lag p99", "p99", t, health["lag_p99_ms"], unit=" ms", digits=2),
        Line("lag, longest", "max", t, health["lag_max_ms"], "dots", " ms", 2),
        Line("garbage collection", "p50", t, health["gc_pause_ms"], unit=" ms", digits=2),
    )
    top = max(float(np.nanmax(line.y, initial=1.0)) for line in behind)
    limit = float(material.impact.settings.get("lag_p99_max_ms") or np.inf)
    levels = (Level(limit, f"limit of p99: {limit:g} ms"),) if top > limit / 2 else ()
    rows = [
        Row(behind, linear(top, unit=" ms"), levels, name="behind schedule", height=110),
        _simple("processor", "s per second", health["t"], health["cpu_s"], 2),
        _simple("memory", "MB", health["t"], health["rss_mb"], 0),
    ]
    say = "Whether the load generator kept to its schedule; if it did not, the run is inconclusive."
    return time_chart(material, "generator", "Load generator", say, rows)


def _simple(name: str, unit: str, t: Floats, y: Floats, digits: int) -> Row:
    top = float(np.nanmax(y, initial=0.1))
    return Row(
        (Line(name, "cause", t, y, "area", f" {unit}", digits),),
        linear(top),
        name=f"{name}, {unit}",
        height=STRIP,
    )
