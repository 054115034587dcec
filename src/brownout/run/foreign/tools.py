"""The shapes in which load generators and monitoring write: how each is recognised and read.

A tool writes either rows of counts (`Rows`) or a row per request (`Request`); the columns and the
lines are those that its documentation or its source shows. Stamps at the end of a row, rates and
running totals are known of a tool and need no option.
"""

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from brownout.base.errors import RunDirectoryError
from brownout.run.foreign.cells import Clock, clock_of, is_epoch, number, truth
from brownout.run.foreign.requests import Request
from brownout.run.foreign.series import (
    MOST_ROWS,
    UNITS,
    Kind,
    Options,
    Row,
    Rows,
    Stamp,
    refused,
    shortened,
)
from brownout.run.foreign.source import Source
from brownout.run.foreign.text import Cells, Delimited
from brownout.run.foreign.together import Labelled, added_up, are_totals
from brownout.run.hdr import decode

__all__ = ["TABLES", "RequestTable", "Requests", "RowTable", "read_document", "read_lines"]


@dataclass(frozen=True, slots=True)
class Requests:
    """A row per request; `fault_at` counts from `epoch` where the times count from the start.

    `zone_s` is as of `Rows`.
    """

    requests: Iterable[Request]
    epoch: float | None = None
    #: May grow while requests are read.
    notes: Sequence[str] = ()
    zone_s: float | None = 0.0


@dataclass(frozen=True, slots=True)
class RowTable:
    """A tool's table with a row per interval: the columns that tell it, and those that count."""

    format: str
    header: frozenset[str]
    time: str
    ok: str
    kind: Kind
    stamp: Stamp
    total: str = ""
    failed: str = ""
    #: The column of names and the value that stands for all of them together.
    of_all: tuple[str, str] = ("", "")


@dataclass(frozen=True, slots=True)
class RequestTable:
    """A tool's table with a row per request. `unit` is empty where its magnitude tells it."""

    format: str
    header: frozenset[str]
    time: str
    ok: str
    unit: str
    duration: str = ""
    duration_unit: str = "s"


TABLES: tuple[RowTable | RequestTable, ...] = (
    RowTable(
        "locust",
        frozenset({"Timestamp", "Requests/s", "Total Request Count"}),
        "Timestamp", "Total Request Count", "total", "end",
        total="Total Request Count", failed="Total Failure Count", of_all=("Name", "Aggregated"),
    ),
    RowTable(
        "nosqlbench", frozenset({"t", "count", "mean_rate", "m1_rate"}),
        "t", "count", "total", "end",
    ),
    RowTable(
        "tsbs", frozenset({"time", "per. metric/s", "per. row/s"}),
        "time", "per. row/s", "rate", "end", total="row total",
    ),
    RequestTable(
        "jmeter", frozenset({"timeStamp", "elapsed", "success"}),
        "timeStamp", "success", "", "elapsed", "ms",
    ),
    RequestTable(
        "hey", frozenset({"response-time", "status-code", "offset"}),
        "offset", "status-code", "s", "response-time", "s",
    ),
)  # fmt: skip

#: No line of rows that a tool prints is longer.
_WIDEST = 4000
_STAMP = r"(?P<day>\d{4}[-/]\d\d[-/]\d\d[ T]\d\d:\d\d:\d\d(?:[.:,]\d+)?)"
_DAY = re.compile(_STAMP)
_PGBENCH = re.compile(r"progress: (?P<t>\d+(?:\.\d+)?) s, (?P<rate>\d+(?:\.\d+)?) tps")
_SYSBENCH = re.compile(r"\[\s*(?P<t>\d+)s\s*\].*?\btps: (?P<rate>\d+(?:\.\d+)?)")
_YCSB = re.compile(r"\b(?P<t>\d{1,9}) sec: (?P<total>\d{1,18}) operations;(?P<rest>.*)")
_YCSB_FAILED = re.compile(r"\[[A-Z-]+-FAILED: Count=(\d+)")
_ASBENCH = re.compile(
    rf"{_STAMP}.*?(?:\btotal\(tps=(?P<rate>\d+)|\bwrite\(tps=(?P<write>\d+)(?!.*\btotal\())"
)
_STRESS_HEADER = re.compile(r"(?P<type>type\s+)?total ops\s*,.*\btime\s*,")
_PGBENCH_LOG = re.compile(
    r"\d{1,7} \d+ (?P<time>\d+|skipped|failed|serialization|deadlock) \d+ "
    r"(?P<s>\d{9,11}) (?P<us>\d{1,6})(?: .*)?"
)
_PGBENCH_AGGREGATE = re.compile(r"(?P<t>\d{9,11}) (?P<n>\d+)(?: \d+){4,}")
_GATLING = re.compile(r"REQUEST\t.*\t(?P<start>\d{13})\t(?P<end>\d{13})\t(?P<ok>OK|KO)(?:\t.*)?")
_VEGETA = re.compile(r"(?P<t>\d{18,19}),(?P<code>\d{1,3}),(?P<ns>\d+),")
_HLOG = re.compile(
    r"(?:Tag=(?P<tag>[^,]*),)?(?P<t>\d+(?:\.\d+)?),(?P<length>\d+(?:\.\d+)?),[\d.eE+-]+,"
    r"(?P<payload>HIST[\w+/=]+)"
)
_HLOG_TIME = re.compile(r"#\[(?P<what>StartTime|BaseTime): (?P<t>\d+(?:\.\d+)?)")


