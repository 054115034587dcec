"""Response times for the figures: percentiles second by second, and the spectrum of each phase."""

import math
from collections.abc import Sequence

import numpy as np

from brownout.measure.baseline import BaselineFigures
from brownout.measure.impact import Fault, Impact
from brownout.measure.latency import phase_seconds
from brownout.measure.signal import signal_of
from brownout.run.latency import Histogram, LatencyLog
from brownout.run.series import Series
from brownout.run.table import in_scope
from brownout.show.report.material import OverTime, PhaseSpectra, Spectrum

__all__ = ["over_time", "spectra"]

RATIOS = (0.50, 0.99, 0.999, 1.0)
#: Points of a spectrum in each decade of 1 ÷ (1 - p).
PER_DECADE = 40


def over_time(log: LatencyLog, series: Series, scopes: Sequence[str]) -> dict[str, OverTime]:
    """Return the percentiles of each second for each of `scopes` that has any."""
    by_scope = {
        scope: _over_time(log, _tags(series, scope), series.completion.end) for scope in scopes
    }
    return {scope: one for scope, one in by_scope.items() if one is not None}


def _over_time(log: LatencyLog, tags: Sequence[str], end: float) -> OverTime | None:
    """A second in which nothing was ok is a gap."""
    rows = log.percentiles(tags, end, RATIOS)
    if np.isnan(rows).all():
        return None
    return OverTime(np.arange(len(rows), dtype=np.float64) + 0.5, *rows.T)


def spectra(log: LatencyLog, series: Series, impact: Impact) -> list[PhaseSpectra]:
    """Return the spectra of each fault: of all operations and, of a single fault, reads, writes."""
    faults = impact.effective_faults
    scopes = ("total", "read", "write") if len(faults) == 1 else ("total",)
    return [
        PhaseSpectra(scope, number, fault.name, _phases(log, series, scope, impact.baseline, fault))
        for number, fault in enumerate(faults, 1)
        for scope in scopes
        if scope in series.scopes
    ]


def _phases(
    log: LatencyLog,
    series: Series,
    scope: str,
    base: BaselineFigures,
    fault: Fault,
) -> dict[str, Spectrum]:
    """Before, during and after; `all` is during, with those that were not ok."""
    end = fault.until if fault.end is None else fault.end
    load_end = signal_of(series, scope).end
    windows = phase_seconds((base.start, base.end), fault.start, end, fault.until, load_end)
    phases = fault.scopes[scope].latency.phases
    by_phase = {}
    for name, window in windows.items():
        histogram = log.between(_tags(series, scope), *window)
        if histogram is None or not histogram.n:
            continue
        by_phase[name] = _spectrum(histogram, 0)
        not_ok = phases[name].not_ok
        if name == "during" and not_ok:
            by_phase["all"] = _spectrum(histogram, not_ok)
    return by_phase


def _spectrum(histogram: Histogram, not_ok: int) -> Spectrum:
    """The values at evenly spaced steps of the logarithmic axis, to the last operation.

    With `not_ok` operations that took longer than any other, the line ends where they begin.
    """
    count = histogram.n + not_ok
    inverse = 10 ** np.arange(0, math.log10(count) + 1e-9, 1 / PER_DECADE)
    inverse = np.append(inverse, count)
    values = np.array([_value(histogram, 1 - 1 / step, not_ok) for step in inverse])
    present = ~np.isnan(values)
    return Spectrum(inverse[present], values[present], count, not_ok)


def _value(histogram: Histogram, ratio: float, not_ok: int) -> float:
    value = histogram.percentile_us(ratio, not_ok)
    return np.nan if value is None else float(value)


def _tags(series: Series, scope: str) -> list[str]:
    return [f"{stream}/{op}" for stream, op in series.keys if in_scope(scope, (stream, op))]
