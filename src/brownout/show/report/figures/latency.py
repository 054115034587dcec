"""Response time over time: what the users of reads and of writes waited, on a log scale."""

import numpy as np

from brownout.show.report.axes import logarithmic
from brownout.show.report.chart import Chart, Level, Line, Row
from brownout.show.report.figures.frame import time_chart
from brownout.show.report.material import Material, OverTime

__all__ = ["over_time"]

SCOPES = (("read", "Response time of reads"), ("write", "Response time of writes"))
PERCENTILES = (("p50", "median"), ("p99", "p99"), ("p999", "p99.9"))


def over_time(material: Material) -> list[Chart]:
    """A figure for reads and one for writes, where there are any."""
    charts = []
    for scope, title in SCOPES:
        latencies = material.latency.get(scope)
        if latencies is not None and len(latencies.t):
            charts.append(_chart(material, scope, title, latencies))
    return charts


def _chart(material: Material, scope: str, title: str, latencies: OverTime) -> Chart:
    lines = [
        Line(words, name, latencies.t, getattr(latencies, name) / 1000, unit=" ms", digits=2)
        for name, words in PERCENTILES
    ]
    lines.append(Line("longest", "max", latencies.t, latencies.max / 1000, "dots", " ms", 2))
    values = np.concatenate([line.y for line in lines])
    values = values[values > 0]
    deadline = material.deadline_s
    low = float(values.min()) if len(values) else 0.1
    high = max(float(values.max()) if len(values) else 1.0, 1000 * (deadline or 0.0))
    levels = () if deadline is None else (Level(1000 * deadline, f"deadline {deadline:g} s"),)
    say = (
        "From the intended start to the end of successful operations, by the second. A gap means "
        "that nothing succeeded; failures are below, by cause."
    )
    row = Row(tuple(lines), logarithmic(low, high), levels)
    return time_chart(material, f"latency-{scope}", title, say, [row], scope)
