"""What one fault was measured to be, out of a run's documents: plain values for judging."""

from dataclasses import dataclass

from brownout.calibration.layout import Placed
from brownout.calibration.trial import Driven
from brownout.measure.impact import Fault
from brownout.run.ledger import Ledger

__all__ = ["Measured", "measured_of"]

Dips = list[tuple[float, float]]


@dataclass(frozen=True, slots=True)
class Measured:
    """One scenario as measured; times in seconds since the schedule's start.

    `dips` are by success ratio, `throughput_dips` from `ok` alone; `theta` is what the latter take
    for noise. `base` is where the baseline lay, `end` where the episode ended. `stall_s` is how
    late the generator was at worst meanwhile, by its own account, `base_stall_s` in the baseline;
    `held_up_s` how long the machine held an operation up at worst that no effect hit.
    """

    base: tuple[float, float]
    end: float
    theta: float
    fault: Fault
    ledger: Ledger
    dips: Dips
    throughput_dips: Dips
    stall_s: float
    base_stall_s: float
    held_up_s: float

    def value(self, name: str) -> float | None:
        """Return a measure of the fault by its name in impact.json."""
        return self.fault.number(name)


def measured_of(driven: Driven, placed: Placed) -> Measured:
    """Return what was measured of one scenario of a run."""
    number = driven.plan.placed.index(placed)
    fault = driven.impact.faults[number]
    blind = driven.by_throughput.faults[number].scopes["total"]
    base = driven.impact.baseline
    return Measured(
        base=(base.start, base.end),
        end=fault.until if fault.end is None else fault.end,
        theta=blind.drops.theta,
        fault=fault,
        ledger=driven.impact.ledger,
        dips=[(dip.start, dip.end) for dip in fault.scopes["total"].course.dips],
        throughput_dips=[(dip.start, dip.end) for dip in blind.course.dips],
        stall_s=driven.latest(placed.at - 1.0, placed.until),
        base_stall_s=driven.latest(base.start, base.end),
        held_up_s=driven.held_up(placed),
    )
