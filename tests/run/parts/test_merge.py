"""Whatever the generators wrote, the merge is their sum: properties of the merge functions."""

import json
from collections import Counter
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hdrh.histogram import HdrHistogram
from hypothesis import given
from hypothesis import strategies as st
from tests.run_builder import RunScript, build_run

from brownout.base.errors import RunDirectoryError
from brownout.judge.analysis import analyze
from brownout.run.csvfile import read_table
from brownout.run.hdr import decode, encode
from brownout.run.ledger import classify
from brownout.run.parts.apart import apart_of
from brownout.run.parts.counts import add_tables, write_table
from brownout.run.parts.latency import Line, add_lines
from brownout.run.parts.ledger import join
from brownout.run.parts.merge import merge
from brownout.run.parts.paths import part_directories
from brownout.run.parts.rows import add_errors, add_lanes, worst_seconds
from brownout.run.parts.summary import join_summaries
from brownout.run.table import OUTCOME_COLUMNS, SERIES_COLUMNS, Table, frozen

KEYS = (("app", "read"), ("app", "update"))
COUNTS = st.integers(0, 10**6)


@st.composite
def tables(draw: st.DrawFn, columns: tuple[str, ...] = SERIES_COLUMNS) -> Table:
    buckets = draw(st.integers(0, 12))
    row = st.lists(COUNTS, min_size=len(KEYS), max_size=len(KEYS))
    made = {
        name: np.array(
            draw(st.lists(row, min_size=buckets, max_size=buckets)), np.int64
        ).reshape(buckets, len(KEYS))
        for name in columns
    }  # fmt: skip
    return Table(KEYS, frozen(made))


@given(tables(), tables(), tables())
def test_series_are_added_in_any_order_over_the_buckets_that_all_have(
    a: Table, b: Table, c: Table
) -> None:
    one, other = add_tables(add_tables(a, b), c), add_tables(c, add_tables(b, a))
    ends = min(len(a), len(b), len(c))
    for name in SERIES_COLUMNS:
        assert np.array_equal(one.columns[name], other.columns[name])
        join = np.maximum if name == "max_us" else np.add
        wanted = join(join(a.columns[name][:ends], b.columns[name][:ends]), c.columns[name][:ends])
        assert np.array_equal(one.columns[name], wanted)


@given(tables(OUTCOME_COLUMNS))
def test_a_table_is_written_as_it_is_read(
    tmp_path_factory: pytest.TempPathFactory, table: Table
) -> None:
    file = StringIO()
    write_table(file, table, OUTCOME_COLUMNS)
    path = tmp_path_factory.mktemp("t") / "outcomes.csv"
    path.write_text(file.getvalue())
    found = read_table(path, OUTCOME_COLUMNS)
    if len(table) > 1:  # that a single bucket is whole cannot be known
        assert found.keys == table.keys
        for name in OUTCOME_COLUMNS:
            assert np.array_equal(found.columns[name], table.columns[name])


def test_series_of_different_streams_are_not_added() -> None:
    one = Table(KEYS, frozen({"ok": np.ones((2, 2), np.int64)}))
    with pytest.raises(RunDirectoryError, match="different streams"):
        add_tables(one, Table(KEYS[::-1], one.columns))


NAMES = st.sampled_from(["a", "b", 'odd,"name"'])
ERROR_ROWS = st.lists(
    st.tuples(st.integers(0, 30), NAMES, st.integers(1, 99)), max_size=20
).map(lambda rows: [[f"{b / 10:.1f}", "app", "read", "reset", c, str(n)]
                    for b, c, n in sorted(rows)])  # fmt: skip


@given(st.lists(ERROR_ROWS, min_size=1, max_size=4), st.integers(0, 35))
def test_errors_are_added_by_bucket_and_code_up_to_the_end(
    parts: list[list[list[str]]], buckets: int
) -> None:
    wanted: Counter[tuple[str, ...]] = Counter()
    for row in [row for part in parts for row in part]:
        if round(float(row[0]) * 10) < buckets:
            wanted[tuple(row[:5])] += int(row[5])
    found = list(add_errors(parts, buckets))
    assert {tuple(row[:5]): int(row[5]) for row in found} == dict(wanted)
    assert len(found) == len(wanted)
    assert [float(row[0]) for row in found] == sorted(float(row[0]) for row in found)


