"""The tables of what was found: limits, measures, response times, events, errors, the ledger."""

from collections.abc import Mapping, Sequence
from functools import partial

from brownout.measure import measures as table
from brownout.measure.impact import Fault, Impact
from brownout.run.histories import shown
from brownout.show.report.faults import worst_part
from brownout.show.report.grid import Cell, Column, Grid, Words, columns
from brownout.show.report.material import Happening, Material
from brownout.show.report.values import NONE, bound, result, worded
from brownout.show.report.words import between, number

__all__ = ["errors", "events", "latencies", "ledger", "limits", "measures", "met"]

_SHOWN = ("p50_us", "p99_us", "p999_us")
#: The fields of the ledger, with what they mean; a measure has its label.
LEDGER = {
    "keys": "keys that were written",
    "read": "keys that were read back",
    "acknowledged": "writes that were acknowledged",
    "in_doubt": "writes whose effect was unknown",
    "in_doubt_applied": "",
    "in_doubt_absent": "",
    "failed": "writes that failed",
    "ok": "keys read as last acknowledged",
    "recovered": "keys read newer: a write that had been in doubt had taken effect",
    "lost": "acknowledged writes that are gone",
    "rolled_back": "… of these, rolled back",
    "overwritten_by_late": "… of these, overwritten by an older write that came late",
    "data_lost": "… of these, records of the data set",
    "corrupt": "… of these, keys and records whose checksum is wrong",
    "garbled_answers": "answers that failed their checksum during the run",
    "refused_keys": "keys at which a write found something else than was to be there",
    "temporarily_missing": "… of these, whole again at the end",
    "data_keys": "records of the data set",
    "data_read": "… of these, read back",
    "unexpected": "keys that hold what had failed, was never written, or is a stranger's",
    "unread": "keys that could not be read",
}


#: The same for the comparison of copies.
COPIES = {
    "compared": "keys of which two servers or more told their copy",
    "alone": "keys of which one server has all there is",
    "diverged": "keys whose copies are not all alike",
    "unread": "keys of which a server did not tell its copy",
}


def met(value: bool | None) -> Cell:
    """`✓ met`, `✗ not met`, `? open`: a sign, a word and a colour."""
    if value is None:
        return Cell("? open", "met unknown")
    return Cell("✓ met", "met yes") if value else Cell("✗ not met", "met no")


def limits(material: Material) -> Grid:
    """Every limit: what was found, whether it was met, where the limit came from and why."""
    rows: list[Words] = [
        [
            table.label(slo.name),
            slo.scope,
            result(slo),
            bound(slo),
            met(slo.met),
            slo.detail or NONE,
            Cell(slo.limit_from or NONE, "code"),
            slo.why or NONE,
        ]
        for slo in material.impact.slos
    ]
    heads = (
        "measure | scope | found:n | limit:n | met:once | note:wrap | limit from:wrap | why:wrap"
    )
    return Grid("Limits", columns(heads), rows, "" if rows else "No limit was set for this run.")


def measures(impact: Impact, fault: Fault, name: str) -> Grid:
    """Every measure of one fault for every scope; what is of the whole cluster stands once."""
    scopes = list(fault.scopes) or ["total"]
    rows: list[Words] = []
    for measure in table.measures().values():
        if "." in measure.name or measure.of_ledger:  # these have tables of their own
            continue
        if measure.planned and fault.figure(measure.name) is None:
            continue
        cells = [
            _cell(impact, fault, measure.name, scope)
            if measure.per_scope or scope == "total"
            else ""
            for scope in scopes
        ]
        rows.append([measure.label, Cell(measure.name, "code"), *cells])
    above = {each for scope in fault.scopes.values() for each in scope.latency.time_above}
    for key in sorted(f"time_above.{each}" for each in above):
        cells = [worded(key, fault.figure(key, scope)) for scope in scopes]
        rows.append([table.label(key), Cell(key, "code"), *cells])
    heads = [
        Column("measure"),
        Column("in impact.json", "once key"),
        *(Column(s, "n") for s in scopes),
    ]
    return Grid(f"Measures: {name}", heads, rows, _methods(fault))


def _cell(impact: Impact, fault: Fault, measure: str, scope: str) -> str:
    ends = fault.range(measure, scope)
    words = between(ends, partial(worded, measure), fault.figure(measure, scope))
    part = worst_part(impact, fault, measure, scope)
    return f"{words} ({part})" if part else words


