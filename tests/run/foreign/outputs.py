"""Output as other tools print it: 120 s at `rate` a second, nothing served from 60 to 67 s.

The shapes are those of the tools' documentation and sources; the numbers are made.
"""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from hdrh.histogram import HdrHistogram

__all__ = ["BEGIN", "FAULT", "LINES", "RATE", "REQUESTS", "served"]

RATE, SECONDS, FAULT, BACK = 20, 120, 60, 67
#: Second 0 as a time since 1970: 2023-11-14T22:13:20Z.
BEGIN = 1_700_000_000


def served(second: int) -> int:
    """Return how many were served in a second."""
    return 0 if FAULT <= second < BACK else RATE


def _day(second: float, form: str = "%Y-%m-%d %H:%M:%S") -> str:
    return (datetime.fromtimestamp(BEGIN, UTC) + timedelta(seconds=second)).strftime(form)


def _each(line: Callable[[int], str], first: str = "") -> str:
    return first + "".join(line(second) + "\n" for second in range(SECONDS))


def _totals(line: Callable[[int, int], str], first: str = "") -> str:
    total, lines = 0, []
    for second in range(SECONDS):
        total += served(second)
        lines.append(line(second + 1, total))
    return first + "\n".join(lines) + "\n"


def _hlog() -> str:
    lines = [
        "#[Histogram log format version 1.3]",
        f"#[StartTime: {BEGIN}.000 (seconds since epoch)]",
        '"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"',
    ]
    for second in range(SECONDS):
        histogram = HdrHistogram(1, 3_600_000_000, 3)
        for place in range(served(second) // 2):
            histogram.record_value(2_000 + place)
        payload = histogram.encode().decode()
        lines += [f"Tag={tag},{second}.003,1.000,2.0,{payload}" for tag in ("read", "write")]
    return "\n".join(lines) + "\n"


#: Rows of counts: by format, the text and `--fault-at`.
LINES: dict[str, tuple[str, str, str]] = {
    "pgbench -P": ("pgbench", _each(
        lambda s: f"progress: {s + 1}.0 s, {served(s)}.0 tps, lat 2.0 ms stddev 0.5, 0 failed",
        "pgbench (17.0)\nstarting vacuum...end.\n"), "60"),
    "pgbench --aggregate-interval": ("pgbench", _each(
        lambda s: f"{BEGIN + s} {served(s)} 100 200 1 9 0 0 0 0 0 0 0 0 0 0"), f"{BEGIN + 60}"),
    "sysbench": ("sysbench", _each(
        lambda s: f"[ {s + 1}s ] thds: 8 tps: {served(s)}.00 qps: 1.00 (r/w/o: 1/0/0) "
        "lat (ms,95%): 2.81 err/s: 0.00 reconn/s: 0.00", "Threads started!\n\n"), "60"),
    "YCSB": ("ycsb", _totals(
        lambda t, n: f"{_day(t)}:329 {t} sec: {n} operations; {RATE} current ops/sec; est "
        "completion in 3 minutes [READ: Count=20, Max=2181, Min=345, Avg=302.97]",
        "Starting test.\n"), "60"),
    "YCSB by time of day": ("ycsb", _totals(
        lambda t, n: f"{_day(t)}:000 {t} sec: {n} operations; 1,5 current ops/sec; [READ: "
        "Count=20, Max=2181]"), "2023-11-14T22:14:20Z"),
    "cassandra-stress": ("cassandra-stress", _totals(
        lambda t, n: f"total,  {n},  500,  500,  500,  0.6,  0.6,  0.8,  1.0,  1.4,  3.3,  {t}.0,"
        "  0.06531,  0",
        "type       total ops,    op/s,    pk/s,   row/s,    mean,     med,     .95,     .99,    "
        ".999,     max,   time,   stderr, errors\n"), "60"),
    "asbench": ("asbench", _each(
        lambda s: f"{_day(s + 1)}.000 INFO write(tps={served(s) // 2} timeouts=0 errors=0) "
        f"read(tps={served(s) // 2} timeouts=0 errors=0) total(tps={served(s)} timeouts=0 "
        f"errors=0)\nhdr: write {_day(s + 1, '%Y-%m-%dT%H:%M:%SZ')} 1, 15697, 70, 16735"),
        "2023-11-14 22:14:20"),
    "Locust": ("locust", _totals(
        lambda t, n: f"{BEGIN + t},20,GET,/,9,0,{n},0\n{BEGIN + t},20,,Aggregated,9,0,{n},0",
        "Timestamp,User Count,Type,Name,Requests/s,Failures/s,Total Request Count,"
        "Total Failure Count\n"), f"{BEGIN + 60}"),
    "NoSQLBench": ("nosqlbench", _totals(
        lambda t, n: f"{BEGIN + t},{n},1,500,500", "t,count,max,mean_rate,m1_rate\n"),
        f"{BEGIN + 60}"),
    "TSBS": ("tsbs", _totals(
        lambda t, n: f"{BEGIN + t},9,{n},9,{served(t - 1)}.00,{n:.6E},0",
        "time,per. metric/s,metric total,overall metric/s,per. row/s,row total,overall row/s\n"),
        f"{BEGIN + 60}"),
    "memtier": ("memtier", json.dumps({"ALL STATS": {
        "Totals": {"Time-Serie": {
            str(s): {"Count": served(s), "Max Latency": 1} for s in range(SECONDS) if served(s)}},
        "Runtime": {"Start time": BEGIN * 1000}}}), f"{BEGIN + 60}"),
    "HdrHistogram": ("hlog", _hlog(), "60.003"),
    "HdrHistogram by time of day": ("hlog", _hlog(), f"{BEGIN + 60.003}"),
    "Prometheus": ("prometheus", json.dumps({"status": "success", "data": {
        "resultType": "matrix", "result": [
            {"metric": {"pod": pod}, "values": [
                [BEGIN + s + 1, str(served(s) / 2)] for s in range(SECONDS)]}
            for pod in ("a", "b")]}}), f"{BEGIN + 60}"),
    "Grafana's frames": ("grafana", json.dumps({"results": {"A": {"frames": [{
        "schema": {"fields": [{"name": "Time", "type": "time"},
                              {"name": "Value", "type": "number", "labels": {"op": op}}]},
        "data": {"values": [[(BEGIN + s + 1) * 1000 for s in range(SECONDS)],
                            [served(s) // 2 for s in range(SECONDS)]]}}
        for op in ("read", "write")]}}}), f"{BEGIN + 60}"),
    "Grafana's CSV": ("grafana", _each(
        lambda s: f'"{_day(s)}";{served(s)} ops/s', '\ufeffsep=;\n"Time";"all"\n'),
        "2023-11-14 22:14:20"),
}  # fmt: skip


def _requests(line: Callable[[int, int, bool], str], first: str = "", closed: bool = False) -> str:
    """Return a line for each request: its ms since second 0, its number, whether it succeeded."""
    lines = []
    for second in range(SECONDS):
        ok = served(second) > 0
        if closed and not ok:
            continue
        for place in range(RATE):
            lines.append(line(1000 * second + 50 * place, second * RATE + place, ok))
    return first + "\n".join(lines) + "\n"


#: A row per request: by name, the format, the text and `--fault-at`.
REQUESTS: dict[str, tuple[str, str, str]] = {
    "JMeter": ("jmeter", _requests(
        lambda ms, n, ok: f"{BEGIN * 1000 + ms},12,read,{200 if ok else 500},,t1,text,{ok}".lower(),
        "timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success\n"),
        f"{(BEGIN + 60) * 1000}"),
    "hey": ("hey", _requests(
        lambda ms, n, ok: f"0.0021,0,0,0,0.0019,0.0001,{200 if ok else 500},{ms / 1000:.4f}",
        "response-time,DNS+dialup,DNS,Request-write,Response-delay,Response-read,status-code,"
        "offset\n"), "60"),
    "vegeta's CSV": ("vegeta", _requests(
        lambda ms, n, ok: f"{BEGIN * 10**9 + ms * 10**6},{200 if ok else 0},2100000,2,100,,,'a',"
        f"{n},GET,http://127.0.0.1/,"), f"{BEGIN + 60}"),
    "vegeta's JSON": ("vegeta", _requests(
        lambda ms, n, ok: json.dumps({"attack": "", "seq": n, "code": 200 if ok else 503,
                                      "timestamp": _day(ms / 1000, "%Y-%m-%dT%H:%M:%S.%fZ"),
                                      "latency": 2100000})), f"{BEGIN + 60}"),
    "k6's CSV": ("k6", _requests(
        lambda ms, n, ok: f"http_reqs,{BEGIN + ms // 1000},1.0,,\n"
        f"http_req_failed,{BEGIN + ms // 1000},{0 if ok else 1}.0,,",
        "metric_name,timestamp,metric_value,check,error\n"), f"{BEGIN + 60}"),
    "k6's JSON": ("k6", _requests(
        lambda ms, n, ok: json.dumps({"metric": "http_req_failed", "type": "Point", "data": {
            "time": _day(ms / 1000, "%Y-%m-%dT%H:%M:%S.%f000+00:00"), "value": int(not ok),
            "tags": {}}}, separators=(",", ":"))), "2023-11-14T22:14:20Z"),
    "Gatling": ("gatling", _requests(
        lambda ms, n, ok: f"REQUEST\t1\t\tGET\t{BEGIN * 1000 + ms}\t{BEGIN * 1000 + ms + 9}\t"
        f"{'OK' if ok else 'KO'}\t ", "RUN\tSimulation\tsimulation\t1\n"), f"{BEGIN + 60}"),
    "pgbench -l": ("pgbench", _requests(
        lambda ms, n, ok: f"{n % 8} {n} {2000 if ok else 'failed'} 0 {BEGIN + ms // 1000} "
        f"{ms % 1000 * 1000}"), f"{BEGIN + 60}"),
    "a table with a word": ("csv", _requests(
        lambda ms, n, ok: f"{ms / 1000},{'yes' if ok else 'no'}", "t,ok\n"), "60"),
    "a closed loop of k6": ("k6", _requests(
        lambda ms, n, ok: f"http_req_failed,{BEGIN + ms // 1000},0.0,,",
        "metric_name,timestamp,metric_value,check,error\n", closed=True), f"{BEGIN + 60}"),
    "a closed loop of pgbench": ("pgbench", _requests(
        lambda ms, n, ok: f"{n % 8} {n} 2000 0 {BEGIN + ms // 1000} {ms % 1000 * 1000}",
        closed=True), f"{BEGIN + 60}"),
}  # fmt: skip
