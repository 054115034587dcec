"""Do one thing in a process of its own, and say how long it took and how much memory."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.bench.go import ROOT

_PROGRAM = """
import json, os, resource, sys, threading, time
from pathlib import Path

def memory_kb(process):
    try:
        if process != "self" and os.readlink(f"/proc/{process}/exe") == ours:
            return 0  # it shares our memory until it becomes the program that it is to be
        status = Path(f"/proc/{process}/status").read_text()
    except OSError:
        return 0
    return next((int(x.split()[1]) for x in status.splitlines() if x.startswith("VmRSS")), 0)

def watch():
    while not done.wait(0.005):
        children = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
        peaks.append(memory_kb("self") + sum(map(memory_kb, children)))

exec(sys.argv[1])
ours = os.readlink("/proc/self/exe")
done, peaks = threading.Event(), []
watching = threading.Thread(target=watch)
watching.start()
begin = time.perf_counter()
exec(sys.argv[2])
took = time.perf_counter() - begin
done.set()
watching.join()
peak = max(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, *peaks) / 1024
print(json.dumps({"seconds": took, "peak_mb": peak}))
"""


@dataclass(frozen=True)
class Cost:
    """What it took; memory is the most that the process and its children ever had together."""

    seconds: float
    peak_mb: float


def cost(prepare: str, work: str, *arguments: str, tree: Path = ROOT) -> Cost:
    """Time the Python code `work` after `prepare`; both find `arguments` in `sys.argv[3:]`.

    `tree` is the checkout whose brownout does it.
    """
    command = [sys.executable, "-c", _PROGRAM, prepare, work, *arguments]
    told = subprocess.run(
        command,
        check=True,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(tree / "src")},
    ).stdout
    return Cost(**json.loads(told.splitlines()[-1]))
