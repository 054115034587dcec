"""The tables of what was found: limits, measures, response times, events, errors, the ledger."""

from collections.abc import Mapping
from typing import Any

from brownout.measure import measures as table
from brownout.show.report.grid import Cell, Column, Grid, Words, columns
from brownout.show.report.material import Happening, Material
from brownout.show.report.measured import NONE, bound, found, worded
from brownout.show.report.words import between, number

__all__ = ["errors", "events", "latencies", "ledger", "limits", "measures", "met"]

Fault = Mapping[str, Any]

#: The fields of the ledger, with what they mean.
LEDGER = {
    "keys": "keys that were written",
    "read": "keys that were read back",
    "acknowledged": "writes that were acknowledged",
    "in_doubt": "writes whose effect was unknown",
    "in_doubt_applied": "… of these, found to have taken effect",
    "in_doubt_absent": "… of these, found not to have; of the rest nobody can say",
    "failed": "writes that failed",
    "ok": "keys read as last acknowledged",
    "recovered": "keys read newer: a write that had been in doubt had taken effect",
    "lost": "acknowledged writes that are gone",
    "rolled_back": "… of these, rolled back",
    "overwritten_by_late": "… of these, overwritten by an older write that came late",
    "data_lost": "… of these, records of the data set",
    "refused_keys": "keys at which a write found something else than was to be there",
    "temporarily_missing": "… of these, whole again at the end",
    "data_keys": "records of the data set",
    "data_read": "… of these, looked for",
    "unexpected": "keys that hold what had failed, was never written, or is a stranger's",
    "corrupt": "keys whose checksum is wrong",
    "unread": "keys that could not be read",
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
            table.label(slo["name"]),
            slo["scope"],
            found(slo),
            bound(slo),
            met(slo["met"]),
            slo["detail"] or NONE,
            Cell(slo["limit_from"] or NONE, "code"),
            slo["why"] or NONE,
        ]
        for slo in material.impact.get("slos") or []
    ]
    heads = (
        "measure | scope | found:n | limit:n | met:once | note:wrap | limit from:wrap | why:wrap"
    )
    return Grid("Limits", columns(heads), rows, "" if rows else "No limit was set for this run.")


def measures(fault: Fault, name: str) -> Grid:
    """Every measure of one fault for every scope; what is of the whole cluster stands once."""
    scopes = _scopes(fault)
    rows: list[Words] = []
    for measure in table.measures().values():
        if "." in measure.name or measure.name == "lost_writes":  # these have tables of their own
            continue
        if measure.planned and fault.get(measure.name) is None:
            continue
        cells = [
            _cell(measure.name, of_scope) if measure.per_scope or scope == "total" else ""
            for scope, of_scope in scopes.items()
        ]
        rows.append([measure.label, Cell(measure.name, "code"), *cells])
    for each in sorted({key for one in scopes.values() for key in one["time_above"] or ()}):
        key = f"time_above.{each}"
        cells = [worded(key, (f["time_above"] or {}).get(each)) for f in scopes.values()]
        rows.append([table.label(key), Cell(key, "code"), *cells])
    heads = [
        Column("measure"),
        Column("in impact.json", "once key"),
        *(Column(s, "n") for s in scopes),
    ]
    return Grid(f"Measures: {name}", heads, rows, _methods(fault))


def _cell(measure: str, of_scope: Mapping[str, Any]) -> str:
    ends = (of_scope.get("ranges") or {}).get(measure)
    return between(ends, lambda value: worded(measure, value), of_scope.get(measure))


def latencies(fault: Fault, name: str) -> Grid:
    """Response time before, during and after one fault, for every scope."""
    rows: list[Words] = [
        [scope, phase, number(served["n"]), *_percentiles(served, "max"),
         *_percentiles(found["latency_all"][phase], longer="> deadline")]
        for scope, found in _scopes(fault).items()
        for phase, served in (found["latency"] or {}).items()
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
    return Grid(f"Response time: {name}", columns(heads), rows, note)


def events(material: Material) -> Grid:
    """Everything that happened, numbered as in the figures."""
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
        found = groups.setdefault(key, [0, row["t"], row["t"]])
        found[0] += row["n"]
        found[1], found[2] = min(found[1], row["t"]), max(found[2], row["t"])
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
    found = material.impact.get("ledger") or {}
    rows: list[Words] = [
        [name.replace("_", " "), number(found[name]), meaning]
        for name, meaning in LEDGER.items()
        if found.get(name) is not None
    ]
    state, detail = found.get("state", "unknown"), found.get("detail") or "it was not made"
    sampled = " Only a sample of the keys was read." if found.get("sampled") else ""
    note = f"{detail[:1].upper()}{detail[1:]}.{sampled}"
    heads = columns("what | number:n | meaning:wrap")
    return Grid(f"Ledger of acknowledged writes: {state}", heads, rows, note)


def _methods(fault: Fault) -> str:
    """How dips were found and lost operations counted."""
    if fault["dip_method"] is None:
        return "The fault is not proven to have happened, so there is nothing to measure."
    return f"Dips: {fault['dip_method']}. Operations lost: {fault['lost_method']}."


def _scopes(fault: Fault) -> dict[str, Mapping[str, Any]]:
    return {"total": fault, **fault["scopes"]}


def _percentiles(found: Mapping[str, Any], *more: str, longer: str = NONE) -> list[str]:
    """The percentiles in ms; where there is none though something was, it is `longer`."""
    names = [f"{name}_us" for name in ("p50", "p99", "p999", *more)]
    absent = longer if found["n"] else NONE
    return [
        absent if found[n] is None else worded("latency.during.p99_us", found[n]) for n in names
    ]


def _event(event: Happening) -> Words:
    record = event.record
    asked, unsure = record.get("requested"), record.get("uncertainty")
    return [
        Cell(str(event.number), anchor=f"event-{event.number}"),
        NONE if event.t is None else f"{event.t:.1f} s",
        Cell(event.words, "met no" if record.get("error") else ""),
        NONE if asked is None else f"{asked:.1f} s",
        NONE if unsure is None else f"{unsure:.3f}",
        str(record.get("wall") or NONE).removesuffix("Z").replace("T", " "),
        Cell(record.get("evidence") or NONE, "code"),
    ]