def test_a_lane_that_one_generator_has_not_used_yet_is_the_others() -> None:
    one = [["0.0", "n1", "2", "1", "0", "1"], ["0.1", "n1", "2", "3", "0", "0"]]
    other = [["0.1", "n2", "5", "4", "1", "0"], ["0.1", "n1", "1", "1", "0", "0"]]
    assert list(add_lanes([one, other], 2)) == [
        ["0.0", "n1", "2", "1", "0", "1"],
        ["0.1", "n1", "3", "4", "0", "0"],
        ["0.1", "n2", "5", "4", "1", "0"],
    ]


def test_a_second_of_the_generators_is_the_worst_of_all() -> None:
    one, other = [["0.0", "9.5", "2"], ["1.0", "1.0", "2"]], [["0.0", "10.0", "1"]]
    assert list(worst_seconds([one, other])) == [["0.0", "10.0", "2"]]


SHAPE = (1, 3_600_000_000, 3)
HISTOGRAMS = st.dictionaries(st.integers(0, 20_000), st.integers(1, 2**40), max_size=30)


@given(st.lists(HISTOGRAMS, min_size=1, max_size=5))
def test_a_sum_of_histograms_has_the_sum_of_their_counts(parts: list[dict[int, int]]) -> None:
    lines = [
        [Line(3.0, b"Tag=app/read", 1.0, float(i), encode(SHAPE, counts))]
        for i, counts in enumerate(parts)
    ]
    (merged,) = add_lines(lines, 4.0)
    cells = decode([merged.payload])
    wanted: Counter[int] = Counter()
    for counts in parts:
        wanted.update(counts)
    assert dict(zip(cells.index.tolist(), cells.count.tolist(), strict=True)) == dict(wanted)
    assert (merged.start, merged.longest) == (3.0, len(parts) - 1)
    assert list(add_lines(lines, 3.0)) == []


@given(st.lists(st.integers(1, 3_600_000_000), max_size=50))
def test_the_usual_reader_reads_what_is_encoded(values: list[int]) -> None:
    histogram = HdrHistogram(*SHAPE)
    for value in values:
        histogram.record_value(value)
    cells = decode([histogram.encode()]) if values else None
    counts = dict(zip(cells.index.tolist(), cells.count.tolist(), strict=True)) if cells else {}
    read = HdrHistogram.decode(encode(SHAPE, counts))
    assert read.get_total_count() == len(values)
    assert all(read.get_count_at_value(v) == histogram.get_count_at_value(v) for v in values)


def register(key: str, acked: int = 1) -> dict[str, Any]:
    return {
        "key": key, "stream": "s", "kind": "register", "writer": "w", "acked": acked,
        "acked_n": acked, "in_doubt": [], "failed": [], "in_doubt_n": 0, "failed_n": 0,
    }  # fmt: skip


def counter(acked: int, in_doubt: int = 0) -> dict[str, Any]:
    return {**register("s:c0", acked), "kind": "counter", "in_doubt_n": in_doubt}


def read(key: str, **found: Any) -> dict[str, Any]:
    return {"read": key, "stream": "s", "writer": "w", "checksum_ok": True, **found}


def end(keys: int) -> dict[str, Any]:
    return {"end": True, "keys": keys, "read": keys, "sampled": False}


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 5)), min_size=2, max_size=4),
       st.integers(-3, 3))  # fmt: skip
def test_a_counter_of_all_generators_is_judged_by_all_promises(
    promised: list[tuple[int, int]], off: int
) -> None:
    acked, doubt = (sum(column) for column in zip(*promised, strict=True))
    value = max(0, acked + off)
    parts: list[list[dict[str, Any]]] = [[counter(a, d)] for a, d in promised]
    parts[0] += [read("s:c0", value=value)]
    for index, part in enumerate(parts):
        part.append(end(1 if index == 0 else 0))
    found = classify(join(parts))
    assert (found.acknowledged, found.in_doubt, found.keys) == (acked, doubt, 1)
    assert (found.state == "lost") == (value < acked)
    assert (found.state == "clean") == (acked <= value <= acked + doubt)


def test_a_register_has_one_owner() -> None:
    with pytest.raises(RunDirectoryError, match="two generators say that they wrote `k`"):
        list(join([[register("k")], [register("k")]]))


def test_a_ledger_without_one_generators_end_is_not_complete() -> None:
    whole = [register("k"), read("k", seq=1), end(1)]
    assert classify(join([whole, [end(0)]])).state == "clean"
    assert classify(join([whole, []])).state == "unknown"


