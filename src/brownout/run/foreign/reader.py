"""From a file of another tool to its series: recognise it, read it, say how it was read."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path

from brownout.run.foreign.cells import (
    Clock,
    Moment,
    clock_of,
    is_epoch,
    moment,
    number,
    truth,
    unit_of_cell,
)
from brownout.run.foreign.requests import Request, counted
from brownout.run.foreign.rows import series_of
from brownout.run.foreign.series import (
    MOST_ROWS,
    ForeignSeries,
    Options,
    Row,
    Rows,
    refused,
    shortened,
)
from brownout.run.foreign.source import Source
from brownout.run.foreign.text import Cells, Delimited
from brownout.run.foreign.tools import (
    TABLES,
    Requests,
    RequestTable,
    RowTable,
    read_document,
    read_lines,
    request_of,
)

__all__ = ["read"]

#: Values of a column of names that stand for all rows of a moment together.
_OF_ALL = ("aggregated", "total", "totals", "all", "overall")
#: So many different texts in a column are names; more are something else.
_MOST_NAMES = 200


def read(path: Path, options: Options) -> ForeignSeries:
    """Read a file of another tool.

    Raises `ConfigurationError`, in one line, for what cannot be read or has to be asked.
    """
    try:
        at = moment(options.fault_at, options.unit)
    except (ValueError, OverflowError) as error:
        raise refused(
            f"--fault-at: found {shortened(options.fault_at)}, wanted a time as in the time column"
        ) from error
    source = Source.open(path)
    if source.is_document:
        format, rows = read_document(source, options)
        return _series(rows, at, options, format, source)
    recognised = (
        None if options.format == "csv" or _names_columns(options) else read_lines(source, options)
    )
    if recognised is not None:
        format, content = recognised
        return _series(content, at, options, format, source)
    if options.format not in ("", "csv", "grafana", *(table.format for table in TABLES)):
        raise refused(
            f"{path}: has no line of {options.format}, wanted the output of that tool",
            "check that the file has its rows, or leave out --format if another tool wrote it",
        )
    table = Delimited.open(source)
    table.check([("--where", column) for column, _ in options.where])
    for shape in TABLES:
        if options.format in ("", shape.format) and shape.header <= set(table.header):
            return _of_tool(table, shape, at, options)
    if options.format not in ("", "csv", "grafana"):
        raise refused(
            f"{path}: is not a table of {options.format}",
            "leave out --format to have it recognised",
        )
    return _of_columns(table, at, options)


def _names_columns(options: Options) -> bool:
    return bool(options.time and options.ok) and not options.format


def _series(
    content: Rows | Requests, at: Moment, options: Options, format: str, source: Source
) -> ForeignSeries:
    given = ", as asked" if options.format else ""
    name, read_as = str(source.path), (f"read as {format}{given}",)
    if isinstance(content, Requests):
        requests = iter(content.requests)
        first = next(requests, None)
        if first is None:
            raise refused(f"{name}: has no request, wanted a row for each")
        fault_at = _aligned(at, first.start, content.epoch, name)
        together = _chained(first, requests)
        return counted(together, fault_at, format, read_as + content.notes, name)
    if not content.rows:
        raise refused(f"{name}: has no row of {format} that can be read")
    fault_at = _aligned(at, content.rows[0].t, content.epoch, name)
    return series_of(
        replace(content, notes=read_as + content.notes), fault_at, options, format, name
    )


def _chained(first: Request, rest: Iterator[Request]) -> Iterator[Request]:
    yield first
    yield from rest


def _aligned(at: Moment, first: float, epoch: float | None, name: str) -> float:
    """Return the fault's time on the rows' own scale: since 1970, or since the tool's start."""
    if at.absolute == is_epoch(first):
        return at.t
    if at.absolute and epoch is not None:
        return at.t - epoch
    scale = "since 1970" if is_epoch(first) else "since the start"
    raise refused(
        f"--fault-at: {name} counts its seconds {scale}, as in its first row, {first:g}",
        "give --fault-at in the same terms",
    )


def _of_tool(
    table: Delimited, shape: RowTable | RequestTable, at: Moment, options: Options
) -> ForeignSeries:
    name = str(table.source.path)
    time, ok = options.time or shape.time, options.ok or shape.ok
    table.check([("--time", time), ("--ok", ok)])
    if isinstance(shape, RequestTable):
        unit = options.unit or shape.unit

        def requests() -> Iterator[Request]:
            clock: Clock | None = None
            for row in table.rows(options.where):
                clock = clock or _clock(row, time, unit, name)
                yield request_of(shape, row, clock, options, name)

        return _series(Requests(requests()), at, options, shape.format, table.source)
    where = options.where
    if not where and shape.of_all[0] in table.header:
        where = (shape.of_all,)
    rows, clock = _read_rows(
        table, time, ok, options, where,
        total=shape.total, failed="" if options.ok else shape.failed,
    )  # fmt: skip
    own = ok == shape.ok
    content = Rows(
        rows, ok, shape.kind if own else None, shape.stamp, of_day=not clock.unit,
        notes=(*table.notes, *_unit_notes(clock, time, options)),
    )  # fmt: skip
    if not own and shape.format == "locust":
        content = replace(content, kind="rate" if ok.endswith("/s") else None)
    return _series(content, at, options, shape.format, table.source)


