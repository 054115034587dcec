"""A figure explains itself when an assertion on it does not hold, and is a number otherwise."""

import pickle

import pytest

from brownout.measure.impact import NEVER
from brownout.testing.value import Context, Measured, explained

DROP = Measured(0.35, Context("tps_drop", "write", "runs/x/report.html", (0.3, 0.4), 0.1))


def test_it_is_a_number() -> None:
    assert DROP == 0.35
    assert sum([DROP, 1]) == pytest.approx(1.35)
    assert type(DROP * 2) is float
    assert repr(DROP) == "<write.tps_drop 35 %>"


def test_it_survives_being_copied_between_processes() -> None:
    again = pickle.loads(pickle.dumps(DROP))
    assert (again, again.context) == (DROP, DROP.context)


def test_it_says_value_limit_interval_baseline_and_report() -> None:
    assert explained("<=", DROP, 0.2) == [
        "<write.tps_drop 35 %> <= 20 %",
        "95 % interval: 30 % to 40 %, all of it beyond the limit",
        "baseline: 10 %, the pinned median",
        "report: runs/x/report.html",
    ]


@pytest.mark.parametrize(("limit", "words"), [(0.32, "keeps the limit"), (0.2, "beyond")])
def test_it_says_whether_some_of_the_interval_keeps_the_limit(limit: float, words: str) -> None:
    found = explained("<", DROP, limit)
    assert found is not None
    assert words in found[1]


def test_it_explains_itself_from_the_right_side_too() -> None:
    assert explained(">=", 0.2, DROP) == explained("<=", DROP, 0.2)


def test_what_never_came_is_said_so() -> None:
    never = Measured(NEVER, Context("recovery_time"))
    assert repr(never) == "<recovery_time never>"
    assert not never <= 1e12


def test_a_count_of_the_ledger_is_no_time() -> None:
    assert explained("==", Measured(1200, Context("ledger.lost", report="r")), 0) == [
        "<ledger.lost 1,200> == 0",
        "95 % interval: none, one run is one fault",
        "report: r",
    ]


def test_others_are_left_alone() -> None:
    assert explained("<=", 1.0, 2.0) is None
    assert explained("in", DROP, [1.0]) is None
