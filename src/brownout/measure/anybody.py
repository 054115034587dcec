"""The measures on anybody's series: three columns of another tool instead of a run directory."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from brownout.base.errors import ConfigurationError
from brownout.measure.assess import Findings, assess
from brownout.measure.data import RunData, Stream
from brownout.measure.settings import MeasureSettings
from brownout.run.events import Event
from brownout.run.table import (
    BUCKETS_PER_S,
    OUTCOME_COLUMNS,
    SERIES_COLUMNS,
    WIDTH_S,
    Series,
    Table,
    frozen,
)

__all__ = ["series_impact"]

Numbers = Sequence[float] | npt.NDArray[Any]
_STREAM = "series"


def series_impact(
    t: Numbers,
    ok: Numbers,
    offered: Numbers | None = None,
    *,
    fault_at: float,
    settings: MeasureSettings | None = None,
) -> Findings:
    """Return what a fault at `fault_at` did to a series of counts.

    `t` is when each row begins, in seconds of any origin, evenly spaced; `ok` how many operations
    of that row were served and `offered` how many were to start in it. Rows finer than 0.1 s are
    added up, coarser ones spread evenly. With `offered` dips are found by success ratio, good to
    0.1 s or a row; without it by throughput, good to about 0.6 s. The episode lasts to the end
    of the series. A baseline shorter than `settings.baseline_s` is taken as it is. Times in the
    result count from the first row. Raises `ConfigurationError` with every problem of the input.
    """
    settings = settings or MeasureSettings.default()
    _check(t, ok, offered, fault_at)
    at = np.asarray(t, np.float64) - float(t[0])
    effective = float(fault_at) - float(t[0])
    counts = {"ok": _in_buckets(at, np.asarray(ok, np.float64))}
    counts["offered"] = counts["ok"]
    if offered is None:  # what is to be expected is wanted, whatever was served
        counts["pending"] = np.ones(len(counts["ok"]))
    else:
        counts["offered"] = _in_buckets(at, np.asarray(offered, np.float64))
    counts["failed"] = counts["offered"] - counts["ok"]
    before = effective - settings.baseline_gap_s
    values = {**settings.as_dict(), "baseline_s": min(settings.baseline_s, before)}
    series = _series(counts, closed=offered is None)
    data = RunData(
        series=series,
        events=[Event(1, "break", "fault", requested=effective, effective=effective)],
        streams=[Stream(_STREAM, closed=offered is None)],
        settings=MeasureSettings.from_mapping(values),
        end=series.completion.end,
    )
    return assess(data)


def _check(t: Numbers, ok: Numbers, offered: Numbers | None, fault_at: float) -> None:
    columns = {"t": t, "ok": ok} | ({} if offered is None else {"offered": offered})
    problems = [
        f"{name}: {len(column)} rows, wanted {len(t)} as in t, and at least 2"
        for name, column in columns.items()
        if len(column) != len(t) or len(column) < 2
    ]
    for name, column in columns.items():
        numbers = np.asarray(column, np.float64)
        if not np.isfinite(numbers).all() or (name != "t" and (numbers < 0).any()):
            problems.append(f"{name}: holds a value that is no count or time")
    if not problems:
        steps = np.diff(np.asarray(t, np.float64))
        if not (steps > 0).all() or not np.allclose(steps, steps[0], rtol=1e-3, atol=1e-6):
            problems.append("t: is not evenly spaced and rising")
        if not t[0] + 2 <= fault_at < t[-1]:
            problems.append(
                f"fault_at: found {fault_at:g}, wanted a time at least 2 s after the first row, "
                f"{t[0]:g}, and before the last, {t[-1]:g}"
            )
    if offered is not None and not problems and (np.asarray(ok) > np.asarray(offered)).any():
        problems.append("ok: is more than offered in some row; wanted both by intended start")
    if problems:
        raise ConfigurationError(problems)


def _in_buckets(at: npt.NDArray[np.float64], counts: npt.NDArray[np.float64]) -> Any:
    """Return counts in buckets of 0.1 s: rows added up, or spread evenly where they are longer."""
    step = float(at[1] - at[0])
    first = np.floor(at * BUCKETS_PER_S + 1e-6).astype(np.int64)
    parts = max(1, round(step * BUCKETS_PER_S))
    if parts == 1:
        return np.bincount(first, weights=counts)
    whole = int(np.ceil((at[-1] + step) * BUCKETS_PER_S - 1e-6))
    edges = np.append(at, at[-1] + step)
    total = np.concatenate(([0.0], np.cumsum(counts)))
    return np.diff(np.interp(np.arange(whole + 1) * WIDTH_S, edges, total))


def _series(counts: dict[str, Any], closed: bool) -> Series:
    keys = ((_STREAM, "update"),)
    nothing = np.zeros(len(counts["ok"]))

    def table(names: Sequence[str]) -> Table:
        columns = {name: counts.get(name, nothing)[:, None] for name in names}
        return Table(keys, frozen(columns))

    stream = frozenset({_STREAM}) if closed else frozenset()
    return Series(table(SERIES_COLUMNS), table(OUTCOME_COLUMNS), stream)