def _of_columns(table: Delimited, at: Moment, options: Options) -> ForeignSeries:
    """Read a table that no tool is known for, by the columns that are named."""
    name = str(table.source.path)
    time, ok, notes = _columns(table, options)
    table.check([("--time", time), ("--ok", ok)])
    if options.offered:
        table.check([("--offered", options.offered)])
    if _is_request_column(table, ok):

        def requests() -> Iterator[Request]:
            clock: Clock | None = None
            for row in table.rows(options.where):
                clock = clock or _clock(row, time, options.unit, name)
                served = truth(row[ok])
                if served is None:
                    raise refused(
                        f"{name}:{row.line}: {ok}: found {shortened(row[ok])}, wanted true, false "
                        "or a status"
                    )
                start = _read_time(clock, row, time, name)
                yield Request(start, start, served)

        return _series(
            Requests(requests(), notes=(*notes, f"`{ok}` says of each request how it ended")),
            at, options, "csv", table.source,
        )  # fmt: skip
    rows, clock = _read_rows(table, time, ok, options, options.where)
    rows, more = _summed(table, rows, time, ok, options)
    notes += (*table.notes, *_unit_notes(clock, time, options))
    content = Rows(rows, ok, of_day=not clock.unit, notes=(*notes, *more))
    sample = next((row[ok] for row in islice(table.rows(options.where), 1)), "")
    unit = unit_of_cell(sample)
    if unit and options.rate is None and ("/s" in unit or "ps" in unit):
        content = replace(content, column=f"{ok} [{unit}]")
    format = "grafana" if table.header[:1] == ("Time",) else "csv"
    return _series(content, at, options, options.format or format, table.source)


def _columns(table: Delimited, options: Options) -> tuple[str, str, tuple[str, ...]]:
    """Return the columns of time and of the count: as named, as usual, or the only ones."""
    names = [name for name in table.header if name]
    time, ok = options.time, options.ok
    notes: tuple[str, ...] = ()
    usual = [name for name in names if name.lower() in ("t", "time", "timestamp")]
    if not time:
        time = "t" if "t" in names or len(usual) != 1 else usual[0]
    others = [name for name in names if name not in (time, options.offered)]
    if not ok:
        ok = "ok" if "ok" in names or len(others) != 1 else others[0]
    taken = [name for name in (time, ok) if name not in ("t", "ok", options.time, options.ok)]
    if taken:
        notes = (f"columns {', '.join(f'`{name}`' for name in taken)} taken",)
    return time, ok, notes


def _is_request_column(table: Delimited, ok: str) -> bool:
    """Say whether a column says of each row whether it succeeded, and counts nothing.

    That are words, or numbers all of which are a status of HTTP, 200 among them.
    """
    sample = [row[ok].strip().lower() for row in islice(table.rows(), 200)]
    if not sample:
        return False
    if all(truth(cell) is not None and not cell.isdigit() for cell in sample):
        return True
    named = "status" in ok.lower() or "code" in ok.lower()
    return named and all(truth(cell) is not None for cell in sample)


def _clock(row: Cells, time: str, unit: str, name: str) -> Clock:
    try:
        return clock_of(row[time], unit)
    except (ValueError, OverflowError) as error:
        raise _no_time(row, time, name) from error


def _no_time(row: Cells, time: str, name: str) -> Exception:
    return refused(
        f"{name}:{row.line}: {time}: found {shortened(row[time])}, wanted a number or a time as "
        "2026-11-27T10:00:00Z",
        "name the column by --time",
    )


def _read_time(clock: Clock, row: Cells, time: str, name: str) -> float:
    try:
        return clock.read(row[time])
    except (ValueError, OverflowError) as error:
        raise _no_time(row, time, name) from error


