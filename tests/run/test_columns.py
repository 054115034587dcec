"""The load generator reads for us, and says so where it cannot."""

from pathlib import Path

import pytest

from brownout.base.errors import GeneratorError, RunDirectoryError
from brownout.run.columns import ask_loadgen, read_columns


def program(folder: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> Path:
    """Make a program that stands where the load generator is."""
    path = folder / "loadgen"
    path.write_text(text)
    path.chmod(0o755)
    monkeypatch.setenv("BROWNOUT_LOADGEN", str(path))
    return path


def test_files_are_read_in_the_order_in_which_they_were_asked_for(tmp_path: Path) -> None:
    (tmp_path / "lanes.csv").write_text(
        "t,lane,op,offered,ok,bad,pending\n0.0,a:1,read,300,4,0,1\n"
    )
    lanes, series = read_columns(tmp_path / "lanes.csv", tmp_path / "series.csv")
    assert lanes.labels == ["a:1,read"]
    assert {name: rows.tolist() for name, rows in lanes.columns.items()} == {
        "lane": [0], "bucket": [0], "offered": [300], "ok": [4], "bad": [0], "pending": [1]
    }  # fmt: skip
    assert series.labels == []
    assert {len(rows) for rows in series.columns.values()} == {0}


def test_a_generator_of_another_version_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = program(tmp_path, monkeypatch, "#!/bin/sh\necho usage >&2\nexit 64\n")
    with pytest.raises(GeneratorError, match=f"`{path}` does not understand `columns`") as caught:
        read_columns(tmp_path / "series.csv")
    assert "BROWNOUT_LOADGEN" in str(caught.value.hint)


def test_a_generator_that_dies_says_nothing_and_is_no_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(tmp_path, monkeypatch, "#!/bin/sh\necho '{}'\nkill -9 $$\n")
    with pytest.raises(RunDirectoryError, match="`loadgen columns` ended with -9"):
        read_columns(tmp_path / "series.csv")


def test_a_generator_that_cannot_be_run_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = program(tmp_path, monkeypatch, "no program")
    with pytest.raises(RunDirectoryError, match=f"{path}: cannot be run: "):
        ask_loadgen("columns", "series.csv")
