"""Every number that the measures are defined by, with its default and what the lab uses."""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Self

from brownout.base.errors import ConfigurationError

__all__ = ["MeasureSettings"]


@dataclass(frozen=True, slots=True)
class MeasureSettings:
    """How a run is measured. Times in seconds, ratios from 0 to 1.

    The baseline is the last `baseline_s` seconds ending `baseline_gap_s` before the first
    request; it is awaited for `warmup_max_s` at most. Service is back when it has held for
    `hold_s`. `resolution_s` adds the throughput drop as a graph of that resolution shows it.
    """

    baseline_s: float = 60.0
    #: Ten blocks of a second: with fewer, no test can decide whether a load is steady.
    baseline_min_s: float = 10.0
    baseline_gap_s: float = 1.0
    warmup_max_s: float = 300.0
    hold_s: float = 10.0
    #: A milestone is reached at the first look of an unbroken row of yes that lasts so long.
    milestone_hold_s: float = 3.0
    #: The tests of a stable baseline.
    drift_max: float = 0.03
    halves_max: float = 0.02
    variation_max: float = 0.10
    error_ratio_max: float = 0.0001
    missed_ratio_max: float = 0.001
    achieved_min: float = 0.99
    #: A dip by success ratio: fewer ok than this, judged on at least so many operations.
    dip_ratio: float = 0.99
    dip_operations: int = 20
    dip_gap_s: float = 0.3
    #: A dip by throughput: never nearer to the baseline than this, or than the noise allows.
    theta_min: float = 0.05
    theta_deepest: float = 1.25
    #: A drop below so many sigma is within the noise: 2 to 4 % false alarms a window.
    detectable_sigmas: float = 4.0
    #: Errors over the hold: this much above the baseline's ratio, or this many operations.
    hold_error_ratio: float = 0.001
    hold_operations: int = 1
    #: So many operations have to be expected before that none comes in is a blackout.
    blackout_operations: int = 5
    #: Moving-block bootstrap.
    block_s: float = 5.0
    blocks_min: int = 10
    resamples: int = 2000
    #: From here on, and from `missed_ratio_max`, a result says that its generator was starved.
    lag_p99_max_ms: float = 50.0
    #: Beyond this much missed, the ranges would be too wide to say anything.
    starved_ratio_max: float = 0.05
    resolution_s: float | None = None
    #: The error budget that `budget_share` is a share of: 1 less the objective, over so many days.
    budget_objective: float = 0.9995
    budget_days: float = 30.0

    @classmethod
    def default(cls) -> Self:
        """Return the settings for a cluster of its own."""
        return cls()

    @classmethod
    def lab(cls) -> Self:
        """Return the settings for the embedded lab: small, noisy, and quick to recover."""
        return cls(
            baseline_s=20.0,
            warmup_max_s=120.0,
            hold_s=5.0,
            milestone_hold_s=1.0,
            drift_max=0.08,
            halves_max=0.05,
            block_s=1.0,
        )

    @classmethod
    def from_mapping(cls, values: Mapping[str, Any]) -> Self:
        """Make settings from a run's record; what is not in it has its default.

        Raises `ConfigurationError` with every unknown name and unusable value.
        """
        field_names = {field.name for field in fields(cls)}
        problems = [
            f"settings.{name}: unknown setting" for name in values if name not in field_names
        ]
        for name, value in values.items():
            optional = name == "resolution_s" and value is None
            if name in field_names and not optional and not _usable(value):
                problems.append(f"settings.{name}: found {value!r}, wanted a number of 0 or more")
        if problems:
            raise ConfigurationError(problems)
        return cls(**values)

    def as_dict(self) -> dict[str, Any]:
        """Return the settings as JSON data."""
        return asdict(self)


def _usable(value: Any) -> bool:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return number and math.isfinite(value) and value >= 0
