"""The axes of the figures: round ticks, linear, logarithmic, of time and of percentiles."""

import math
from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["Axis", "Tick", "linear", "logarithmic", "percentiles", "time"]

#: Steps of a time axis in seconds; a step is one that people count in.
TIME_STEPS = (
    0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 14400, 21600,
    43200, 86400,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Tick:
    """One tick: `position` from 0 (low end) to 1 (high end) of its axis; `minor` may be hidden."""

    position: float
    label: str
    minor: bool = False


@dataclass(frozen=True, slots=True)
class Axis:
    """From `low` to `high` in the values' own unit; `log` where equal steps are equal ratios."""

    low: float
    high: float
    ticks: tuple[Tick, ...]
    log: bool = False

    def position(self, value: float) -> float:
        """Where `value` lies between `low` (0) and `high` (1)."""
        low, high = self.low, self.high
        if self.log:
            low, high, value = math.log10(low), math.log10(high), math.log10(max(value, low))
        return (value - low) / (high - low)

    @property
    def labels(self) -> tuple[list[float], list[str]]:
        """The values at which ticks are, and what stands beside them."""
        low, high = self.low, self.high
        values = [
            low * (high / low) ** t.position if self.log else low + (high - low) * t.position
            for t in self.ticks
        ]
        return values, [tick.label for tick in self.ticks]


def linear(high: float, unit: str = "", words: Callable[[float], str] | None = None) -> Axis:
    """From 0 to a round number at or above `high`, with four to six ticks; `words` labels them."""
    high = high if high > 0 and math.isfinite(high) else 1.0
    step = _round_step(high / 5)
    top = math.ceil(high / step - 1e-9) * step
    count = round(top / step)
    label = words or (lambda value: f"{value:,.10g}{unit}")
    ticks = tuple(Tick(n / count, label(n * step), minor=n % 2 == 1) for n in range(count + 1))
    return Axis(0.0, top, ticks)


def logarithmic(low: float, high: float) -> Axis:
    """Milliseconds over whole decades around `low` … `high` (values in ms)."""
    first = math.floor(math.log10(low) + 1e-9) if low > 0 else -1
    last = math.ceil(math.log10(high) - 1e-9) if high > 0 else 0
    last = max(last, first + 1)
    ticks = tuple(
        Tick((n - first) / (last - first), _milliseconds(10.0**n)) for n in range(first, last + 1)
    )
    return Axis(10.0**first, 10.0**last, ticks, log=True)


def percentiles(most: float) -> Axis:
    """The HdrHistogram axis: `1 ÷ (1 - p)` on a log scale, from the minimum to `most` of that."""
    nines = max(2, math.ceil(math.log10(max(most, 10.0)) - 1e-9))
    ticks = [Tick(0.0, "0 %")]
    for n in range(1, nines + 1):
        share = f"{100 * (1 - 10.0**-n):.{max(0, n - 2)}f} %"
        ticks.append(Tick(n / nines, share, minor=n % 2 == 1 and n > 1))
    return Axis(1.0, 10.0**nines, tuple(ticks), log=True)


def time(start: float, end: float, wanted: int = 10) -> Axis:
    """Seconds from `start` to `end`, about `wanted` ticks on steps that people count in."""
    end = max(end, start + 0.1)
    step = next((s for s in TIME_STEPS if (end - start) / s <= wanted), TIME_STEPS[-1])
    first = math.ceil(start / step - 1e-9)
    last = math.floor(end / step + 1e-9)
    ticks = tuple(
        Tick((n * step - start) / (end - start), clock(n * step, step, end), minor=n % 2 == 1)
        for n in range(first, last + 1)
    )
    return Axis(start, end, ticks)


def clock(seconds: float, step: float, end: float) -> str:
    """A time on an axis: `20 s`, `2.5 s`; where the axis ends after 20 min `12:30`, `1:02:30`."""
    if step < 1:
        return f"{seconds:.1f} s"
    if end < 1200:
        return f"{seconds:.0f} s"
    whole = round(seconds)
    hours, minutes, rest = whole // 3600, whole % 3600 // 60, whole % 60
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def _round_step(least: float) -> float:
    """The smallest of 1, 2, 2.5, 5 times a power of ten that is at least `least`."""
    power = 10.0 ** math.floor(math.log10(least))
    return next(n * power for n in (1, 2, 2.5, 5, 10) if n * power >= least * (1 - 1e-9))


def _milliseconds(value: float) -> str:
    """`10 µs`, `1 ms`, `10 s`."""
    if value < 0.999:
        return f"{value * 1000:.10g} µs"
    return f"{value:.10g} ms" if value < 999 else f"{value / 1000:.10g} s"
