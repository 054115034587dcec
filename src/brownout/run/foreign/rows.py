"""Rows as they stand become counts per interval: gaps, rates, totals, stamps at the end.

Each decision is the option's where it was given; else it is taken from what the file shows, and
said in a note. Where a file does not show it, the reader asks by an error that names both ways.
"""

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from statistics import median

from brownout.run.foreign.cells import is_epoch, is_total_name, rises
from brownout.run.foreign.series import (
    LONGEST_S,
    ForeignSeries,
    Kind,
    Options,
    Row,
    Rows,
    Stamp,
    outside,
    refused,
    written,
)

__all__ = ["PUT_BACK", "is_put_back", "series_of"]

#: Rows further apart than this many steps have a gap between them.
_GAP = 1.5
#: A baseline is looked for in so many seconds, or so many rows where they are long.
_BASELINE_S, _BASELINE_ROWS = 60.0, 20
#: A name, as words in lower case, that says that a column holds a rate per second.
_RATE = re.compile(
    r"\b(?:[tqrw]ps|iops|reqps|rate|\w*per ?(?:s|secs?|seconds?))\b|/ ?(?:s|secs?|seconds?)\b"
)
_RATE_UNIT = re.compile(r"\w{1,4}ps|.*/ ?(?:s|secs?|seconds?)\b.*", re.IGNORECASE)
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|/ ?|[^A-Za-z/]+")
#: From here on a row's length in a unit that was not given is hardly meant in seconds.
_LONG_S = 90.0
_HOUR_S = 3600.0
#: So much of the usual is as ever.
_AS_EVER = 0.9
#: What to do about an hour that a file has twice.
PUT_BACK = (
    "if the clock was put back an hour there, export the times in UTC, or keep the rows before or "
    "after it; sorted they would mix two hours"
)


@dataclass(frozen=True, slots=True)
class _Interval:
    """A row's place on the time axis and its counts; `reported` is false for a gap.

    `absent` and `absent_usual` are those of its row, as counts.
    """

    start: float
    end: float
    ok: float
    offered: float | None
    place: str
    reported: bool = True
    absent: str = ""
    absent_usual: float = 0.0

    @property
    def whole(self) -> bool:
        """Whether every series has a number here."""
        return self.reported and not self.absent


def series_of(
    rows: Rows, fault_at: float, options: Options, format: str, name: str
) -> ForeignSeries:
    """Return rows as a series. `name` is the file's, for messages."""
    notes = list(rows.notes)
    shown = partial(written, of_day=rows.of_day)
    ordered = _in_order(rows, name, notes, shown)
    if sum(row.ok is not None for row in ordered) < 3:
        raise refused(f"{name}: has fewer than 3 rows with a number, wanted a series of them")
    step = _step(ordered, options, name)
    kind = _kind(rows, ordered, options, step, notes)
    if kind == "total":
        ordered = _differences(ordered, notes, rows.column)
    stamp = _stamp(rows, ordered, options, kind, step, fault_at, notes)
    intervals = _intervals(ordered, kind, stamp, step, notes)
    if intervals[-1].end - intervals[0].start > 60 * LONGEST_S:
        raise _too_long(name, intervals, step)
    intervals = _filled(intervals, options.gaps or rows.gaps, fault_at, step, name, notes, shown)
    if intervals[-1].end - intervals[0].start > LONGEST_S:
        raise _too_long(name, intervals, step)
    if intervals[0].start == intervals[-1].end or not (
        intervals[0].start < fault_at < intervals[-1].end
    ):
        raise outside(fault_at, intervals[0].start, intervals[-1].end, rows.of_day)
    with_offered = all(each.offered is not None for each in intervals)
    if rows.answers and with_offered and not _answered_as_ever(intervals, fault_at):
        with_offered = False
        notes.append("judged by what was served alone: fewer were answered while service was bad")
    return ForeignSeries(
        start=[each.start for each in intervals],
        end=[each.end for each in intervals],
        ok=[each.ok if each.reported else math.nan for each in intervals],
        offered=[each.offered or 0.0 for each in intervals] if with_offered else None,
        fault_at=fault_at,
        format=format,
        row_s=step,
        notes=tuple(notes),
        most=[each.ok + each.absent_usual for each in intervals]
        if any(each.absent_usual for each in intervals)
        else None,
    )


def _answered_as_ever(intervals: Sequence[_Interval], fault_at: float) -> bool:
    """Say whether as many were answered as before the fault while fewer of them were served."""
    before = [each for each in intervals if each.end <= fault_at and each.reported]
    usual, served = (
        median([(count or 0.0) / (each.end - each.start) for each, count in counts] or [0.0])
        for counts in (
            [(each, each.offered) for each in before],
            [(each, each.ok) for each in before],
        )
    )
    bad = [
        each
        for each in intervals
        if each.end > fault_at and each.ok < _AS_EVER * served * (each.end - each.start)
    ]
    answered = sum(each.offered or 0.0 for each in bad)
    return answered >= _AS_EVER * usual * sum(each.end - each.start for each in bad)


