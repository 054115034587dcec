"""When something happened on another machine: bounds that hold whatever its clock says."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from brownout.machine.commands import Answer, Completed
from brownout.machine.moments import bracket

times = st.floats(min_value=0.0, max_value=5.0)


def done(sent: float, received: float, first_sent: float | None = None) -> Completed:
    return Completed(0, "", "", sent, received, sent if first_sent is None else first_sent)


def said(**seconds: float) -> Answer:
    lines = [(f"stamp_{name}", str(round(value * 1e9))) for name, value in seconds.items()]
    return Answer(tuple(lines))


def test_the_round_trip_and_the_polls_of_the_script_bound_the_effect() -> None:
    # 10 ms to get there, 30 ms to get back, on a clock that is 1000 s ahead of ours.
    found = bracket(
        done(100.0, 101.0), said(began=1100.01, last_no=1100.2, first_yes=1100.21, ended=1100.97)
    )

    assert [round(value, 3) for value in found] == [100.24, 0.05]


@given(times, times, times, times, times, st.floats(min_value=-1e8, max_value=1e8))
def test_the_effect_lies_within_the_bounds_for_every_clock_and_every_delay(
    there: float, before: float, gap: float, after: float, back: float, ahead: float
) -> None:
    sent = 1000.0
    began = sent + there
    last_no, first_yes = began + before, began + before + gap
    ended = first_yes + after
    stamps = said(
        began=2e8 + ahead + began,
        last_no=2e8 + ahead + last_no,
        first_yes=2e8 + ahead + first_yes,
        ended=2e8 + ahead + ended,
    )

    latest, width = bracket(done(sent, ended + back), stamps)

    slack = 1e-6  # of floats around 3e8
    assert latest >= first_yes - slack
    assert latest - width <= last_no + slack
    assert width <= gap + there + back + 2 * slack


def test_a_script_of_our_own_machine_is_read_by_our_own_clock() -> None:
    here = replace(done(100.0, 101.0), ahead_s=1000.0)
    found = bracket(here, said(began=1100.4, last_no=1100.5, first_yes=1100.51, ended=1100.6))

    assert [round(value, 3) for value in found] == [100.51, 0.01]


def test_without_a_last_no_it_may_have_been_since_the_first_attempt() -> None:
    stamps = said(began=5.0, first_yes=5.0, ended=5.1)

    latest, width = bracket(done(20.0, 20.1, first_sent=12.0), stamps)

    assert (round(latest, 6), round(latest - width, 6)) == (20.0, 12.0)


def test_a_clock_that_was_set_in_between_is_not_believed() -> None:
    stamps = said(began=5.0, last_no=5.1, first_yes=3605.2, ended=3605.3)

    assert bracket(done(20.0, 20.5), stamps) == (20.5, 0.5)


def test_what_stamped_nothing_lies_between_the_request_and_the_answer() -> None:
    assert bracket(done(20.0, 20.5), Answer(())) == (20.5, 0.5)
