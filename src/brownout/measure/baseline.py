"""Is the load steady enough to be measured against? Each test by name, with value and limit."""

from dataclasses import dataclass

import numpy as np

from brownout.measure.bootstrap import Interval
from brownout.measure.level import Level, level_of
from brownout.measure.noise import noise_of
from brownout.measure.settings import MeasureSettings
from brownout.measure.signal import Floats, Signal, bucket_range, signal_of, sum_of, trailing_rate
from brownout.run.table import BUCKETS_PER_S, Series, bucket_of

__all__ = ["OF_THROUGHPUT", "Baseline", "BaselineFigures", "Check", "check", "steadiness"]

#: The tests that look at T and at nothing else.
OF_THROUGHPUT = ("drift", "halves", "variation")


@dataclass(frozen=True, slots=True)
class Check:
    """One test of a baseline: `value` must be at most `limit` (`length`, `delivered`: at least)."""

    name: str
    ok: bool
    value: float
    limit: float
    detail: str


@dataclass(frozen=True, slots=True)
class BaselineFigures:
    """What an impact has of a baseline; without tests nothing is known of it."""

    tps: float = 0.0
    low: float | None = None
    high: float | None = None
    stable: bool = False
    throughput_known: bool = True
    start: float = 0.0
    end: float = 0.0
    sigma: float = 0.0
    theta: float | None = None
    theta_100ms: float | None = None
    detectable_drop: float | None = None
    tests: tuple[Check, ...] = ()

    @property
    def interval(self) -> Interval | None:
        """The 95 % interval of `tps`."""
        return None if self.low is None or self.high is None else (self.low, self.high)


@dataclass(frozen=True, slots=True)
class Baseline:
    """The level of the whole load before anything was broken, and whether it was steady.

    Tests: `length`, `drift`, `halves`, `variation`, `errors`, `missed`, `starved`, `shed`,
    `delivered` and, where it is known, `migrations`.
    """

    level: Level
    tests: tuple[Check, ...]
    open_loop: bool = False

    @property
    def ok(self) -> bool:
        """Whether every test is passed."""
        return all(test.ok for test in self.tests)

    @property
    def stable(self) -> bool:
        """Whether every test of stability that the loop needs is passed; whether the load is
        delivered is another."""
        return all(test.name == "delivered" for test in self.failed)

    @property
    def throughput_known(self) -> bool:
        """Whether throughput was steady enough for measures that are made of it."""
        return all(test.ok for test in self.tests if test.name in (*OF_THROUGHPUT, "missed"))

    @property
    def failed(self) -> tuple[Check, ...]:
        """The tests that keep a run from being judged.

        In open loop those of throughput do not, nor does a schedule of which a little was missed:
        all that is counted by success ratio holds, between its best and its worst case.
        """
        spared = (*OF_THROUGHPUT, "missed") if self.open_loop else ()
        return tuple(test for test in self.tests if not test.ok and test.name not in spared)

    @property
    def tps(self) -> float:
        """B: ok per second, the median of T."""
        return self.level.tps

    def test(self, name: str) -> Check:
        """Return the test `name`."""
        return next(test for test in self.tests if test.name == name)

    def figures(self, interval: Interval | None) -> BaselineFigures:
        """Return what an impact has of it; `interval` is the 95 % interval of `tps`."""
        low, high = interval or (None, None)
        return BaselineFigures(
            tps=self.tps,
            low=low,
            high=high,
            stable=self.stable,
            throughput_known=self.throughput_known,
            start=self.level.start,
            end=self.level.end,
            sigma=self.level.sigma,
            theta=self.level.theta,
            theta_100ms=self.level.theta_bucket,
            detectable_drop=self.level.detectable,
            tests=self.tests,
        )


def check(
    series: Series, end_t: float, settings: MeasureSettings, migrating: bool | None = None
) -> Baseline:
    """Judge the last `baseline_s` seconds up to `end_t`, also while the load still runs.

    `migrating` says whether data was moving between nodes meanwhile, where that is known. Never
    raises: too short a series fails the test `length`.
    """
    signal = signal_of(series, "total")
    end = max(0, min(bucket_of(end_t), len(signal.ok))) / BUCKETS_PER_S
    level = level_of(signal, max(0.0, end - settings.baseline_s), end, settings)
    tests = (*steadiness(signal, level, settings), *_ends(signal, level, settings))
    if migrating is not None:
        detail = "data is moving between nodes" if migrating else "no data is moving between nodes"
        tests += (Check("migrations", not migrating, float(migrating), 0.0, detail),)
    return Baseline(level, tests, signal.open_loop)


