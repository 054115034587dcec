"""A row per request: requests as counts per interval.

A log of requests has no gaps: where it has no row, no request was started. A tool that waits for
answers (closed loop) starts fewer requests while service is slow or gone, and more while failures
come back fast; then a success ratio by start hides what was lost, or shows too much. Of a tool that
keeps its schedule (open loop) it shows what was lost. Which of both it was is seen in the log
itself: in the seconds after the fault that served fewer than usual.
"""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from statistics import fmean, pvariance
from typing import Literal

from brownout.run.foreign.cells import is_epoch
from brownout.run.foreign.series import LONGEST_S, ForeignSeries, outside, refused

__all__ = ["Request", "counted"]

#: Requests are counted in intervals of 0.1 s, or of 1 s where their times are whole seconds.
_PER_S = 10
#: What is usual is taken from so many seconds before the fault, or from up to the longer time where
#: fewer requests than this lie in them. Just before the fault a tool is no longer starting up.
_BASELINE_S, _LONGEST_BASELINE_S, _BASELINE_REQUESTS = 30, 60, 400
#: Service is worse in a stretch (in seconds) in which at least so many fewer were served, at least
#: this share of the usual, and so many standard deviations.
_STRETCHES = (1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 24, 32, 64)
_LEAST, _LEAST_SHARE, _LEAST_SIGMAS = 5, 0.05, 4.5
#: Counts of random times vary by their mean, and a sample of them by no less than the first share
#: of it. What varies less came at even intervals, which vary by at least the second.
_EVEN, _LEAST_VARIANCE = 0.4, 0.1
#: A tool keeps its schedule if requests that it did not start are at most this share of those lost,
#: and if it did not start more than the second share beyond the usual.
_NOT_STARTED, _BEYOND = 0.2, 0.5
#: The success ratio by start shows what was lost if it shows at least this share of it as failed.
_FAILED = 0.5
#: At the end of its work a tool starts less than this share of the usual; the last requests that
#: are counted by their end come in then. The first seconds after the fault, so many, do not
#: count as such an end.
_STRAGGLING, _AT_WORK_S = 0.2, 10
#: A tool still waits if its last request ended so many times the longest usual time after it began.
_WAITING = 2
#: Of requests by their end, silence is an outage where it lasts for 0.3 s, of which this much lies
#: in whole buckets, or where so many were to be expected.
_SILENT_S, _SILENT = 0.25, 30

_View = Literal["start", "fewer", "more", "later"]
_HOW: dict[_View, str] = {
    "start": "judged by their start: as many were started after the fault as before it",
    "fewer": "judged by the end of those that succeeded: fewer were started while service was bad",
    "more": "judged by the end of those that succeeded: more were started while service was bad, "
    "since failures came back fast",
    "later": "judged by the end of those that succeeded: many were started while service was bad "
    "and succeeded later",
}


@dataclass(frozen=True, slots=True)
class Request:
    """One request: `start` and `end` in seconds, equal where only one of them is known."""

    start: float
    end: float
    ok: bool


@dataclass(slots=True)
class _Counts:
    """Requests by the bucket they started in, those served by start and by end.

    `end` is the bucket in which the last of them ended. Of those that ended before the fault,
    `answered` is how many there were, `busy_s` how long they took together, `longest_s` the longest
    of them.
    """

    started: Counter[int]
    ok_by_start: Counter[int]
    ok_by_end: Counter[int]
    whole: bool = True
    n: int = 0
    end: int = 0
    answered: int = 0
    busy_s: float = 0.0
    longest_s: float = 0.0

    @property
    def waits(self) -> bool:
        """Whether the tool was waiting for answers when the log ended, and not at its end."""
        return self.end - max(self.started) > 1 + _WAITING * self.longest_s * _PER_S


def counted(
    requests: Iterable[Request], fault_at: float, format: str, notes: Sequence[str], name: str
) -> ForeignSeries:
    """Return requests as a series. `name` is the file's, for messages.

    Raises `ConfigurationError` for a fault that is not within them.
    """
    counts = _Counts(Counter(), Counter(), Counter())
    for request in requests:
        bucket = math.floor(request.start * _PER_S + 1e-4)
        counts.started[bucket] += 1
        counts.n += 1
        counts.whole = counts.whole and request.start == math.floor(request.start)
        ended = math.floor(request.end * _PER_S + 1e-4)
        counts.end = max(counts.end, ended)
        if request.end <= fault_at:
            took = request.end - request.start
            counts.answered += 1
            counts.busy_s += took
            counts.longest_s = max(counts.longest_s, took)
        if request.ok:
            counts.ok_by_start[bucket] += 1
            counts.ok_by_end[ended] += 1
        if len(counts.started) > LONGEST_S * _PER_S:
            raise _too_long(name)
    if not counts.started:
        raise refused(f"{name}: has no request, wanted a row for each")
    first, last = min(counts.started), max(counts.started)
    if counts.waits:
        last = counts.end
    if last - first > LONGEST_S * _PER_S:
        raise _too_long(name)
    if not first <= fault_at * _PER_S < last + 1:
        raise outside(fault_at, first / _PER_S, (last + 1) / _PER_S, is_epoch(first / _PER_S))
    step = _PER_S if counts.whole else 1
    view = _view(counts, first, fault_at)
    by_start = view == "start"
    if by_start or not counts.waits:  # the bucket of the last start may be cut short
        last = max(counts.started) - (step == 1 and not by_start)
    places = range(first, last + 1, step)
    before_s = fault_at - first / _PER_S
    by = counts.ok_by_start if by_start else counts.ok_by_end

    def total(counter: Counter[int], place: int) -> float:
        return float(sum(counter[place + part] for part in range(step)))

    return ForeignSeries(
        start=[place / _PER_S for place in places],
        end=[(place + step) / _PER_S for place in places],
        ok=[total(by, place) for place in places],
        offered=[total(counts.started, place) for place in places] if by_start else None,
        fault_at=fault_at,
        format=format,
        row_s=step / _PER_S,
        notes=(*notes, f"{counts.n:,} requests, {_HOW[view]}"),
        silence=0 if by_start or before_s <= 0 else _silence(counts, before_s),
    )


