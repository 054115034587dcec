"""What the generator missed may have been served or lost: every measure says between what it is.

The properties: the worst case is never better than the best; and however each missed operation
would have ended, what is measured then lies between the two.
"""

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from brownout.measure.assess import assess
from brownout.measure.data import RunData, Stream
from brownout.measure.impact import NEVER, Fault
from brownout.measure.measures import MEASURES, is_at_least
from brownout.measure.ranges import rounded
from brownout.measure.settings import MeasureSettings
from brownout.measure.signal import signal_of
from brownout.run.events import Event
from brownout.run.table import OUTCOME_COLUMNS, SERIES_COLUMNS, Series, Table, frozen

LAB = MeasureSettings.lab()
KEYS = (("app", "read"), ("app", "update"))
BASELINE, LENGTH, FAULT_AT = 220, 400, 22.0
Counts = npt.NDArray[np.int64]
#: What stands for itself: by wall of the cluster, or of what no operation is counted in.
COUNTED = [m.name for m in MEASURES if m.per_scope and m.limitable and "." not in m.name]


def run_of(offered: Counts, failed: Counts, missed: Counts) -> RunData:
    """Return a load in which everything ends in the bucket that it was to start in."""
    ok = offered - failed - missed
    columns = {"offered": offered, "ok": ok, "failed": failed, "missed": missed}

    def table(names: tuple[str, ...]) -> Table:
        nothing = np.zeros_like(offered)
        return Table(KEYS, frozen({name: columns.get(name, nothing) for name in names}))

    series = Series(table(SERIES_COLUMNS), table(OUTCOME_COLUMNS))
    broken = Event(1, "break", "kill_node", requested=FAULT_AT, effective=FAULT_AT)
    return RunData(series, [broken], [Stream("app")], LAB, end=LENGTH / 10)


def measured(data: RunData) -> Fault:
    (fault,) = assess(data).faults
    return rounded(fault)


def ends(fault: Fault, name: str, scope: str) -> tuple[float, float]:
    """Return the best and the worst of a measure, as numbers."""
    if (found := fault.range(name, scope)) is not None:
        best, worst = (NEVER if end is None else end for end in found)
        return best, worst
    value = fault.value(name, scope)
    assert value is not None
    return value, value


def never_stood_still(data: RunData) -> bool:
    """Whether the best case has what was missed as served, and no failure besides."""
    best = signal_of(data.series, "total", "best")
    born = data.series.outcomes
    return bool((best.served == born.total("total", "ok", "missed")).all())


def known(fault: Fault, name: str, scope: str) -> bool:
    return fault.range(name, scope) is not None or fault.value(name, scope) is not None


@st.composite
def loads(draw: st.DrawFn) -> tuple[Counts, Counts, Counts, Counts]:
    """A steady load, of which some fails and some is missed after the fault; then how much of
    what was missed would have failed."""
    rate = draw(st.sampled_from([1, 3, 10, 40]))
    offered = np.full((LENGTH, 2), rate, np.int64)
    failed, missed, lost = (np.zeros_like(offered) for _ in range(3))
    for _ in range(draw(st.integers(1, 6))):
        target = draw(st.sampled_from([failed, missed]))
        first = draw(st.integers(BASELINE, LENGTH - 2))
        length = draw(st.integers(1, 60))
        column = draw(st.sampled_from([slice(None), slice(0, 1), slice(1, 2)]))
        target[first : first + length, column] = draw(st.integers(1, rate))
    missed = np.minimum(missed, offered - failed)
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    lost = random.binomial(missed, draw(st.sampled_from([0.0, 0.3, 0.7, 1.0])))
    return offered, failed, missed, lost


@given(loads())
@settings(max_examples=40)
def test_the_worst_case_is_never_better_than_the_best(
    load: tuple[Counts, Counts, Counts, Counts],
) -> None:
    offered, failed, missed, _ = load
    fault = measured(run_of(offered, failed, missed))
    for scope in ("total", "read", "write", "app"):
        for name in COUNTED:
            if known(fault, name, scope):
                best, worst = ends(fault, name, scope)
                assert best >= worst if is_at_least(name) else best <= worst, (name, scope)


@given(loads())
@settings(max_examples=40)
def test_however_what_was_missed_would_have_ended_it_lies_between(
    load: tuple[Counts, Counts, Counts, Counts],
) -> None:
    offered, failed, missed, lost = load
    starved = measured(run_of(offered, failed, missed))
    truth = measured(run_of(offered, failed + lost, missed * 0))
    for scope in ("total", "read", "write", "app"):
        for name in COUNTED:
            if not known(truth, name, scope):
                continue
            low, high = sorted(ends(starved, name, scope))
            found = sorted(ends(truth, name, scope))
            assert low - 1e-6 <= found[0], (name, scope, (low, high), found)
            assert found[1] <= high + 1e-6, (name, scope, (low, high), found)


@given(loads())
@settings(max_examples=20)
def test_the_more_is_known_the_narrower_it_gets(
    load: tuple[Counts, Counts, Counts, Counts],
) -> None:
    offered, failed, missed, lost = load
    known_less = run_of(offered, failed, missed)
    known_more = run_of(offered, failed + lost, missed - lost)
    # One failure more may look like a generator that stood still, which is to know less, not more.
    assume(never_stood_still(known_less) and never_stood_still(known_more))
    less, more = measured(known_less), measured(known_more)
    for name in COUNTED:
        if known(more, name, "total"):
            wide, narrow = sorted(ends(less, name, "total")), sorted(ends(more, name, "total"))
            assert wide[0] - 1e-6 <= narrow[0], (name, wide, narrow)
            assert narrow[1] <= wide[1] + 1e-6, (name, wide, narrow)


@given(loads())
@settings(max_examples=20)
def test_where_nothing_was_missed_both_cases_are_the_same_number(
    load: tuple[Counts, Counts, Counts, Counts],
) -> None:
    offered, failed, missed, _ = load
    fault = measured(run_of(offered, failed, missed * 0))
    waits = ("recovery_time", "settled_time", "client_recovered_time")
    waited = {name for name in waits if fault.number(name) is None}
    assert set(fault.scopes["total"].ranges) <= waited


def test_a_recovery_that_nobody_observed_was_no_sooner_than_the_last_failure() -> None:
    offered = np.full((LENGTH, 2), 40, np.int64)
    failed = np.zeros_like(offered)
    failed[220:370] = 40  # until 37 s; the load ends at 40 s, and a hold takes 5 s
    fault = measured(run_of(offered, failed, failed * 0))
    assert fault.number("recovery_time") is None
    found = fault.range("recovery_time")
    assert found is not None
    assert found[0] == pytest.approx(15.0)
    assert found[1] is None


def test_an_unsteady_throughput_leaves_what_is_made_of_it_unmeasured() -> None:
    offered = np.full((LENGTH, 2), 40, np.int64)
    offered[100:200] = 60
    failed = np.zeros_like(offered)
    failed[230:250] = 40
    data = run_of(offered, failed, failed * 0)
    fault = measured(data)
    base = assess(data).baseline
    assert [test.name for test in base.tests if not test.ok] == ["halves", "variation"]
    assert (base.ok, base.stable, base.failed) == (False, True, ())
    assert [fault.number(m) for m in ("tps_drop", "mean_drop", "tps_drop_100ms")] == [None] * 3
    assert fault.number("blackout") == pytest.approx(2.0)
    assert fault.number("recovery_time") == pytest.approx(3.0)