def read_lines(source: Source, options: Options) -> tuple[str, Rows | Requests] | None:
    """Read a file of lines that some tool prints; None if it is not of one that is known.

    What a tool prints before its first row may be long: of a tool that is named the whole file is
    looked at, else the head, and only its first lines for shapes that a table may have further on.
    """
    if options.format:
        shapes = [shape for shape in _LINES if shape[0] == options.format]
        for line in source.lines() if shapes else ():
            for format, recognise, reader in shapes:
                if recognise(line):
                    return format, reader(source, options)
        return None
    head = source.first_lines()
    for format, recognise, reader in _LINES:
        lines = head[:_FIRST] if reader in _EVERY_LINE else head
        if any(recognise(line) for line in lines):
            return format, reader(source, options)
    return None


def read_document(source: Source, options: Options) -> tuple[str, Rows]:
    """Read a JSON document of Prometheus, Grafana or memtier_benchmark."""
    document = source.document()
    for format, reader in _DOCUMENTS:
        if options.format in ("", format) and (rows := reader(source, document, options)):
            return format, rows
    raise refused(
        f"{source.path}: this JSON is not one that is known; found {_outline(document)}",
        "wanted a range query of Prometheus, data frames of Grafana, memtier_benchmark's "
        "--json-out-file, k6's or vegeta's lines of JSON, or CSV",
    )


def _matches(pattern: re.Pattern[str]) -> Callable[[str], bool]:
    return lambda line: pattern.match(line) is not None


def _found_in(pattern: re.Pattern[str]) -> Callable[[str], bool]:
    return lambda line: pattern.search(line[:_WIDEST]) is not None


def _matching_lines(
    source: Source, pattern: re.Pattern[str]
) -> Iterator[tuple[int, re.Match[str]]]:
    """Yield each line in which a pattern is found, with its number."""
    for place, line in enumerate(source.lines(), 1):
        if match := pattern.search(line[:_WIDEST]):
            yield place, match


def _rows(rows: Iterable[Row], source: Source) -> list[Row]:
    """Return rows as a list, of at most `MOST_ROWS`."""
    kept = list(islice(rows, MOST_ROWS + 1))
    if len(kept) > MOST_ROWS:
        raise refused(
            f"{source.path}: has more than {MOST_ROWS:,} rows", "cut the file to the fault"
        )
    return kept


def _pgbench(source: Source, options: Options) -> Rows:
    rows = (
        Row(float(match["t"]), float(match["rate"]), f"line {line}")
        for line, match in _matching_lines(source, _PGBENCH)
    )
    return Rows(_rows(rows, source), "tps", "rate", "end")


def _sysbench(source: Source, options: Options) -> Rows:
    rows = (
        Row(float(match["t"]), float(match["rate"]), f"line {line}")
        for line, match in _matching_lines(source, _SYSBENCH)
    )
    return Rows(_rows(rows, source), "tps", "rate", "end")


def _ycsb(source: Source, options: Options) -> Rows:
    """YCSB counts a failed operation as one; those of a row are taken off."""
    rows: list[Row] = []
    epoch, failed = None, 0.0
    for line, match in _matching_lines(source, _YCSB):
        t = float(match["t"])
        if epoch is None and (day := _DAY.search(match.string, 0, match.start())):
            epoch = _day(source, line, day["day"]) - t
        failed += sum(map(float, _YCSB_FAILED.findall(match["rest"])))
        if rows and rows[-1].t == t:  # the last status comes a moment after the one before
            rows.pop()
        rows.append(Row(t, float(match["total"]) - failed, f"line {line}"))
    return Rows(rows, "operations", "total", "end", epoch, zone_s=None)


