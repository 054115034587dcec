"""The edge between an impact and the JSON of `impact.json`; docs/run-directory.md has every field.

Nothing else knows the names of the file. Its shape has only ever grown, so `schema_version` is 1
still: a field that an older brownout did not write has its default, and one that a newer one wrote
is passed over, but for measures, which are kept and shown by their names.
"""

import json
from collections.abc import Mapping
from dataclasses import MISSING, asdict, fields, is_dataclass, replace
from functools import cache
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from brownout.base.errors import RunDirectoryError
from brownout.base.printable import printable
from brownout.measure.assess import Findings
from brownout.measure.dips import Dip
from brownout.measure.impact import FAMILIES, Fault, Impact, ScopeImpact
from brownout.measure.latency import Latency, Phase
from brownout.measure.measures import added
from brownout.measure.rebalance import Rebalance
from brownout.measure.sham import Sham
from brownout.run.directory import SCHEMA_VERSION, RunDirectory
from brownout.run.metadata import digest_of, read_as_written, read_json, write_json

__all__ = [
    "FORMER_CANARY",
    "document_of",
    "findings_document",
    "has_its_digest",
    "impact_of",
    "read_impact",
    "read_verdict",
    "write_impact",
]

Document = Mapping[str, Any]
Kind = TypeVar("Kind")

_AGAIN = "make it again by `brownout analyze RUN`"
#: Said of a run whose canary was a process of its own, with records of its own.
FORMER_CANARY = (
    "this run's canary was not yet a stream of the load: what it saw is not shown any more, and "
    "each of its calls is in canary.csv"
)


def write_impact(directory: RunDirectory, impact: Impact) -> None:
    """Write `impact.json`."""
    write_json(directory.impact, document_of(impact))


def read_impact(directory: RunDirectory) -> Impact:
    """Read `impact.json`; raises `RunDirectoryError` where it was not made, or was changed."""
    if not directory.impact.is_file():
        raise RunDirectoryError(
            f"{directory.path}: has no impact.json", "make it by `brownout analyze RUN`"
        )
    document = read_as_written(directory.impact)
    if document.get("digest") != digest_of(document):
        raise RunDirectoryError(
            f"{directory.impact}: is not as it was written: its digest is missing or another one",
            _AGAIN,
        )
    return impact_of(printable(document), directory.impact)


def read_verdict(directory: RunDirectory) -> str | None:
    """Read the verdict alone, for a list of many runs; None where there is none."""
    if not directory.impact.is_file():
        return None
    verdict = read_json(directory.impact).get("verdict")
    return None if verdict is None else str(verdict)


def has_its_digest(data: bytes) -> bool:
    """Whether the bytes of an `impact.json` are as they were written."""
    try:
        document = json.loads(data)
    except ValueError:
        return False
    return isinstance(document, dict) and document.get("digest") == digest_of(document)


def document_of(impact: Impact) -> dict[str, Any]:
    """Return all of `impact.json`."""
    ledger = asdict(impact.ledger)
    document = {
        "schema_version": SCHEMA_VERSION,
        **{each.name: getattr(impact, each.name) for each in fields(impact)},
        "reasons": list(impact.reasons),
        "remarks": list(impact.remarks),
        "dropped_limits": [dict(limit) for limit in impact.dropped_limits],
        "validity": [asdict(condition) for condition in impact.validity],
        "slos": [_plain(asdict(judged)) for judged in impact.slos],
        "baseline": _plain(asdict(impact.baseline)),
        "faults": [_fault(fault) for fault in impact.faults],
        "shams": [_sham(sham) for sham in impact.shams],
        "ledger": _plain({k: v for k, v in ledger.items() if k not in ("examples", "refused")}),
        "load": asdict(impact.load),
        "driver": None if impact.driver is None else asdict(impact.driver),
    }
    if not document["dropped_limits"]:
        del document["dropped_limits"]
    return {**document, "digest": digest_of(document)}


def findings_document(findings: Findings) -> dict[str, Any]:
    """Return `{"baseline": …, "faults": […], "shams": […]}`, for a series without a run."""
    return {
        "baseline": _plain(asdict(findings.figures)),
        "faults": [_fault(fault) for fault in findings.faults],
        "shams": [_sham(sham) for sham in findings.shams],
    }


