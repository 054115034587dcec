"""The latency log is one that the usual tools read."""

from pathlib import Path

from hdrh.histogram import HdrHistogram
from hdrh.log import HistogramLogReader
from tests.loadgen.driving import measure, rows, running, stream


def read(path: Path) -> list[HdrHistogram]:
    reader = HistogramLogReader(str(path), HdrHistogram(1, 3_600_000_000, 3))
    found = []
    while (histogram := reader.get_next_interval_histogram()) is not None:
        found.append(histogram)
    reader.close()
    return found


def test_the_log_holds_every_operation_once_by_tag_and_second(tmp_path: Path) -> None:
    script = {"latency_ms": 5, "effects": [{"at": 1, "for": 1, "effect": "error", "share": 0.5}]}
    with running(tmp_path, script, stream()) as (load, _, run):
        load.until(3)
        stopped = load.ask("stop", "stopped")
    found = read(run / "latency.hlog")
    tags = {op + end for op in ("app/read", "app/update") for end in ("", "/service", "/failed")}
    assert {histogram.get_tag() for histogram in found} == tags
    counted = {tag: 0 for tag in tags}
    for histogram in found:
        counted[histogram.get_tag()] += histogram.get_total_count()
        assert histogram.get_min_value() >= 4900  # µs: the scripted latency
    for end, wanted in (
        ("", stopped["ok"]),
        ("/service", stopped["ok"]),
        ("/failed", stopped["failed"]),
    ):
        assert counted["app/read" + end] + counted["app/update" + end] == wanted
    starts = [histogram.get_start_time_stamp() for histogram in found]
    assert starts == sorted(starts)
    assert starts[0] == stopped["t0_unix_ns"] // 1_000_000
    assert {(start - starts[0]) % 1000 for start in starts} == {0}


def longer_than(histograms: list[HdrHistogram], us: int) -> int:
    """Count the values above `us`."""
    return sum(
        item.count_at_value_iterated_to
        for histogram in histograms
        for item in histogram.get_recorded_iterator()
        if item.value_iterated_to > us
    )


def test_response_time_counts_from_the_intended_start(tmp_path: Path) -> None:
    script = {"latency_ms": 1, "effects": [{"at": 1, "for": 1.5, "effect": "freeze"}]}
    run = measure(tmp_path, 4, script, stream(deadline_s=5), lane_cap=10).run
    found = read(run / "latency.hlog")
    responses = [h for h in found if h.get_tag().count("/") == 1]
    services = [h for h in found if h.get_tag().endswith("/service")]
    assert longer_than(responses, 500_000) > 400
    # Only ten had a slot and were sent before the thaw; the others waited in the queue.
    assert longer_than(services, 500_000) < 100
    assert max(h.get_max_value() for h in responses) > 1_400_000
    assert max(row.n("max_us") for row in rows(run / "series.csv")) > 1_400_000
