"""Write whole run directories with a scripted fault, for tests of whatever reads one.

Every file is there and they all agree with each other, since they are made from the same
operations: each has an intended start, a completion, an end and a cause. The same script gives
the same bytes, but for nothing that looks at the clock.

    path = build_run(tmp_path, RunScript(outage_s=2.9))
"""

import base64
import csv
import functools
import json
import math
import shutil
import struct
import tempfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from hdrh.histogram import HdrHistogram

from brownout.judge.analysis import analyze
from brownout.measure.settings import MeasureSettings
from brownout.run import primaries
from brownout.run.table import BUCKETS_PER_S, OUTCOME_COLUMNS, SERIES_COLUMNS

__all__ = ["EXPERIMENT", "RunScript", "add_fault", "build_run"]

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
ENDS = ("ok", "late", "failed", "in_doubt", "shed", "missed")
OK, LATE, FAILED, IN_DOUBT, _, MISSED = range(6)
#: An operation of a schedule that is later than that is not sent any more.
LATE_AFTER_S = 0.1
#: For so long at least a generator stands still for a closed loop to have missed something.
STOOD_STILL_S = 0.05
LANES = ("127.0.0.1:27101", "127.0.0.1:27102", "127.0.0.1:27103")
#: One that a run of some seconds of outage keeps, for a run without a limit is no pass.
LIMIT = {"measure": "recovery_time", "scope": "total", "limit": 30.0, "limit_from": "test",
         "why": ""}  # fmt: skip
#: What is recorded of the experiment.
EXPERIMENT: dict[str, Any] = {
    "name": "node-kill", "title": "A node dies", "ref": "0" * 16, "mode": "kill", "target": "n1",
    "select": "primary", "variables": {"downtime_s": 5.0, "milestone_limit_s": 300},
    "method": ['kill_node {"node": "target"}',
               'after ${downtime_s} s: start_node {"node": "target"}'],
}  # fmt: skip
WALL = "2026-11-22T10:15:00.000Z"


@dataclass(frozen=True)
class RunScript:
    """What happens in a run. Times in seconds since the schedule's start.

    For `outage_s` from `fault_at` on, the share `depth` of the operations meets a database that
    does not answer (`freeze`: they wait until it is back, or for their deadline) or that refuses
    them at once (`refuse`). `again` holds further outages, as (start, length). `stalls` are when
    the generator stood still, likewise; what it missed then a closed loop books if it `beats`.
    """

    name: str = "20261122T101500Z-node-kill-4711"
    seed: int = 4711
    rate: float = 400.0
    concurrency: int = 0
    duration_s: float = 60.0
    deadline_s: float = 1.0
    fault_at: float | None = 25.352
    outage_s: float = 2.9
    depth: float = 1.0
    mode: Literal["freeze", "refuse"] = "freeze"
    again: tuple[tuple[float, float], ...] = ()
    stalls: tuple[tuple[float, float], ...] = ()
    beats: bool = True
    start_at: float = 29.1
    rejoined_at: float | None = 33.4
    redundant_at: float | None = 34.2
    promoted_at: float | None = 28.0
    stale_until: float | None = None
    asked: bool = True
    milestone_limit_s: float = 60.0
    lost_keys: int = 0
    unread_keys: int = 0
    verified: bool = True
    retries: str = "none"
    ended: bool = True
    lag_p99_ms: float = 1.2
    abort: str = ""
    put_back: bool = True
    whole: bool = True
    limits: tuple[Mapping[str, Any], ...] = (LIMIT,)
    settings: MeasureSettings = field(default_factory=MeasureSettings.lab)
    run: Mapping[str, Any] = field(default_factory=dict)
    analyzed: bool = True

    @property
    def outages(self) -> tuple[tuple[float, float], ...]:
        """Every outage as (start, length)."""
        first = () if self.fault_at is None else ((self.fault_at, self.outage_s),)
        return first + self.again


@dataclass(frozen=True)
class Operations:
    """Every operation of a load as arrays: its key, intended start, completion, end."""

    keys: tuple[tuple[str, str], ...]
    key: Ints
    start: Floats
    done: Floats
    end: Ints


#: Where each script's run is kept, to be copied when it is asked for again.
_KEPT = tempfile.TemporaryDirectory(prefix="brownout-runs-")
_kept: dict[str, Path] = {}


def build_run(root: Path, script: RunScript | None = None) -> Path:
    """Write the run directory of `script` below `root` and return its path."""
    script = script or RunScript()
    path = root / script.name
    known = repr(script)
    if known not in _kept:
        _kept[known] = _write_run(Path(_KEPT.name) / str(len(_kept)) / script.name, script)
    shutil.copytree(_kept[known], path)
    return path


