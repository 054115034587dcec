"""Reading and adding up the latency logs of forty load hosts, against hdrhistogram's own reader."""

from pathlib import Path
from tempfile import TemporaryDirectory

from tests.bench.child import cost
from tests.bench.table import table
from tests.run_builder import RunScript, build_run

HOSTS, SECONDS = 40, 300

_OURS = """
from functools import reduce
logs = [read_hlog(path) for path in paths]
tags = [tag for tag in logs[0].tags if is_response(tag)]
each = [log.between(tags, 0, 1e9) for log in logs]
print(reduce(lambda one, other: one.plus(other), each).n)
"""
_THEIRS = """
total = HdrHistogram(1, 3_600_000_000, 3)
for path in paths:
    for line in path.read_text().splitlines():
        if line.startswith("Tag=") and "/service" not in line and "/failed" not in line:
            total.decode_and_add(line.rpartition(",")[2])
print(total.get_total_count())
"""
_PATHS = (
    "from pathlib import Path\nfrom hdrh.histogram import HdrHistogram\n"
    "from brownout.run.latency import is_response, read_hlog\n"
    f"paths = [Path(sys.argv[3])] * {HOSTS}"
)


def tables() -> str:
    """Return the table; both add up the same operations."""
    with TemporaryDirectory() as directory:
        script = RunScript(duration_s=SECONDS, fault_at=None, analyzed=False)
        log = str(build_run(Path(directory), script) / "latency.hlog")
        ours, theirs = (cost(_PATHS, work, log) for work in (_OURS, _THEIRS))
    rows = [
        ["brownout", f"{ours.seconds:.2f}", f"{ours.peak_mb:.0f}", "1"],
        ["hdrhistogram, payload by payload", f"{theirs.seconds:.2f}", f"{theirs.peak_mb:.0f}",
         f"{theirs.seconds / ours.seconds:.1f}"],
    ]  # fmt: skip
    title = f"Adding up the latency logs of {HOSTS} load hosts, {SECONDS} s each"
    return table(title, ["reader", "seconds", "peak MB", "times ours"], rows)
