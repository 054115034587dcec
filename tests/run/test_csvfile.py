"""Small files of a run are read row by row, and refused where they are wrong."""

import io
from pathlib import Path

import pytest

from brownout.base.errors import RunDirectoryError
from brownout.run.csvfile import read_rows


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
