"""Rows longer than a bucket: what they cannot tell is a range, whatever the phase of the fault."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.fuzzing import fuzzed

from brownout.measure import series_impact
from brownout.measure.impact import Fault

RATE = 100.0


def outage(row_s: float, begin: float, length: float, with_offered: bool = False) -> Fault:
    """Return what an outage of `length` seconds from `begin` on does to rows of `row_s`."""
    t = np.arange(0, 480 / row_s) * row_s
    dark = np.clip(np.minimum(t + row_s, begin + length) - np.maximum(t, begin), 0, row_s)
    offered = np.full(len(t), RATE * row_s)
    counts = offered - RATE * dark
    found = series_impact(t, counts, offered if with_offered else None, fault_at=begin)
    return found.faults[0]


@fuzzed(in_ci=20)
@given(
    row_s=st.sampled_from((1.0, 5.0, 15.0, 30.0, 60.0)),
    begin=st.floats(240, 330),
    length=st.floats(2, 90),
    with_offered=st.booleans(),
)
def test_the_truth_lies_within_the_range(
    row_s: float, begin: float, length: float, with_offered: bool
) -> None:
    assume(length > 0.1 * row_s)  # less than the noise of a row is not seen
    fault = outage(row_s, begin, length, with_offered)
    unseen = 0.31 + 0.05 * row_s  # a bucket or three, and what noise hides of an edge
    for name in ("blackout", "recovery_time"):
        value = fault.number(name) or 0.0
        low, high = fault.range(name) or (value, value)
        assert low is not None
        assert high is not None
        assert low - unseen <= length <= high + unseen, name
    assert fault.number("blackout") == pytest.approx(length, abs=unseen)
    assert fault.number("lost_operations") == pytest.approx(RATE * length, rel=0.1)


def test_a_row_without_loss_has_no_outage() -> None:
    assert outage(30.0, 247.0, 0.0).number("blackout") == 0.0
    assert outage(30.0, 247.0, 0.0).range("blackout") is None
