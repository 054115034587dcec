"""From the raw files of a run to `ledger.json` and `impact.json`: `brownout analyze RUN`."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from brownout.inventory.database import of_driver
from brownout.judge.slo import Limit
from brownout.judge.torn import torn_files
from brownout.judge.validity import Facts
from brownout.judge.verdict import judge, not_judged
from brownout.measure.assess import Findings, assess
from brownout.measure.data import ErrorRow, RunData, Stream
from brownout.measure.document import FORMER_CANARY, write_impact
from brownout.measure.driver import driver_of
from brownout.measure.impact import Impact, Load
from brownout.measure.lateness import late_seconds
from brownout.measure.measures import time_above_of
from brownout.measure.ranges import rounded
from brownout.measure.resolution import resolutions
from brownout.measure.settings import MeasureSettings
from brownout.run.balance import read_balance
from brownout.run.csvfile import ERRORS, GENERATOR, read_rows
from brownout.run.directory import SCHEMA_VERSION, RunDirectory
from brownout.run.events import Event, read_events
from brownout.run.ledger import Ledger, classify
from brownout.run.ledger_lines import read_ledger_lines
from brownout.run.load import read_load
from brownout.run.metadata import read_json, write_json
from brownout.run.parts.apart import apart_of
from brownout.run.parts.merge import merge
from brownout.run.primaries import read_primaries
from brownout.run.series import Series, identity_violations
from brownout.run.shape import check_generator, check_record
from brownout.run.table import BUCKETS_PER_S, bucket_of

__all__ = ["analyze", "load_run"]

Document = Mapping[str, Any]


def analyze(path: Path | str) -> Impact:
    """Make the derived files of the run at `path`; return the impact."""
    directory = RunDirectory.open(path)
    record = directory.read_metadata()
    check_record(record)
    merge(directory.path)
    generator = read_json(directory.generator) if directory.generator.exists() else {}
    check_generator(generator)
    data = load_run(directory, record)
    ledger = _ledger(directory, data, generator)
    findings = assess(data)
    facts = _facts(directory, data, generator, findings, ledger)
    impact = _impact(record, data, findings, ledger, facts, generator)
    if (directory.path / "canary.json").exists():
        impact = replace(impact, remarks=(*impact.remarks, FORMER_CANARY))
    write_json(directory.ledger, {"schema_version": SCHEMA_VERSION, **ledger.as_dict()})
    write_impact(directory, impact)
    return impact


def load_run(directory: RunDirectory, record: Document) -> RunData:
    """Read everything that the measures of a run are made from; `record` is its run.json."""
    streams = _streams(record)
    closed = [stream.name for stream in streams if stream.closed]
    load = read_load(directory.path, closed)
    events = read_events(directory.events) if directory.events.exists() else []
    limits = record.get("limits") or []
    wanted = dict.fromkeys(time_above_of(str(limit["measure"])) for limit in limits)
    return RunData(
        series=load.series,
        events=events,
        streams=streams,
        settings=MeasureSettings.from_mapping(record.get("settings") or {}),
        end=_load_end(load.series, events),
        errors=[_error_row(row) for row in read_rows(directory.errors, ERRORS)],
        lanes=load.lanes,
        latency=load.latency,
        balance=read_balance(directory.balance),
        primaries=read_primaries(directory.primaries),
        managed=bool((record.get("cluster") or {}).get("managed")),
        time_above=[each for each in wanted if each is not None],
        lags_ms=_lags(directory),
    )


def _lags(directory: RunDirectory) -> dict[int, float]:
    """Read how late the generator was at most in each second, in ms."""
    rows = read_rows(directory.generator_series, GENERATOR)
    return {int(float(row[0])): float(row[2]) for row in rows}


def _streams(record: Document) -> list[Stream]:
    """Read what the measures need of each stream of the resolved workload."""
    streams = (record.get("workload") or {}).get("streams") or []
    return [
        Stream(
            name=str(stream["name"]),
            deadline_s=float(stream.get("deadline_s", 1.0)),
            retries=str(stream.get("retries", "none")),
            closed=not stream.get("rate"),
            rate=float(stream.get("rate") or 0.0),
            verified=bool(stream.get("verified")),
        )
        for stream in streams
    ]


def _load_end(series: Series, events: Sequence[Event]) -> float:
    """Return when the load ended: at the stop, or where its last bucket ends."""
    stops = [e.requested for e in events if e.type == "phase" and e.name == "load_stopped"]
    moments = [t for t in stops if t is not None]
    return min([series.completion.end, *(bucket_of(t) / BUCKETS_PER_S for t in moments)])


def _error_row(row: Sequence[str]) -> ErrorRow:
    return ErrorRow(float(row[0]), row[1], row[2], row[3], int(float(row[5])))


def _ledger(directory: RunDirectory, data: RunData, generator: Document) -> Ledger:
    read = [e.fields for e in data.events if (e.type, e.name) == ("note", "ledger_read")]
    away = bool(read) and not read[-1].get("all_nodes")
    if away:
        of = of_driver(str(generator.get("driver")))
        away = of is not None and of.serves_what_it_has
    return classify(
        read_ledger_lines(directory.ledger_lines),
        verified=any(stream.verified for stream in data.streams),
        finished=generator.get("ended") is True,
        away=away,
    )


def _facts(
    directory: RunDirectory, data: RunData, generator: Document, findings: Findings, ledger: Ledger
) -> Facts:
    done = data.series.completion
    reported = int(generator.get("identity_violations") or 0)
    return Facts(
        events=data.events,
        baseline=findings.baseline,
        ledger=ledger,
        settings=data.settings,
        generator_ended=generator.get("ended") is True,
        lag_p99_ms=_lag(directory, generator),
        offered=int(done.total("total", "offered").sum()),
        missed=int(done.total("total", "missed").sum()),
        violations=identity_violations(data.series) + reported,
        deadline_s=min((stream.deadline_s for stream in data.streams), default=1.0),
        torn=torn_files(directory, data, generator),
        apart=apart_of(generator),
        late_seconds=late_seconds(data),
        resolutions=resolutions(data, findings.baseline.level),
    )


def _lag(directory: RunDirectory, generator: Document) -> float | None:
    """Return the p99 of the scheduling lag in ms: of the whole run, or of a dead one's seconds."""
    if generator.get("ended") is True and generator.get("lag_p99_ms") is not None:
        return float(generator["lag_p99_ms"])
    rows = [float(row[1]) for row in read_rows(directory.generator_series, GENERATOR)]
    return float(np.percentile(rows, 99)) if rows else None


