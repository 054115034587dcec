"""Lanes are read whole, whatever they are called, up to a torn end."""

from pathlib import Path

import pytest

from brownout.base.errors import RunDirectoryError
from brownout.run.lanes import LaneKey, read_lanes

HEADER = "t,lane,op,offered,ok,bad,pending\n"


def write(folder: Path, text: str) -> Path:
    file = folder / "lanes.csv"
    file.write_text(text)
    return file


def test_each_lane_has_its_columns_from_the_start_on(tmp_path: Path) -> None:
    rows = "0.0,a:1,read,5,4,0,1\n0.1,a:1,read,5,6,0,0\n0.1,a:1,write,7,0,7,0\n"
    found = read_lanes(write(tmp_path, HEADER + rows))
    reads, writes = LaneKey("a:1", "read"), LaneKey("a:1", "write")
    assert list(found) == [reads, writes]
    assert found[reads]["ok"].tolist() == [4, 6]
    assert found[reads]["pending"].tolist() == [1, 0]
    assert found[writes]["bad"].tolist() == [0, 7]


def test_a_file_from_before_reads_were_told_from_writes_is_read(tmp_path: Path) -> None:
    text = "t,lane,offered,ok,bad,pending\n0.0,a:1,5,4,0,1\n0.1,a:1,5,6,0,0\n"
    found = read_lanes(write(tmp_path, text))
    assert {key: lane["ok"].tolist() for key, lane in found.items()} == {LaneKey("a:1"): [4, 6]}


def test_a_lane_may_be_called_by_a_number(tmp_path: Path) -> None:
    found = read_lanes(write(tmp_path, HEADER + "10.0,5,read,5,5,5,5\n10.0,12,read,1,2,3,4\n"))
    assert [
        found[LaneKey("5", "read")]["offered"][100],
        found[LaneKey("12", "read")]["ok"][100],
    ] == [5, 2]


@pytest.mark.parametrize("torn", ["0.1", "0.1,a:1", "0.1,a:1,read,5,6,0,"])
def test_a_torn_last_line_is_left_out(tmp_path: Path, torn: str) -> None:
    found = read_lanes(write(tmp_path, HEADER + "0.0,a:1,read,5,4,0,1\n" + torn))
    assert found[LaneKey("a:1", "read")]["ok"].tolist() == [4]


@pytest.mark.parametrize("text", ["", "t,la", HEADER])
def test_nothing_written_yet_is_no_lanes(tmp_path: Path, text: str) -> None:
    assert read_lanes(write(tmp_path, text)) == {}


def test_without_a_file_there_are_no_lanes(tmp_path: Path) -> None:
    assert read_lanes(tmp_path / "lanes.csv") == {}


def test_a_lane_that_comes_and_goes_is_0_where_it_has_no_row(tmp_path: Path) -> None:
    rows = "0.1,b,read,3,2,1,0\n0.3,b,read,1,1,0,0\n0.4,a,read,3,2,1,0\n"
    found = read_lanes(write(tmp_path, HEADER + rows))
    assert found[LaneKey("b", "read")]["offered"].tolist() == [0, 3, 0, 1]
    assert found[LaneKey("a", "read")]["ok"].tolist() == [0, 0, 0, 0, 2]


def test_the_name_of_a_lane_may_be_quoted(tmp_path: Path) -> None:
    rows = '0.0,"odd,""name""",read,3,1,1,1\n0.1,"odd,""name""",read,4,1,1,1\n'
    found = read_lanes(write(tmp_path, HEADER + rows))
    assert {lane: columns["offered"].tolist() for lane, columns in found.items()} == {
        LaneKey('odd,"name"', "read"): [3, 4]
    }


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("t,lane,ok\n", "line 1: found the header `t,lane,ok`"),
        (HEADER + "0.0,a,read,1,2,3\n", r"line 2: found 6 fields \(wanted 7\)"),
        (HEADER + "0.0,a,1,2,3,4\n", r"line 2: `op` is `1` \(wanted `read` or `write`\)"),
        (HEADER + "0.0,a\n", r"line 2: is not a row: found `0\.0,a` \(wanted `t,lane,op,offered"),
        (HEADER + "0.0\n", r"line 2: is not a row: found `0\.0`"),
        (HEADER + '0.0,"a,read,1,2,3,4\n', r'line 2: is not a row: found `0\.0,"a,read,1,2,3,4`'),
        (HEADER + "0.0,a,read,1,2,3,4\n0.1,a,read,1,2,3,x\n", "line 3: `pending` is `x`"),
        (HEADER + "0.0,a,read,1,2,3,-4\n", "line 2: `pending` is `-4`"),
        (HEADER + "0,a,read,1,2,3,4\n", "line 2: `t` is `0`"),
        (HEADER + ".0,a,read,1,2,3,4\n", r"line 2: `t` is `\.0`"),
        (HEADER + "x.0,a,read,1,2,3,4\n", r"line 2: `t` is `x\.0`"),
    ],
)
def test_what_is_not_of_this_shape_is_refused(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(RunDirectoryError, match=rf"lanes\.csv, {words}"):
        read_lanes(write(tmp_path, text))


@pytest.mark.parametrize("bucket", ["99999999999.0", "-0.1"])
def test_a_bucket_that_no_run_reaches_is_refused_and_costs_no_memory(
    tmp_path: Path, bucket: str
) -> None:
    with pytest.raises(RunDirectoryError, match="`t` is `"):
        read_lanes(write(tmp_path, HEADER + f"{bucket},a:1,read,5,4,0,1\n"))