def latencies(fault: Fault, fault_name: str) -> Grid:
    """Response time before, during and after one fault, for every scope."""
    rows: list[Words] = [
        [scope, name, number(phase.n), *_percentiles(phase.ok, phase.n, (*_SHOWN, "max_us")),
         *_percentiles(phase.all, phase.n + phase.not_ok, _SHOWN, "> deadline")]
        for scope, figures in fault.scopes.items()
        for name, phase in figures.latency.phases.items()
    ]  # fmt: skip
    heads = (
        "scope | phase | served:n | median:n | p99:n | p99.9:n | longest:n "
        "| of all, median:n | of all, p99:n | of all, p99.9:n"
    )
    note = (
        "From the intended start. Served: those that ended well. All: every operation, one that "
        "was not served in time counting as longer than the deadline."
    )
    note = note if rows else "Nothing was measured."
    return Grid(f"Response time: {fault_name}", columns(heads), rows, note)


def events(material: Material) -> Grid:
    """Everything that happened; what the figures show is numbered as there."""
    rows = [_event(event) for event in material.happenings]
    heads = "no.:n | when:n | what | requested:n | ± s:n | wall clock (UTC):once | evidence:wrap"
    nothing = material.missing.get("events", "No event was recorded.")
    note = (
        "When: the earliest proof of the cause (the process is gone, the directory is empty), "
        "never of its consequence. ±: how far off that proof may be."
    )
    return Grid("Events", columns(heads), rows, note if rows else nothing)


def errors(material: Material) -> Grid:
    """Every error code of the driver, with its cause, where and when."""
    groups: dict[tuple[str, ...], list[float]] = {}
    for row in material.errors:
        key = (row["cause"], row["code"] or NONE, row["stream"], row["op"])
        group = groups.setdefault(key, [0, row["t"], row["t"]])
        group[0] += row["n"]
        group[1], group[2] = min(group[1], row["t"]), max(group[2], row["t"])
    rows: list[Words] = [
        [cause, Cell(code, "code"), stream, op, number(n), f"{first:.1f} s", f"{last:.1f} s"]
        for (cause, code, stream, op), (n, first, last) in sorted(
            groups.items(), key=lambda item: (-item[1][0], item[0])
        )
    ]
    heads = "cause | code:wrap | stream | operation | operations:n | first:n | last:n"
    nothing = material.missing.get("errors", "No operation ended badly in the whole run.")
    return Grid(
        "Errors with the driver's own codes, whole run",
        columns(heads),
        rows,
        "" if rows else nothing,
    )


def ledger(material: Material) -> Grid:
    """What became of every write that was acknowledged."""
    summary = material.impact.ledger
    rows: list[Words] = [
        [name.replace("_", " "), number(count), meaning or table.label(name)]
        for name, meaning in LEDGER.items()
        if material.has_impact and (count := getattr(summary, name)) is not None
    ]
    if summary.copies is not None:
        rows += [
            [f"copies {name}", number(getattr(summary.copies, name)), meaning]
            for name, meaning in COPIES.items()
        ]
    if summary.reads is not None:
        rows += [
            [f"reads of {lane.stream} in {lane.lane}", number(lane.checked), lane.words]
            for lane in summary.reads.lanes
        ]
    if (histories := summary.histories) is not None:
        name = f"registers of {', '.join(histories.streams)}"
        rows.append([name, number(histories.registers), histories.words])
        rows += [
            [
                Cell(f"history of {each['key']}", link=each["drawing"]),
                "",
                f"{shown(each)} (drawn by Porcupine)",
            ]
            for each in histories.examples
        ]
    sampled = " Only a sample of the keys was read." if summary.sampled else ""
    note = f"{summary.detail[:1].upper()}{summary.detail[1:]}.{sampled}"
    heads = columns("what | number:n | meaning:wrap")
    return Grid(f"Ledger of acknowledged writes: {summary.state}", heads, rows, note)


def _methods(fault: Fault) -> str:
    """How dips were found and lost operations counted."""
    if fault.total is None:
        return "The fault is not proven to have happened, so there is nothing to measure."
    course, losses = fault.total.course, fault.total.losses
    return f"Dips: {course.dip_method}. Operations lost: {losses.lost_method}."


def _percentiles(
    percentiles: Mapping[str, int | None], n: int, names: Sequence[str], longer: str = NONE
) -> list[str]:
    """The percentiles in ms; where there is none though something was, it is `longer`."""
    absent = longer if n else NONE
    return [
        absent
        if percentiles.get(name) is None
        else worded("latency.during.p99_us", percentiles[name])
        for name in names
    ]


def _event(event: Happening) -> Words:
    record = event.record
    asked, unsure = record.get("requested"), record.get("uncertainty")
    return [
        Cell(NONE) if event.number is None
        else Cell(str(event.number), anchor=f"event-{event.number}"),
        NONE if event.t is None else f"{event.t:.1f} s",
        Cell(event.words, "met no" if record.get("error") else ""),
        NONE if asked is None else f"{asked:.1f} s",
        NONE if unsure is None else f"{unsure:.3f}",
        str(record.get("wall") or NONE).removesuffix("Z").replace("T", " "),
        Cell(record.get("evidence") or NONE, "code"),
    ]  # fmt: skip
