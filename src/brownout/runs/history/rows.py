"""A run as rows of the history's tables. Pure."""

import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from brownout.measure.measures import measures
from brownout.measure.reading import value_of
from brownout.measure.subject import subject_of

__all__ = ["rows_of"]

Impact = Mapping[str, Any]
_STAMP = re.compile(r"(\d{8}T\d{6})Z")
_SCOPES = ("total", "read", "write")


def rows_of(
    impact: Impact, path: Path, created: str | None, occasion: str | None
) -> dict[str, list[dict[str, Any]]]:
    """Return `{"runs": [row], "versions": […], "measures": […], "limits": […], "impacts": […]}`.

    `created` is when run.json was written, RFC 3339; else the run's name tells.
    """
    run_id = str(impact.get("run_id") or path.name)
    of = {"run_id": run_id}
    return {
        "runs": [{**of, **_run(impact, path, run_id, created), "occasion": occasion}],
        "versions": [
            {**of, "name": name, "version": str(version)}
            for name, version in (impact.get("versions") or {}).items()
        ],
        "measures": [{**of, **row} for row in _measures(impact)],
        "limits": [{**of, **row} for row in _limits(impact)],
        "impacts": [{**of, "impact": dict(impact)}],
    }


def _run(impact: Impact, path: Path, run_id: str, created: str | None) -> dict[str, Any]:
    experiment, cluster = (impact.get(key) or {} for key in ("experiment", "cluster"))
    return {
        "began": _began(run_id, created),
        "scenario": str(experiment.get("name") or "run"),
        "mode": experiment.get("mode"),
        "cluster": str(cluster.get("name") or "unknown"),
        "database": cluster.get("database"),
        "environment": cluster.get("environment"),
        "stand_in": bool(impact.get("stand_in")),
        "workload": (impact.get("workload") or {}).get("name"),
        "seed": impact.get("seed"),
        "verdict": str(impact["verdict"]),
        "reasons": [str(reason) for reason in impact["reasons"]],
        "subject": subject_of(impact),
        "path": str(path.absolute()),
    }


def _began(run_id: str, created: str | None) -> datetime:
    found = _STAMP.match(run_id)
    if found:
        return datetime.strptime(found[1], "%Y%m%dT%H%M%S").replace(tzinfo=UTC)
    try:
        return datetime.fromisoformat(str(created)).astimezone(UTC)
    except ValueError:
        return datetime.fromtimestamp(0, UTC)


def _measures(impact: Impact) -> list[dict[str, Any]]:
    rows = []
    for scope in _SCOPES:
        for measure in measures().values():
            if not measure.limitable or (scope != "total" and not measure.per_scope):
                continue
            if measure.name.endswith(".max_us"):  # one operation, which nobody follows
                continue
            value = value_of(impact, measure.name, scope)
            if value is not None:
                never = math.isinf(value)
                rows.append({"scope": scope, "measure": measure.name,
                             "value": None if never else value, "never": never})  # fmt: skip
    return rows


def _limits(impact: Impact) -> list[dict[str, Any]]:
    """Each limit once; a run has one of a scope and measure."""
    found = {
        (slo["scope"], slo["name"]): {
            "scope": slo["scope"], "measure": slo["name"], "bound": slo["limit"],
            "direction": slo["direction"], "met": slo["met"],
        }
        for slo in impact["slos"]
    }  # fmt: skip
    return list(found.values())
