"""What is left of a book, and about how long it takes. Pure, but for the files of experiments."""

from statistics import median

from brownout.base.words import duration
from brownout.runs.book.record import Key, Record, cells_of
from brownout.runs.book.spec import Book, Engine, Fault
from brownout.show.report.grid import Grid, columns

__all__ = ["left_s", "plan_words"]

#: A lab up and down again.
LAB_S = 60.0
_HEADS = "engine | cluster | fault | load | runs left:n | each:n | why not:wrap"


def left_s(book: Book, record: Record | None) -> float:
    """Return about how many seconds are left; without a record, of a whole book."""
    seconds = 0.0
    for engine in book.engines:
        runs = sum(
            _wanted(book, record, engine, key) * _takes_s(record, key, fault)
            for key, fault in cells_of(book, engine)
        )
        searched = record is not None and engine.name in record.capacities
        seconds += runs and runs + LAB_S + (0.0 if searched else book.capacity.takes_s)
    return seconds


def plan_words(book: Book, record: Record | None) -> str:
    """Return the plan in words: each cell with its runs, then how long all of it takes."""
    rows = [
        [
            engine.name,
            engine.cluster,
            fault.name,
            key.load,
            str(_wanted(book, record, engine, key)),
            duration(_takes_s(record, key, fault)),
            _why_not(book, record, engine, key),
        ]
        for engine in book.engines
        for key, fault in cells_of(book, engine)
    ]
    runs = sum(
        _wanted(book, record, engine, key)
        for engine in book.engines
        for key, _ in cells_of(book, engine)
    )
    lines = [
        f"{book.name}: {book.title}" if book.title else book.name,
        f"{len(rows)} cell{'s' * (len(rows) > 1)}, {runs} runs and the search for each capacity: "
        f"about {duration(left_s(book, record))}; runs that are not judged are made again, at most "
        f"{book.again} of a cell",
    ]
    return "\n\n".join([Grid("", columns(_HEADS), rows).plain(), "\n".join(lines)])


def _wanted(book: Book, record: Record | None, engine: Engine, key: Key) -> int:
    if record is not None:
        return record.wants(book, key)
    return 0 if key.fault in engine.without else book.repeats


def _why_not(book: Book, record: Record | None, engine: Engine, key: Key) -> str:
    if record is not None:
        return record.why_not(book, key)
    return engine.without.get(key.fault, "")


def _takes_s(record: Record | None, key: Key, fault: Fault) -> float:
    """Return how long a run takes: as the cell's own did, or as the book says."""
    own = [each.took_s for each in record.of(key)] if record is not None else []
    return median(own) if own else fault.takes_s
