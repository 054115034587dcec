"""The figures of a cell, two outcomes, and which engines are told apart."""

from tests.runs.gate.repeated import finished

from brownout.measure.impact import NEVER
from brownout.runs.book.cells import Cell, Pair, figure, pairs
from brownout.runs.book.record import Key
from brownout.runs.run_set import Runs


def runs_of(*blackouts: float | None) -> Runs:
    return Runs(
        finished(n, blackout=value, lost_seconds=value) for n, value in enumerate(blackouts)
    )


def cell(engine: str, *blackouts: float | None) -> Cell:
    return Cell(Key(engine, "kill", 0.25), runs_of(*blackouts), len(blackouts))


def test_runs_that_agree_have_a_median_a_worst_and_an_interval() -> None:
    found = figure("blackout", runs_of(2.0, 2.1, 2.2, 2.3, 2.4))
    assert found.two == ()
    assert found.words == "2.2 s, worst 2.4 s (2 s to 2.4 s)"


def test_a_figure_that_every_run_has_stands_alone() -> None:
    assert figure("blackout", runs_of(0.0, 0.0, 0.0, 0.0, 0.0)).words == "0 s"


def test_runs_that_clearly_disagree_are_two_outcomes_without_a_median() -> None:
    found = figure("blackout", runs_of(30.0, 4.0, 31.0, 4.1, 30.5))
    assert found.two == ((4.0, 4.1), (30.0, 30.5, 31.0))
    assert found.words == "4 s to 4.1 s (2 of 5), 30 s to 31 s (3 of 5)"


def test_what_never_came_is_worse_than_every_number() -> None:
    runs = Runs(
        finished(n, recovery_time=value) for n, value in enumerate((3.0, 3.1, 3.2, 3.3, NEVER))
    )
    assert figure("recovery_time", runs).words == "3.2 s, worst never (3 s to never)"
    all_of_them = Runs(finished(n, recovery_time=NEVER) for n in range(5))
    assert figure("recovery_time", all_of_them).words == "never (5 of 5)"


def test_what_was_not_measured_is_said_and_is_never_zero() -> None:
    assert figure("promoted_time", runs_of(2.0, 2.1, 2.2, 2.3, 2.4)).words == "not measured"
    some = figure("blackout", runs_of(2.0, None, 2.1, 2.2, 2.3))
    assert some.words == "2.2 s, worst 2.3 s, in 4 of 5"


def only(found: list[Pair]) -> dict[str, bool]:
    (pair,) = found
    return {each.measure: each.told_apart for each in pair.differences}


def test_two_engines_that_differ_by_chance_are_not_told_apart() -> None:
    one, two = cell("one", 2.0, 2.1, 2.2, 2.3, 9.0), cell("two", 2.1, 2.2, 2.5, 8.0, 9.5)
    assert not any(only(pairs([one, two])).values())


def test_two_engines_that_differ_in_every_run_are_told_apart_whichever_is_first() -> None:
    one, two = cell("one", 2.0, 2.1, 2.2, 2.3, 2.4), cell("two", 5.0, 5.1, 5.2, 5.3, 5.4)
    for order in ([one, two], [two, one]):
        assert only(pairs(order)) == {
            "blackout": True, "recovery_time": False, "lost_seconds": True,
        }  # fmt: skip


def test_a_difference_that_the_resolution_can_hide_is_none() -> None:
    one, two = cell("one", 2.0, 2.01, 2.02, 2.03, 2.04), cell("two", 2.1, 2.11, 2.12, 2.13, 2.14)
    assert not any(only(pairs([one, two])).values())


def test_with_fewer_than_five_runs_nothing_is_tested() -> None:
    (pair,) = pairs([cell("one", 2.0, 2.1, 2.2, 2.3), cell("two", 5.0, 5.1, 5.2, 5.3, 5.4)])
    assert all(each.shift is None and each.p is None for each in pair.differences)
