"""What a run was about: all that decides whether its figures may stand beside another's. Pure.

The version of the database is not among it: that is what one compares.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from brownout.measure.impact import Impact

__all__ = ["Subject", "differences", "load_of", "subject_of"]

#: Names and plain values, in the order in which people ask for them.
Subject = Mapping[str, Any]
#: Who wrote the run down; it decides which settings there are, and does not count as a difference.
_WRITER = "brownout"


def subject_of(impact: Impact) -> dict[str, Any]:
    """Return the subject of a run from its impact.

    Every setting of the workload and of the measures stands under its path, as
    `workload.streams.0.rate`; a list also under its length, `workload.streams.count`.
    """
    return {
        "scenario": impact.scenario,
        "mode": impact.mode,
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


def load_of(subject: Subject) -> dict[str, Any]:
    """Return the part of a subject that says what the load was."""
    return {name: value for name, value in subject.items() if name.startswith("workload.")}


def differences(one: Subject, other: Subject) -> list[tuple[str, Any, Any]]:
    """Return each thing in which two subjects differ, with what it is in either.

    A setting that only one of them has is ignored where another version of brownout wrote the
    other: it may just not have known it.
    """
    alike = one.get(_WRITER) == other.get(_WRITER)
    return [
        (name, one.get(name), other.get(name))
        for name in dict.fromkeys([*one, *other])
        if name != _WRITER
        and one.get(name) != other.get(name)
        and (alike or (name in one and name in other))
    ]


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
