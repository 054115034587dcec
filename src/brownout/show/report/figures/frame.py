"""What all figures over time share: the x axis, what is shown first, dips and events."""

from collections.abc import Sequence

import numpy as np

from brownout.measure.signal import trailing_rate
from brownout.show.report.axes import time
from brownout.show.report.chart import Chart, Floats, Line, Pin, Row, Span
from brownout.show.report.material import Columns, Material, Window

__all__ = ["around", "first_view", "means", "per_second", "time_chart"]


def time_chart(
    material: Material, key: str, title: str, say: str, rows: Sequence[Row], scope: str = "total"
) -> Chart:
    """Return a chart over the run's time, with the dips of `scope` shaded and the events pinned."""
    return Chart(
        key=key,
        title=title,
        say=say,
        rows=tuple(rows),
        x=time(0.0, material.end),
        view=first_view(material),
        spans=[Span(dip.start, dip.end) for dip in material.dips.get(scope, ())],
        pins=_pins(material),
    )


def first_view(material: Material) -> tuple[float, float]:
    """What surrounds the faults; the whole run where there was none."""
    if not material.felt:
        return (0.0, material.end)
    return around(material, material.felt)


def around(material: Material, windows: Sequence[Window]) -> tuple[float, float]:
    """From a little before the first of `windows` to a little after the last."""
    start = min(window.start for window in windows)
    end = max(window.end for window in windows)
    margin = max(1.5, 0.4 * (end - start))
    return (max(0.0, start - margin), min(material.end, end + margin))


def per_second(counts: Floats) -> Floats:
    """Counts of 0.1 s buckets as a rate."""
    return np.asarray(counts * 10.0, dtype=np.float64)


def means(columns: Columns, name: str, words: str, style: str) -> Line:
    """`T(t)` of docs/measures.md: what there was in the last second, per second, where it ends."""
    counts = columns[name].astype(np.int64)
    return Line(words, style, columns["t"] + 0.1, trailing_rate(counts), unit="/s")


def _pins(material: Material) -> list[Pin]:
    return [
        Pin(event.t, event.number, event.kind, event.words)
        for event in material.happenings
        if event.t is not None and event.number is not None
    ]
