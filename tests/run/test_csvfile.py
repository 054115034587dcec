"""The generator's files: read whole, cut where they are torn, refused where they are wrong."""

import io
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from brownout.base.errors import RunDirectoryError
from brownout.run import csvfile
from brownout.run.csvfile import read_rows, read_table
from brownout.run.series import read_series
from brownout.run.table import OUTCOME_COLUMNS, identity_violations

HEADER = "t,stream,op," + ",".join(OUTCOME_COLUMNS) + "\n"
KEYS = (("app", "read"), ("app", "update"), ("orders-2", "increment"))


def text_of(buckets: int, keys: tuple[tuple[str, str], ...] = KEYS) -> str:
    lines = [HEADER]
    for i in range(buckets):
        for j, (stream, op) in enumerate(keys):
            offered = 10 * i + j
            lines.append(f"{i // 10}.{i % 10},{stream},{op},{offered},{i},0,{j},0,0,0\n")
    return "".join(lines)


def write(path: Path, text: str) -> Path:
    file = path / "outcomes.csv"
    file.write_bytes(text.encode())
    return file


def test_every_count_is_where_it_belongs(tmp_path: Path) -> None:
    table = read_table(write(tmp_path, text_of(25)), OUTCOME_COLUMNS)
    assert table.keys == KEYS
    assert len(table) == 25
    assert table.end == 2.5
    assert table.columns["offered"][12].tolist() == [120, 121, 122]
    assert table.columns["failed"][12].tolist() == [0, 1, 2]
    assert table.total("write", "ok").tolist() == [2 * i for i in range(25)]
    assert table.total("orders-2", "ok", "failed").tolist() == [i + 2 for i in range(25)]


def test_the_counts_cannot_be_changed(tmp_path: Path) -> None:
    table = read_table(write(tmp_path, text_of(3)), OUTCOME_COLUMNS)
    with pytest.raises(ValueError, match="read-only"):
        table.columns["ok"][0, 0] = 1


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(cut=st.integers(0, len(text_of(12))))
def test_a_torn_file_keeps_its_whole_buckets(tmp_path: Path, cut: int) -> None:
    torn = text_of(12)[:cut]
    table = read_table(write(tmp_path, torn), OUTCOME_COLUMNS)
    whole = torn.count("\n", len(HEADER)) // len(KEYS)
    # Whether the first bucket is whole is known only once another begins.
    assert len(table) in ((0, whole) if whole < 2 else (whole,))
    if len(table):
        full = read_table(write(tmp_path, text_of(12)), OUTCOME_COLUMNS)
        for name in OUTCOME_COLUMNS:
            np.testing.assert_array_equal(table.columns[name], full.columns[name][: len(table)])


def test_a_file_longer_than_a_chunk_is_read_whole(tmp_path: Path) -> None:
    table = read_table(write(tmp_path, text_of(120_000)), OUTCOME_COLUMNS)
    buckets = np.arange(120_000)
    # The counts grow out of one byte, and of two, on the way.
    np.testing.assert_array_equal(table.columns["offered"], 10 * buckets[:, None] + [0, 1, 2])
    np.testing.assert_array_equal(table.columns["ok"], np.repeat(buckets[:, None], 3, axis=1))


def test_only_the_wanted_columns_are_read(tmp_path: Path) -> None:
    file = write(tmp_path, text_of(12))
    table, full = read_table(file, OUTCOME_COLUMNS, ["ok"]), read_table(file, OUTCOME_COLUMNS)
    assert list(table.columns) == ["ok"]
    np.testing.assert_array_equal(table.columns["ok"], full.columns["ok"])
    assert len(table) == 12