def _asbench(source: Source, options: Options) -> Rows:
    rows = (
        Row(_day(source, line, match["day"]), float(match["rate"] or match["write"]),
            f"line {line}")
        for line, match in _matching_lines(source, _ASBENCH)
    )  # fmt: skip
    return Rows(_rows(rows, source), "tps", "rate", "end", of_day=True, zone_s=None)


def _cassandra_stress(source: Source, options: Options) -> Rows:
    """The header merges the row's type with its first column."""
    rows: list[Row] = []
    ops = time = -1
    typed = False
    for line, text in enumerate(source.lines(), 1):
        if header := _STRESS_HEADER.search(text):
            names = [name.strip() for name in text.split(",")]
            if "time" not in names:
                continue
            typed = bool(header["type"])
            ops, time = int(typed), names.index("time") + int(typed)
            continue
        cells = [cell.strip() for cell in text.split(",")]
        if ops < 0 or len(cells) <= time or (typed and cells[0] != "total"):
            continue
        try:
            t, total = float(cells[time]), float(cells[ops])
        except ValueError:
            continue
        if not rows or t > rows[-1].t:
            rows.append(Row(t, total, f"line {line}"))
    return Rows(_rows(rows, source), "total ops", "total", "end")


def _day(source: Source, line: int, text: str) -> float:
    text = text.replace("/", "-").replace(",", ".")
    try:
        return Clock("").read(text)
    except ValueError as error:
        raise refused(f"{source.path}:{line}: {shortened(text)} is not a time") from error


def _pgbench_log(source: Source, options: Options) -> Requests:
    def requests() -> Iterator[Request]:
        for place, line in enumerate(source.lines(), 1):
            if match := _PGBENCH_LOG.fullmatch(line.strip()):
                end = int(match["s"]) + int(match["us"]) / 1e6
                ok = match["time"].isdigit()
                took = int(match["time"]) / 1e6 if ok else 0.0
                yield Request(end - took, end, ok)
            elif line.strip():
                raise refused(f"{source.path}:{place}: is not a line of `pgbench -l`")

    return Requests(requests())


def _pgbench_aggregate(source: Source, options: Options) -> Rows:
    rows = (
        Row(float(match["t"]), float(match["n"]), f"line {line}")
        for line, match in _matching_lines(source, _PGBENCH_AGGREGATE)
    )
    return Rows(_rows(rows, source), "num_transactions", "count", "start")


def _gatling(source: Source, options: Options) -> Requests:
    def requests() -> Iterator[Request]:
        for _, match in _matching_lines(source, _GATLING):
            yield Request(int(match["start"]) / 1e3, int(match["end"]) / 1e3, match["ok"] == "OK")

    return Requests(requests())


def _vegeta(source: Source, options: Options) -> Requests:
    def requests() -> Iterator[Request]:
        for place, line in enumerate(source.lines(), 1):
            if match := _VEGETA.match(line):
                start = int(match["t"]) / 10**9
                ok = 100 <= int(match["code"]) < 400
                yield Request(start, start + int(match["ns"]) / 1e9, ok)
            elif line.strip() and place > 1:  # some write a header
                raise refused(f"{source.path}:{place}: is not a line of `vegeta encode --to csv`")

    return Requests(requests())


