"""The share of windows in which each detector raises an alarm."""

import itertools
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from brownout.calibration.alarms.detectors import DETECTORS, by_ratio
from brownout.calibration.alarms.window import Dip, Window, made_up
from brownout.measure.settings import MeasureSettings

__all__ = [
    "DIP",
    "ERRORS",
    "NOISES",
    "RATES",
    "ErrorRate",
    "Rate",
    "error_rates",
    "false_alarms",
    "finds",
    "of_windows",
]

NOISES = (0.0, 0.02, 0.05, 0.10)
#: Operations that fail by themselves, of all; the baseline allows one in 10,000.
ERRORS = (0.00001, 0.0001, 0.001)
#: Operations a second; at fewer than 1,000 a single failure makes a dip of a bucket.
RATES = (800.0, 1000.0, 4000.0)
#: What a detector is to find: the smallest of the published drops that users noticed.
DIP = Dip(depth=0.154, seconds=5.0)

Progress = Callable[[float], None]


@dataclass(frozen=True, slots=True)
class Rate:
    """Of `windows` with this much noise, so many raised an alarm of this detector."""

    detector: str
    noise: float
    alarms: int
    windows: int


@dataclass(frozen=True, slots=True)
class ErrorRate:
    """At `rate` operations a second, of which `errors` fail by themselves: windows with a dip."""

    rate: float
    errors: float
    alarms: int
    windows: int


def false_alarms(
    windows: int, settings: MeasureSettings, seed: int, progress: Progress | None = None
) -> list[Rate]:
    """Return each detector's rate at each noise, over windows without a fault."""
    return _rates(windows, settings, seed, None, progress)


def finds(
    windows: int, settings: MeasureSettings, seed: int, progress: Progress | None = None
) -> list[Rate]:
    """Return the same over windows with `DIP`: here an alarm is right."""
    return _rates(windows, settings, seed, DIP, progress)


def error_rates(windows: int, settings: MeasureSettings, seed: int) -> list[ErrorRate]:
    """Return the rate of dips by success ratio where operations fail by themselves."""
    results = []
    for rate, errors in itertools.product(RATES, ERRORS):
        random = np.random.default_rng([seed, round(rate), round(errors * 1e6)])
        samples = (made_up(random, 0.0, settings, errors=errors, rate=rate) for _ in range(windows))
        alarms = sum(map(by_ratio, samples))
        results.append(ErrorRate(rate, errors, alarms, windows))
    return results


def of_windows(windows: Iterable[Window], noise: float) -> list[Rate]:
    """Return each detector's rate over given windows."""
    given = list(windows)
    return [
        Rate(name, noise, sum(detect(window) for window in given), len(given))
        for name, detect in DETECTORS.items()
    ]


def _rates(
    windows: int, settings: MeasureSettings, seed: int, dip: Dip | None, progress: Progress | None
) -> list[Rate]:
    rates = []
    for number, noise in enumerate(NOISES):
        random = np.random.default_rng([seed, number])
        rates += of_windows(
            (made_up(random, noise, settings, dip=dip) for _ in range(windows)), noise
        )
        if progress is not None:
            progress((number + 1) / len(NOISES))
    return rates
