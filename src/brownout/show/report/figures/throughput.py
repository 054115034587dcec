"""Throughput over time: all of it against its baseline, then reads and writes apart."""

import numpy as np

from brownout.show.report.axes import linear
from brownout.show.report.chart import Chart, Floats, Level, Line, Row
from brownout.show.report.figures.frame import means, per_second, shading, time_chart
from brownout.show.report.material import Material

__all__ = ["apart", "total"]

#: Low enough for the first screen.
HERO = 190
SCOPES = (("read", "reads"), ("write", "writes"))


def total(material: Material) -> Chart | None:
    """Everything that was served, as 1 s mean and as it came, against what was offered."""
    columns = material.series.get("total")
    if columns is None:
        return None
    raw = Line("served, each 0.1 s", "raw", columns["t"], per_second(columns["ok"]), "step", "/s")
    offered = means(columns, "offered", "offered, 1 s mean", "offered")
    served = means(columns, "ok", "served, 1 s mean", "total")
    usual = float(np.percentile(raw.y, 99.5))
    y = linear(1.02 * max(usual, _highest(served.y)), unit="/s")
    say = f"Operations that ended well, per second, when they ended. {shading(material)}"
    if raw.y.max() > y.high:
        say += f" Single 0.1 s reached {raw.y.max():,.0f}/s, beyond the axis."
    row = Row((raw, offered, served), y, _baseline(material), height=HERO)
    return time_chart(material, "throughput", "Throughput", say, [row])


def apart(material: Material) -> Chart | None:
    """Reads and writes, each in a plot of its own: a fault seldom hits both alike."""
    rows = []
    for scope, words in SCOPES:
        columns = material.series.get(scope)
        if columns is None or not columns["offered"].any():
            continue
        offered = means(columns, "offered", "offered, 1 s mean", "offered")
        served = means(columns, "ok", f"{words} served, 1 s mean", scope)
        y = linear(1.02 * max(_highest(offered.y), _highest(served.y)), unit="/s")
        rows.append(Row((offered, served), y, name=words, height=120))
    if not rows:
        return None
    say = "The same for reads and for writes (everything that is not a read)."
    return time_chart(material, "reads-writes", "Reads and writes apart", say, rows)


def _highest(values: Floats) -> float:
    """The highest of values of which some may be gaps; 1 of none."""
    return float(np.nanmax(values, initial=1.0))


def _baseline(material: Material) -> tuple[Level, ...]:
    base = material.impact.get("baseline") or {}
    if base.get("tps") is None:
        return ()
    band = None if base.get("low") is None else (float(base["low"]), float(base["high"]))
    return (Level(float(base["tps"]), f"baseline {base['tps']:,.0f}/s", "baseline", band),)