def steadiness(signal: Signal, level: Level, settings: MeasureSettings) -> tuple[Check, ...]:
    """How level the throughput was; each limit is widened by what its own noise does."""
    here = bucket_range(level.start, level.end, len(signal.ok))
    length, wanted = (here.stop - here.start) / BUCKETS_PER_S, settings.baseline_s
    enough = length >= wanted - 0.05 and level.tps > 0
    rates = trailing_rate(signal.ok)[here]
    rates = rates[~np.isnan(rates)]
    drift = abs(theil_sen(_seconds(signal, here))) * length / level.tps if level.tps else np.inf
    ok = signal.ok[here].astype(np.float64)
    noise = noise_of(ok, level.sigma, settings.variation_max)
    of_spread = settings.variation_max * noise.spread
    return (
        Check(
            "length", enough, length, wanted,
            f"{length:.1f} s at {level.tps:,.1f} ok/s, at least {wanted:g} s of load wanted",
        ),
        _at_most("drift", float(drift), settings.drift_max, "of throughput over the baseline",
                 noise.drift),
        _at_most("halves", _halves(rates, level.tps), settings.halves_max,
                 "between the medians of its halves", noise.halves),
        _at_most("variation", level.sigma / level.tps if level.tps else np.inf,
                 settings.variation_max, "robust coefficient of variation", of_spread),
    )  # fmt: skip


def _ends(signal: Signal, level: Level, settings: MeasureSettings) -> tuple[Check, ...]:
    """How the operations ended."""
    here = bucket_range(level.start, level.end, len(signal.ok))
    offered = sum_of(signal.offered[here])
    ok, errors = sum_of(signal.ok[here]), sum_of(signal.errors[here])
    missed, shed = sum_of(signal.missed[here]), sum_of(signal.shed[here])
    most = max(1.0, settings.error_ratio_max * offered)
    # Of what was sent: what was missed has tests of its own. What was under way when the baseline
    # began may make it one more than was offered.
    sent = offered - missed
    achieved = min(1.0, ok / sent) if sent > 0 else 0.0
    missed_ratio = missed / offered if offered else 0.0
    return (
        Check("errors", errors <= most, errors, most,
              f"{errors:,.0f} errors of {offered:,.0f} operations, at most {most:.0f} allowed"),
        _at_most("missed", missed_ratio, settings.missed_ratio_max,
                 "of its schedule missed by the generator"),
        _at_most("starved", missed_ratio, settings.starved_ratio_max,
                 "of its schedule missed by a starved generator"),
        Check("shed", shed == 0, shed, 0.0, f"{shed:,.0f} operations shed, none allowed"),
        Check("delivered", achieved >= settings.achieved_min, achieved, settings.achieved_min,
              f"{achieved:.2%} of {sent:,.0f} sent were served, "
              f"at least {settings.achieved_min:.0%} wanted"),
    )  # fmt: skip


def _at_most(name: str, value: float, limit: float, what: str, noise: float = 0.0) -> Check:
    value = value if np.isfinite(value) else 1.0  # nothing was served: as unsteady as can be
    widest = limit + noise
    words = f"{value:.2%} {what}, at most {widest:.2%}"
    if noise >= 0.00005:
        words += f" ({limit:.2%}, and {noise:.2%} that noise may do)"
    return Check(name, value <= widest, value, widest, words)


def _halves(rates: Floats, tps: float) -> float:
    """Return how far the medians of the two halves are apart, against B."""
    half = len(rates) // 2
    if not half or not tps:
        return float("inf")
    return float(abs(np.median(rates[:half]) - np.median(rates[half:])) / tps)


def _seconds(signal: Signal, here: slice) -> Floats:
    """Return ok per second as means of whole seconds, the last ones of the baseline."""
    whole = (here.stop - here.start) // BUCKETS_PER_S
    ok = signal.ok[here.stop - whole * BUCKETS_PER_S : here.stop]
    return np.asarray(ok.reshape(whole, BUCKETS_PER_S).sum(axis=1), np.float64)


def theil_sen(values: Floats) -> float:
    """Return the median slope of all pairs of values, per step; 0 for fewer than two."""
    if len(values) < 2:
        return 0.0
    first, second = np.triu_indices(len(values), 1)
    return float(np.median((values[second] - values[first]) / (second - first)))
