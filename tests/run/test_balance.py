"""balance.csv: what nodes hold, written line by line, read as far as it goes."""

from pathlib import Path

import pytest

from brownout.base.errors import RunDirectoryError
from brownout.run.balance import HEADER, Balance, Holding, balance_lines, read_balance

NODES = {"n1": Holding(1000, 1_000_000, 12, 0), "n6": Holding(3, 42, None, None)}


def _file(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "balance.csv"
    path.write_text(",".join(HEADER) + "\n" + text)
    return path


def test_what_is_written_is_read(tmp_path: Path) -> None:
    text = balance_lines(19.5, NODES) + balance_lines(20.5, {"n1": NODES["n1"]})
    assert read_balance(_file(tmp_path, text)) == [
        Balance(19.5, NODES),
        Balance(20.5, {"n1": NODES["n1"]}),
    ]


def test_a_torn_last_line_is_passed_over(tmp_path: Path) -> None:
    text = balance_lines(19.5, NODES) + "20.5,n1,10"
    assert read_balance(_file(tmp_path, text)) == [Balance(19.5, NODES)]


def test_a_run_without_the_file_has_no_looks(tmp_path: Path) -> None:
    assert read_balance(tmp_path / "balance.csv") == []


def test_another_shape_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RunDirectoryError, match="no number where one is"):
        read_balance(_file(tmp_path, "19.5,n1,many,1,2,3\n"))