def _objects(source: Source) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Yield each line of JSON that is an object."""
    for place, line in enumerate(source.lines(), 1):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise refused(f"{source.path}:{place}: is not a line of JSON") from error
        if isinstance(value, Mapping):
            yield place, value


def _vegeta_json(source: Source, options: Options) -> Requests:
    def requests() -> Iterator[Request]:
        for place, value in _objects(source):
            code, latency = value.get("code"), value.get("latency", 0)
            if not isinstance(code, int) or not isinstance(latency, int | float):
                raise refused(f"{source.path}:{place}: is not a line of `vegeta encode`")
            start = _day(source, place, str(value.get("timestamp")))
            yield Request(start, start + latency / 1e9, 100 <= code < 400)

    return Requests(requests())


#: What k6 writes once a request or an iteration, the best first, and the value of a success.
_K6_METRICS = (("http_req_failed", 0.0), ("checks", 1.0), ("grpc_req_duration", None),
               ("iterations", None))  # fmt: skip


def _k6(points: Callable[[], Iterator[tuple[str, float, float]]]) -> Requests:
    """Take the metric that separates success from failure, else one that only counts."""
    seen = {name for name, _, _ in islice(points(), 200_000)}
    metric, wanted = next((pair for pair in _K6_METRICS if pair[0] in seen), ("http_reqs", None))
    requests = (
        Request(t, t, wanted is None or value == wanted)
        for name, t, value in points()
        if name == metric
    )
    return Requests(requests, notes=(f"counted by the metric {metric}",))


def _k6_csv(source: Source, options: Options) -> Requests:
    table = Delimited.open(source)
    columns = ("metric_name", "timestamp", "metric_value")
    table.check([("--format", name) for name in columns])
    table.check([("--where", name) for name, _ in options.where])

    def points() -> Iterator[tuple[str, float, float]]:
        clock: Clock | None = None
        for row in table.rows(options.where):
            name, t, value = (row[column] for column in columns)
            try:
                clock = clock or clock_of(t, options.unit)
                yield name, clock.read(t), float(value)
            except ValueError as error:
                raise refused(
                    f"{source.path}:{row.line}: {shortened(t)}, {shortened(value)} is not a "
                    "time and a value"
                ) from error

    return _k6(points)


def _k6_json(source: Source, options: Options) -> Requests:
    def points() -> Iterator[tuple[str, float, float]]:
        for place, value in _objects(source):
            data = value.get("data")
            if value.get("type") != "Point" or not isinstance(data, Mapping):
                continue
            tags = data.get("tags") or {}
            if any(str(tags.get(name)) != kept for name, kept in options.where):
                continue
            try:
                yield (
                    str(value.get("metric")),
                    Clock("").read(str(data.get("time"))),
                    float(data.get("value")),  # type: ignore[arg-type]
                )
            except (TypeError, ValueError) as error:
                raise refused(f"{source.path}:{place}: is not a point of k6") from error

    return _k6(points)


def _hlog(source: Source, options: Options) -> Rows:
    """An interval log names each row's start and length; its histogram holds the count."""
    wanted = dict(options.where)
    base: dict[str, float] = {}
    rows: dict[tuple[float, float], Row] = {}
    tags: set[str] = set()
    for line, text in enumerate(source.lines(), 1):
        if time := _HLOG_TIME.match(text):
            base.setdefault(time["what"], float(time["t"]))
        match = _HLOG.fullmatch(text.strip()) if "HIST" in text else None
        if not match:
            continue
        tag = match["tag"] or ""
        if any(name.lower() != "tag" or value != tag for name, value in wanted.items()):
            continue
        if tag.endswith(("-rt", "-wt")):  # cassandra-stress writes each operation in three ways
            continue
        tags.add(tag)
        try:
            count = float(decode([match["payload"].encode()]).count.sum())
        except RunDirectoryError as error:
            raise refused(f"{source.path}:{line}: holds no histogram that can be read") from error
        t, length = float(match["t"]), float(match["length"])
        if length <= 0:
            continue
        before = rows.get((t, length))
        rows[t, length] = Row(
            t, count + ((before.ok or 0.0) if before else 0.0), f"line {line}", length=length
        )
        if len(rows) > MOST_ROWS:
            raise refused(f"{source.path}: has more than {MOST_ROWS:,} rows, wanted fewer")
    kept = sorted(rows.values(), key=lambda row: row.t)
    absolute = bool(kept) and is_epoch(kept[0].t)
    epoch = None if absolute else base.get("BaseTime", base.get("StartTime"))
    notes = (f"{len(tags)} tags added up: {', '.join(sorted(tags)[:6])}",) if len(tags) > 1 else ()
    return Rows(kept, "histogram", "count", "start", epoch, notes=notes)


def _k6_point(line: str) -> bool:
    return line.startswith('{"metric"') or ('"type":"' in line and '"metric"' in line)