def test_balances_add_up_and_one_that_lacks_a_part_is_left_out() -> None:
    side = {"found": 2, "acked": 2, "in_doubt": 1}
    balance = {"check": "votes", "stream": "v", "total": side, "choices": side, "records": side}
    (found,) = join([[balance], [balance]])
    assert found["total"] == {"found": 4, "acked": 4, "in_doubt": 2}
    assert list(join([[balance], []])) == []


def test_totals_are_added_and_one_that_never_spoke_leaves_the_whole_unended() -> None:
    one = {"ended": True, "end_t": 5.0, "offered": 3, "lag_p99_ms": 2.0, "host": "a", "pid": 1}
    made = join_summaries([one, {**one, "end_t": 4.9, "lag_p99_ms": 7.0, "host": "b"}], {})
    assert (made["ended"], made["end_t"], made["offered"], made["lag_p99_ms"]) == (True, 4.9, 6, 7)
    assert (made["host"], [part["pid"] for part in made["parts"]]) == ("a, b", [1, 1])
    assert join_summaries([one, {}], {})["ended"] is False
    assert join_summaries([one, one], facts(lost="gone"))["ended"] is False
    assert join_summaries([one, one], facts(start_s=0.02))["apart_s"] == 0.021


def facts(**second: Any) -> dict[str, Any]:
    first = {"index": 0, "where": "a", "late_s": 0.001, "start_s": 0.0, "start_uncertainty_s": 0.0,
             "end_s": 0.0, "end_uncertainty_s": 0.0, "lost": None, "lost_t": None}  # fmt: skip
    return {"of": 2, "parts": [first, {**first, "index": 1, "where": "b", **second}]}


@given(st.floats(-1, 1), st.floats(-1, 1), st.floats(0, 1), st.floats(0, 1))
def test_generators_are_as_far_apart_as_they_may_be(
    start: float, drifted: float, off: float, late: float
) -> None:
    said = facts(start_s=start, end_s=drifted, end_uncertainty_s=off, late_s=late)
    found = apart_of(said)
    assert found is not None
    wanted = max(abs(start), abs(drifted) + off) + max(late, 0.001)
    assert found.seconds == pytest.approx(wanted, abs=2e-6)


def test_what_is_not_known_of_the_clocks_is_not_taken_for_together() -> None:
    assert apart_of({}) is None
    for lacking in ("late_s", "start_s", "end_s", "end_uncertainty_s"):
        found = apart_of(facts(**{lacking: None}))
        assert found is not None
        assert found.seconds is None
    lost = apart_of(facts(end_s=None, end_uncertainty_s=None, lost="gone", lost_t=3.21))
    assert lost is not None
    assert lost.lost == ("generator 2 of 2 (b) was lost, last heard of at 3.2 s: gone",)


def test_a_run_of_one_generator_is_left_as_it_is(tmp_path: Path) -> None:
    run = build_run(tmp_path, RunScript(duration_s=45.0))
    before = {path.name: path.read_bytes() for path in run.iterdir()}
    merge(run)
    assert {path.name: path.read_bytes() for path in run.iterdir()} == before


def test_two_generators_of_half_the_rate_are_judged_as_one_of_the_whole(tmp_path: Path) -> None:
    half = build_run(tmp_path, RunScript(rate=200.0, duration_s=45.0))
    files = [path.name for path in half.iterdir() if path.suffix in (".csv", ".hlog")]
    alone = json.loads((half / "impact.json").read_text())
    for part in part_directories(half, 2):
        part.mkdir(parents=True)
        for name in [*files, "generator.json"]:
            (part / name).write_bytes((half / name).read_bytes())
    (half / "parts.json").write_text(json.dumps(facts()))
    (half / "ledger.ndjson").unlink()  # both would own the same keys
    both = analyze(half)
    assert both["load"]["offered"] == 2 * alone["load"]["offered"]
    assert both["baseline"]["tps"] == pytest.approx(2 * alone["baseline"]["tps"])
    for name in ("tps_drop", "degraded_time", "recovery_time", "availability"):
        assert both["faults"][0][name] == pytest.approx(alone["faults"][0][name], abs=0.011), name
    assert both["faults"][0]["lost_operations"] == 2 * alone["faults"][0]["lost_operations"]
    (together,) = [c for c in both["validity"] if c["name"] == "generators_together"]
    assert together["ok"] is True
    (half / "parts.json").write_text(json.dumps(facts(start_s=0.051)))
    (reason,) = [r for r in analyze(half)["reasons"] if r.startswith("generators_together")]
    assert "2 generators within 52.0 ms of each other, at most 50 ms" in reason