def add_fault(path: Path, at: float, node: str) -> None:
    """Write that what befell the run's first fault befell `node` from `at` on, in the same time."""
    events = [json.loads(line) for line in (path / "events.ndjson").read_text().splitlines()]
    first = next(event["t"] for event in events if event["type"] == "break")
    with (path / "events.ndjson").open("a") as file:
        for event in events:
            if event["type"] in ("break", "mend", "milestone"):
                times = {key: event[key] + at - first for key in ("t", "last_no", "first_yes")
                         if event.get(key) is not None}  # fmt: skip
                again = event | times | {"id": event["id"] + 100, "node": node}
                file.write(json.dumps(again) + "\n")


def _write_run(path: Path, script: RunScript) -> Path:
    path.mkdir(parents=True)
    operations = _operations(script)
    _write_counts(path, script, operations)
    _write_errors(path, script, operations)
    _write_lanes(path, script, operations)
    _write_latency(path, script, operations)
    _write_generator(path, script, operations)
    _write_ledger(path, script)
    _write_events(path, script)
    if script.asked and script.fault_at is not None:
        _write_primaries(path, script, script.fault_at)
    _write_json(path / "run.json", _record(script))
    _write_json(path / "journal.json", {"status": "completed", "deviated": False})
    if script.analyzed:
        analyze(path)
    return path


def _operations(script: RunScript) -> Operations:
    """Make the load: a constant rate, half of it reads, response times around 2 ms."""
    random = np.random.default_rng(script.seed)
    keys = (("app", "read"), ("app", "update"), ("orders", "update"))
    start = np.arange(round(script.duration_s * script.rate)) / script.rate
    key = random.choice(3, len(start), p=[0.5, 0.25, 0.25])
    took = random.lognormal(np.log(0.002), 0.35, len(start))
    end = np.zeros(len(start), np.int64)
    for outage, length in script.outages:
        hit = (
            (start >= outage)
            & (start < outage + length)
            & (random.random(len(start)) < script.depth)
        )
        waited = outage + length - start + took
        if script.mode == "refuse":
            end[hit] = FAILED
        else:
            gone = hit & (waited > script.deadline_s)
            took = np.where(hit, np.where(gone, script.deadline_s, waited), took)
            end[gone] = np.where(key[gone] == 0, FAILED, IN_DOUBT)
    if script.concurrency:  # a closed loop starts nothing while all its workers wait, each until
        kept = np.ones(len(start), np.bool_)  # it is answered or its deadline is over
        for outage, length in script.outages:
            waits = (start - outage) % script.deadline_s >= 0.01
            kept &= ~((start >= outage) & (start < outage + length) & waits)
        start, key, took, end = start[kept], key[kept], took[kept], end[kept]
    done, never = start + took, np.zeros(len(start), np.bool_)
    for begin, length in script.stalls:
        resumed, due = begin + length, (start >= begin) & (start < begin + length)
        sent_late = due & (start >= resumed - LATE_AFTER_S)
        if script.concurrency:  # offers nothing meanwhile, and books that if it was for long
            sent_late[:] = False
            never |= due & (length < STOOD_STILL_S or not script.beats)
        done = np.where(sent_late, resumed + took, done)
        done[(start < begin) & (done > begin) & (done < resumed)] = resumed
        end[due & ~sent_late], done[due & ~sent_late] = MISSED, resumed
    return Operations(keys, key[~never], start[~never], done[~never], end[~never])


def _write_counts(path: Path, script: RunScript, operations: Operations) -> None:
    """Write series.csv and outcomes.csv; what ends after the last bucket stays pending."""
    buckets = round(script.duration_s * BUCKETS_PER_S)
    shape = (len(operations.keys), buckets)

    def count(times: Floats, chosen: npt.NDArray[np.bool_]) -> Ints:
        table = np.zeros(shape, np.int64)
        bucket = np.floor(times[chosen] * BUCKETS_PER_S + 1e-6).astype(np.int64)
        inside = bucket < buckets
        np.add.at(table, (operations.key[chosen][inside], bucket[inside]), 1)
        return table

    everything = np.ones(len(operations.start), np.bool_)
    nothing = np.zeros(shape, np.int64)
    offered = count(operations.start, everything)
    done, born = {"offered": offered}, {"offered": offered}
    for number, name in enumerate(ENDS):
        done[name] = count(operations.done, operations.end == number)
        born[name] = count(operations.start, operations.end == number)
    ended = sum((done[name] for name in ENDS), nothing)
    done |= {"retried": nothing, "pending": np.cumsum(offered - ended, axis=1)}
    done["max_us"] = nothing + 4000
    for name, columns, table in (
        ("series.csv", SERIES_COLUMNS, done),
        ("outcomes.csv", OUTCOME_COLUMNS, born),
    ):
        with (path / name).open("w", newline="") as file:
            rows = csv.writer(file, lineterminator="\n")
            rows.writerow(("t", "stream", "op", *columns))
            for bucket in range(buckets):
                for index, (stream, op) in enumerate(operations.keys):
                    counts = (table[column][index, bucket] for column in columns)
                    rows.writerow((f"{bucket / 10:.1f}", stream, op, *counts))


