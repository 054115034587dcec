"""How long the analysis and the report of a run of hours take, and that both grow linearly."""

import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from tests.bench.child import Cost, cost
from tests.bench.table import table
from tests.run_builder import RunScript, build_run

STREAMS = tuple((f"s{number}", op) for number in range(3) for op in ("read", "update"))
HOURS = 7.0
_SHORT_S = 300


def table_row(what: str, hours: float, cost: Cost) -> list[str]:
    """Return a row of the table."""
    return [what, f"{hours:g}", f"{cost.seconds:.2f}", f"{cost.peak_mb:.0f}"]


def table_rows(directory: Path, hours: float, *, report: bool) -> list[list[str]]:
    """Build a run of `hours`, and measure what is made of it."""
    run = long_run(directory, hours)
    analysis = cost(
        "from brownout.judge.analysis import analyze\nfrom pathlib import Path",
        "analyze(Path(sys.argv[3]))",
        str(run),
    )
    rows = [table_row("`brownout analyze`", hours, analysis)]
    if report:
        made = cost(
            "from brownout.show.report import html\nfrom pathlib import Path",
            "html.write(Path(sys.argv[3]))",
            str(run),
        )
        rows.append(table_row("`brownout report`", hours, made))
    shutil.rmtree(run)
    return rows


def tables() -> str:
    """Return the table of seven hours, and of ten times that."""
    with TemporaryDirectory() as directory:
        rows = table_rows(Path(directory), HOURS, report=True)
        rows += table_rows(Path(directory), 10 * HOURS, report=True)
    head = ["made of a run at 100 ms, 6 series", "hours", "seconds", "peak MB"]
    return table("Analysis and report", head, rows)


def long_run(root: Path, hours: float) -> Path:
    """Write a run of `hours` with a fault in its middle: a short one's files, stretched.

    The counts repeat every five minutes; what the readers do with a row does not depend on it.
    """
    seconds = round(hours * 3600 / _SHORT_S) * _SHORT_S
    path = build_run(root, _script(seconds))
    _stretch_counts(path, seconds)
    _stretch_lanes(path, seconds)
    _stretch_latency(path, seconds)
    return path


def _script(seconds: int) -> RunScript:
    streams = [
        {"name": f"s{number}", "mix": {"read": 50, "update": 50}, "rate": 200.0, "deadline_s": 1.0}
        for number in range(3)
    ]
    return RunScript(
        name=f"bench-{seconds}",
        rate=600.0,
        duration_s=_SHORT_S,
        fault_at=_SHORT_S / 2,
        start_at=_SHORT_S / 2 + 4,
        rejoined_at=_SHORT_S / 2 + 8,
        redundant_at=_SHORT_S / 2 + 9,
        verified=False,
        analyzed=False,
        run={"workload": {"name": "bench", "streams": streams}},
    )


def _stretch_counts(path: Path, seconds: int) -> None:
    """Write the counts of every stream and op, at 100 a second each, with an outage once."""
    random = np.random.default_rng(4711)
    latest = random.integers(3000, 9000, 1000)
    outage = range(1500, 1529)
    with (path / "series.csv").open("w") as series, (path / "outcomes.csv").open("w") as outcomes:
        series.write(
            "t,stream,op,offered,ok,late,failed,in_doubt,shed,missed,retried,pending,max_us\n"
        )
        outcomes.write("t,stream,op,offered,ok,late,failed,in_doubt,shed,missed\n")
        for bucket in range(10 * seconds):
            bad = 10 if bucket in outage else 0
            t, late = f"{bucket / 10:.1f}", latest[bucket % 1000]
            for stream, op in STREAMS:
                counts = f"{t},{stream},{op},10,{10 - bad},0,{bad},0,0,0"
                series.write(f"{counts},0,0,{late}\n")
                outcomes.write(f"{counts}\n")


def _stretch_lanes(path: Path, seconds: int) -> None:
    """Repeat the rows of the short run's lanes, each with the times of its repetition."""
    head, *rows = (path / "lanes.csv").read_text().splitlines()
    parted = [row.split(",", 1) for row in rows]
    with (path / "lanes.csv").open("w") as lanes:
        lanes.write(head + "\n")
        for begin in range(0, 10 * seconds, 10 * _SHORT_S):
            for t, rest in parted:
                bucket = begin + round(10 * float(t))
                lanes.write(f"{bucket // 10}.{bucket % 10},{rest}\n")


def _stretch_latency(path: Path, seconds: int) -> None:
    """Repeat the payloads of the short run, second by second, for every stream and op."""
    lines = (path / "latency.hlog").read_text().splitlines()
    head = [line for line in lines if not line.startswith("Tag=")]
    tagged = [line.partition(",")[2].split(",", 1)[1] for line in lines if "/service" in line]
    with (path / "latency.hlog").open("w") as log:
        log.write("\n".join(head) + "\n")
        for second in range(seconds):
            payload = tagged[second % len(tagged)]
            for stream, op in STREAMS:
                log.write(f"Tag={stream}/{op},{second}.000,{payload}\n")
                log.write(f"Tag={stream}/{op}/service,{second}.000,{payload}\n")
