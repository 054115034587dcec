"""The series of a run: read whole, cut where its files are torn, refused where they are wrong."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fuzzing import fuzzed

from brownout.base.errors import RunDirectoryError
from brownout.run.series import read_series
from brownout.run.table import OUTCOME_COLUMNS, Table, identity_violations

HEADER = "t,stream,op," + ",".join(OUTCOME_COLUMNS) + "\n"
KEYS = (("app", "read"), ("app", "update"), ("orders-2", "increment"))


def text_of(buckets: int, keys: tuple[tuple[str, str], ...] = KEYS) -> str:
    lines = [HEADER]
    for i in range(buckets):
        for j, (stream, op) in enumerate(keys):
            offered = 10 * i + j
            lines.append(f"{i // 10}.{i % 10},{stream},{op},{offered},{i},0,{j},0,0,0\n")
    return "".join(lines)


def read(path: Path, text: str) -> Table:
    (path / "outcomes.csv").write_bytes(text.encode())
    return read_series(path).outcomes


def test_every_count_is_where_it_belongs(tmp_path: Path) -> None:
    table = read(tmp_path, text_of(25))
    assert table.keys == KEYS
    assert len(table) == 25
    assert table.end == 2.5
    assert table.columns["offered"][12].tolist() == [120, 121, 122]
    assert table.columns["failed"][12].tolist() == [0, 1, 2]
    assert table.total("write", "ok").tolist() == [2 * i for i in range(25)]
    assert table.total("orders-2", "ok", "failed").tolist() == [i + 2 for i in range(25)]


def test_the_counts_cannot_be_changed(tmp_path: Path) -> None:
    table = read(tmp_path, text_of(3))
    with pytest.raises(ValueError, match="read-only"):
        table.columns["ok"][0, 0] = 1


@fuzzed(30)
@given(cut=st.integers(0, len(text_of(12))))
def test_a_torn_file_keeps_its_whole_buckets(tmp_path: Path, cut: int) -> None:
    torn = text_of(12)[:cut]
    table = read(tmp_path, torn)
    whole = torn.count("\n", len(HEADER)) // len(KEYS)
    # Whether the first bucket is whole is known only once another begins.
    assert len(table) in ((0, whole) if whole < 2 else (whole,))
    for i in range(len(table)):
        offered, ok = table.columns["offered"][i], table.columns["ok"][i]
        assert (offered.tolist(), ok.tolist()) == ([10 * i, 10 * i + 1, 10 * i + 2], [i] * 3)


def test_a_file_longer_than_a_chunk_is_read_whole(tmp_path: Path) -> None:
    table = read(tmp_path, text_of(120_000))
    buckets = np.arange(120_000)
    # The counts grow out of one byte, and of two, on the way.
    np.testing.assert_array_equal(table.columns["offered"], 10 * buckets[:, None] + [0, 1, 2])
    np.testing.assert_array_equal(table.columns["ok"], np.repeat(buckets[:, None], 3, axis=1))


@pytest.mark.parametrize("most", [127, 128, 32_767, 32_768, 2_147_483_647])
def test_a_sum_has_room_where_each_count_has_just_enough(tmp_path: Path, most: int) -> None:
    rows = [f"0.{i},app,read,{most},{most},{most},{most},0,0,{most}\n" for i in range(3)]
    table = read(tmp_path, HEADER + "".join(rows))
    assert (
        table.total("total", "offered", "ok", "late", "failed", "missed").tolist() == [5 * most] * 3
    )
    assert table.total("total", "offered", "ok", here=slice(1, 2)).tolist() == [2 * most]


def test_a_sum_that_is_wrong_by_a_whole_byte_is_no_identity(tmp_path: Path) -> None:
    (tmp_path / "outcomes.csv").write_text(f"{HEADER}0.0,app,read,44,100,100,100,0,0,0\n"
                                           "0.1,app,read,44,100,100,100,0,0,0\n")  # fmt: skip
    assert identity_violations(read_series(tmp_path)) == 2


@pytest.mark.parametrize(
    ("was", "becomes", "wanted"),
    [
        ("t,stream", "time,stream", "line 1: found the header `time,stream"),
        ("0.2,app,read", "0.4,app,read", "line 8: is out of order: found `0.4,app,read,20,"),
        ("0.2,app,read", "0.1,app,read", r"line 8: is out of order: .* \(wanted `0.2,app,read,…`"),
        ("0.2,app,update", "0.2,app,delete", "line 9: is out of order"),
        ("0.2,app,update", "0.3,app,update", "line 9: is out of order"),
        ("0.2,app,update", "00.2,app,update", "line 9: is out of order"),
        ("0.2,app,update", "0.2,app,updated", "line 9: is out of order"),
        ("0.2,app,update", "0.2,app,updates", "line 9: is out of order"),
        ("0.2,app,update,21,", "0.2,app,update\n21,", "line 9: is out of order"),
        ("0.2,app,read", "x.2,app,read", "line 8: is out of order"),
        ("0.2,app,read", "02,app,read", "line 8: is out of order"),
        ("0.2,app,read", "012,app,read", "line 8: is out of order"),
        ("0.2,app,read", "0.x,app,read", "line 8: is out of order"),
        ("0.2,app,update,", "0.2,app,update,7,", r"line 9: found 11 fields \(wanted 10\)"),
        ("0.2,app,read,20,2,", "0.2,app,read,20,", r"line 8: found 9 fields \(wanted 10\)"),
        ("0.2,app,read,20", "0.2,app,read,many", "line 8: `offered` is `many`"),
        (
            "0.2,app,read,20,",
            "0.2,app,read,2147483648,",
            r"line 8: `offered` is `2147483648` \(wanted 0 to 2147483647\)",
        ),
        (
            "0.2,app,read,20,",
            "0.2,app,read,12345678901234567,",
            "line 8: `offered` is `123456789012345",
        ),
        ("0.2,app,read,20,", "0.2,app,read,-20,", "line 8: `offered` is `-20`"),
        ("0.2,app,read,20,", "0.2,app,read,,", "line 8: `offered` is ``"),
        ("0.2,app,read,20,", "0.2,app,read,2 0,", "line 8: `offered` is `2 0`"),
        (
            "0.2,app,read,20,2,0,0,0,0,0\n",
            "0.2,app,read,20,2,0,0,0,0,0 \n",
            "line 8: `missed` is `0 `",
        ),
    ],
)
def test_a_file_of_another_shape_is_refused_by_name(
    tmp_path: Path, was: str, becomes: str, wanted: str
) -> None:
    text = text_of(5)
    assert was in text
    with pytest.raises(RunDirectoryError, match=f"outcomes.csv, {wanted}"):
        read(tmp_path, text.replace(was, becomes))


def test_a_series_whose_header_is_still_being_written_is_empty(tmp_path: Path) -> None:
    for cut in range(len(HEADER)):
        assert len(read(tmp_path, HEADER[:cut])) == 0


def test_a_series_without_files_is_empty(tmp_path: Path) -> None:
    series = read_series(tmp_path)
    assert series.keys == ()
    assert series.completion.end == series.outcomes.end == 0.0
    assert identity_violations(series) == 0


def test_a_file_that_may_not_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "series.csv").mkdir()
    with pytest.raises(RunDirectoryError, match=r"series\.csv: cannot be read: is a directory"):
        read_series(tmp_path)
