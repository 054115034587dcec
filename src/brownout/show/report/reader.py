"""Read a run directory into the material of a report; what cannot be read is named as missing."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from brownout.base.errors import BrownoutError
from brownout.judge.analysis import analyze
from brownout.measure.document import read_impact
from brownout.measure.impact import UNKNOWN, Fault, Impact
from brownout.run.csvfile import ERRORS, GENERATOR, read_rows
from brownout.run.directory import RunDirectory
from brownout.run.events import Event, read_events
from brownout.run.lanes import LaneKey, read_lanes
from brownout.run.latency import LatencyLog, read_hlog
from brownout.run.metadata import read_json
from brownout.run.series import Series, Table, read_series
from brownout.run.table import BUCKETS_PER_S, OUTCOME_COLUMNS
from brownout.show.report.chart import Floats
from brownout.show.report.happenings import happenings
from brownout.show.report.material import Columns, Material, Window
from brownout.show.report.response import over_time, spectra

__all__ = ["read"]

#: What is drawn of each view of the series.
BY_COMPLETION, BY_START = ("offered", "ok"), OUTCOME_COLUMNS
SCOPES = ("total", "read", "write")
#: A fault without an effect on users is shown for this long.
LEAST_FELT_S = 2.0
Part = TypeVar("Part")
#: The raw files of a run by the part of a report that stands on them, and what is lost with each.
FILES = {
    "series": ("series.csv", "what was served when is not known"),
    "outcomes": ("outcomes.csv", "how operations ended by intended start is not known"),
    "errors": ("errors.csv", "why operations ended badly is not known"),
    "lanes": ("lanes.csv", "the lanes are not known"),
    "latency": ("latency.hlog", "response times are not known"),
    "events": ("events.ndjson", "what was done when is not known"),
    "generator": ("generator.json", "the load generator never said what it did"),
    "health": ("generator.csv", "how well the generator kept to its schedule is not known"),
    "journal": ("journal.json", "the steps of the experiment are not known"),
}


def read(run: Path) -> Material:
    """Return the material of the run in `run`; its impact.json is made where there is none.

    Raises `RunDirectoryError` if `run` is not a run directory.
    """
    directory = RunDirectory.open(run)
    return _Reader(directory).material()


class _Reader:
    """Reads part by part; of a part that cannot be read a sentence is left in `missing`."""

    def __init__(self, directory: RunDirectory) -> None:
        self._directory = directory
        self._missing: dict[str, str] = {}

    def material(self) -> Material:
        """Read everything."""
        here = self._directory
        nothing: dict[str, Any] = {}
        no_errors: list[dict[str, Any]] = []
        impact = self._part("impact", self._impact, UNKNOWN)
        series = self._part("series", lambda: read_series(here.path), None)
        log = self._part("latency", lambda: read_hlog(here.latency), LatencyLog({}))
        errors = self._part("errors", lambda: list(_errors(here.errors)), no_errors)
        material = Material(
            path=here.path,
            impact=impact,
            metadata=self._part("metadata", here.read_metadata, nothing),
            generator=self._json("generator", here.generator),
            journal=self._json("journal", here.journal),
            happenings=happenings(self._part("events", self._events, [])),
            lanes=self._part("lanes", lambda: _lanes(here.lanes), {}),
            errors=errors,
            health=self._part("health", lambda: _health(here.generator_series), {}),
            dips=_dips(impact),
            felt=_felt(impact),
            recoveries=_recoveries(impact),
            missing=dict(self._missing),
            **_drawn(series, log, errors, impact),
        )
        return replace(material, missing={**self._missing, **_absences(material)})

    def _part(self, name: str, read_it: Callable[[], Part], otherwise: Part) -> Part:
        try:
            return read_it()
        except BrownoutError as error:
            self._missing[name] = f"{error}."
            return otherwise

    def _json(self, part: str, path: Path) -> dict[str, Any]:
        return self._part(part, lambda: read_json(path), {}) if path.is_file() else {}

    def _events(self) -> list[Event]:
        here = self._directory
        return read_events(here.events) if here.events.is_file() else []

    def _impact(self) -> Impact:
        """The impact as it was made; made now where it was not."""
        here = self._directory
        return read_impact(here) if here.impact.is_file() else analyze(here.path)


def _drawn(
    series: Series | None,
    log: LatencyLog,
    errors: Sequence[Mapping[str, Any]],
    impact: Impact,
) -> dict[str, Any]:
    """What stands on the series; without one there is no time to draw anything over."""
    if series is None or not len(series.completion):
        return {}
    return {
        "series": _columns(series, series.completion, BY_COMPLETION),
        "outcomes": _columns(series, series.outcomes, BY_START),
        "causes": _causes(errors, len(series.completion)),
        "latency": over_time(log, series, ("read", "write")),
        "spectra": spectra(log, series, impact),
    }


def _columns(series: Series, table: Table, names: Sequence[str]) -> dict[str, Columns]:
    """The columns of each scope that the load has."""
    t = np.arange(len(table)) / BUCKETS_PER_S
    return {
        scope: {"t": t, **{n: table.total(scope, n).astype(np.float64) for n in names}}
        for scope in SCOPES
        if scope in series.scopes
    }


def _errors(path: Path) -> Iterator[dict[str, Any]]:
    for t, stream, op, cause, code, n in read_rows(path, ERRORS):
        counted = {"cause": cause, "code": code, "n": int(float(n))}
        yield {"t": float(t), "stream": stream, "op": op, **counted}


def _causes(errors: Sequence[Mapping[str, Any]], buckets: int) -> dict[str, Floats]:
    """Operations by cause in each bucket."""
    by_cause: dict[str, Floats] = {}
    for row in errors:
        counts = by_cause.setdefault(row["cause"], np.zeros(buckets))
        bucket = round(row["t"] * BUCKETS_PER_S)
        if 0 <= bucket < buckets:
            counts[bucket] += row["n"]
    return by_cause


def _lanes(path: Path) -> dict[LaneKey, Columns]:
    return {
        lane: {"t": np.arange(len(columns["ok"])) / BUCKETS_PER_S,
               **{name: values.astype(np.float64) for name, values in columns.items()}}
        for lane, columns in read_lanes(path).items()
    }  # fmt: skip


def _health(path: Path) -> Columns:
    """The generator's own columns; `cpu_s` per second instead of since the start."""
    rows = [[float(value) for value in row] for row in read_rows(path, GENERATOR)]
    if not rows:
        return {}
    columns = dict(zip(GENERATOR, np.array(rows).T, strict=True))
    return columns | {"cpu_s": np.diff(columns["cpu_s"], prepend=columns["cpu_s"][0])}


