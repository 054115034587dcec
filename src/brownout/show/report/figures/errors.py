"""Errors over time, a strip for each cause: what a user was told, and when."""

from brownout.show.report.axes import linear
from brownout.show.report.chart import STRIP, Chart, Line, Row
from brownout.show.report.figures.frame import time_chart
from brownout.show.report.material import Material

__all__ = ["by_cause"]


def by_cause(material: Material) -> Chart | None:
    """Every cause that occurred, the most frequent first."""
    total = material.series.get("total")
    if total is None or not material.causes:
        return None
    rows = []
    for cause, counts in sorted(material.causes.items(), key=lambda item: -item[1].sum()):
        note = f"{counts.sum():,.0f} in all, at most {counts.max():,.0f} in 0.1 s"
        line = Line(cause, "cause", total["t"], counts, "area", " in 0.1 s")
        rows.append(Row((line,), linear(float(counts.max())), name=cause, note=note, height=STRIP))
    say = "Unsuccessful operations by cause and time; each on its own scale."
    return time_chart(material, "errors", "Errors by cause", say, rows)
