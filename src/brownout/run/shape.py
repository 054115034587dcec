"""Whether what a run's files hold is of the shape that is read, so that no reader trips over it.

A file can be damaged and still be JSON or CSV: a number that is a text, a time of 10^300 seconds.
"""

import math
from collections.abc import Mapping
from typing import Annotated, Any, TypeGuard

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from brownout.base.errors import RunDirectoryError
from brownout.base.problems import from_validation

__all__ = [
    "check_generator",
    "check_record",
    "finite",
    "is_count",
    "is_ranges",
    "is_time",
]

#: Seconds: no run lasts for 30 years.
_LONGEST_S = 1e9
_MOST = 2**62
_Count = Annotated[int, Field(ge=0, lt=_MOST)]


def is_time(value: Any) -> TypeGuard[float]:
    """Say whether `value` is a number of seconds that a run can have."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return abs(value) <= _LONGEST_S  # false for what is not a number as well


def is_count(value: Any) -> TypeGuard[int]:
    """Say whether `value` is a whole number of 0 or more that a counter can hold."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _MOST


def is_ranges(value: Any) -> bool:
    """Say whether `value` is a list of ranges, `[[first, last], …]`."""
    return isinstance(value, list | tuple) and all(
        isinstance(pair, list | tuple) and len(pair) == 2 and all(map(is_count, pair))
        for pair in value
    )


def check_record(record: Mapping[str, Any]) -> None:
    """Refuse a run.json that the measures cannot be made with, naming every problem."""
    _check("run.json", _Record, record)


def check_generator(document: Mapping[str, Any]) -> None:
    """Refuse a generator.json in which something is not of its kind, naming every problem."""
    _check("generator.json", _Generator, document)


class _Part(BaseModel):
    """What is named has to be of its kind; what is not is left to others."""

    model_config = ConfigDict(extra="allow", strict=True, allow_inf_nan=False)


class _Stream(_Part):
    name: str
    deadline_s: float = 1.0
    rate: float | None = None
    verified: bool | None = None


class _Workload(_Part):
    streams: list[_Stream] | None = None


class _Limit(_Part):
    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)

    measure: str
    limit: float
    scope: str = "total"
    limit_from: str = ""
    why: str = ""


class _Record(_Part):
    cluster: dict[str, Any] | None = None
    experiment: dict[str, Any] | None = None
    workload: _Workload | None = None
    settings: dict[str, Any] | None = None
    versions: dict[str, Any] | None = None
    limits: list[_Limit] | None = None
    dropped_limits: list[_Limit] | None = None


class _One(_Part):
    index: int = 0
    where: str = ""
    lost_t: float | None = None
    lost: str | None = None


class _Generator(_Part):
    driver: str | None = None
    driver_settings: dict[str, Any] | None = None
    apart_s: float | None = None
    parts: list[_One] | None = None
    ended: bool | None = None
    end_t: float | None = None
    lag_p99_ms: float | None = None
    identity_violations: _Count | None = None
    offered: _Count | None = None
    ok: _Count | None = None
    late: _Count | None = None
    failed: _Count | None = None
    in_doubt: _Count | None = None
    shed: _Count | None = None
    missed: _Count | None = None
    undrained: _Count | None = None
    lane_cap: _Count | None = None
    global_cap: _Count | None = None


def _check(name: str, model: type[BaseModel], data: Mapping[str, Any]) -> None:
    try:
        model.model_validate(dict(data))
    except ValidationError as error:
        problems = "; ".join(from_validation(error, model))
        raise RunDirectoryError(f"{name}: is not as a run writes it: {problems}") from error


def finite(text: str) -> float:
    """Return the number that `text` says; raises ValueError for none, and for one without end."""
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"`{text}` is not a finite number")
    return number