def _too_long(name: str, intervals: Sequence[_Interval], step: float) -> Exception:
    days = (intervals[-1].end - intervals[0].start) / LONGEST_S
    return refused(
        f"{name}: its rows are {step:,g} s apart and span {days:,.1f} days, at most one can be "
        "measured",
        "check --unit, or cut the file to the fault",
    )


def _in_order(rows: Rows, name: str, notes: list[str], shown: Callable[[float], str]) -> list[Row]:
    """Return rows in rising order; refuse those that go back in time."""
    ordered = list(rows.rows)
    falls = sum(after.t < before.t for before, after in pairwise(ordered))
    if falls and falls == len(ordered) - 1:
        ordered.reverse()
        notes.append("the rows were sorted: the file has the latest first")
    for before, after in pairwise(ordered):
        if after.t < before.t:
            raise refused(
                f"{name}: {after.place} lies {before.t - after.t:,g} s before the row above it "
                f"({before.place})",
                PUT_BACK
                if rows.zone_s is None and is_put_back(before.t, after.t)
                else "sort the rows by time; of several runs in one file keep one",
            )
        if after.t == before.t:
            raise refused(
                f"{name}: {before.place} and {after.place} have the same time {shown(after.t)}",
                "keep one series by --where COLUMN=VALUE",
            )
    return ordered


def is_put_back(before: float, after: float) -> bool:
    """Say whether a clock without a zone was put back by an hour between two rows, in seconds."""
    return _HOUR_S - _LONG_S <= before - after <= _HOUR_S


def _step(ordered: Sequence[Row], options: Options, name: str) -> float:
    """Return how far apart rows are, and ask where the unit cannot be meant."""
    own = [row.length for row in ordered if row.length]
    step = median(own) if own else median(b.t - a.t for a, b in pairwise(ordered))
    guessed = not options.unit and not is_epoch(ordered[0].t)
    if guessed and step >= _LONG_S and step % 60:
        raise refused(
            f"{name}: its rows would be {step:,g} s apart, which is hardly meant",
            "give the unit of the time column by --unit ms, us or ns, or --unit s if it is right",
        )
    return step


def _kind(
    rows: Rows, ordered: Sequence[Row], options: Options, step: float, notes: list[str]
) -> Kind:
    """Return what the numbers are: counts of a row, rates per second, or running totals."""
    if options.counter:
        return "total"
    if options.rate:
        return "rate"
    if rows.kind is not None:
        taken = {"total": options.counter, "rate": options.rate, "count": None}[rows.kind]
        return rows.kind if taken is None else "count"
    values = [row.ok for row in ordered if row.ok is not None]
    by_default = options.counter is None and options.rate is None
    if by_default and rises(values, is_total_name(rows.column)):
        notes.append(
            f"`{rows.column}` never falls, so it is read as a running total (--no-counter reads "
            "each row's own count)"
        )
        return "total"
    if options.rate is not None or abs(step - 1) <= 1e-6:
        return "count"
    whole = all(value == math.floor(value) for value in values)
    why = "" if whole else "since not all are whole numbers"
    why = "by its name" if _is_rate_name(rows.column) else why
    why = f"by its unit {rows.unit}" if _RATE_UNIT.fullmatch(rows.unit) else why
    if why:
        notes.append(
            f"`{rows.column}` is read as a rate per second, {why} (--no-rate reads counts per row)"
        )
        return "rate"
    notes.append(
        f"`{rows.column}` is read as counts per row of {step:,g} s (--rate reads rates per second)"
    )
    return "count"


def _is_rate_name(name: str) -> bool:
    """Say whether a name has a word for a rate: `tps` of `readTps`, not of `https_ok`."""
    words = (word.strip("_-. ").lower() for word in _WORDS.findall(name))
    return _RATE.search(" ".join(word for word in words if word)) is not None


def _differences(ordered: Sequence[Row], notes: list[str], column: str) -> list[Row]:
    """Return the counts between totals; the first row only says where counting begins."""
    counted = [row for row in ordered if row.ok is not None]
    counts = []
    restarts = 0
    for before, after in pairwise(counted):
        ok = (after.ok or 0.0) - (before.ok or 0.0)
        offered = None
        if before.offered is not None and after.offered is not None:
            offered = after.offered - before.offered
        if ok < 0:
            restarts += 1
            ok, offered = after.ok or 0.0, after.offered
        counts.append(replace(after, ok=ok, offered=offered, length=after.t - before.t))
    if restarts:
        times = "once" if restarts == 1 else f"{restarts} times"
        notes.append(f"`{column}` began anew {times}: its counter was restarted")
    return counts