def _fault(fault: Fault) -> dict[str, Any]:
    total = fault.total
    return {
        "name": fault.name,
        "events": [asdict(event) for event in fault.events],
        "milestones": [asdict(milestone) for milestone in fault.milestones],
        "requested": fault.requested,
        "effective": fault.effective,
        "start": fault.start,
        "end": fault.end,
        "until": fault.until,
        **(_scope(total) if total else _nothing()),
        **_plain(asdict(fault.rebalance)),
        "longest_blackout_by_lane": dict(fault.longest_blackout_by_lane),
        "partial_outage_in": dict(fault.partial_outage_in),
        "client_recovered_in": dict(fault.client_recovered_in),
        "successions": [asdict(each) for each in fault.successions],
        "ranges": _plain(total.ranges) if total else {},
        "scopes": {
            name: {**_scope(scope), "ranges": _plain(scope.ranges)}
            for name, scope in fault.scopes.items()
            if name != "total"
        },
    }


def _scope(scope: ScopeImpact) -> dict[str, Any]:
    """Return every measure of a scope under its own name."""
    families: dict[str, Any] = {}
    for family in FAMILIES:
        families |= asdict(getattr(scope, family))
    phases = scope.latency.phases
    return {
        **_plain(families),
        "dips": [[dip.start, dip.end] for dip in scope.course.dips],
        "latency": {name: {"n": phase.n, **phase.ok} for name, phase in phases.items()},
        "latency_all": {
            name: {"n": phase.n + phase.not_ok, "longer_than_deadline": phase.not_ok, **phase.all}
            for name, phase in phases.items()
        },
        "time_above": dict(scope.latency.time_above),
        **_plain(scope.added),
    }


def _nothing() -> dict[str, None]:
    """Return the measures of a fault that is not proven to have happened: none."""
    names = [each.name for family in FAMILIES.values() for each in fields(family)]
    names += ["latency", "latency_all", "time_above", *(measure.name for measure in added())]
    return dict.fromkeys(names)


def _sham(sham: Sham) -> dict[str, Any]:
    dips = [[dip.start, dip.end] for dip in sham.dips]
    return {**asdict(sham), "dips": dips, "false_alarm": sham.false_alarm}


def _plain(value: Any) -> Any:
    """Return data as JSON reads it back: a tuple is a list."""
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value


def impact_of(document: Document, where: Path | str = "impact.json") -> Impact:
    """Return the impact in the data of an `impact.json` of any version.

    Raises `RunDirectoryError` for anything else; `where` is how the message calls the file.
    """
    try:
        faults = [_fault_of(f, f"faults[{n}]") for n, f in enumerate(_list(document, "faults"))]
        impact = replace(_read(Impact, {**document, "faults": ()}, ""), faults=tuple(faults))
    except _NotOne as error:
        raise RunDirectoryError(f"{where}: not an impact: {error}", _AGAIN) from None
    if "canary" in document:
        impact = replace(impact, remarks=(*impact.remarks, FORMER_CANARY))
    return impact


class _NotOne(Exception):
    """Something is not what an impact.json has there."""


def _list(document: Any, name: str) -> list[Any]:
    if not isinstance(document, Mapping):
        raise _wrong("", document, "an object with a verdict, a baseline and faults")
    entries = document.get(name, ())
    if not isinstance(entries, list | tuple):
        raise _wrong(name, entries, "a list")
    return list(entries)


def _fault_of(data: Any, where: str) -> Fault:
    """Return a fault; its own measures, those of the scope total, stand beside its fields."""
    if not isinstance(data, Mapping):
        raise _wrong(where, data, "a fault")
    of_fault = {each.name for each in fields(Fault)} | {each.name for each in fields(Rebalance)}
    fault = _read(Fault, {**data, "scopes": {}}, where)
    scopes = {}
    if fault.effective is not None:
        parts = _read(dict[str, Any], data.get("scopes", {}), f"{where}.scopes")
        own = {key: value for key, value in data.items() if key not in of_fault}
        for name, part in {"total": own, **parts}.items():
            at = where if name == "total" else f"{where}.scopes.{name}"
            scopes[name] = _scope_of(_read(dict[str, Any], part, at), at)
    return replace(fault, scopes=scopes, rebalance=_read(Rebalance, data, where))


