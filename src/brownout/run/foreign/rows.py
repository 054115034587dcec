"""Rows as they stand become counts per interval: gaps, rates, totals, stamps at the end.

Each decision is the option's where it was given; else it is taken from what the file shows, and
said in a note. Where a file does not show it, the reader asks by an error that names both ways.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from statistics import median

from brownout.run.foreign.cells import is_epoch, never_falls
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

__all__ = ["series_of"]

#: Rows further apart than this many steps have a gap between them.
_GAP = 1.5
#: A baseline is looked for in so many seconds, or so many rows where they are long.
_BASELINE_S, _BASELINE_ROWS = 60.0, 20
#: A name that says that a column holds a rate per second.
_RATES = ("tps", "qps", "rps", "ops/s", "/s", "/sec", "per second", "per_second", "per_sec",
          "persec", "rate")  # fmt: skip
#: From here on a row's length in a unit that was not given is hardly meant in seconds.
_LONG_S = 90.0


@dataclass(frozen=True, slots=True)
class _Interval:
    """A row's place on the time axis and its counts; `reported` is false for a gap."""

    start: float
    end: float
    ok: float
    offered: float | None
    place: str
    reported: bool = True


def series_of(
    rows: Rows, fault_at: float, options: Options, format: str, name: str
) -> ForeignSeries:
    """Return rows as a series. `name` is the file's, for messages."""
    notes = list(rows.notes)
    shown = partial(written, of_day=rows.of_day)
    ordered = _in_order(rows.rows, name, notes, shown)
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
    return ForeignSeries(
        start=[each.start for each in intervals],
        end=[each.end for each in intervals],
        ok=[each.ok if each.reported else math.nan for each in intervals],
        offered=[each.offered or 0.0 for each in intervals] if with_offered else None,
        fault_at=fault_at,
        format=format,
        row_s=step,
        notes=tuple(notes),
    )


def _too_long(name: str, intervals: Sequence[_Interval], step: float) -> Exception:
    days = (intervals[-1].end - intervals[0].start) / LONGEST_S
    return refused(
        f"{name}: its rows are {step:,g} s apart and span {days:,.1f} days, at most one can be "
        "measured",
        "check --unit, or cut the file to the fault",
    )


def _in_order(
    rows: Sequence[Row], name: str, notes: list[str], shown: Callable[[float], str]
) -> list[Row]:
    """Return rows in rising order; refuse those that go back in time."""
    ordered = list(rows)
    falls = sum(after.t < before.t for before, after in pairwise(ordered))
    if falls and falls == len(ordered) - 1:
        ordered.reverse()
        notes.append("the rows were sorted: the file has the latest first")
    for before, after in pairwise(ordered):
        if after.t < before.t:
            raise refused(
                f"{name}: {after.place} lies {before.t - after.t:,g} s before the row above it "
                f"({before.place})",
                "sort the rows by time; of several runs in one file keep one",
            )
        if after.t == before.t:
            raise refused(
                f"{name}: {before.place} and {after.place} have the same time {shown(after.t)}",
                "keep one series by --where COLUMN=VALUE",
            )
    return ordered


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
    if options.counter is None and options.rate is None and never_falls(values):
        notes.append(
            f"`{rows.column}` never falls, so it is read as a running total (--no-counter reads "
            "each row's own count)"
        )
        return "total"
    named = any(word in rows.column.lower() for word in _RATES)
    whole = all(value == math.floor(value) for value in values)
    if options.rate is None and abs(step - 1) > 1e-6 and (named or not whole):
        why = "by its name" if named else "since not all are whole numbers"
        notes.append(
            f"`{rows.column}` is read as a rate per second, {why} (--no-rate reads counts per row)"
        )
        return "rate"
    return "count"


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
        intervals.append(_Interval(start, end, ok, offered, row.place, reported))
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
    early = [at for at, each in enumerate(intervals) if not each.reported and each.end < begin]
    if early and meant is None:
        intervals = intervals[early[-1] + 1 :]
        notes.append("rows before a gap that ends before the baseline are left out")
    while intervals and not intervals[0].reported:
        intervals.pop(0)
    gaps = _joined([each for each in intervals if not each.reported])
    if not gaps:
        return intervals
    missing = sum(end - start for start, end, _ in gaps)
    what = f"{len(gaps)} {'gap' if len(gaps) == 1 else 'gaps'} of {missing:,g} s in all"
    if meant == "zero":
        notes.append(f"{what} {'is' if len(gaps) == 1 else 'are'} read as nothing served")
        return _zeros(intervals)
    if meant == "unknown":
        notes.append(f"of {what} nothing is known: measures have a best and a worst case")
        return _zeros(intervals, reported=False)
    start, end, place = gaps[0]
    rows = round((end - start) / step)
    more = f" (and {len(gaps) - 1} more like it)" if len(gaps) > 1 else ""
    raise refused(
        f"{name}: {place} there is no number from {shown(start)} to {shown(end)}, "
        f"{rows:,} {'row' if rows == 1 else 'rows'} of {step:g} s{more}",
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


def _joined(gaps: Sequence[_Interval]) -> list[tuple[float, float, str]]:
    """Return gaps that touch as one, each with the place that names it."""
    joined: list[tuple[float, float, str]] = []
    for gap in gaps:
        if joined and gap.start - joined[-1][1] < 1e-6:
            joined[-1] = (joined[-1][0], gap.end, joined[-1][2])
        else:
            place = gap.place if gap.place.startswith("after") else f"at {gap.place}"
            joined.append((gap.start, gap.end, place))
    return joined
