"""Over repeats: the median, the worst, and an interval where there are enough."""

from typing import Any

import pytest

from brownout.measure.measures import MEASURES
from brownout.runs.repeats.distribution import Spread, spreads

NAMES = [measure.name for measure in MEASURES if "." not in measure.name]


def impact(**measures: Any) -> dict[str, Any]:
    fault = {"effective": 20.0, **dict.fromkeys(NAMES, 0.0), **measures}
    return {"faults": [fault], "ledger": {"state": "clean", "lost": 0}}


def spread(measure: str, *values: Any) -> Spread:
    found = spreads([impact(**{measure: value}) for value in values])
    return next(one for one in found if one.measure == measure)


def test_median_and_worst_are_of_all_repeats() -> None:
    found = spread("tps_drop", 0.1, 0.5, 0.2)
    assert (found.median, found.worst) == (0.2, 0.5)


def test_the_worst_availability_is_the_lowest() -> None:
    assert spread("availability", 0.99, 0.9, 0.999).worst == 0.9


def test_a_recovery_that_was_never_seen_is_worse_than_any() -> None:
    found = spread("recovery_time", 3.0, None, 4.0)
    assert (found.never, found.median, found.worst) == (1, 4.0, None)


def test_a_measure_that_is_not_known_is_left_out_and_not_the_worst() -> None:
    found = spread("tps_drop", 0.1, None, 0.3)
    assert (found.never, found.worst) == (0, 0.3)


def test_a_milestone_counts_by_the_look_that_saw_it() -> None:
    assert spread("rejoin_time", [2.0, 2.1], [3.0, 3.1], [4.0, 4.2]).median == 3.1


def test_few_repeats_have_no_interval() -> None:
    assert spread("tps_drop", 0.1, 0.2, 0.3, 0.4).low is None


def test_the_interval_holds_the_median_and_lies_within_the_values() -> None:
    values = [0.10, 0.14, 0.12, 0.30, 0.11, 0.13, 0.16, 0.15, 0.12, 0.14]
    found = spread("tps_drop", *values)
    assert found.low is not None
    assert found.high is not None
    assert found.median is not None
    assert min(values) <= found.low <= found.median <= found.high < max(values)


def test_lost_writes_are_the_ledgers() -> None:
    found = spreads([{**impact(), "ledger": {"state": "lost", "lost": 7}}])
    assert next(one for one in found if one.measure == "lost_writes").worst == 7


@pytest.mark.parametrize("faults", [[], [{**dict.fromkeys(NAMES), "effective": None}]])
def test_a_run_in_which_nothing_was_broken_counts_for_nothing(faults: list[Any]) -> None:
    nothing = {"faults": faults, "ledger": {"state": "unknown", "lost": 0}}
    assert spreads([nothing]) == []
    (recovery,) = [
        found
        for found in spreads([nothing, impact(recovery_time=3.0)])
        if found.measure == "recovery_time"
    ]
    assert (recovery.values, recovery.never) == ((3.0,), 0)
