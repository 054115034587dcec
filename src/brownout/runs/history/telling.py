"""A history as people and programs read it: grouped by what may be compared, as tables and JSON."""

import math
from collections.abc import Sequence
from typing import Any

from brownout.measure.measures import label
from brownout.runs.history.store import Kept
from brownout.show.report.grid import Cell, Grid, columns
from brownout.show.report.measured import NONE, worded
from brownout.show.report.results import met

__all__ = ["SHOWN", "as_document", "grid", "groups", "release_of", "title"]

#: The measures that are followed.
SHOWN = (
    "tps_drop",
    "blackout",
    "recovery_time",
    "redundancy_time",
    "availability",
    "lost_seconds",
)
#: What makes a release where whoever ran the test did not name one.
_RELEASES = ("release", "server")


def groups(kept: Sequence[Kept]) -> dict[str, list[Kept]]:
    """Group runs by scenario, cluster and kind; the oldest first in each."""
    found: dict[str, list[Kept]] = {}
    for run in kept:
        found.setdefault(title(run), []).append(run)
    return dict(sorted(found.items()))


def title(run: Kept) -> str:
    """`node-kill (kill) on staging, workload orders`; a stand-in says that it is one."""
    mode = f" ({run.mode})" if run.mode else ""
    workload = f", workload {run.workload}" if run.workload else ""
    stand_in = ", STAND-IN" if run.stand_in else ""
    return f"{run.scenario}{mode} on {run.cluster}{workload}{stand_in}"


def release_of(run: Kept) -> str:
    """`v1.4 · stone 6.0.5`: what a change of is a new release."""
    return " · ".join(run.versions[name] for name in _RELEASES if run.versions.get(name))


def grid(name: str, runs: Sequence[Kept]) -> Grid:
    """Return the runs of one group as a table, the latest last."""
    heads = " | ".join(f"{label(name)}:n" for name in SHOWN)
    rows: list[Any] = []
    for run in runs:
        cells = [_measured(run, measure) for measure in SHOWN]
        rows.append([
            f"{run.began:%Y-%m-%d %H:%M}", release_of(run) or NONE, _verdict(run.verdict), *cells,
            run.run_id,
        ])  # fmt: skip
    return Grid(
        name, columns(f"began (UTC):once | release:once | verdict:once | {heads} | run:once"), rows
    )


def as_document(kept: Sequence[Kept]) -> dict[str, Any]:
    """Return the history as JSON data; what never came is the text `never`."""
    return {
        "schema_version": 1,
        "runs": [
            {
                "run": run.run_id,
                "began": run.began.isoformat().replace("+00:00", "Z"),
                "scenario": run.scenario,
                "mode": run.mode,
                "cluster": run.cluster,
                "database": run.database,
                "stand_in": run.stand_in,
                "workload": run.workload,
                "verdict": run.verdict,
                "reasons": list(run.reasons),
                "occasion": run.occasion,
                "path": run.path,
                "versions": dict(run.versions),
                "measures": {
                    (name if scope == "total" else f"{scope}.{name}"):
                        "never" if math.isinf(value) else value
                    for (scope, name), value in sorted(run.measures.items())
                },
            }
            for run in kept
        ],
    }  # fmt: skip


def _measured(run: Kept, measure: str) -> str:
    value = run.measures.get(("total", measure))
    if value is None:
        return NONE
    words = "never" if math.isinf(value) else worded(measure, value)
    return f"{words} ✗" if run.limits.get(("total", measure), (0.0, True))[1] is False else words


def _verdict(word: str) -> Cell:
    looks = {"pass": met(True), "fail": met(False)}
    look = looks.get(word, met(None))
    sign = look.words.partition(" ")[0]
    return Cell(f"{sign} {word}", look.style)