def _silence(counts: _Counts, before_s: float) -> int:
    """Return how many answers have to be missing before silence is an outage.

    As many as are usually under way may come in together, so that none does for as long as an
    answer takes; and among a few a bucket, one is empty by chance. `before_s` is how long the
    requests before the fault took place.
    """
    by_chance = min(_SILENT, _SILENT_S * counts.answered / before_s)
    return math.ceil(max(counts.busy_s / before_s, by_chance))


@dataclass(frozen=True, slots=True)
class _Second:
    """How many requests started in a second, how many of those failed, how many it served."""

    started: int
    failed: int
    served: int


def _view(counts: _Counts, first: int, fault_at: float) -> _View:
    """Say by what the seconds after the fault that served fewer show what was lost.

    By start, if requests were started as ever and those that were not served failed.
    """

    def second(begin: int) -> _Second:
        places = range(begin, begin + _PER_S)
        started = sum(counts.started[place] for place in places)
        failed = started - sum(counts.ok_by_start[place] for place in places)
        return _Second(started, failed, sum(counts.ok_by_end[place] for place in places))

    fault = math.floor(fault_at * _PER_S)
    earliest = max(first, fault - (1 + _LONGEST_BASELINE_S) * _PER_S)
    before = [second(begin) for begin in range(fault - 2 * _PER_S, earliest - 1, -_PER_S)]
    if sum(each.started for each in before[:_BASELINE_S]) >= _BASELINE_REQUESTS:
        before = before[:_BASELINE_S]
    # The second in which the last request starts may be cut short.
    after = [second(begin) for begin in range(fault, max(counts.started) - _PER_S + 1, _PER_S)]
    if before and not after and counts.waits:
        return "fewer"
    if not before or not after:
        return "start"
    usual = fmean(each.started for each in before)
    while len(after) > _AT_WORK_S and _is_straggling(after[-1], usual):
        after.pop()
    served = [each.served for each in before]
    places = _worse([each.served for each in after], served)
    worse = [after[place] for place in sorted(places)]
    calm = [each.started for place, each in enumerate(after) if place not in places]
    lost = fmean(served) * len(worse) - sum(each.served for each in worse)
    not_started = usual * len(worse) - sum(each.started for each in worse)
    failed = sum(each.failed - fmean(one.failed for one in before) for each in worse)
    starts = [each.started for each in before]
    chance = 2 * math.sqrt(_variance(starts) * len(worse) * (1 + len(worse) / len(before)))
    if not_started > _NOT_STARTED * lost + chance:
        return "fewer"
    most = max(usual, fmean(calm or [0])) * len(worse)
    if sum(each.started for each in worse) > (1 + _BEYOND) * most + 2 * chance:
        return "more"
    return "later" if failed < _FAILED * lost - chance else "start"


def _is_straggling(second: _Second, usual: float) -> bool:
    return second.started < _STRAGGLING * usual and second.failed <= 0.5 * second.started


def _variance(counts: Sequence[int]) -> float:
    """Return by how much counts of a second vary: by their mean at least, but at even intervals."""
    mean, variance = fmean(counts), pvariance(counts)
    even = len(counts) >= _BASELINE_S and variance < _EVEN * mean
    return max(variance, _LEAST_VARIANCE * mean if even else mean)


def _worse(after: Sequence[int], before: Sequence[int]) -> set[int]:
    """Return the places of the seconds that served fewer than those before, not by chance.

    Every stretch of some lengths is compared with the usual, by the deviance of a Poisson process
    times how much more, or less, than one the usual varies.
    """
    usual, variance = fmean(before), _variance(before)
    worse: set[int] = set()
    sums = [0, *accumulate(after)]
    for length in _STRETCHES:
        expected = usual * length
        enough = expected - max(_LEAST, _LEAST_SHARE * expected)
        error = (1 + length / len(before)) * variance / usual if usual else 0.0
        for place in range(len(after) - length + 1):
            served = sums[place + length] - sums[place]
            if served > enough:
                continue
            deviance = 2 * (expected - served)
            deviance += 2 * served * math.log(served / expected) if served else 0.0
            if deviance >= _LEAST_SIGMAS**2 * error:
                worse.update(range(place, place + length))
    return worse


def _too_long(name: str) -> Exception:
    return refused(
        f"{name}: its requests span more than a day", "check --unit, or cut the file to the fault"
    )
