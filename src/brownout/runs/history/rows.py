"""A run as rows of the history's tables. Pure."""

import json
from typing import Any

from brownout.measure.document import document_of
from brownout.measure.impact import NEVER, Impact
from brownout.measure.measures import measures
from brownout.runs.run_set import FinishedRun

__all__ = ["measured", "rows_of"]

_SCOPES = ("total", "read", "write")


def rows_of(run: FinishedRun) -> dict[str, list[dict[str, Any]]]:
    """Return `{"runs": [row], "versions": […], "measures": […], "limits": […], "impacts": […]}`."""
    impact = run.impact
    of = {"run_id": run.run_id}
    return {
        "runs": [{**of, **_run(run)}],
        "versions": [
            {**of, "name": name, "version": version} for name, version in run.versions.items()
        ],
        "measures": [
            {**of, "scope": scope, "measure": name, "value": None if value == NEVER else value,
             "never": value == NEVER}
            for (scope, name), value in measured(impact).items()
        ],
        "limits": [{**of, **row} for row in _limits(impact)],
        "impacts": [{**of, "impact": json.dumps(document_of(impact))}],
    }  # fmt: skip


def measured(impact: Impact) -> dict[tuple[str, str], float]:
    """Return what is kept of a run's measures, by scope and name."""
    return {
        (scope, measure.name): value
        for scope in _SCOPES
        for measure in measures().values()
        if measure.limitable
        and (scope == "total" or measure.per_scope)
        and not measure.name.endswith(".max_us")  # a single operation
        and (value := impact.value(measure.name, scope)) is not None
    }


def _run(run: FinishedRun) -> dict[str, Any]:
    impact = run.impact
    return {
        "began": run.began,
        "scenario": run.scenario,
        "mode": impact.mode,
        "cluster": run.cluster,
        "database": impact.database,
        "environment": impact.environment,
        "stand_in": impact.stand_in,
        "workload": impact.workload_name,
        "seed": impact.seed,
        "verdict": run.verdict,
        "reasons": json.dumps(impact.reasons),
        "subject": json.dumps(run.subject),
        "occasion": run.occasion,
        "path": str(run.path.absolute()),
    }


def _limits(impact: Impact) -> list[dict[str, Any]]:
    """Each limit once; a run has one of a scope and measure."""
    by_limit = {
        (slo.scope, slo.name): {
            "scope": slo.scope, "measure": slo.name, "bound": slo.limit,
            "direction": slo.direction, "met": slo.met,
        }
        for slo in impact.slos
    }  # fmt: skip
    return list(by_limit.values())
