"""primaries.csv: what each node said of whether it accepts writes."""

from pathlib import Path

import pytest

from brownout.base.errors import RunDirectoryError
from brownout.run.primaries import HEADER, Look, look_line, read_primaries

LOOKS = [
    Look(21.4, 21.402, "", "n1", True, "7fffffff0000000000000005"),
    Look(21.401, 21.403, "", "n2", False),
    Look(21.4, 21.65, "shard,one", "n3", None),
]
HEAD = ",".join(HEADER) + "\n"


def written(path: Path, text: str) -> Path:
    file = path / "primaries.csv"
    file.write_text(text)
    return file


def test_what_is_written_is_read_in_the_order_of_the_answers(tmp_path: Path) -> None:
    file = written(tmp_path, HEAD + "".join(map(look_line, reversed(LOOKS))))
    assert read_primaries(file) == LOOKS


def test_a_torn_last_line_is_left_out_and_no_file_is_no_look(tmp_path: Path) -> None:
    file = written(tmp_path, HEAD + look_line(LOOKS[0]) + look_line(LOOKS[1])[:-4])
    assert read_primaries(file) == LOOKS[:1]
    assert read_primaries(tmp_path / "none.csv") == []


@pytest.mark.parametrize("text", ["a,b\n", HEAD + "1,2\n", HEAD + "1,x,,n1,1,\n"])
def test_what_is_not_of_this_shape_is_an_error(tmp_path: Path, text: str) -> None:
    with pytest.raises(RunDirectoryError, match=r"primaries\.csv"):
        read_primaries(written(tmp_path, text))