def _bad(operations: Operations) -> list[tuple[str, int, str]]:
    """Return each operation that was not ok as (bucket's start, key, cause), in order."""
    causes = {LATE: "late", FAILED: "client-timeout-total", IN_DOUBT: "client-timeout-total"}
    bad = np.flatnonzero((operations.end != OK) & (operations.end != MISSED))
    bad = bad[np.lexsort((operations.key[bad], operations.done[bad]))]
    refused = operations.done - operations.start < 0.1
    return [
        (
            f"{np.floor(operations.done[i] * 10 + 1e-6) / 10:.1f}",
            int(operations.key[i]),
            "connect-refused" if refused[i] else causes[int(operations.end[i])],
        )
        for i in bad
    ]


def _write_errors(path: Path, script: RunScript, operations: Operations) -> None:
    counts: dict[tuple[str, int, str], int] = {}
    for row in _bad(operations):
        counts[row] = counts.get(row, 0) + 1
    with (path / "errors.csv").open("w", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(("t", "stream", "op", "cause", "code", "n"))
        for (t, key, cause), n in counts.items():
            if float(t) < script.duration_s:
                rows.writerow((t, *operations.keys[key], cause, "", n))


def _write_lanes(path: Path, script: RunScript, operations: Operations) -> None:
    """Write lanes.csv: the primary's lane until the fault, then the next member's."""
    buckets = round(script.duration_s * BUCKETS_PER_S)
    fault = script.fault_at
    lane = np.zeros(len(operations.start), np.int64)
    if fault is not None:
        lane[operations.start >= fault + script.outage_s] = 1
    parts = [(0, "read"), (0, "write"), (1, "read"), (1, "write")]
    part = 2 * lane + (operations.key > 0)  # of the keys, only the first is a read
    started = np.floor(operations.start * BUCKETS_PER_S + 1e-6).astype(np.int64)
    ended = np.floor(operations.done * BUCKETS_PER_S + 1e-6).astype(np.int64)
    ok, sent = operations.end == OK, operations.end != MISSED
    table = {
        name: np.stack([np.bincount(when[chosen & (part == i)], minlength=buckets)[:buckets]
                        for i in range(len(parts))])
        for name, when, chosen in (
            ("offered", started, sent), ("ok", ended, ok), ("bad", ended, sent & ~ok),
        )
    }  # fmt: skip
    pending = np.cumsum(table["offered"] - table["ok"] - table["bad"], axis=1)
    seen = np.cumsum(table["offered"], axis=1) > 0
    with (path / "lanes.csv").open("w", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(("t", "lane", "op", "offered", "ok", "bad", "pending"))
        for bucket in range(buckets):
            for i, (number, op) in enumerate(parts):
                if seen[i, bucket]:
                    counts = (table[name][i, bucket] for name in ("offered", "ok", "bad"))
                    head = (f"{bucket / 10:.1f}", LANES[number], op)
                    rows.writerow((*head, *counts, pending[i, bucket]))


def _write_latency(path: Path, script: RunScript, operations: Operations) -> None:
    """Write latency.hlog: response and service times of ok, response times of the others."""
    second = np.floor(operations.done + 1e-9).astype(np.int64)
    micros = np.maximum(1, np.round((operations.done - operations.start) * 1e6)).astype(np.int64)
    lines = [
        "#[Histogram log format version 1.3]",
        "#[StartTime: 1795342500.000 (seconds since epoch), 2026-11-22T10:15:00Z]",
        "#[BaseTime: 1795342500.000 (seconds since epoch)]",
        '"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"',
    ]
    for at in range(int(script.duration_s)):
        for index, (stream, op) in enumerate(operations.keys):
            here = (second == at) & (operations.key == index)
            ok = operations.end == OK
            for suffix, chosen in (
                ("", here & ok),
                ("/service", here & ok),
                ("/failed", here & ~ok & (operations.end != MISSED)),
            ):
                if chosen.any():
                    lines.append(_interval(f"{stream}/{op}{suffix}", at, micros[chosen]))
    (path / "latency.hlog").write_text("\n".join(lines) + "\n")


def _interval(tag: str, second: int, micros: Ints) -> str:
    payload = _encoded(micros.tobytes())
    return f"Tag={tag},{second}.000,1.000,{micros.max() / 1e6:.3f},{payload}"


@functools.lru_cache(8192)  # service times are response times, and many scripts have one load
def _encoded(micros: bytes) -> str:
    histogram = HdrHistogram(1, 3_600_000_000, 3)
    values, counts = np.unique(np.frombuffer(micros, np.int64), return_counts=True)
    for value, n in zip(values, counts, strict=True):
        histogram.record_value(int(value), int(n))
    packed = base64.b64decode(histogram.encode())
    stream = zlib.compress(zlib.decompress(packed[8:]), 0)  # stored, as the generator does
    return base64.b64encode(packed[:4] + struct.pack(">i", len(stream)) + stream).decode()


def _write_generator(path: Path, script: RunScript, operations: Operations) -> None:
    counts = {name: int((operations.end == i).sum()) for i, name in enumerate(ENDS)}
    _write_json(
        path / "generator.json",
        {
            "version": "0.1.0", "go": "go1.26.0", "pid": 4242, "host": "bench", "driver": "mongodb",
            "driver_settings": {
                "client": "go.mongodb.org/mongo-driver/v2 2.9.3", "write_concern": "majority",
                "driver_retries": {"app": "off", "orders": "off"}, "heartbeat_ms": 10000,
            },
            "loop": "closed" if script.concurrency else "open", "t0_wall": WALL,
            "t0_unix_ns": 1795342500000000000, "ended": script.ended, "end_t": script.duration_s,
            "offered": len(operations.start), **counts, "lag_p99_ms": script.lag_p99_ms,
            "identity_violations": 0, "stop_reason": "stop" if script.ended else "",
        },
    )  # fmt: skip
    with (path / "generator.csv").open("w", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(
            ("t", "lag_p99_ms", "lag_max_ms", "gc_pause_ms", "cpu_s", "rss_mb", "goroutines")
        )
        for second in range(int(script.duration_s)):
            lag = script.lag_p99_ms
            longest = max([2 * lag, *(1000 * length for begin, length in script.stalls
                                      if begin < second + 1 and second <= begin + length
                                      if script.beats)])  # fmt: skip
            rows.writerow((second, lag, longest, 0.1, round(0.05 * second, 2), 42.0, 130))


def _write_ledger(path: Path, script: RunScript) -> None:
    """Write ledger.ndjson of 200 keys with 4 acknowledged writes each, one of them in doubt."""
    if not script.verified or not script.ended:
        return
    keys = [f"brownout:orders:{i:04d}" for i in range(200)]
    bad = script.lost_keys + script.unread_keys
    lines: list[dict[str, Any]] = []
    for i, key in enumerate(keys):
        in_doubt = [[6, 6]] if i == bad else []
        lines.append({"key": key, "stream": "orders", "kind": "register", "writer": script.name,
                      "acked": 5, "acked_n": 4, "in_doubt": in_doubt, "failed": [[3, 3]],
                      "in_doubt_n": len(in_doubt), "failed_n": 1, "loaded": True})  # fmt: skip
    for i, key in enumerate(keys):
        read: dict[str, Any] = {"read": key, "stream": "orders"}
        if i < script.lost_keys:
            read |= {"seq": 4, "writer": script.name, "checksum_ok": True}
        elif i < bad:
            read |= {"error": "no primary"}
        else:
            read |= {"seq": 6 if i == bad else 5, "writer": script.name, "checksum_ok": True}
        lines.append(read)
    lines.append({"end": True, "keys": len(keys), "read": len(keys), "sampled": False})
    (path / "ledger.ndjson").write_text("".join(json.dumps(line) + "\n" for line in lines))


def _write_events(path: Path, script: RunScript) -> None:
    lines: list[dict[str, Any]] = []

    def write(id: int, stage: str, type: str, name: str, t: float | None, **more: Any) -> None:
        lines.append({"id": id, "stage": stage, "type": type, "name": name,
                      "node": more.pop("node", None), "t": t, "wall": WALL, **more})  # fmt: skip

    write(1, "point", "check", "cluster_whole", None, ok=script.whole, detail={"members": 3})
    write(2, "point", "phase", "load_started", 0.0)
    fault = script.fault_at
    if fault is not None:
        write(3, "point", "phase", "baseline_accepted", fault - 0.6, evidence={"tps": script.rate})
        write(4, "point", "phase", "method_started", fault - 0.1)
        write(5, "intent", "break", "kill_node", round(fault - 0.012, 6), node="n1",
              undo={"action": "start_node"}, arguments={})  # fmt: skip
        write(5, "effective", "break", "kill_node", fault, node="n1", uncertainty=0.002,
              evidence={"pid": 4711, "gone": True, "skipped": False, "already": False})  # fmt: skip
        write(5, "ended", "break", "kill_node", fault + 0.01, node="n1")
        _write_mending(write, script)
    if script.abort:
        write(90, "point", "abort", "abort", script.duration_s - 0.2, reason=script.abort)
    write(91, "point", "phase", "load_stopped", script.duration_s)
    if script.put_back:
        write(92, "point", "phase", "put_back", script.duration_s)
    (path / "events.ndjson").write_text("".join(json.dumps(line) + "\n" for line in lines))


def _write_primaries(path: Path, script: RunScript, fault: float) -> None:
    """Write primaries.csv, a look each 0.1 s: n1 until the fault or for as long as it is stale, n2
    from `promoted_at` on."""
    promoted = math.inf if script.promoted_at is None else script.promoted_at
    lines = [",".join(primaries.HEADER) + "\n"]
    for n in range(round((script.duration_s - fault) * 10)):
        t = fault - 0.1 + n / 10
        stale = script.stale_until or fault
        for node, since, until in (("n1", 0.0, stale), ("n2", promoted, math.inf), ("n3", 1.0, 0)):
            is_primary = since <= t < until
            election = node if is_primary else ""
            look = primaries.Look(t, t + 0.002, "", node, is_primary, election)
            lines.append(primaries.look_line(look))
    (path / "primaries.csv").write_text("".join(lines))


def _write_mending(write: Any, script: RunScript) -> None:
    """Write the start of the node and the milestones that followed, or did not."""
    start = script.start_at
    write(6, "intent", "mend", "start_node", start, node="n1", undo=None, arguments={})
    write(6, "effective", "mend", "start_node", start + 0.3, node="n1", uncertainty=0.05,
          evidence={"pid": 4799, "skipped": False, "already": False})  # fmt: skip
    write(6, "ended", "mend", "start_node", start + 0.31, node="n1")
    for id, name, at in (
        (7, "rejoined", script.rejoined_at),
        (8, "redundant", script.redundant_at),
    ):
        if at is not None:
            write(id, "point", "milestone", name, at, last_no=round(at - 0.1, 6), first_yes=at,
                  evidence={"members": 3})  # fmt: skip
        else:
            last = script.duration_s - 0.5
            write(id, "point", "milestone", name, last, last_no=last, first_yes=None,
                  limit_s=script.milestone_limit_s)  # fmt: skip


def _record(script: RunScript) -> dict[str, Any]:
    pace = {"concurrency": script.concurrency} if script.concurrency else {"rate": script.rate / 4}
    app = pace if script.concurrency else {"rate": 3 * script.rate / 4}
    common = {"deadline_s": script.deadline_s, "retries": script.retries}
    streams = [
        {"name": "app", "mix": {"read": 67, "update": 33}, **app, **common},
        {"name": "orders", "mix": {"update": 100}, **pace, **common, "verified": script.verified},
    ]
    return {
        "schema_version": 1, "run_id": script.name, "created": WALL,
        "versions": {"brownout": "0.1.0", "python": "3.11.2", "chaostoolkit": "1.19.0",
                     "chaostoolkit-lib": "1.44.0", "generator": "0.1.0", "server": "mongod 6.0.5"},
        "host": {"name": "bench", "system": "Linux", "machine": "x86_64", "cores": 2},
        "seed": script.seed,
        "experiment": EXPERIMENT,
        "cluster": {"name": "lab-mongodb", "database": "mongodb", "engine": "mongod 6.0.5",
                    "members": 3, "environment": "lab", "lab": True, "stand_in": False,
                    "nodes": [{"name": f"n{i + 1}", "address": a} for i, a in enumerate(LANES)]},
        "workload": {"name": "lab", "streams": streams},
        "settings": script.settings.as_dict(),
        "limits": [dict(limit) for limit in script.limits],
        **script.run,
    }  # fmt: skip


def _write_json(path: Path, data: Mapping[str, Any]) -> None:
    path.write_text(json.dumps(data, indent=2) + "\n")
