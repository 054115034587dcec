"""Whether two systems differ, by the gate's test, neither being the baseline of the other. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from brownout.measure.measures import find, split
from brownout.runs.gate.decision import ALPHA
from brownout.runs.gate.ranks import Shift, holm, shift
from brownout.runs.run_set import LEAST, Runs

__all__ = ["Difference", "differences"]


@dataclass(frozen=True, slots=True)
class Difference:
    """One measure of two systems, `shift` being how much higher it is in the second.

    `p` is two-sided and corrected for the number of measures. Without enough values on either side
    there is no test, and `shift` and `p` are None.
    """

    measure: str
    shift: Shift | None = None
    p: float | None = None

    @property
    def told_apart(self) -> bool:
        """Whether the two are called different: by more than can hide, and by no chance."""
        if self.shift is None or self.p is None:
            return False
        measure = find(split(self.measure)[1])
        floor = measure.unit.floor if measure else 1.0
        return self.p <= ALPHA and abs(self.shift.estimate) > floor


def differences(first: Runs, second: Runs, measures: Sequence[str]) -> list[Difference]:
    """Compare each of some measures, of which all together are called different by chance 1 in 20.

    A wait that never ended ranks above every value.
    """
    tests = [_test(first, second, name) for name in measures]
    tested = [each for each in tests if each.p is not None]
    chances = dict(
        zip((t.measure for t in tested), holm([t.p or 0.0 for t in tested]), strict=True)
    )
    return [Difference(each.measure, each.shift, chances.get(each.measure)) for each in tests]


def _test(first: Runs, second: Runs, measure: str) -> Difference:
    one, two = ([v for run in runs if (v := run.value(measure)) is not None]
                for runs in (first, second))  # fmt: skip
    if min(len(one), len(two)) < LEAST:
        return Difference(measure)
    difference = shift(one, two)
    return Difference(measure, difference, min(1.0, 2 * min(difference.p, shift(two, one).p)))
