"""The series of a running load is the same as the one its files will hold."""

import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.run_builder import RunScript, build_run

from brownout.base.errors import GeneratorError
from brownout.run.series import LiveSeries, read_series


def live_events(path: Path, per_event: int = 5) -> list[dict[str, Any]]:
    """Return what the generator would have sent while it wrote the files at `path`."""

    def rows(name: str) -> list[list[Any]]:
        lines = (path / name).read_text().splitlines()[1:]
        return [
            [float(t), stream, op, *map(int, rest)]
            for t, stream, op, *rest in (line.split(",") for line in lines)
        ]

    series, outcomes, step = rows("series.csv"), rows("outcomes.csv"), 3 * per_event
    starts = range(0, len(series), step)
    parts = [(i, series[i : i + step], outcomes[i : i + step]) for i in starts]
    return [{"event": "live", "t": i, "series": a, "outcomes": b} for i, a, b in parts]


def test_live_rows_give_the_series_of_the_files(tmp_path: Path) -> None:
    path = build_run(tmp_path, RunScript(rate=100, duration_s=30, fault_at=12, analyzed=False))
    live = LiveSeries()
    for event in live_events(path):
        live.feed(event)
    live.feed({"event": "clock", "id": 1})
    found, written = live.snapshot(), read_series(path)
    assert found.keys == written.keys
    for mine, theirs in (
        (found.completion, written.completion),
        (found.outcomes, written.outcomes),
    ):
        for name, column in theirs.columns.items():
            np.testing.assert_array_equal(mine.columns[name], column)


def row(t: float, op: str, ok: int = 1) -> list[Any]:
    return [t, "app", op, ok, ok, 0, 0, 0, 0, 0, 0, 0, 900]


def bucket(number: int, ok: int = 1) -> dict[str, Any]:
    return {"event": "live", "series": [row(number / 10, op, ok) for op in ("read", "update")]}


def test_a_snapshot_does_not_change_when_more_comes() -> None:
    live = LiveSeries(closed=["app"])
    for number in range(1500):
        live.feed(bucket(number, number))
    before = live.snapshot()
    for number in range(1500, 4000):
        live.feed(bucket(number, number))
    assert before.completion.columns["ok"][:, 1].tolist() == list(range(len(before.completion)))
    assert len(live.snapshot().completion) == 4000
    assert not before.is_open("total")


def test_a_bucket_that_comes_twice_counts_once() -> None:
    live = LiveSeries()
    for number in (0, 1, 1, 0, 2):
        live.feed(bucket(number, number))
    assert live.snapshot().completion.total("total", "ok").tolist() == [0, 2, 4]


def test_an_empty_series_has_no_buckets() -> None:
    empty = LiveSeries().snapshot()
    assert len(empty.completion) == 0
    assert empty.scopes == ("total",)


@pytest.mark.parametrize(
    "wrong",
    [
        bucket(5),
        {"event": "live", "series": [row(0.2, "read")] + bucket(3)["series"]},
        {"event": "live", "series": [row(0.2, "read"), row(0.2, "scan")]},
        {"event": "live", "series": [row(0.2, "read")[:-1], row(0.2, "update")]},
    ],
    ids=["gap", "half a bucket", "unknown operation", "short row"],
)  # fmt: skip
def test_rows_that_would_shift_the_series_are_refused(wrong: dict[str, Any]) -> None:
    live = LiveSeries()
    live.feed(bucket(0))
    live.feed(bucket(1))
    with pytest.raises(GeneratorError, match="live series"):
        live.feed(wrong)


def test_snapshots_may_be_taken_while_rows_come() -> None:
    live, problems, done = LiveSeries(), [], threading.Event()

    def watch() -> None:
        while not done.is_set():
            ok = live.snapshot().completion.total("total", "ok")
            if not (ok == 2 * np.arange(len(ok))).all():
                problems.append(ok)

    watcher = threading.Thread(target=watch)
    watcher.start()
    for number in range(3000):
        live.feed(bucket(number, number))
    done.set()
    watcher.join()
    assert problems == []