@pytest.mark.parametrize("most", [127, 128, 32_767, 32_768, 2_147_483_647])
def test_a_sum_has_room_where_each_count_has_just_enough(tmp_path: Path, most: int) -> None:
    file = tmp_path / "outcomes.csv"
    rows = [f"0.{i},app,read,{most},{most},{most},{most},0,0,{most}\n" for i in range(3)]
    file.write_text(HEADER + "".join(rows))
    table = read_table(file, OUTCOME_COLUMNS)
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
        ("t,stream", "time,stream", "found the header"),
        ("0.2,app,read", "0.4,app,read", "line 8 is out of order"),
        ("0.2,app,read", "0.1,app,read", "line 8 is out of order"),
        ("0.2,app,read,20", "0.2,app,read,many", "a `offered` that is no whole number"),
        ("0.2,app,update", "0.2,app,delete", "line 9 is out of order"),
        ("0.2,app,update", "0.3,app,update", "line 9 is out of order"),
        ("0.2,app,update", "00.2,app,update", "line 9 is out of order"),
        ("0.2,app,update", "0.2,app,updated", "line 9 is out of order"),
        ("0.2,app,update", "0.2,app,updates", "line 9 is out of order"),
        ("0.2,app,update,", "0.2,app,update,7,", "more or fewer fields"),
        ("0.2,app,update,21,", "0.2,app,update\n21,", "more or fewer fields"),
        ("0.2,app,read,20,", "0.2,app,read,2147483648,", "`offered` is not of 0 to 2,147,483,647"),
        ("0.2,app,read,20,", "0.2,app,read,12345678901234567,", "is no whole number"),
        ("0.2,app,read,20,", "0.2,app,read,-20,", "is no whole number"),
        ("0.2,app,read,20,", "0.2,app,read,,", "is no whole number"),
        ("0.2,app,read,20,", "0.2,app,read,2 0,", "or with a space"),
        ("0.2,app,read", "x.2,app,read", "`t` is no number"),
        ("0.2,app,read", "02,app,read", "`t` is no number"),
        ("0.2,app,read", "012,app,read", "line 8 is out of order"),
        ("0.2,app,read", "0.x,app,read", "line 8 is out of order"),
    ],
)
def test_a_file_of_another_shape_is_refused_by_name(
    tmp_path: Path, was: str, becomes: str, wanted: str
) -> None:
    text = text_of(5)
    assert was in text
    with pytest.raises(RunDirectoryError, match=wanted) as error:
        read_table(write(tmp_path, text.replace(was, becomes)), OUTCOME_COLUMNS)
    assert "outcomes.csv" in str(error.value)


def test_a_row_that_is_shorter_than_the_name_of_its_stream_is_out_of_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream = "a-name-of-thirty-two-characters-"
    rows = [f"{t},{stream},read,1,1,0,0,0,0,0\n" for t in (0.0, 0.1)]
    file = write(tmp_path, HEADER + "".join(rows) + "0.2,b,read,1,1,0,0,0,0,0\n")
    monkeypatch.setattr(csvfile, "_CHUNK", len("".join(rows)))
    with pytest.raises(RunDirectoryError, match="line 4 is out of order"):
        read_table(file, OUTCOME_COLUMNS)


def test_small_files_are_read_row_by_row(tmp_path: Path) -> None:
    file = tmp_path / "errors.csv"
    file.write_text('t,cause,n\n0.1,late,3\n0.2,"a, b",4\n0.3,ot')
    assert list(read_rows(file, ("t", "cause", "n"))) == [
        ["0.1", "late", "3"],
        ["0.2", "a, b", "4"],
    ]
    assert list(read_rows(tmp_path / "none.csv", ("t",))) == []


def test_a_row_with_too_few_fields_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "errors.csv"
    file.write_text("t,cause,n\n0.1,late\n0.2,late,4\n")
    with pytest.raises(RunDirectoryError, match=r"errors\.csv: line 2 has 2 fields"):
        list(read_rows(file, ("t", "cause", "n")))


@pytest.mark.parametrize("odd", ["NaN", "1e999", "", "0x10"])
def test_a_number_that_is_none_is_refused(tmp_path: Path, odd: str) -> None:
    file = tmp_path / "errors.csv"
    file.write_text(f"t,cause,n\n{odd},late,3\n")
    with pytest.raises(RunDirectoryError, match=r"errors\.csv: line 2 has no number"):
        list(read_rows(file, ("t", "cause", "n")))


class Growing(io.BytesIO):
    """A file whose writer goes on between two reads: its first line is not yet whole."""

    def readline(self, _size: int | None = -1, /) -> bytes:
        return self.read(4)


def test_a_header_that_is_still_being_written_is_no_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "canary.csv"
    path.touch()
    monkeypatch.setattr(Path, "open", lambda *_: Growing(b"t,op,code\n1.0,read,\n"))
    assert list(read_rows(path, ("t", "op", "code"))) == []
