"""The files of a canary: what is written is read again, and what a kill tore is passed over."""

from pathlib import Path

from brownout.run.canary import HEADER, Call, call_line, read_canary
from brownout.run.metadata import write_json

CALLS = (
    Call(1.5, "write", 0.002, 0.0001),
    Call(1.5, "read", 30.0, 0.0, "ServerSelectionTimeoutError"),
    Call(1.6, "read", 0.1, 0.0, "AerospikeError", "-14"),
)


def written(place: Path, tail: str = "") -> tuple[Path, Path]:
    about, calls = place / "canary.json", place / "canary.csv"
    write_json(about, {"rate": 10.0})
    calls.write_text(",".join(HEADER) + "\n" + "".join(map(call_line, CALLS)) + tail)
    return about, calls


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    record = read_canary(*written(tmp_path))
    assert record is not None
    assert record.calls == CALLS
    assert record.about == {"rate": 10.0}


def test_a_line_that_a_kill_tore_is_passed_over(tmp_path: Path) -> None:
    record = read_canary(*written(tmp_path, tail="1.7,wri"))
    assert record is not None
    assert record.calls == CALLS


def test_a_name_with_a_comma_does_not_tear_its_line() -> None:
    assert call_line(Call(1.0, "read", 0.0, 0.0, "a,b\nc")).count(",") == len(HEADER) - 1


def test_a_run_without_a_canary_has_no_record(tmp_path: Path) -> None:
    assert read_canary(tmp_path / "canary.json", tmp_path / "canary.csv") is None