def _stamp(
    rows: Rows,
    ordered: Sequence[Row],
    options: Options,
    kind: Kind,
    step: float,
    fault_at: float,
    notes: list[str],
) -> Stamp:
    """Return whether a row's time is its beginning or its end."""
    if options.stamp:
        return options.stamp
    why = ""
    stamp: Stamp = rows.stamp or "start"
    first = ordered[0].t if kind != "total" else ordered[0].t - step
    last = [b.t - a.t for a, b in pairwise(ordered)][-1:]
    steps = [b.t - a.t for a, b in pairwise(ordered)]
    even = sum(abs(each - step) < 0.02 * step for each in steps) >= 0.9 * len(steps)
    if rows.stamp is None and kind == "total":
        stamp, why = "end", "a running total is read at the end of its row"
    elif rows.stamp is None and not is_epoch(first) and abs(first - step) <= 0.1 * step:
        stamp, why = "end", f"the first is at {first:g} s, a row's length after 0"
    elif rows.stamp is None and even and last and last[0] < 0.95 * step:
        stamp, why = "end", "the last row is shorter than the others"
    if rows.stamp is None and stamp == "end":
        notes.append(f"rows are stamped at their end: {why} (--stamp start reads it otherwise)")
    if stamp == "end" and _failed_before(ordered, kind, step, fault_at):
        stamp = "start"
        notes[:] = [note for note in notes if not note.startswith("rows are stamped")]
        notes.append(
            "rows are stamped at their beginning: at their end, service would have failed before "
            "the fault (--stamp end reads it so)"
        )
    return stamp


def _failed_before(ordered: Sequence[Row], kind: Kind, step: float, fault_at: float) -> bool:
    """Say whether most of the row that ends with the fault was not served.

    If its stamp were its end, service would have failed before the fault did.
    """
    before = [row.ok for row in ordered if row.t <= fault_at - step and row.ok is not None]
    at = [row for row in ordered if fault_at <= row.t < fault_at + step]
    if len(before) < 3 or not at or at[0].ok is None:
        return False
    usual = median(before[-_BASELINE_ROWS:])
    share = 1 - (at[0].t - fault_at) / step  # of the row, so much lies before the fault
    return share > 0.5 and usual > 0 and at[0].ok < 0.5 * usual * share


def _intervals(
    ordered: Sequence[Row], kind: Kind, stamp: Stamp, step: float, notes: list[str]
) -> list[_Interval]:
    """Return each row's interval in order; a hole between two is a gap, and so is an empty row."""
    starts, ends = _bounds(ordered, kind, stamp, step)
    intervals: list[_Interval] = []
    drifts: list[str] = []
    earlier: Row | None = None
    for place, row in enumerate(ordered):
        start, end = starts[place], ends[place]
        if intervals and start - intervals[-1].end > 1e-6:
            gap = _Interval(intervals[-1].end, start, 0.0, None, f"after {intervals[-1].place}",
                            reported=False)  # fmt: skip
            filled = _by_total(gap, earlier, row, kind, step)
            if filled is None:
                intervals.append(gap)
            elif filled == "drift":
                drifts.append(row.place)
                start = gap.start
            else:
                intervals.append(replace(gap, ok=float(filled), reported=True))
        elif intervals and start < intervals[-1].end:
            start = intervals[-1].end
        if end - start <= 1e-9:
            continue
        if kind == "total" and _is_drift(ordered, place, step):
            drifts.append(row.place)
            row = replace(row, ok=(row.ok or 0.0) * (end - start) / step)
        factor = (end - start) if kind == "rate" else 1.0
        offered = None if row.offered is None else row.offered * factor
        reported = row.ok is not None
        ok = (row.ok or 0.0) * factor
        absent_usual = row.absent_usual * factor
        intervals.append(
            _Interval(start, end, ok, offered, row.place, reported, row.absent, absent_usual)
        )
        if reported:
            earlier = row
    if drifts:
        s = "" if len(drifts) == 1 else "s"
        notes.append(
            f"the reporter skipped {len(drifts)} row{s} (before {', '.join(drifts[:3])}) while its "
            f"running total{s and 's'} continued as before: not an outage"
        )
    return intervals


def _bounds(
    ordered: Sequence[Row], kind: Kind, stamp: Stamp, step: float
) -> tuple[list[float], list[float]]:
    """Return where each row begins and ends."""
    times = [row.t for row in ordered]
    if any(row.length for row in ordered) and kind == "count":
        return times, [row.t + (row.length or step) for row in ordered]
    if kind == "total":
        shift = step if stamp == "start" else 0.0
        return [row.t - (row.length or step) + shift for row in ordered], [t + shift for t in times]
    near = [b - a if b - a <= _GAP * step else step for a, b in pairwise(times)]
    if stamp == "end":
        lengths = [step, *near]
        return [t - length for t, length in zip(times, lengths, strict=True)], times
    lengths = [*near, step]
    return times, [t + length for t, length in zip(times, lengths, strict=True)]


