"""What one fault was measured to be, out of a run's documents: plain values for judging."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from brownout.calibration.layout import Placed
from brownout.calibration.running import Driven

__all__ = ["Found", "found_of"]

Dips = list[tuple[float, float]]


@dataclass(frozen=True, slots=True)
class Found:
    """One scenario as measured; times in seconds since the schedule's start.

    `dips` are by success ratio, `throughput_dips` from `ok` alone; `theta` is what the latter take
    for noise. `base` is where the baseline lay, `end` where the episode ended. `stall_s` is how
    late the generator was at worst meanwhile, by its own account, `base_stall_s` in the baseline.
    """

    base: tuple[float, float]
    end: float
    theta: float
    fault: Mapping[str, Any]
    ledger: Mapping[str, Any]
    dips: Dips
    throughput_dips: Dips
    stall_s: float
    base_stall_s: float

    def value(self, name: str) -> float | None:
        """Return a measure of the fault by its name in impact.json."""
        value = self.fault[name]
        return None if value is None else float(value)


def found_of(driven: Driven, placed: Placed) -> Found:
    """Return what was measured of one scenario of a run."""
    number = driven.plan.placed.index(placed)
    fault = driven.impact["faults"][number]
    blind = driven.by_throughput.faults[number].scopes["total"]
    base = driven.impact["baseline"]
    return Found(
        base=(float(base["start"]), float(base["end"])),
        end=float(fault["end"]),
        theta=blind.drops.theta,
        fault=fault,
        ledger=driven.impact["ledger"],
        dips=[(start, end) for start, end in fault["dips"]],
        throughput_dips=[(dip.start, dip.end) for dip in blind.course.dips],
        stall_s=driven.latest(placed.at - 1.0, placed.until),
        base_stall_s=driven.latest(float(base["start"]), float(base["end"])),
    )
