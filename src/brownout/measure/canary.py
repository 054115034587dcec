"""What an application beside the load saw: figures of a canary's calls. They decide no verdict.

total, read, write   each: operations, ok, failed, unfinished, errors, the longest time without
                     a success, the slowest call, the first and the last failure, and p50 and
                     p99 of the successes before and during the faults
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from operator import attrgetter
from typing import Any

import numpy as np

from brownout.base.errors import ConfigurationError
from brownout.measure.unit import MICROSECONDS, OPERATIONS, SECONDS
from brownout.run.canary import UNFINISHED, Call, CanaryRecord

__all__ = ["FIGURES", "SCOPES", "Canary", "Figures", "canary_answer", "canary_of", "figures"]

SCOPES = ("total", "read", "write")
#: What a probe may ask for, with its unit.
FIGURES = {
    "operations": OPERATIONS,
    "failed": OPERATIONS,
    "unfinished": OPERATIONS,
    "longest_without_success_s": SECONDS,
    "slowest_s": SECONDS,
    "before.p50_us": MICROSECONDS,
    "before.p99_us": MICROSECONDS,
    "during.p50_us": MICROSECONDS,
    "during.p99_us": MICROSECONDS,
}

Window = tuple[float, float]
#: What is kept of what a canary says of itself, in the order of `Canary`.
_KEPT = ("client", "version", "rate", "threads", "policies", "lag_max_ms")


@dataclass(frozen=True, slots=True)
class Percentiles:
    """Response times of `n` successes, in µs."""

    n: int = 0
    p50_us: float | None = None
    p99_us: float | None = None


@dataclass(frozen=True, slots=True)
class Figures:
    """What some calls came to; `errors` by the client's own name, the percentiles of successes."""

    operations: int
    ok: int
    failed: int
    unfinished: int
    errors: Mapping[str, int]
    longest_without_success_s: float | None
    slowest_s: float | None
    first_failure_t: float | None
    last_failure_t: float | None
    before: Percentiles
    during: Percentiles


@dataclass(frozen=True, slots=True)
class Canary:
    """What a run's canary saw. Without figures it is not measured, and `detail` says why."""

    state: str
    detail: str = ""
    client: str | None = None
    version: str | None = None
    rate: float | None = None
    threads: int | None = None
    policies: Mapping[str, Any] | None = None
    lag_max_ms: float | None = None
    began_t: float | None = None
    ended_t: float | None = None
    total: Figures | None = None
    read: Figures | None = None
    write: Figures | None = None

    @property
    def scopes(self) -> dict[str, Figures]:
        """The figures by `SCOPES`; none of a canary that is not measured."""
        pairs = zip(SCOPES, (self.total, self.read, self.write), strict=True)
        return {scope: figures for scope, figures in pairs if figures is not None}


def canary_of(
    record: CanaryRecord, before: Window, faults: Sequence[tuple[float, float]]
) -> Canary:
    """Return what a canary saw; `before` is the baseline, `faults` are each fault's effect and end.

    A canary that died has no figures: what it would have seen next is unknown.
    """
    about = record.about
    seen = Canary("not measured", "", *(about.get(name) for name in _KEPT))
    if about.get("ended") is not True:
        why = str(about.get("detail") or "it did not come to its end; the run died before it")
        return replace(seen, detail=why)
    window = (float(about["began_t"]), float(about["ended_t"]))
    during = (min(f[0] for f in faults), max(f[1] for f in faults)) if faults else None
    if during is not None and window[0] > during[0]:
        why = f"it began at {window[0]:.1f} s, after the fault at {during[0]:.1f} s"
        return replace(seen, detail=why)
    total, read, write = (
        figures(_of(record.calls, scope), window, before, during) for scope in SCOPES
    )
    return replace(
        seen, state="measured", began_t=window[0], ended_t=window[1],
        total=total, read=read, write=write,
    )  # fmt: skip


def _of(calls: Sequence[Call], scope: str) -> list[Call]:
    return [call for call in calls if scope in ("total", call.op)]


def figures(
    calls: Sequence[Call], window: Window, before: Window, during: Window | None
) -> Figures:
    """Return the figures of some calls made within `window`.

    `before` and `during` choose calls by intended start.
    """
    failed = [call for call in calls if not call.ok and call.cause != UNFINISHED]
    bad = [call.t for call in calls if not call.ok]
    return Figures(
        operations=len(calls),
        ok=sum(call.ok for call in calls),
        failed=len(failed),
        unfinished=len(bad) - len(failed),
        errors=dict(Counter(map(_name, failed)).most_common()),
        longest_without_success_s=_longest(calls, window),
        slowest_s=max((call.took_s for call in calls), default=None),
        first_failure_t=min(bad, default=None),
        last_failure_t=max(bad, default=None),
        before=_percentiles(calls, before),
        during=_percentiles(calls, during),
    )


def _name(call: Call) -> str:
    """`AutoReconnect`, or with the number that came with it `OperationFailure 189`."""
    return f"{call.cause} {call.code}".rstrip()


def _longest(calls: Sequence[Call], window: Window) -> float | None:
    """Return the longest time in which no call succeeded, by the ends of the successes."""
    if not calls:
        return None
    ends = sorted(call.end for call in calls if call.ok)
    return max(later - earlier for earlier, later in pairwise([window[0], *ends, window[1]]))


def _percentiles(calls: Sequence[Call], window: Window | None) -> Percentiles:
    start, end = window or (0.0, 0.0)
    took = [call.took_s * 1e6 for call in calls if call.ok and start <= call.t < end]
    if not took:
        return Percentiles()
    p50, p99 = np.percentile(took, (50, 99), method="inverted_cdf")
    return Percentiles(len(took), float(p50), float(p99))


def canary_answer(
    canary: Canary | None, judged: bool, finished: bool, figure: str, scope: str
) -> dict[str, Any]:
    """Return a probe's answer: one of `FIGURES` of the run's canary, for one of `SCOPES`.

    `judged` says whether there is an impact. Raises `ConfigurationError` for another name.
    """
    problems = []
    if figure not in FIGURES:
        problems.append(f"figure: found {figure!r}, wanted one of {', '.join(FIGURES)}")
    if scope not in SCOPES:
        problems.append(f"scope: found {scope!r}, wanted one of {', '.join(SCOPES)}")
    if problems:
        raise ConfigurationError(problems)
    answer: dict[str, Any] = {
        "canary": figure, "scope": scope, "unit": FIGURES[figure].name, "value": None
    }  # fmt: skip
    if not judged:
        return {**answer, "status": "no_data" if finished else "not_applicable"}
    if canary is None:
        return {**answer, "status": "no_data", "missing": "this run has no canary"}
    if canary.state != "measured":
        return {**answer, "status": "no_data", "missing": canary.detail}
    value = attrgetter(figure)(canary.scopes[scope])
    return {**answer, "value": value, "status": "no_data" if value is None else "measured"}