def _scope_of(data: Document, where: str) -> ScopeImpact:
    field_names = {"latency", "latency_all", "time_above", "ranges"}
    field_names |= {each.name for family in FAMILIES.values() for each in fields(family)}
    arguments: dict[str, Any] = {
        **{name: _read_any(family, data, where) for name, family in FAMILIES.items()},
        "latency": _latency_of(data, where),
        "added": {
            key: tuple(value) if isinstance(value, list) else value
            for key, value in data.items()
            if key not in field_names
        },
        "ranges": data.get("ranges", {}),
    }
    return _read(ScopeImpact, arguments, where)


def _latency_of(data: Document, where: str) -> Latency:
    """Put the phases of `latency` and `latency_all` together."""
    numbers = dict[str, dict[str, int | None]]
    served = _read(numbers, data.get("latency"), f"{where}.latency")
    everything = _read(numbers, data.get("latency_all", {}), f"{where}.latency_all")
    phases = {}
    for name, phase in served.items():
        whole = everything.get(name, {})
        phases[name] = Phase(
            n=phase.get("n") or 0,
            not_ok=whole.get("longer_than_deadline") or 0,
            ok={key: value for key, value in phase.items() if key != "n"},
            all={k: v for k, v in whole.items() if k not in ("n", "longer_than_deadline")},
        )
    above = _read(dict[str, float], data.get("time_above", {}), f"{where}.time_above")
    return Latency(phases, above)


_NAMES = {float: "a number", int: "a number", str: "a text", bool: "true or false"}


def _read(kind: type[Kind], data: Any, where: str) -> Kind:
    """Return JSON data as what `kind` is, whatever more it has; numbers stay as they are."""
    instance: Any = _read_any(kind, data, where)
    return instance  # type: ignore[no-any-return]


def _read_any(kind: Any, data: Any, where: str) -> Any:
    if kind is Any:
        return data
    if isinstance(kind, UnionType):
        if data is None and NoneType in get_args(kind):
            return None
        (kind,) = (each for each in get_args(kind) if each is not NoneType)
        return _read_any(kind, data, where)
    origin, arguments = get_origin(kind) or kind, get_args(kind)
    if origin is tuple:
        return _read_tuple(arguments, data, where)
    if origin in (Mapping, dict):
        if not isinstance(data, Mapping):
            raise _wrong(where, data, "an object")
        return {key: _read_any(arguments[1], item, f"{where}.{key}") for key, item in data.items()}
    if is_dataclass(kind):
        return data if is_dataclass(data) else _read_fields(kind, data, where)
    wanted = int | float if kind in (int, float) else kind
    if not isinstance(data, wanted) or (isinstance(data, bool) and kind is not bool):
        raise _wrong(where, data, _NAMES[kind])
    return data


def _read_tuple(arguments: tuple[Any, ...], data: Any, where: str) -> tuple[Any, ...]:
    if not isinstance(data, list | tuple):
        raise _wrong(where, data, "a list")
    kinds = arguments[:1] * len(data) if arguments[1:] == (...,) else arguments
    if len(data) != len(kinds):
        raise _wrong(where, data, f"a list of {len(kinds)}")
    pairs = zip(kinds, data, strict=True)
    return tuple(_read_any(each, item, f"{where}[{n}]") for n, (each, item) in enumerate(pairs))


def _read_fields(kind: Any, data: Any, where: str) -> Any:
    if kind is Dip:
        return Dip(*_read_tuple((float, float), data, where))
    if not isinstance(data, Mapping):
        raise _wrong(where, data, "an object")
    arguments = {}
    for name, (of, required) in _fields_of(kind).items():
        at = f"{where}.{name}".lstrip(".")
        if name in data:
            arguments[name] = _read_any(of, data[name], at)
        elif required and isinstance(of, UnionType):
            arguments[name] = None  # older than the field
        elif required:
            raise _NotOne(f"{at} is missing, wanted {_NAMES.get(of, 'an object')}")
    return kind(**arguments)


@cache
def _fields_of(kind: type) -> dict[str, tuple[Any, bool]]:
    """Return each field with its type and whether it has no default."""
    hints = get_type_hints(kind)
    return {
        each.name: (hints[each.name], each.default is MISSING and each.default_factory is MISSING)
        for each in fields(kind)
    }


def _wrong(where: str, value: Any, wanted: str) -> _NotOne:
    words = type(value).__name__ if isinstance(value, Mapping | list) else repr(value)[:60]
    return _NotOne(f"{where or 'it'}: found {words}, wanted {wanted}")
