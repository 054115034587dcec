"""Do one thing in a process of its own, and say how long it took and how much memory."""

import json
import subprocess
import sys
from dataclasses import dataclass

_PROGRAM = """
import json, resource, sys, time
exec(sys.argv[1])
begin = time.perf_counter()
exec(sys.argv[2])
took = time.perf_counter() - begin
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps({"seconds": took, "peak_mb": peak}))
"""


@dataclass(frozen=True)
class Cost:
    """What it took; memory is the most that the whole process ever had."""

    seconds: float
    peak_mb: float


def cost(prepare: str, work: str, *arguments: str) -> Cost:
    """Time the Python code `work` after `prepare`; both find `arguments` in `sys.argv[3:]`."""
    command = [sys.executable, "-c", _PROGRAM, prepare, work, *arguments]
    told = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    return Cost(**json.loads(told.splitlines()[-1]))
