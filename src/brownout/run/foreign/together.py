"""Several series become one: added up moment by moment, each with its own holes and restarts.

What of one series is missing is decided of that series, and not of the sum: a running total counts
on over a hole and through a restart; of other numbers what was missing is said in the row. Series
by status do not add up to what was served: those of failures are only offered.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import median

from brownout.run.foreign.cells import is_total_name, rises, truth
from brownout.run.foreign.rows import PUT_BACK, is_put_back
from brownout.run.foreign.series import Options, Row, Rows, refused, shortened

__all__ = ["Labelled", "added_up", "are_totals", "is_outcome"]

#: A series with fewer of its moments is not steady, so a missing one says nothing.
_STEADY = 0.5
#: A series has ended where so many of its steps later others still have rows.
_MISSED = 1.5
#: Labels that say how an operation ended.
_OUTCOME = re.compile(
    r"(?:(?:http|grpc|rpc|response|resp|return|exit|error|request|req|status|result)[_ .-]?)*"
    r"(?:code|status|result|outcome|success)",
    re.IGNORECASE,
)
_SHOWN = 4


@dataclass(frozen=True, slots=True)
class Labelled:
    """One of several series: its labels and its rows in the file's order."""

    labels: Mapping[str, str]
    rows: Sequence[Row]

    def name(self, labels: Sequence[str]) -> str:
        """Return the values of these labels, as a message names the series."""
        return shortened(" ".join(self.labels.get(each, "") for each in labels))[1:-1]


def is_outcome(label: str) -> bool:
    """Say whether a label or column is named as one that says how an operation ended."""
    return _OUTCOME.fullmatch(label.strip()) is not None


def are_totals(columns: Sequence[Sequence[float]], name: str = "", sure: bool = False) -> bool:
    """Say whether series are running totals: some of them rise as such, and none falls otherwise.

    A `name` such as `requests_total` lets them rise less often; where it is `sure`, it decides.
    """
    named = is_total_name(name)
    seen = [rises(column, named) for column in columns]
    return False not in seen and (True in seen or (sure and named))


def added_up(
    series: Sequence[Labelled], content: Rows, options: Options, name: str, sure: bool = False
) -> Rows:
    """Return `content` with the rows of several series as one, and notes of what was done.

    `name` is the file's, for messages; `sure` says that a name as `requests_total` is a promise.
    Raises `ConfigurationError` for a series with a moment twice, and for series by a status of
    which the values do not say what succeeded.
    """
    differing = [
        label
        for label in dict.fromkeys(label for each in series for label in each.labels)
        if len({each.labels.get(label, "") for each in series}) > 1
    ]
    outcomes = _outcomes(series, differing, name)
    columns = [_by_time(each, differing, content, name) for each in series]
    moments = {row.t: row for each in series for row in each.rows}
    counts = [[row.ok for row in at.values() if row.ok is not None] for at in columns]
    by_default = options.counter is None and options.rate is None
    total = (options.counter is True and not options.rate) or (
        by_default and are_totals(counts, content.column, sure)
    )
    if total:
        # Read at moments of their own, totals that still count are all there until the first ends.
        end = max(moments, default=0.0)
        until = min((max(at) for at in columns if not _has_ended(at, end)), default=end)
        moments = {t: row for t, row in moments.items() if t <= until}
        columns = [_counted_on(at, sorted(moments)) for at in columns]
    groups: dict[tuple[str, ...], list[tuple[Labelled, bool, dict[float, Row]]]] = {}
    rest = [label for label in differing if label not in outcomes]
    for each, at in zip(series, columns, strict=True):
        good = all(truth(each.labels.get(label, "")) for label in outcomes)
        key = tuple(each.labels.get(label, "") for label in rest)
        groups.setdefault(key, []).append((each, good, at))
    merged = [
        (parts[0][0].name(rest), _merged(parts, bool(outcomes)), len(parts))
        for parts in groups.values()
    ]
    rows = _summed([(who, at) for who, at, _ in merged], moments)
    if total and not outcomes:
        unseen = _unseen(series, sorted(moments))
        rows = [replace(row, absent_usual=unseen.get(row.t, 0.0)) for row in rows]
    by = f" by {', '.join(differing)}" if differing else ""
    notes = [f"{len(series)} series{by} added up (--where keeps one)"]
    if outcomes:
        notes = [
            f"of {len(series)} series{by} those that {' and '.join(outcomes)} calls a success are "
            "served; all of them are what was offered (--where keeps one)"
        ]
    if total and options.counter is None:
        notes.append(
            f"`{content.column}` never falls, so each series is read as a running total "
            "(--no-counter reads each row's own number)"
        )
    return replace(
        content,
        rows=rows,
        kind="total" if total else content.kind,
        notes=(*content.notes, *notes),
        answers=bool(outcomes) and not options.offered,
    )


def _outcomes(series: Sequence[Labelled], differing: Sequence[str], name: str) -> list[str]:
    """Return the labels by which some series succeeded and others did not."""
    outcomes = []
    for label in filter(is_outcome, differing):
        values = list(dict.fromkeys(each.labels.get(label, "") for each in series))
        if strange := [value for value in values if truth(value) is None]:
            shown = ", ".join(shortened(value) for value in strange[:_SHOWN])
            raise refused(
                f"{name}: its series differ by `{label}`, and {shown} does not say whether an "
                "operation succeeded",
                f"keep those that did by --where {label}=VALUE",
            )
        if not all(truth(value) for value in values):
            outcomes.append(label)
    return outcomes


