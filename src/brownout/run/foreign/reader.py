"""From a file of another tool to its series: recognise it, read it, say how it was read."""

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import islice, pairwise
from pathlib import Path
from statistics import median

from brownout.run.foreign.cells import (
    Clock,
    Moment,
    clock_of,
    is_empty,
    is_epoch,
    moment,
    number,
    thousands_mark,
    truth,
    unit_of_cell,
)
from brownout.run.foreign.requests import Request, counted
from brownout.run.foreign.rows import PUT_BACK, is_put_back, series_of
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
from brownout.run.foreign.together import Labelled, added_up, is_outcome
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
#: Numbers that name series have a row at so many of the moments.
_STEADY = 0.5
#: So many rows tell what a column holds.
_SAMPLE = 2000
#: Rows of counts: at least this share of the steps between them differ by less than that from the
#: usual one.
_REGULAR, _JITTER = 0.8, 0.25
#: A column of statuses, by its name; `status_2xx` and `code_200` are counts of them.
_STATUS = re.compile(r"(?i)(?!.*\d(?:xx|\d\d)).*(?:status|code).*")
#: A column that says which requests failed, by its name and by what it holds where none did.
_FAILURES = re.compile(r"(?i)(?:fail|failed|failure|error|errored|err|exception)$")
_NO_FAILURE = ("", "false", "no", "none", "null", "nil", "nan", "-", "n/a", "ok")


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
        fault_at, more = _aligned(at, first.start, content, name)
        together = _chained(first, requests)
        series = counted(together, fault_at, format, content.notes, name)
        return replace(series, notes=(*read_as, *more, *series.notes))
    if not content.rows:
        raise refused(f"{name}: has no row of {format} that can be read")
    fault_at, more = _aligned(at, content.rows[0].t, content, name)
    return series_of(
        replace(content, notes=read_as + content.notes + more), fault_at, options, format, name
    )


def _chained(first: Request, rest: Iterator[Request]) -> Iterator[Request]:
    yield first
    yield from rest