def _read_rows(
    table: Delimited,
    time: str,
    ok: str,
    options: Options,
    where: tuple[tuple[str, str], ...],
    total: str = "",
    failed: str = "",
) -> tuple[list[Row], Clock]:
    """Return the rows of a table and the clock that read them.

    Raises `ConfigurationError` with the first cell that is not a number and how many there are.
    """
    name = str(table.source.path)
    rows: list[Row] = []
    clock: Clock | None = None
    wrong: list[tuple[int, str, str]] = []
    for row in table.rows(where):
        clock = clock or _clock(row, time, options.unit, name)
        t = _read_time(clock, row, time, name)
        values: dict[str, float | None] = {}
        for column in dict.fromkeys((ok, options.offered, total, failed)):
            if not column or column not in table.header:
                continue
            try:
                values[column] = number(row[column], table.decimal_comma)
            except ValueError:
                wrong.append((row.line, column, row[column]))
        served = values.get(ok)
        if served is not None and failed:
            served -= values.get(failed) or 0.0
        if served is not None and served < 0:
            wrong.append((row.line, ok, row[ok]))
        offered = values.get(options.offered) if options.offered else None
        rows.append(Row(t, served, f"line {row.line}", offered, values.get(total)))
        if len(rows) > MOST_ROWS:
            raise refused(f"{name}: has more than {MOST_ROWS:,} rows", "cut it to the fault")
    if wrong:
        line, column, text = wrong[0]
        more = f" (and {len(wrong) - 1:,} more cells)" if len(wrong) > 1 else ""
        option = "--offered" if column == options.offered else "--ok"
        raise refused(
            f"{name}:{line}: {column}: found {shortened(text)}, wanted a number of 0 or more{more}",
            f"name the column by {option}",
        )
    if not rows or clock is None:
        raise refused(f"{name}: has no row{' of --where' if where else ''}, wanted a series")
    return rows, clock


def _unit_notes(clock: Clock, time: str, options: Options) -> tuple[str, ...]:
    """Say in which unit a column of numbers was read, where that was not asked for."""
    if options.unit or clock.unit in ("", "s"):
        return ()
    unit = "µs" if clock.unit == "us" else clock.unit
    return (f"`{time}` is read in {unit} since 1970, by its magnitude (--unit overrides)",)


def _summed(
    table: Delimited, rows: list[Row], time: str, ok: str, options: Options
) -> tuple[list[Row], tuple[str, ...]]:
    """Return one row a moment of several series in long form, with what was done.

    Where one of the names stands for all together, its rows are taken and the others left out.
    """
    if len({row.t for row in rows}) == len(rows):
        return rows, ()
    name = str(table.source.path)
    labels = _label_columns(table, (time, ok, options.offered))
    if not labels:
        times = Counter(row.t for row in rows)
        twice = next(row for row in rows if times[row.t] > 1)
        raise refused(
            f"{name}: the time of {twice.place} is there {times[twice.t]} times, and no column "
            "tells the rows apart",
            "make it one row a moment",
        )
    keys = [tuple(row[label] for label in labels) for row in table.rows(options.where)]
    whole = [key for key in dict.fromkeys(keys) if any(k.lower() in _OF_ALL for k in key)]
    if whole:
        kept = [row for row, key in zip(rows, keys, strict=True) if key == whole[0]]
        if len({row.t for row in kept}) == len(kept):
            return kept, (f"of several series the one of all, {' '.join(whole[0])}, is taken",)
    return _added_up(rows, keys, labels, name)


def _added_up(
    rows: list[Row], keys: list[tuple[str, ...]], labels: list[str], name: str
) -> tuple[list[Row], tuple[str, ...]]:
    """Add the series up moment by moment; one that has no row at a moment leaves a gap there."""
    series = dict.fromkeys(keys)
    moments: dict[float, dict[tuple[str, ...], Row]] = {}
    for row, key in zip(rows, keys, strict=True):
        at = moments.setdefault(row.t, {})
        if key in at:
            raise refused(
                f"{name}: {at[key].place} and {row.place} have the same time and the same "
                f"{', '.join(labels)}",
                "keep one of them",
            )
        at[key] = row
    # A series with few rows is not steady, so a missing row says nothing.
    steady = [
        key for key in series if sum(key in at for at in moments.values()) > 0.5 * len(moments)
    ]
    summed = []
    for t in moments:
        at = moments[t]
        empty = any(key not in at or at[key].ok is None for key in steady)
        offered = [row.offered for row in at.values()]
        summed.append(
            Row(
                t,
                None if empty else sum(row.ok or 0.0 for row in at.values()),
                next(iter(at.values())).place,
                None if None in offered else sum(value or 0.0 for value in offered),
            )
        )
    note = f"{len(series)} series by {', '.join(labels)} added up (--where keeps one)"
    return summed, (note,)


def _label_columns(table: Delimited, others: tuple[str, ...]) -> list[str]:
    """Return the columns that name a series: text, with few different values."""
    seen: dict[str, set[str]] = {name: set() for name in table.header if name not in others}
    for row in islice(table.rows(), 20_000):
        for column, values in seen.items():
            if len(values) <= _MOST_NAMES:
                values.add(row[column].strip())
    return [
        column
        for column, values in seen.items()
        if 1 < len(values) <= _MOST_NAMES and not all(_is_number(value) for value in values)
    ]


def _is_number(text: str) -> bool:
    try:
        number(text)
    except ValueError:
        return False
    return True