def _dips(impact: Impact) -> dict[str, list[Window]]:
    """The dips of all faults, by scope."""
    by_scope: dict[str, list[Window]] = {}
    for fault in impact.faults:
        for scope, measured in fault.scopes.items():
            dips = [Window(dip.start, dip.end) for dip in measured.course.dips]
            by_scope.setdefault(scope, []).extend(dips)
    return by_scope


def _felt(impact: Impact) -> list[Window]:
    """The time in which users felt each fault, with the steps of the experiment close to it.

    Without a recovery this lasts to the fault's end. A node that is started much later is left out.
    """
    windows = []
    for fault in impact.faults:
        ends = [fault.start + LEAST_FELT_S]
        if fault.total is not None:
            ends += [dip.end for dip in fault.total.course.dips or ()]
        for effective, recovered in _recovery(fault):
            last = fault.end if recovered is None else recovered
            ends.append(effective if last is None else last)
        end = max(ends)
        steps = [event.effective for event in fault.events if event.effective is not None]
        near = [step for step in steps if step <= fault.start + 3 * (end - fault.start)]
        windows.append(Window(fault.start, max([end, *near])))
    return windows


def _recoveries(impact: Impact) -> list[tuple[float, float | None]]:
    """From the effect of each fault that was felt to the recovery; None is never."""
    return [each for fault in impact.faults for each in _recovery(fault)]


def _recovery(fault: Fault) -> Iterator[tuple[float, float | None]]:
    took = fault.number("recovery_time")
    if fault.effective is not None and fault.number("blackout") is not None and took != 0:
        yield fault.effective, None if took is None else fault.effective + took


def _absences(material: Material) -> dict[str, str]:
    """Return a sentence for each part that is not there, by part; none for a whole run."""
    gone = {
        part: f"No {name}: {meaning}."
        for part, (name, meaning) in FILES.items()
        if not (material.path / name).is_file()
    }
    return {**dict(_empty(material)), **gone, **dict(_unknown(material))}


def _empty(material: Material) -> Iterator[tuple[str, str]]:
    """Files that are there and say nothing, or not to the end."""
    if not material.series and "series" not in material.missing:
        yield "series", "The load did not run for as long as a tenth of a second."
    if material.series and not material.latency and "latency" not in material.missing:
        yield "latency", "latency.hlog holds no response times."
    if material.generator and material.generator.get("ended") is not True:
        yield (
            "generator",
            (f"The load generator died; its files end {material.end:.1f} s after the load began."),
        )


def _unknown(material: Material) -> Iterator[tuple[str, str]]:
    """What cannot be said of the faults and of the acknowledged writes."""
    if not material.impact.faults:
        yield "faults", "No fault: nothing was broken, so nothing could be measured of one."
    for number, fault in enumerate(material.impact.faults, 1):
        if fault.effective is None:
            yield (
                f"fault-{number}",
                (f"No proof that {fault.name} took effect, so none of its measures."),
            )
    ledger = material.impact.ledger
    if ledger.state in ("none", "unknown"):
        yield "ledger", f"No word on acknowledged writes: {ledger.detail}."