_LINES: tuple[tuple[str, Callable[[str], bool], Callable[[Source, Options], Rows | Requests]], ...]
_LINES = (
    ("k6", lambda line: line.startswith("metric_name,timestamp,metric_value"), _k6_csv),
    ("k6", _k6_point, _k6_json),
    ("vegeta", lambda line: line.startswith("{") and '"latency"' in line and '"code"' in line,
     _vegeta_json),
    ("vegeta", _matches(_VEGETA), _vegeta),
    ("pgbench", _found_in(_PGBENCH), _pgbench),
    ("pgbench", _matches(_PGBENCH_LOG), _pgbench_log),
    ("pgbench", _matches(_PGBENCH_AGGREGATE), _pgbench_aggregate),
    ("sysbench", _found_in(_SYSBENCH), _sysbench),
    ("ycsb", _found_in(_YCSB), _ycsb),
    ("asbench", _found_in(_ASBENCH), _asbench),
    ("cassandra-stress", _found_in(_STRESS_HEADER), _cassandra_stress),
    ("gatling", _matches(_GATLING), _gatling),
    ("hlog", lambda line: "HIST" in line and _HLOG.match(line) is not None, _hlog),
)  # fmt: skip
#: In these every line is a row, of little but numbers: they are recognised by their first lines.
_EVERY_LINE = (_vegeta, _pgbench_log, _pgbench_aggregate)
_FIRST = 50


def _prometheus(source: Source, document: Any, options: Options) -> Rows | None:
    """A range query; series of several labels are added up moment by moment."""
    data = document.get("data", document) if isinstance(document, Mapping) else None
    if not isinstance(data, Mapping) or data.get("resultType") not in ("matrix", "vector"):
        return None
    if data["resultType"] == "vector" or not isinstance(data.get("result"), list):
        raise refused(
            f"{source.path}: is an instant query of Prometheus, which has one moment",
            "ask for a range: /api/v1/query_range",
        )
    series = [each for each in data["result"] if _has_labels(each, options.where)]
    if not series:
        raise refused(f"{source.path}: has no series of those labels", "change --where")
    columns = []
    for place, each in enumerate(series, 1):
        values = each.get("values")
        if not isinstance(values, list):
            raise refused(f"{source.path}: series {place} has no values")
        samples = [_sample(source, place, value) for value in values]
        columns.append(_column(each["metric"], samples))
    names = {str(each["metric"].get("__name__", "")) for each in series}
    content = Rows([], names.pop() if len(names) == 1 else "", "rate", "end")
    return _together(columns, replace(content, column=content.column or "value"), options, source)


def _column(labels: Mapping[str, Any], samples: Iterable[tuple[float, float | None]]) -> Labelled:
    rows = [Row(t, count, f"value {place}") for place, (t, count) in enumerate(samples, 1)]
    return Labelled({str(name): str(value) for name, value in labels.items()}, rows)


def _together(columns: Sequence[Labelled], content: Rows, options: Options, source: Source) -> Rows:
    """Return the series of a monitoring as one; a name as `requests_total` is a promise there."""
    if len(columns) > 1:
        return added_up(columns, content, options, str(source.path), sure=True)
    rows = list(columns[0].rows)
    counts = [row.ok for row in rows if row.ok is not None]
    by_default = options.counter is None and options.rate is None
    if by_default and are_totals([counts], content.column, sure=True):
        note = f"`{content.column}` is read as a running total (--no-counter reads rates)"
        content = replace(content, kind="total", notes=(note,))
    return replace(content, rows=rows)


def _has_labels(series: Any, where: Iterable[tuple[str, str]]) -> bool:
    labels = series.get("metric") if isinstance(series, Mapping) else None
    return isinstance(labels, Mapping) and all(labels.get(name) == value for name, value in where)


def _sample(source: Source, place: int, value: Any) -> tuple[float, float | None]:
    try:
        t, text = value
        count = number(str(text).lstrip("+"))
        if not math.isfinite(float(t)):
            raise ValueError(t)
        return float(t), count
    except (TypeError, ValueError) as error:
        raise refused(
            f"{source.path}: series {place} holds {shortened(str(value))}, wanted a time and a "
            "number"
        ) from error


