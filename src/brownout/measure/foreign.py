"""The measures on a foreign series: columns of another tool instead of a run directory."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from brownout.base.errors import ConfigurationError
from brownout.measure.assess import Findings, assess
from brownout.measure.coarse import Piece, as_evenly, as_one_outage
from brownout.measure.data import RunData, Stream
from brownout.measure.impact import Fault
from brownout.measure.ranges import ranges_of
from brownout.measure.settings import MeasureSettings
from brownout.run.events import Event
from brownout.run.table import (
    BUCKETS_PER_S,
    OUTCOME_COLUMNS,
    SERIES_COLUMNS,
    WIDTH_S,
    Series,
    Table,
    bucket_of,
    frozen,
)

__all__ = ["series_impact"]

Numbers = Sequence[float] | npt.NDArray[Any]
_STREAM = "series"
#: A baseline is at least so many rows long, where there are so many.
_BASELINE_ROWS = 20


@dataclass(frozen=True, slots=True, eq=False)
class _Rows:
    """Rows that follow each other, from `start` to `end` in seconds since the first."""

    start: npt.NDArray[np.float64]
    end: npt.NDArray[np.float64]
    ok: npt.NDArray[np.float64]
    offered: npt.NDArray[np.float64] | None
    reported: npt.NDArray[np.bool_]
    most: npt.NDArray[np.float64]


def series_impact(
    t: Numbers,
    ok: Numbers,
    offered: Numbers | None = None,
    *,
    fault_at: float,
    until: Numbers | None = None,
    reported: Sequence[bool] | None = None,
    most: Numbers | None = None,
    settings: MeasureSettings | None = None,
) -> Findings:
    """Return what a fault at `fault_at` did to a series of counts.

    `t` is when each row begins, in seconds of any origin, and `until` when it ends: with the next
    row, where that is not given. `ok` is how many operations of that row were served and `offered`
    how many were to start in it. Rows finer than 0.1 s are added up. With `offered` dips are found
    by success ratio, good to 0.1 s or a row; without it by throughput, good to about 0.6 s. The
    episode lasts to the end of the series. A baseline shorter than `settings.baseline_s` is taken
    as it is, and it ends before the row that contains the fault.

    What a row cannot resolve is a range: that row's loss is one outage at its edge, or spread
    evenly. Of rows that are not `reported` all or nothing was served, of others between `ok` and
    `most`. Times in the result count from the first row. Raises `ConfigurationError` with every
    problem of the input.
    """
    settings = settings or MeasureSettings.default()
    _check(t, ok, offered, fault_at, until)
    rows = _rows(t, ok, offered, until, reported, most)
    effective = float(fault_at) - float(t[0])
    row_start = float(rows.start[np.searchsorted(rows.start, effective, "right") - 1])
    gap = max(settings.baseline_gap_s, effective - row_start)
    before = effective - gap
    if before < WIDTH_S:
        raise ConfigurationError("fault_at: no whole row lies before the row with the fault")
    longest = max(settings.baseline_s, _BASELINE_ROWS * float(np.median(rows.end - rows.start)))
    measured_with = MeasureSettings.from_mapping(
        settings.as_dict()
        | {"baseline_gap_s": gap, "baseline_s": min(longest, _whole_buckets(before))}
    )
    readings = _readings(rows, effective, before, measured_with)
    cases = [assess(_data(each, effective, offered is None, measured_with)) for each in readings]
    first = cases[0]
    faults = tuple(
        _ranged([_seen(fault, case) for case in cases if (fault := case.faults[place])])
        for place in range(len(first.faults))
    )
    return replace(first, faults=faults)


def _whole_buckets(length_s: float) -> float:
    return bucket_of(length_s) / BUCKETS_PER_S


def _readings(
    rows: _Rows, effective: float, before: float, settings: MeasureSettings
) -> list[list[Piece]]:
    """Return the series in each way that its rows allow, the likeliest first."""
    pieces = [
        Piece(
            float(a), float(b), float(n), None if rows.offered is None else float(rows.offered[i])
        )
        for i, (a, b, n) in enumerate(zip(rows.start, rows.end, rows.ok, strict=True))
    ]
    usual = _usual(pieces, rows.reported, before, settings.baseline_s)
    fills = [0.0] if rows.reported.all() and (rows.most == rows.ok).all() else [0.0, 1.0]
    readings: list[list[Piece]] = []
    for share in fills:
        filled = [
            piece.served(
                piece.ok + share * (float(most) - piece.ok)
                if reported
                else share * piece.capacity(usual)
            )
            for piece, reported, most in zip(pieces, rows.reported, rows.most, strict=True)
        ]
        for reading in (as_one_outage, as_evenly):
            candidate = reading(filled, effective, usual, before, settings)
            if candidate not in readings:
                readings.append(candidate)
    return readings


def _usual(
    pieces: Sequence[Piece], reported: npt.NDArray[np.bool_], before: float, baseline_s: float
) -> float:
    """Return how many a second are served in the baseline, the median over its rows."""
    rates = [
        piece.ok / (piece.end - piece.start)
        for piece, is_reported in zip(pieces, reported, strict=True)
        if is_reported and before - baseline_s - 1e-9 <= piece.start and piece.end <= before + 1e-9
    ]
    return float(np.median(rates)) if rates else 0.0


def _data(
    pieces: Sequence[Piece], effective: float, closed: bool, settings: MeasureSettings
) -> RunData:
    counts = {"ok": _in_buckets(pieces, [piece.ok for piece in pieces])}
    counts["offered"] = counts["ok"]
    if closed:  # what is to be expected is wanted, whatever was served
        counts["pending"] = np.ones(len(counts["ok"]))
    else:
        counts["offered"] = _in_buckets(pieces, [piece.offered or 0.0 for piece in pieces])
    counts["failed"] = counts["offered"] - counts["ok"]
    series = _series(counts, closed)
    return RunData(
        series=series,
        events=[Event(1, "break", "fault", requested=effective, effective=effective)],
        streams=[Stream(_STREAM, closed=closed)],
        settings=settings,
        end=series.completion.end,
    )


def _seen(fault: Fault, case: Findings) -> Fault:
    """Return a fault without what the noise of a baseline hides: no dip could have been seen."""
    hidden = {
        name: scope
        for name, scope in fault.scopes.items()
        if not case.baseline.open_loop
        and case.baseline.level.theta_dip >= 1
        and not scope.course.dips
    }
    unseen = {
        name: replace(
            scope,
            course=replace(
                scope.course,
                time_to_impact=None,
                degraded_time=None,
                recovery_time=None,
                settled_time=None,
            ),
            losses=replace(scope.losses, lost_operations=None, lost_seconds=None),
            ranges={},
        )
        for name, scope in hidden.items()
    }
    return replace(fault, scopes={**fault.scopes, **unseen})


def _ranged(cases: Sequence[Fault]) -> Fault:
    """Return the first case, with the range of each measure over all of them."""
    first = cases[0]
    if len(cases) == 1:
        return first
    scopes = {}
    for name, scope in first.scopes.items():
        lower_bounds = [
            {
                measure: ends[0]
                for measure, ends in case.scopes[name].ranges.items()
                if ends[0] is not None and case.number(measure, name) is None
            }
            for case in cases
        ]
        ranges = ranges_of(list(zip(cases, lower_bounds, strict=True)), name, {})
        scopes[name] = replace(scope, ranges={**scope.ranges, **ranges})
    return replace(first, scopes=scopes)


def _check(
    t: Numbers, ok: Numbers, offered: Numbers | None, fault_at: float, until: Numbers | None
) -> None:
    columns = {"t": t, "ok": ok}
    columns |= {} if offered is None else {"offered": offered}
    columns |= {} if until is None else {"until": until}
    problems = [
        f"{name}: {len(column)} rows, wanted {len(t)} as in t, and at least 2"
        for name, column in columns.items()
        if len(column) != len(t) or len(column) < 2
    ]
    for name, column in columns.items():
        numbers = np.asarray(column, np.float64)
        counts = name not in ("t", "until")
        if not np.isfinite(numbers).all() or (counts and (numbers < 0).any()):
            problems.append(f"{name}: holds a value that is not a count or a time")
    if not problems:
        problems += _order_problems(t, until)
        if not t[0] + 2 <= fault_at < t[-1]:
            problems.append(
                f"fault_at: found {fault_at:.15g}, wanted a time at least 2 s after the first row, "
                f"{t[0]:.15g}, and before the last, {t[-1]:.15g}"
            )
    if offered is not None and not problems and (np.asarray(ok) > np.asarray(offered)).any():
        problems.append("ok: is more than offered in some row; wanted both by intended start")
    if problems:
        raise ConfigurationError(problems)


def _order_problems(t: Numbers, until: Numbers | None) -> list[str]:
    """Name the first row that does not follow the one before it; jitter is allowed."""
    steps = np.diff(np.asarray(t, np.float64))
    usual = float(np.median(steps))
    if not (steps > 0).all() or usual <= 0:
        return [f"t: row {int(np.argmin(steps)) + 2} is not later than the row before it"]
    if until is None:
        holes = np.flatnonzero(steps > 1.5 * usual)
        return [
            f"t: row {row + 2} begins {steps[row]:g} s after the one before it, where rows are "
            f"{usual:g} s apart; fill the gap, or give `until`"
            for row in holes[:1].tolist()
        ]
    apart = np.abs(np.asarray(until, np.float64)[:-1] - np.asarray(t, np.float64)[1:])
    return [
        f"until: row {row + 1} does not end where the next row begins"
        for row in np.flatnonzero(apart > 1e-6)[:1].tolist()
    ]


def _rows(
    t: Numbers,
    ok: Numbers,
    offered: Numbers | None,
    until: Numbers | None,
    reported: Sequence[bool] | None,
    most: Numbers | None,
) -> _Rows:
    start = np.asarray(t, np.float64) - float(t[0])
    if until is None:
        end = np.append(start[1:], start[-1] + float(np.median(np.diff(start))))
    else:
        end = np.asarray(until, np.float64) - float(t[0])
    return _Rows(
        start=start,
        end=end,
        ok=np.asarray(ok, np.float64),
        offered=None if offered is None else np.asarray(offered, np.float64),
        reported=np.ones(len(start), np.bool_)
        if reported is None
        else np.asarray(reported, np.bool_),
        most=np.asarray(ok if most is None else most, np.float64),
    )


def _in_buckets(pieces: Sequence[Piece], counts: Sequence[float]) -> Any:
    """Return counts in buckets of 0.1 s: each piece spread evenly over those that it lies in.

    The last bucket is left out where it is not whole.
    """
    edges = np.array([*(piece.start for piece in pieces), pieces[-1].end]) * BUCKETS_PER_S
    nearest = np.round(edges)  # float noise must not carry a count across an edge
    edges = np.where(np.abs(edges - nearest) < 1e-4, nearest, edges)
    total = np.concatenate(([0.0], np.cumsum(counts)))
    buckets = np.diff(np.interp(np.arange(int(edges[-1]) + 1), edges, total))
    return np.where(buckets < 1e-9 * max(1.0, float(total[-1])), 0.0, buckets)


def _series(counts: dict[str, Any], closed: bool) -> Series:
    keys = ((_STREAM, "update"),)
    nothing = np.zeros(len(counts["ok"]))

    def table(names: Sequence[str]) -> Table:
        columns = {name: counts.get(name, nothing)[:, None] for name in names}
        return Table(keys, frozen(columns))

    stream = frozenset({_STREAM}) if closed else frozenset()
    return Series(table(SERIES_COLUMNS), table(OUTCOME_COLUMNS), stream, ok_only=closed)
