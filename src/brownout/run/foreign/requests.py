"""A row per request: requests as counts per interval.

A log of requests has no gaps: where it has no row, no request was started. A tool that waits for
answers (closed loop) starts fewer requests while nothing answers, and then a success ratio hides
the outage; one that keeps its schedule shows it. Which of both it was is seen in the log itself.
"""

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from brownout.run.foreign.series import LONGEST_S, ForeignSeries, refused

__all__ = ["Request", "counted"]

#: Requests are counted in intervals of 0.1 s, or of 1 s where their times are whole seconds.
_PER_S = 10
#: The longest baseline that is looked at, in seconds.
_BASELINE_S = 60
#: A second in which less than this share of the usual was served is a bad one.
_BAD = 0.5
#: Of what is usually started, a tool that keeps its schedule starts at least so much.
_STEADY = 0.8


@dataclass(frozen=True, slots=True)
class Request:
    """One request: `start` and `end` in seconds, equal where only one of them is known."""

    start: float
    end: float
    ok: bool


@dataclass(slots=True)
class _Counts:
    """Requests by the bucket they started in, those served by start and by end."""

    started: Counter[int]
    ok_by_start: Counter[int]
    ok_by_end: Counter[int]
    whole: bool = True
    n: int = 0


def counted(
    requests: Iterable[Request], fault_at: float, format: str, notes: tuple[str, ...], name: str
) -> ForeignSeries:
    """Return requests as a series. `name` is the file's, for messages."""
    counts = _Counts(Counter(), Counter(), Counter())
    for request in requests:
        bucket = math.floor(request.start * _PER_S + 1e-4)
        counts.started[bucket] += 1
        counts.n += 1
        counts.whole = counts.whole and request.start == math.floor(request.start)
        if request.ok:
            counts.ok_by_start[bucket] += 1
            counts.ok_by_end[math.floor(request.end * _PER_S + 1e-4)] += 1
        if len(counts.started) > LONGEST_S * _PER_S:
            raise _too_long(name)
    if not counts.started:
        raise refused(f"{name}: has no request, wanted a row for each")
    first = min(counts.started)
    last = max(*counts.started, *counts.ok_by_end) if counts.ok_by_end else max(counts.started)
    if last - first > LONGEST_S * _PER_S:
        raise _too_long(name)
    step = _PER_S if counts.whole else 1
    places = range(first, last + 1, step)
    open_loop = _keeps_its_schedule(counts, first, fault_at)
    by = counts.ok_by_start if open_loop else counts.ok_by_end

    def total(counter: Counter[int], place: int) -> float:
        return float(sum(counter[place + part] for part in range(step)))

    how = (
        "judged by their start: as many were started while service was bad"
        if open_loop
        else "judged by the end of those that succeeded: fewer were started while service was bad"
    )
    return ForeignSeries(
        start=[place / _PER_S for place in places],
        end=[(place + step) / _PER_S for place in places],
        ok=[total(by, place) for place in places],
        offered=[total(counts.started, place) for place in places] if open_loop else None,
        fault_at=fault_at,
        format=format,
        row_s=step / _PER_S,
        notes=(*notes, f"{counts.n:,} requests, {how}"),
    )


def _keeps_its_schedule(counts: _Counts, first: int, fault_at: float) -> bool:
    """Say whether requests were started as ever in the seconds in which few succeeded."""
    fault = math.floor(fault_at * _PER_S)
    begin = max(first, fault - (_BASELINE_S + 1) * _PER_S)
    length_s = (fault - _PER_S - begin) / _PER_S
    if length_s <= 0:
        return True

    def rate(counter: Counter[int]) -> float:
        return sum(counter[place] for place in range(begin, fault - _PER_S)) / length_s

    usual, served = rate(counts.started), rate(counts.ok_by_end)
    started = expected = late = 0.0
    for second in range(fault, max(counts.started) + 1, _PER_S):
        here = range(second, second + _PER_S)
        if sum(counts.ok_by_end[place] for place in here) < _BAD * served:
            started += sum(counts.started[place] for place in here)
            late += sum(counts.ok_by_start[place] for place in here)
            expected += usual
    # What was started in an outage and succeeded after it would hide the outage, too.
    return started >= _STEADY * expected and late <= (1 - _BAD) * max(started, 1.0)


def _too_long(name: str) -> Exception:
    return refused(
        f"{name}: its requests span more than a day", "check --unit, or cut the file to the fault"
    )