def _by_time(
    series: Labelled, differing: Sequence[str], content: Rows, name: str
) -> dict[float, Row]:
    at: dict[float, Row] = {}
    for row in series.rows:
        if row.t in at:
            put_back = content.zone_s is None and any(
                is_put_back(before.t, after.t) for before, after in pairwise(series.rows)
            )
            same = f" and the same {', '.join(differing)}" if differing else ""
            raise refused(
                f"{name}: {at[row.t].place} and {row.place} have the same time{same}",
                PUT_BACK if put_back else "keep one of them by --where COLUMN=VALUE",
            )
        at[row.t] = row
    return dict(sorted(at.items()))


def _counted_on(at: Mapping[float, Row], moments: Sequence[float]) -> dict[float, Row]:
    """Return a running total at each moment, without its restarts.

    It begins at 0 where its first value is no more than it counts in two rows: its source was new.
    What was counted in a hole is spread evenly over it; before a restart nothing more was counted.
    """
    ok = _total_at({t: row.ok for t, row in at.items()}, moments)
    offered = _total_at({t: row.offered for t, row in at.items()}, moments)
    return {
        t: Row(t, ok[t], at[t].place if t in at else "", offered.get(t)) for t in moments if t in ok
    }


def _total_at(values: Mapping[float, float | None], moments: Sequence[float]) -> dict[float, float]:
    counted = [(t, value) for t, value in values.items() if value is not None]
    if not counted:
        return {}
    steps = [b - a for (_, a), (_, b) in pairwise(counted) if b > a]
    begin, first = counted[0]
    total = first if steps and first <= 2 * median(steps) else 0.0
    total_at, restarts = {begin: total}, set()
    for (_, before), (t, value) in pairwise(counted):
        total += value - before if value >= before else value
        total_at[t] = total
        if value < before:
            restarts.add(t)
    ends = sorted(total_at)
    filled: dict[float, float] = {}
    place = 0
    for t in moments:
        while place + 1 < len(ends) and ends[place + 1] <= t:
            place += 1
        begin, end = ends[place], ends[min(place + 1, len(ends) - 1)]
        rise = 0.0 if end in restarts or end == begin else total_at[end] - total_at[begin]
        filled[t] = 0.0 if t < begin else total_at[begin] + rise * (t - begin) / (end - begin or 1)
    return filled


def _has_ended(times: Iterable[float], end: float) -> bool:
    """Say whether a series with rows at these times has none for a while before `end`."""
    ordered = sorted(times)
    steps = [b - a for a, b in pairwise(ordered)]
    return not steps or end - ordered[-1] >= _MISSED * median(steps)


def _unseen(series: Sequence[Labelled], moments: Sequence[float]) -> dict[float, float]:
    """Return how much totals that ended for good may have counted after their last row, by moment.

    A process that is killed between two looks takes with it what it had counted since the first.
    """
    unseen: dict[float, float] = {}
    for each in series:
        counted = sorted((row.t, row.ok) for row in each.rows if row.ok is not None)
        rates = [(n - m) / (b - a) for (a, m), (b, n) in pairwise(counted) if n > m]
        if not rates or not _has_ended([t for t, _ in counted], moments[-1]):
            continue
        last = counted[-1][0]
        later = next(t for t in moments if t > last)
        unseen[later] = unseen.get(later, 0.0) + median(rates) * (later - last)
    return unseen


def _merged(
    parts: Sequence[tuple[Labelled, bool, Mapping[float, Row]]], by_outcome: bool
) -> dict[float, Row]:
    """Return the series of one source as one: where any has a row, the others have 0 there."""
    merged: dict[float, Row] = {}
    for _, good, at in parts:
        for t, row in at.items():
            if row.ok is None:
                continue
            before = merged.get(t, Row(t, 0.0, row.place, 0.0))
            more = row.ok if by_outcome and row.offered is None else row.offered
            merged[t] = replace(
                before,
                ok=(before.ok or 0.0) + (row.ok if good else 0.0),
                offered=None if before.offered is None or more is None else before.offered + more,
            )
    return merged


def _summed(
    groups: Sequence[tuple[str, Mapping[float, Row]]], moments: Mapping[float, Row]
) -> list[Row]:
    """Return one row a moment; a steady series without one is named there as absent.

    A series that has not begun, or has ended for good, is not absent.
    """
    order = sorted(moments)
    sums = {t: Row(t, None, moments[t].place) for t in order}
    absent: dict[float, list[tuple[str, float, float | None]]] = {}
    for who, at in groups:
        if not at:
            continue
        first, last = min(at), max(at)
        span = [t for t in order if first <= t <= last]
        steady = len(at) > _STEADY * len(span)
        usual = replace(
            next(iter(at.values())),
            ok=median(row.ok or 0.0 for row in at.values()),
            offered=median(row.offered or 0.0 for row in at.values()),
        )
        for t in span:
            if t not in at:
                if steady:
                    absent.setdefault(t, []).append((who, usual.ok or 0.0, usual.offered))
                continue
            row, before = at[t], sums[t]
            offered = row.offered
            if before.ok is not None:
                offered = (
                    None
                    if row.offered is None or before.offered is None
                    else before.offered + row.offered
                )
            sums[t] = replace(before, ok=(before.ok or 0.0) + (row.ok or 0.0), offered=offered)
    for t, missing in absent.items():
        row = sums[t]
        if row.ok is None:  # of no series there is a number
            continue
        sums[t] = replace(
            row,
            absent=" and ".join(who for who, _, _ in missing[:_SHOWN]),
            absent_usual=sum(ok for _, ok, _ in missing),
            offered=None
            if row.offered is None
            else row.offered + sum(offered or 0.0 for _, _, offered in missing),
        )
    return list(sums.values())