def _grafana(source: Source, document: Any, options: Options) -> Rows | None:
    """Data frames as `/api/ds/query` answers, or as the inspector of a panel shows them."""
    columns: list[Labelled] = []
    units = set()
    for frame in _frames(document):
        fields = frame["schema"]["fields"] if "schema" in frame else frame["fields"]
        values = (
            frame["data"].get("values", [])
            if isinstance(frame.get("data"), Mapping)
            else [field.get("values", []) for field in fields]
        )
        pairs = list(zip(fields, values, strict=False))
        times = next((cells for field, cells in pairs if field.get("type") == "time"), None)
        for field, cells in pairs:
            labels = field.get("labels")
            labels = labels if isinstance(labels, Mapping) else {}
            wanted = all(labels.get(name) == value for name, value in options.where)
            named = options.ok in ("", field.get("name"))
            if times is None or field.get("type") != "number" or not (wanted and named):
                continue
            samples = [
                _sample(source, len(columns) + 1, (t / 1e3, "null" if cell is None else cell))
                for t, cell in zip(times, cells, strict=False)
                if isinstance(t, int | float)
            ]
            columns.append(_column({"field": field.get("name"), **labels}, samples))
            config = field.get("config")
            units.add(str(config.get("unit") or "") if isinstance(config, Mapping) else "")
    if not columns:
        return None
    unit = units.pop() if len(units) == 1 else ""
    content = Rows([], options.ok or "value", None, "end", unit=unit)
    return _together(columns, content, options, source)


def _frames(document: Any, depth: int = 0) -> Iterator[Mapping[str, Any]]:
    """Yield the data frames of a document, wherever they stand in it."""
    if depth > 6:
        return
    if isinstance(document, list):
        for each in document:
            yield from _frames(each, depth + 1)
    elif isinstance(document, Mapping):
        schema = document.get("schema", document)
        fields = schema.get("fields") if isinstance(schema, Mapping) else None
        if isinstance(fields, list) and all(isinstance(field, Mapping) for field in fields):
            yield document
            return
        for each in document.values():
            yield from _frames(each, depth + 1)


def _memtier(source: Source, document: Any, options: Options) -> Rows | None:
    """`--json-out-file`: the counts of each second, and when the test began."""
    stats = document.get("ALL STATS") if isinstance(document, Mapping) else None
    if not isinstance(stats, Mapping):
        return None
    part = stats.get(options.ok or "Totals")
    seconds = part.get("Time-Serie") if isinstance(part, Mapping) else None
    if not isinstance(seconds, Mapping) or not seconds:
        raise refused(
            f"{source.path}: `{options.ok or 'Totals'}` of memtier has no `Time-Serie`",
            "name the part that has one by --ok, such as Sets or Gets",
        )
    rows = []
    for second, values in seconds.items():
        count = values.get("Count") if isinstance(values, Mapping) else None
        if not second.isdigit() or len(second) > 9 or not isinstance(count, int | float):
            raise refused(f"{source.path}: second {shortened(second)} of memtier has no count")
        rows.append(Row(float(second), float(count), f"second {second}"))
    runtime = stats.get("Runtime")
    begin = runtime.get("Start time") if isinstance(runtime, Mapping) else None
    epoch = begin * UNITS["ms"] if isinstance(begin, int | float) else None
    # A second in which nothing was served is not in the file.
    ordered = sorted(rows, key=lambda row: row.t)
    return Rows(ordered, "Count", "count", "start", epoch, gaps="zero")


_DOCUMENTS: tuple[tuple[str, Callable[[Source, Any, Options], Rows | None]], ...] = (
    ("prometheus", _prometheus),
    ("grafana", _grafana),
    ("memtier", _memtier),
)


def _outline(document: Any) -> str:
    """Return what a document is, in a few words."""
    if isinstance(document, Mapping):
        names = ", ".join(shortened(str(name), 20)[1:-1] for name in list(document)[:5])
        return f"an object with {names}" if names else "an empty object"
    return f"a list of {len(document)}" if isinstance(document, list) else "a single value"


def request_of(
    table: RequestTable, row: Cells, clock: Clock, options: Options, path: object
) -> Request:
    """Return the request of one row of a tool's table."""
    time, ok = options.time or table.time, options.ok or table.ok
    try:
        start = clock.read(row[time])
        took = float(row[table.duration] or 0) * UNITS[table.duration_unit]
    except ValueError as error:
        raise refused(
            f"{path}:{row.line}: {time}: {shortened(row[time])} and {table.duration}: "
            f"{shortened(row[table.duration])}, wanted a time and a duration"
        ) from error
    served = truth(row[ok])
    if table.format == "jmeter" and ok != table.ok:
        served = bool(served)
    if served is None:
        raise refused(
            f"{path}:{row.line}: {ok}: found {shortened(row[ok])}, wanted true, false or a status"
        )
    if not math.isfinite(took) or not 0 <= took < 1e6:
        took = 0.0
    return Request(start, start + took, served)
