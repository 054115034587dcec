"""Made-up repeats of one fault: the impacts of runs, and whole run directories."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from tests.impacts import made
from tests.run_builder import RunScript, build_run

from brownout.measure.impact import NEVER
from brownout.runs.run_set import FinishedRun

__all__ = ["build_repeats", "finished"]


def finished(
    n: int, verdict: str = "pass", server: str = "mongod 6.0.5", **measures: Any
) -> FinishedRun:
    """A run whose one fault measured these; `None` is not known, `NEVER` a wait without an end."""
    fault: dict[str, Any] = {"effective": 20.0, "milestones": [], "scopes": {}}
    fault |= {"recovery_time": 3.0, **measures}
    for name in ("rejoin_time", "redundancy_time"):
        if fault.get(name) == NEVER:
            reached = {"rejoin_time": "rejoined", "redundancy_time": "redundant"}[name]
            fault[name], fault["milestones"] = None, [{"name": reached, "first_yes": None}]
    if fault["recovery_time"] == NEVER:
        fault["recovery_time"] = None
    impact = {
        "run_id": f"run-{n}", "verdict": verdict, "stand_in": False, "deadline_s": 1.0,
        "reasons": [] if verdict == "pass" else [f"recovery_time: the {verdict} of run {n}"],
        "experiment": {"name": "node-kill"},
        "cluster": {"name": "lab-mongodb", "database": "mongodb", "members": 3},
        "load": {"loop": "open", "rate": 400.0}, "workload": {"name": "lab"}, "settings": {},
        "versions": {"server": server, "brownout": "0.1.0"}, "slos": [], "faults": [fault],
        "ledger": {"lost": 0},
    }  # fmt: skip
    return FinishedRun(Path("runs") / f"run-{n}", made(impact))


def build_repeats(
    root: Path, count: int, outage_s: float, seed: int, **more: Any
) -> Sequence[Path]:
    """Write the directories of `count` runs whose outages are spread around `outage_s`."""
    random = np.random.default_rng(seed)
    limits: tuple[Mapping[str, Any], ...] = more.pop("limits", ())
    return [
        build_run(
            root,
            RunScript(
                name=f"20261122T1{seed}{n:02}00Z-node-kill-{seed * 100 + n}",
                seed=seed * 100 + n, rate=200.0, duration_s=50.0, limits=limits,
                outage_s=round(outage_s + float(random.normal(0, 0.15)), 2), **more,
            ),
        )
        for n in range(count)
    ]  # fmt: skip
