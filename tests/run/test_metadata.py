"""A file is there whole or not at all."""

from pathlib import Path

import pytest

from brownout.base.errors import RunDirectoryError
from brownout.run.metadata import read_json, write_json


def test_a_file_is_replaced_in_one_step(tmp_path: Path) -> None:
    file = tmp_path / "impact.json"
    write_json(file, {"a": 1})
    before = file.stat().st_ino
    write_json(file, {"a": 2})
    assert read_json(file) == {"a": 2}
    assert file.stat().st_ino != before
    assert [path.name for path in tmp_path.iterdir()] == ["impact.json"]


def test_a_file_that_cannot_be_written_leaves_nothing_behind(tmp_path: Path) -> None:
    with pytest.raises(RunDirectoryError, match="cannot be written"):
        write_json(tmp_path / "no" / "run.json", {})
    with pytest.raises(ValueError, match="JSON compliant"):
        write_json(tmp_path / "run.json", {"a": float("nan")})
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("text", "wanted"), [("{", "is not JSON"), ("[]", "wanted an object")])
def test_a_file_of_another_kind_is_refused(tmp_path: Path, text: str, wanted: str) -> None:
    file = tmp_path / "run.json"
    file.write_text(text)
    with pytest.raises(RunDirectoryError, match=wanted):
        read_json(file)
    with pytest.raises(RunDirectoryError, match="cannot be read"):
        read_json(tmp_path / "none.json")