def _aligned(
    at: Moment, first: float, content: Rows | Requests, name: str
) -> tuple[float, tuple[str, ...]]:
    """Return the fault's time on the rows' own scale, and what was taken of its zone.

    That scale is since 1970, or since the tool's start. Where only one of both names a zone, they
    may be hours apart, so they are refused.
    """
    if at.absolute and (is_epoch(first) or content.epoch is not None):
        t = at.t if is_epoch(first) else at.t - (content.epoch or 0.0)
        if content.zone_s is None and at.zone_s is not None:
            if content.epoch is None:
                raise refused(
                    f"--fault-at: is a time in a known zone, the times of {name} name none",
                    "give --fault-at without a zone, as the file's clock showed it",
                )
            return t, ("the file's times name no zone and are read as UTC",)
        if content.zone_s is not None and at.zone_s is None:
            if content.zone_s:
                hours, minutes = divmod(round(abs(content.zone_s)) // 60, 60)
                sign = "+" if content.zone_s > 0 else "-"
                raise refused(
                    f"--fault-at: names no zone, the times of {name} name "
                    f"{sign}{hours:02}:{minutes:02}",
                    f"give --fault-at with a zone, such as {sign}{hours:02}:{minutes:02} or Z",
                )
            return t, ("--fault-at names no zone and is read as UTC",)
        return t, ()
    if at.absolute == is_epoch(first):
        return at.t, ()
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
        clock = _first_clock(table, time, options.unit or shape.unit, options)
        requests = (
            request_of(shape, row, clock, options, name) for row in table.rows(options.where)
        )
        content = Requests(requests, notes=table.notes, zone_s=clock.zone_s)
        return _series(content, at, options, shape.format, table.source)
    where = options.where
    if not where and shape.of_all[0] in table.header:
        where = (shape.of_all,)
    rows, clock = _read_rows(
        table, time, ok, options, where,
        total=shape.total, failed="" if options.ok else shape.failed,
    )  # fmt: skip
    own = ok == shape.ok
    series = Rows(
        rows, ok, shape.kind if own else None, shape.stamp, of_day=not clock.unit,
        zone_s=clock.zone_s, notes=(*table.notes, *_unit_notes(clock, time, options)),
    )  # fmt: skip
    if not own and shape.format == "locust":
        series = replace(series, kind="rate" if ok.endswith("/s") else None)
    return _series(series, at, options, shape.format, table.source)


def _of_columns(table: Delimited, at: Moment, options: Options) -> ForeignSeries:
    """Read a table that no tool is known for, by the columns that are named."""
    name = str(table.source.path)
    time, ok, notes = _columns(table, options)
    table.check([("--time", time), ("--ok", ok)])
    if options.offered:
        table.check([("--offered", options.offered)])
    if ending := _ending(table, time, ok, options):
        clock = _first_clock(table, time, options.unit, options)
        request_notes = [*notes, f"`{ok}` says of each request {ending.says}"]

        def requests() -> Iterator[Request]:
            others = 0
            for row in table.rows(options.where):
                served = ending.served(row[ok])
                if served is None and not ending.others_fail:
                    raise refused(
                        f"{name}:{row.line}: {ok}: found {shortened(row[ok])}, wanted "
                        f"{ending.wanted} as in the rows before",
                        "name another column by --ok, or give --no-rate if it counts",
                    )
                others += served is None
                start = _read_time(clock, row, time, name)
                yield Request(start, start, bool(served))
            if others:
                request_notes.append(f"without a status in `{ok}`, and so failed: {others:,}")
            request_notes.extend(table.notes)

        content = Requests(requests(), notes=request_notes, zone_s=clock.zone_s)
        return _series(content, at, options, "csv", table.source)
    rows, clock = _read_rows(table, time, ok, options, options.where)
    notes += (*table.notes, *_unit_notes(clock, time, options))
    cells = (row[ok] for row in table.rows(options.where))
    unit = next((unit_of_cell(cell) for cell in cells if not is_empty(cell)), "")
    series = Rows(rows, ok, of_day=not clock.unit, zone_s=clock.zone_s, unit=unit, notes=notes)
    series = _as_one(table, series, time, ok, options)
    format = "grafana" if table.header[:1] == ("Time",) else "csv"
    return _series(series, at, options, options.format or format, table.source)


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


@dataclass(frozen=True, slots=True)
class _Ending:
    """How a column says that a request succeeded: `served` returns None for any other cell."""

    served: Callable[[str], bool | None]
    says: str
    wanted: str
    others_fail: bool = False


def _digit(cell: str) -> bool | None:
    """Return whether a cell is 1, None if it is neither 1 nor 0: `1`, `1.0`."""
    try:
        return {1.0: True, 0.0: False}.get(float(cell))
    except ValueError:
        return None


def _is_failure(cell: str) -> bool:
    """Say whether a cell of a column of failures names one: it holds something, but no `false`."""
    cell = cell.strip().lower()
    return cell not in _NO_FAILURE and _digit(cell) is not False


_BY_WORD = _Ending(truth, "how it ended", "true, false or a status")
_BY_STATUS = replace(_BY_WORD, says="its status", others_fail=True)
_BY_DIGIT = _Ending(_digit, "whether it succeeded, by 1 and 0 (--no-rate reads counts)", "1 or 0")
_BY_FAILURE = _Ending(lambda cell: not _is_failure(cell), "whether it failed", "a failure or none")


def _ending(table: Delimited, time: str, ok: str, options: Options) -> _Ending | None:
    """Return how a column says of each row whether it succeeded; None if it counts.

    Words and HTTP statuses say it, and so does what a column of failures holds. 1 and 0 do if the
    rows are not at regular times, as rows of counts are.
    """
    rows = [*islice(table.rows(options.where), _SAMPLE)]
    cells = [row[ok].strip().lower() for row in rows]
    numbers = {cell for cell in cells if _is_number(cell) and any(map(str.isdigit, cell))}
    digits = all(_digit(cell) is not None for cell in numbers)
    if not cells:
        return None
    if _FAILURES.search(ok) and digits:
        return _BY_FAILURE
    statuses = all(truth(cell) is not None for cell in numbers)
    if _STATUS.fullmatch(ok) and statuses and any(truth(cell) for cell in cells):
        return _BY_STATUS
    if all(truth(cell) is not None and cell not in numbers for cell in cells):
        return _BY_WORD
    counts = options.offered or options.rate is not None or options.counter is not None
    if counts or not digits or len(numbers) < len(set(cells)):
        return None
    return None if _are_counts(table, rows, time, ok) else _BY_DIGIT


def _are_counts(table: Delimited, rows: list[Cells], time: str, ok: str) -> bool:
    """Say whether rows are at regular times, one each, or one for each series in long form."""
    name = str(table.source.path)
    clock = _clock(rows[0], time, "s", name)
    times = [_read_time(clock, row, time, name) for row in rows]
    if len(set(times)) < len(times):
        most = min(_MOST_NAMES, len(rows) // 2)
        labels = [
            column
            for column in table.header
            if column not in (time, ok) and len({row[column] for row in rows}) <= most
        ]
        keys = {(t, *(row[label] for label in labels)) for t, row in zip(times, rows, strict=True)}
        if len(keys) < len(rows):
            return False
    steps = [after - before for before, after in pairwise(sorted(set(times)))]
    usual = median(steps) if steps else 0.0
    regular = sum(abs(step - usual) <= _JITTER * usual for step in steps)
    return regular >= _REGULAR * len(steps)


def _first_clock(table: Delimited, time: str, unit: str, options: Options) -> Clock:
    """Return the clock of a table with a row per request, which is read once more for it."""
    first = next(table.rows(options.where), None)
    return _clock(first, time, unit, str(table.source.path)) if first else Clock("s")


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
    numbers = [
        column
        for column in dict.fromkeys((ok, options.offered, total, failed))
        if column and column in table.header
    ]
    marks = {
        column: thousands_mark(row[column] for row in table.rows(where))
        for column in numbers
        if table.decimal_comma
    }
    for row in table.rows(where):
        clock = clock or _clock(row, time, options.unit, name)
        t = _read_time(clock, row, time, name)
        values: dict[str, float | None] = {}
        for column in numbers:
            try:
                mark = marks.get(column, ",")
                values[column] = number(row[column], mark != ",", mark == ".")
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


def _as_one(table: Delimited, content: Rows, time: str, ok: str, options: Options) -> Rows:
    """Return one row a moment of several series in long form, with what was done.

    Where one of a column's names stands for all together, only its rows are taken.
    """
    rows = content.rows
    alone = len({row.t for row in rows}) == len(rows)
    labels = _label_columns(table, (time, ok, options.offered), rows, options, alone)
    if not labels:
        if alone:
            return content
        raise _no_label(table, rows, content)
    cells = [{label: row[label].strip() for label in labels} for row in table.rows(options.where)]
    series = list(zip(cells, rows, strict=True))
    kept: list[str] = []
    for label in labels:
        of_all = next((at[label] for at, _ in series if at[label].lower() in _OF_ALL), None)
        if of_all is not None:
            series = [(at, row) for at, row in series if at[label] == of_all]
            kept.append(of_all)
    notes = (f"of several series the one of all, {' '.join(kept)}, is taken",) if kept else ()
    content = replace(content, rows=[row for _, row in series], notes=content.notes + notes)
    if len({row.t for row in content.rows}) == len(content.rows) and not alone:
        return content
    parts: dict[tuple[str, ...], Labelled] = {}
    by_key: dict[tuple[str, ...], list[Row]] = {}
    for at, row in series:
        key = tuple(at.values())
        parts.setdefault(key, Labelled(at, by_key.setdefault(key, [])))
        by_key[key].append(row)
    return added_up(list(parts.values()), content, options, str(table.source.path))


def _no_label(table: Delimited, rows: list[Row], content: Rows) -> Exception:
    times = Counter(row.t for row in rows)
    twice = next(row for row in rows if times[row.t] > 1)
    put_back = content.zone_s is None and any(is_put_back(a.t, b.t) for a, b in pairwise(rows))
    return refused(
        f"{table.source.path}: the time of {twice.place} is there {times[twice.t]} times, and no "
        "column tells the rows apart",
        PUT_BACK if put_back else "make it one row a moment, or keep some by --where COLUMN=VALUE",
    )


def _label_columns(
    table: Delimited, others: tuple[str, ...], rows: list[Row], options: Options, alone: bool
) -> list[str]:
    """Return the columns that name a series: text with few different values, or numbers.

    Of rows that are `alone` at their moments, only a column of HTTP statuses is one. Whole numbers
    are names where they tell the rows of a moment apart and come again at most moments.
    """
    seen: dict[str, set[str]] = {name: set() for name in table.header if name not in others}
    for row in islice(table.rows(options.where), 20_000):
        for column, values in seen.items():
            if len(values) <= _MOST_NAMES:
                values.add(row[column].strip())
    few = {name: values for name, values in seen.items() if 1 < len(values) <= _MOST_NAMES}
    ended = [
        name
        for name, values in few.items()
        if is_outcome(name) and {truth(value) for value in values} == {True, False}
    ]
    if alone:
        return [name for name in ended if any(value[:1].isdigit() for value in few[name])]
    labels = [
        name for name, values in few.items() if name in ended or not all(map(_is_number, values))
    ]
    numbers = [
        name
        for name, values in few.items()
        if name not in labels and all(value.isdigit() for value in values)
    ]
    moments = len({row.t for row in rows})
    for more in ([], *([name] for name in numbers), numbers):
        columns = [*labels, *more]
        keys = [tuple(row[name] for name in columns) for row in table.rows(options.where)]
        apart = len({(row.t, key) for row, key in zip(rows, keys, strict=True)}) == len(rows)
        steady = len(rows) >= _STEADY * moments * len(set(keys))
        if apart and (steady or not more):
            return columns
    return labels


def _is_number(text: str) -> bool:
    try:
        number(text)
    except ValueError:
        return False
    return True