def _impact(
    record: Document,
    data: RunData,
    findings: Findings,
    ledger: Ledger,
    facts: Facts,
    generator: Document,
) -> Impact:
    """Put the impact together."""
    faults = rounded(findings.faults)
    limits, dropped = (
        [Limit(**each) for each in record.get(name) or []] for name in ("limits", "dropped_limits")
    )
    verdict = rounded(judge(faults, limits, facts))
    cluster = dict(record.get("cluster") or {})
    deadlines = {stream.name: stream.deadline_s for stream in data.streams}
    return Impact(
        run_id=record.get("run_id"),
        started=_text(generator.get("t0_wall")),
        verdict=verdict.word,
        reasons=verdict.reasons,
        remarks=(*verdict.remarks, *map(not_judged, dropped)),
        dropped_limits=tuple(limit.as_dict() for limit in dropped),
        validity=verdict.validity,
        slos=verdict.slos,
        stand_in=bool(cluster.get("stand_in")),
        seed=record.get("seed"),
        cluster=cluster,
        experiment=dict(record.get("experiment") or {}),
        workload=dict(record.get("workload") or {}),
        deadline_s=max(deadlines.values(), default=None),
        deadlines_s=deadlines,
        baseline=rounded(findings.figures),
        faults=faults,
        shams=rounded(findings.shams),
        ledger=replace(ledger, examples=(), refused=()),
        load=rounded(_load(data, findings, facts)),
        driver=driver_of(generator),
        settings=data.settings.as_dict(),
        versions=dict(record.get("versions") or {}),
    )


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _load(data: RunData, findings: Findings, facts: Facts) -> Load:
    loops = {"closed" if stream.closed else "open" for stream in data.streams}
    return Load(
        loop=loops.pop() if len(loops) == 1 else "mixed",
        rate=sum(stream.rate for stream in data.streams),
        duration_s=data.end,
        offered=facts.offered,
        ok=int(data.series.completion.total("total", "ok").sum()),
        achieved_ratio=findings.baseline.test("delivered").value,
        missed=facts.missed,
        lag_p99_ms=facts.lag_p99_ms,
    )
