"""How long the analysis and the report of a run of hours take, and that both grow linearly."""

import shutil
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from tests.bench.child import Cost, cost
from tests.bench.clients import spread
from tests.bench.earlier import earlier_commit, unpack
from tests.bench.go import ROOT
from tests.bench.table import table
from tests.run_builder import RunScript, build_run

STREAMS = tuple((f"s{number}", op) for number in range(3) for op in ("read", "update"))
HOURS = 7.0
ROUNDS = 3
_SHORT_S = 300


#: What is made of a run: a name, what is imported first, and the work.
_MADE = {
    "`brownout analyze`": ("from brownout.judge.analysis import analyze", "analyze({})"),
    "`brownout report`": ("from brownout.show.report import html", "html.write({})"),
}


def tables() -> str:
    """Return the table of seven hours, beside an earlier commit, and of ten times that."""
    rows: list[list[str]] = []
    base = earlier_commit()
    with TemporaryDirectory() as name:
        folder = Path(name)
        unpack(base, folder / "base")
        run = long_run(folder, HOURS)
        copy = shutil.copytree(run, folder / "copy")  # each reads its own results
        for what in _MADE:
            rounds = [(_cost(what, run), _cost(what, copy, folder / "base")) for _ in range(ROUNDS)]
            rows.append(_row(what, HOURS, [ours for ours, _ in rounds], rounds))
            rows.append(_row(f"{what} at {base}", HOURS, [theirs for _, theirs in rounds]))
        shutil.rmtree(run)
        run = long_run(folder, 10 * HOURS)
        rows += [_row(what, 10 * HOURS, [_cost(what, run)]) for what in _MADE]
    head = ["made of a run at 100 ms, 6 series", "hours", "seconds", "peak MB", f"ratio to {base}"]
    return table("Analysis and report", head, rows)


def _cost(what: str, run: Path, tree: Path = ROOT) -> Cost:
    prepare, work = _MADE[what]
    prepare += "\nfrom pathlib import Path"
    return cost(prepare, work.format("Path(sys.argv[3])"), str(run), tree=tree)


def _row(
    what: str, hours: float, costs: Sequence[Cost], rounds: Sequence[tuple[Cost, Cost]] = ()
) -> list[str]:
    seconds = (
        spread([one.seconds for one in costs], 2) if len(costs) > 1 else f"{costs[0].seconds:.2f}"
    )
    peak = max(one.peak_mb for one in costs)
    ratio = spread([one.seconds / other.seconds for one, other in rounds], 2) if rounds else ""
    return [what, f"{hours:g}", seconds, f"{peak:.0f}", ratio]


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
