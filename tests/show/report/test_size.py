"""Ten minutes of the noisiest run, and two hours of one, stay small; no extreme is lost."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from brownout.measure.impact import UNKNOWN, Load
from brownout.run.lanes import LaneKey
from brownout.show.report import html
from brownout.show.report.draw import draw
from brownout.show.report.figures import all_charts
from brownout.show.report.material import Material, OverTime, Window

MOST_BYTES = 6_000_000
CLASSES = ("late", "failed", "in_doubt", "shed", "missed")


def material_of(minutes: float) -> Material:
    """A run in which every bucket of every series is another, so that nothing can be left out."""
    random = np.random.default_rng(11)
    buckets = int(600 * minutes)
    t = np.arange(buckets) / 10

    def columns(*names: str) -> dict[str, Any]:
        return {"t": t, **{n: random.integers(0, 5000, buckets).astype(float) for n in names}}

    def over_time() -> OverTime:
        seconds = np.arange(buckets // 10, dtype=np.float64)
        return OverTime(seconds, *(random.lognormal(8, 2, len(seconds)) for _ in range(4)))

    scopes = ("total", "read", "write")
    seconds = np.arange(buckets // 10, dtype=float)
    names = ("lag_p99_ms", "lag_max_ms", "gc_pause_ms", "cpu_s", "rss_mb")
    return Material(
        path=Path("20261122T101500Z-long-1"),
        impact=replace(UNKNOWN, deadline_s=1.0, load=Load(loop="open")),
        series={scope: columns("ok", "offered") for scope in scopes},
        outcomes={scope: columns("ok", "offered", *CLASSES) for scope in scopes},
        lanes={LaneKey(f"node-{n}", "write"): columns("ok", "bad", "offered") for n in range(5)},
        causes={f"cause-{n}": columns("n")["n"] for n in range(8)},
        latency={"read": over_time(), "write": over_time()},
        health={"t": seconds, **{name: random.random(len(seconds)) for name in names}},
        felt=[Window(60 * minutes / 2, 60 * minutes / 2 + 30)],
    )


@pytest.fixture(scope="module")
def two_hours() -> Material:
    return material_of(120)


def test_report_of_ten_minutes_stays_below_six_megabytes() -> None:
    assert len(html.render(material_of(10)).encode()) < MOST_BYTES


def test_report_of_two_hours_does_too(two_hours: Material) -> None:
    assert len(html.render(two_hours).encode()) < MOST_BYTES


def test_extremes_of_two_hours_reach_every_figure(two_hours: Material) -> None:
    for chart in all_charts(two_hours).values():
        drawn = draw(chart)["data"]["rows"]
        for row, shown in zip(chart.rows, drawn, strict=True):
            for line, kept in zip(row.lines, shown["lines"], strict=True):
                values = [value for value in kept["y"] if value is not None]
                assert min(values) == pytest.approx(np.nanmin(line.y), abs=10.0**-line.digits)
                assert max(values) == pytest.approx(np.nanmax(line.y), abs=10.0**-line.digits)


def test_a_fault_in_two_hours_is_drawn_bucket_by_bucket(two_hours: Material) -> None:
    chart = all_charts(two_hours)["throughput"]
    low, high = chart.view
    assert high - low < 60
    line = draw(chart)["data"]["rows"][0]["lines"][1]
    places = line["x"]["start"] + np.cumsum([0, *line["x"]["steps"]])
    inside = [x for x in places.tolist() if 10 * low <= x < 10 * high]
    assert inside == list(range(round(10 * low), round(10 * high)))
