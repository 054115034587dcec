"""What a run was about: all that decides whether its figures may stand beside another's. Pure.

The version of the database is not among it: that is what one compares.
"""

from collections.abc import Mapping
from typing import Any

from brownout.run.metadata import digest_of

__all__ = ["Subject", "differences", "subject_of"]

#: Names and plain values, in the order in which people ask for them.
Subject = Mapping[str, Any]


def subject_of(impact: Mapping[str, Any]) -> dict[str, Any]:
    """Return the subject of a run from its impact document.

    `workload` is its name and a digest of everything that it was resolved to, `settings` a digest
    of how it was measured.
    """
    experiment, cluster, load = (impact.get(k) or {} for k in ("experiment", "cluster", "load"))
    workload = dict(impact.get("workload") or {})
    return {
        "scenario": experiment.get("name"),
        "mode": experiment.get("mode"),
        "database": cluster.get("database"),
        "members": cluster.get("members"),
        "environment": cluster.get("environment"),
        "stand_in": bool(impact.get("stand_in")),
        "loop": load.get("loop"),
        "rate": load.get("rate"),
        "deadline_s": impact.get("deadline_s"),
        "workload": f"{workload.get('name')} {digest_of(workload)[:12]}",
        "settings": digest_of(dict(impact.get("settings") or {}))[:12],
    }


def differences(one: Subject, other: Subject) -> list[tuple[str, Any, Any]]:
    """Return each thing in which two subjects differ, with what it is in either."""
    return [
        (name, one.get(name), other.get(name))
        for name in dict.fromkeys([*one, *other])
        if one.get(name) != other.get(name)
    ]
