"""What an application beside the load saw: figures of a canary's calls. They decide no verdict.

total, read, write   each: operations, ok, failed, unfinished, errors, the longest time without
                     a success, the slowest call, the first and the last failure, and p50 and
                     p99 of the successes before and during the faults
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from brownout.base.errors import ConfigurationError
from brownout.run.canary import UNFINISHED, Call, CanaryRecord

__all__ = ["FIGURES", "SCOPES", "as_document", "canary_answer", "figures"]

SCOPES = ("total", "read", "write")
#: What a probe may ask for, with its unit.
FIGURES = {
    "operations": "operations",
    "failed": "operations",
    "unfinished": "operations",
    "longest_without_success_s": "s",
    "slowest_s": "s",
    "before.p50_us": "us",
    "before.p99_us": "us",
    "during.p50_us": "us",
    "during.p99_us": "us",
}

Window = tuple[float, float]


def as_document(
    record: CanaryRecord, before: Window, faults: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """Return `canary` of impact.json; `before` is the baseline, `faults` are those of
    impact.json.

    A canary that died has no figures: what it would have seen next nobody knows.
    """
    about = record.about
    kept = ("client", "version", "rate", "threads", "policies", "lag_max_ms")
    document: dict[str, Any] = {name: about.get(name) for name in kept}
    if about.get("ended") is not True:
        why = str(about.get("detail") or "it did not come to its end; the run died before it")
        return {"state": "not measured", "detail": why, **document}
    window = (float(about["began_t"]), float(about["ended_t"]))
    starts = [fault["effective"] for fault in faults if fault["effective"] is not None]
    if starts and window[0] > min(starts):
        why = f"it began at {window[0]:.1f} s, after the fault at {min(starts):.1f} s"
        return {"state": "not measured", "detail": why, **document}
    ends = [fault["end"] for fault in faults if fault["end"] is not None]
    during = (min(starts), max(ends)) if starts and ends else None
    return {
        "state": "measured",
        "detail": "",
        **document,
        "began_t": window[0],
        "ended_t": window[1],
        **{scope: figures(_of(record.calls, scope), window, before, during) for scope in SCOPES},
    }


def _of(calls: Sequence[Call], scope: str) -> list[Call]:
    return [call for call in calls if scope in ("total", call.op)]


def figures(
    calls: Sequence[Call], window: Window, before: Window, during: Window | None
) -> dict[str, Any]:
    """Return the figures of some calls made within `window`; percentiles are of successes.

    `before` and `during` choose calls by intended start.
    """
    failed = [call for call in calls if not call.ok and call.cause != UNFINISHED]
    bad = [call.t for call in calls if not call.ok]
    return {
        "operations": len(calls),
        "ok": sum(call.ok for call in calls),
        "failed": len(failed),
        "unfinished": len(bad) - len(failed),
        "errors": dict(Counter(map(_name, failed)).most_common()),
        "longest_without_success_s": _longest(calls, window),
        "slowest_s": max((call.took_s for call in calls), default=None),
        "first_failure_t": min(bad, default=None),
        "last_failure_t": max(bad, default=None),
        "before": _percentiles(calls, before),
        "during": _percentiles(calls, during),
    }


def _name(call: Call) -> str:
    """`AutoReconnect`, or with the number that came with it `OperationFailure 189`."""
    return f"{call.cause} {call.code}".rstrip()


def _longest(calls: Sequence[Call], window: Window) -> float | None:
    """Return the longest time in which no call succeeded, by the ends of the successes."""
    if not calls:
        return None
    ends = sorted(call.end for call in calls if call.ok)
    return max(later - earlier for earlier, later in pairwise([window[0], *ends, window[1]]))


def _percentiles(calls: Sequence[Call], window: Window | None) -> dict[str, float | int | None]:
    start, end = window or (0.0, 0.0)
    took = [call.took_s * 1e6 for call in calls if call.ok and start <= call.t < end]
    if not took:
        return {"n": 0, "p50_us": None, "p99_us": None}
    p50, p99 = np.percentile(took, (50, 99), method="inverted_cdf")
    return {"n": len(took), "p50_us": float(p50), "p99_us": float(p99)}


def canary_answer(
    impact: Mapping[str, Any] | None, finished: bool, figure: str, scope: str
) -> dict[str, Any]:
    """Return a probe's answer: one of `FIGURES` of the run's canary, for one of `SCOPES`.

    Raises `ConfigurationError` for another name.
    """
    problems = []
    if figure not in FIGURES:
        problems.append(f"figure: found {figure!r}, wanted one of {', '.join(FIGURES)}")
    if scope not in SCOPES:
        problems.append(f"scope: found {scope!r}, wanted one of {', '.join(SCOPES)}")
    if problems:
        raise ConfigurationError(problems)
    answer: dict[str, Any] = {
        "canary": figure, "scope": scope, "unit": FIGURES[figure], "value": None
    }  # fmt: skip
    if impact is None:
        return {**answer, "status": "no_data" if finished else "not_applicable"}
    canary = impact.get("canary")
    if canary is None:
        return {**answer, "status": "no_data", "missing": "this run has no canary"}
    if canary["state"] != "measured":
        return {**answer, "status": "no_data", "missing": canary["detail"]}
    value: Any = canary[scope]
    for step in figure.split("."):
        value = value[step]
    return {**answer, "value": value, "status": "no_data" if value is None else "measured"}
