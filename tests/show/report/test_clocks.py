"""The three clocks stand on one axis, with what is uncertain and what never came."""

from tests.impacts import fault_of

from brownout.measure.impact import Judged
from brownout.show.report.clocks import clocks
from brownout.show.report.words import NOT_SEEN

FAULT = {
    "effective": 25.0,
    "recovery_time": 3.0,
    "settled_time": 2.5,
    "rejoin_time": [7.9, 8.1],
    "redundancy_time": [9.9, 10.0],
}


def slo(name: str, limit: float) -> Judged:
    return Judged(name, "total", None, limit=limit)


def test_bars_end_where_their_clocks_stopped() -> None:
    found = clocks(fault_of(FAULT), [], "n1 killed")
    assert found is not None
    shares = {bar.name: (bar.sure + bar.unsure) / 100 * found.axis.high for bar in found.bars}
    assert {name: round(share, 6) for name, share in shares.items()} == {
        "service recovered": 3.0,
        "last dip over": 2.5,
        "rejoined": 8.1,
        "redundancy restored": 10.0,
    }


def test_between_two_polls_a_bar_is_unsure() -> None:
    found = clocks(fault_of(FAULT), [], "n1 killed")
    assert found is not None
    rejoined = found.bars[2]
    assert round(rejoined.sure / 100 * found.axis.high, 6) == 7.9
    assert rejoined.unsure > 0
    assert found.bars[0].unsure == 0


def test_a_limit_nearby_is_drawn_and_one_far_off_only_told() -> None:
    found = clocks(
        fault_of(FAULT), [slo("recovery_time", 12.0), slo("redundancy_time", 600.0)], "n1"
    )
    assert found is not None
    near, far = found.bars[0], found.bars[3]
    assert near.goal is not None
    assert round(near.goal / 100 * found.axis.high, 6) == 12.0
    assert (far.goal, far.goal_words) == (None, "limit 10 min 0 s")


def test_what_never_came_fills_the_axis() -> None:
    found = clocks(fault_of(FAULT | {"redundancy_time": None}), [], "n1 killed")
    assert found is not None
    never = found.bars[3]
    assert (never.reached, never.sure, never.words) == (False, 100.0, NOT_SEEN)


def test_without_an_effect_no_clock_was_started() -> None:
    assert clocks(fault_of(FAULT | {"effective": None}), [], "n1 killed") is None