def _is_drift(ordered: Sequence[Row], place: int, step: float) -> bool:
    """Say whether a total's row is two steps long and counts as much as one: a stamp was skipped.

    A reporter whose rows are a little longer than a second skips a whole second now and then.
    """
    row = ordered[place]
    beside = [r.ok for r in ordered[max(0, place - 5) : place + 6] if r is not row and r.ok]
    if not beside or row.ok is None or row.length is None:
        return False
    two = _GAP * step < row.length <= 2 * step + 1e-6
    return two and 0.75 * median(beside) <= row.ok <= 1.25 * median(beside)


def _by_total(
    gap: _Interval, before: Row | None, after: Row, kind: Kind, step: float
) -> float | str | None:
    """Return what a running total beside the rows says of a gap: a count, or only drift."""
    if before is None or before.total is None or after.total is None:
        return None
    rise = after.total - before.total
    own = (after.ok or 0.0) * (step if kind == "rate" else 1.0)
    if gap.end - gap.start <= step * _GAP and 0.5 * own <= rise and own > 0:
        return "drift" if rise < 1.5 * own else rise - own
    return max(0.0, rise - own)


def _filled(
    intervals: list[_Interval],
    meant: str | None,
    fault_at: float,
    step: float,
    name: str,
    notes: list[str],
    shown: Callable[[float], str],
) -> list[_Interval]:
    """Return the intervals that matter, with each gap as it is `meant`, or ask.

    What lies before the last gap that ends well before the baseline is left out.
    """
    while intervals and not intervals[-1].reported and intervals[-1].end <= fault_at:
        intervals.pop()
    begin = fault_at - max(_BASELINE_S, _BASELINE_ROWS * step) - 2 * step
    early = [at for at, each in enumerate(intervals) if not each.whole and each.end < begin]
    if early and meant is None:
        intervals = intervals[early[-1] + 1 :]
        notes.append("rows before a gap that ends before the baseline are left out")
    while intervals and not intervals[0].reported:
        intervals.pop(0)
    gaps = _joined([each for each in intervals if not each.whole])
    if not gaps:
        return intervals
    missing = sum(gap.end - gap.start for gap in gaps)
    what = f"{len(gaps)} {'gap' if len(gaps) == 1 else 'gaps'} of {missing:,g} s in all"
    of = ", ".join(dict.fromkeys(gap.absent for gap in gaps if gap.absent))
    what += f" of {of}" if of else ""
    if meant == "zero":
        notes.append(f"{what} {'is' if len(gaps) == 1 else 'are'} read as nothing served")
        return _zeros(
            [replace(each, absent="", absent_usual=0.0) if each.absent else each
             for each in intervals]
        )  # fmt: skip
    if meant == "unknown":
        notes.append(f"of {what} nothing is known: measures have a best and a worst case")
        return _zeros(intervals, reported=False)
    gap = gaps[0]
    rows = round((gap.end - gap.start) / step)
    more = f" (and {len(gaps) - 1} more like it)" if len(gaps) > 1 else ""
    whose = f" of {gap.absent}" if gap.absent else ""
    raise refused(
        f"{name}: {gap.place} there is no number{whose} from {shown(gap.start)} to "
        f"{shown(gap.end)}, {rows:,} {'row' if rows == 1 else 'rows'} of {step:g} s{more}",
        "give --gaps zero if the tool writes none while nothing is served, "
        "--gaps unknown if they were lost"
        if meant is None
        else "",
    )


def _zeros(intervals: Sequence[_Interval], reported: bool = True) -> list[_Interval]:
    """Return the intervals with nothing served in gaps; what was offered there is as usual."""
    rates = [
        each.offered / (each.end - each.start)
        for each in intervals
        if each.reported and each.offered is not None
    ]
    usual = median(rates) if rates else None
    return [
        each
        if each.reported
        else replace(
            each,
            ok=0.0,
            offered=None if usual is None else usual * (each.end - each.start),
            reported=reported,
        )
        for each in intervals
    ]


def _joined(gaps: Sequence[_Interval]) -> list[_Interval]:
    """Return gaps that touch as one, each with the place that names it."""
    joined: list[_Interval] = []
    for gap in gaps:
        if joined and gap.start - joined[-1].end < 1e-6 and gap.absent == joined[-1].absent:
            joined[-1] = replace(joined[-1], end=gap.end)
        else:
            place = gap.place if gap.place.startswith("after") else f"at {gap.place}"
            joined.append(replace(gap, place=place))
    return joined
