"""What a run was about: all that decides whether its figures may stand beside another's. Pure.

The version of the database is not among it: that is what one compares.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from brownout.measure.impact import Impact

__all__ = ["Subject", "differences", "records_variables", "roles_of", "subject_of"]

#: Names and plain values, in the order in which people ask for them.
Subject = Mapping[str, Any]
#: Who wrote the run down; it decides which settings there are, and does not count as a difference.
_WRITER = "brownout"
_VARIABLES, _METHOD = "variables", "method"
#: What a current version always writes down, and older ones did not.
_WRITTEN = (_VARIABLES, _METHOD)
#: What a target may begin with that is not the name of a node.
_NO_NAMES = ("random", "spare", "rack", "role=")


def subject_of(impact: Impact) -> dict[str, Any]:
    """Return the subject of a run from its impact.

    Every setting of the workload and of the measures stands under its path, as
    `workload.streams.0.rate`; a list also under its length, `workload.streams.count`. The
    variables of the experiment stand as `variables.downtime_s`, the steps of its method as
    `method.0`.
    """
    return {
        "scenario": impact.scenario,
        "mode": impact.mode,
        "target": _target_of(impact),
        **dict(_flat(_VARIABLES, impact.experiment.get("variables") or {})),
        **dict(_flat(_METHOD, impact.experiment.get("method") or {})),
        "database": impact.database,
        "members": impact.members,
        "environment": impact.environment,
        "stand_in": impact.stand_in,
        "loop": impact.load.loop,
        "rate": impact.load.rate,
        "deadline_s": impact.deadline_s,
        **dict(_flat("workload", impact.workload)),
        **dict(_flat("settings", impact.settings)),
        _WRITER: impact.versions.get("brownout"),
    }


def records_variables(impact: Impact) -> bool:
    """Whether a run wrote down its experiment's variables, as every current version does."""
    return _VARIABLES in impact.experiment


def roles_of(impact: Impact) -> list[str]:
    """Return the role of each node when it was broken, as far as its database has roles."""
    breaks = [act for fault in impact.faults for act in fault.events if act.type == "break"]
    return [str(act.evidence["role"]) for act in breaks if act.evidence.get("role")]


def _target_of(impact: Impact) -> str | None:
    """Return what was to be broken: a role, wherever the role is known, and never a node's name.

    The same node may be a primary in one run and a secondary in the next.
    """
    select = impact.experiment.get("select")
    if select is None or str(select).startswith(_NO_NAMES) or "@" in str(select):
        return None if select is None else str(select)
    acts = [act.evidence for fault in impact.faults for act in fault.events if act.type == "break"]
    asked = [str(evidence["role_asked"]) for evidence in acts if evidence.get("role_asked")]
    if asked or str(select) != impact.target:
        return asked[0] if asked else str(select)
    return next(iter(roles_of(impact)), "a node by name")


def differences(one: Subject, other: Subject) -> list[tuple[str, Any, Any]]:
    """Return each thing in which two subjects differ, with what it is in either.

    A setting that only one of them has is ignored where another version of brownout wrote the
    other: it may just not have known it. So are variables, and steps of the method, where one has
    none written down.
    """
    alike = one.get(_WRITER) == other.get(_WRITER)
    unwritten = [
        part
        for part in _WRITTEN
        if not all(any(part == _part(name) for name in each) for each in (one, other))
    ]
    return [
        (name, one.get(name), other.get(name))
        for name in dict.fromkeys([*one, *other])
        if name != _WRITER
        and _part(name) not in unwritten
        and one.get(name) != other.get(name)
        and (alike or (name in one and name in other))
    ]


def _part(name: str) -> str:
    """Return the first word of a path."""
    return name.partition(".")[0]


def _flat(path: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Every single value below `path`."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _flat(f"{path}.{key}", inner)
    elif isinstance(value, list | tuple):
        yield f"{path}.count", len(value)
        for number, inner in enumerate(value):
            yield from _flat(f"{path}.{number}", inner)
    else:
        yield path, value
