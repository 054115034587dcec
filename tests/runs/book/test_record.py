"""What is left of a book follows from its record."""

from pathlib import Path

import pytest
from tests.runs.book.made import record_of

from brownout.base.errors import RunDirectoryError
from brownout.runs.book.outlook import left_s
from brownout.runs.book.record import BookRun, Key, last, open_record

KILL = Key("one", "kill", 0.25)


def made(verdict: str, took_s: float = 60.0) -> BookRun:
    return BookRun("one", "kill", 0.25, verdict, "", 1, took_s)


def test_a_cell_wants_as_many_runs_as_do_not_count_yet(home: Path) -> None:
    book, record = record_of(home)
    record.made += [made("pass"), made("inconclusive"), made("fail"), made("not run")]
    assert record.wants(book, KILL) == 3


def test_runs_that_are_not_judged_are_made_again_only_so_often(home: Path) -> None:
    book, record = record_of(home, again=2)
    record.made += [made("inconclusive")] * 2
    assert record.wants(book, KILL) == 5
    record.made.append(made("inconclusive"))
    assert record.wants(book, KILL) == 0


def test_a_cell_with_a_reason_wants_none(home: Path) -> None:
    book, record = record_of(home)
    record.unsupported["one"] = {"kill": "it cannot"}
    record.refused["two"] = "a stand-in"
    assert record.wants(book, KILL) == 0
    assert record.why_not(book, KILL) == "it cannot"
    assert record.why_not(book, Key("two", "handover", 0.25)) == "a stand-in"


def test_a_record_is_read_as_it_was_written(home: Path) -> None:
    book, record = record_of(home)
    record.made += [made("pass"), made("inconclusive")]
    record.up = "lab-mongodb"
    record.save()
    assert last(book.name) == record
    assert open_record(record.path) == (record, book)
    assert last("another") is None


def test_what_is_no_book_is_refused(home: Path) -> None:
    (home / "book.json").write_text('{"schema_version": 1}')
    with pytest.raises(RunDirectoryError, match="no record of a book"):
        open_record(home)


def test_the_time_left_is_that_of_the_runs_so_far(home: Path) -> None:
    book, record = record_of(home)
    before = left_s(book, record)
    record.made.append(made("pass", took_s=20.0))
    assert before - left_s(book, record) == pytest.approx(120.0 + 4 * 100.0)
