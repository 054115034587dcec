"""When something happened on another machine: bounds that hold whatever its clock says."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from brownout.machine.commands import Answer, Completed
from brownout.machine.moments import bracket

#: In nanoseconds, as stamps are: floats around the time of a clock are 30 ns apart or more.
times = st.integers(0, 5 * 10**9)


def done(sent: float, received: float, first_sent: float | None = None) -> Completed:
    return Completed(0, "", "", sent, received, sent if first_sent is None else first_sent)


def stamped(**ns: int) -> Answer:
    return Answer(tuple((f"stamp_{name}", str(value)) for name, value in ns.items()))


def said(**seconds: float) -> Answer:
    return stamped(**{name: round(value * 1e9) for name, value in seconds.items()})


def test_the_round_trip_and_the_polls_of_the_script_bound_the_effect() -> None:
    # 10 ms to get there, 30 ms to get back, on a clock that is 1000 s ahead of ours.
    found = bracket(
        done(100.0, 101.0), said(began=1100.01, last_no=1100.2, first_yes=1100.21, ended=1100.97)
    )

    assert [round(value, 3) for value in found] == [100.24, 0.05]


@given(times, times, times, times, times, st.integers(-(10**17), 10**17))
def test_the_effect_lies_within_the_bounds_for_every_clock_and_every_delay(
    there: int, before: int, gap: int, after: int, back: int, ahead: int
) -> None:
    sent = 1000 * 10**9
    began = sent + there
    last_no, first_yes = began + before, began + before + gap
    ended = first_yes + after
    received = ended + back
    stamps = stamped(
        began=ahead + began,
        last_no=ahead + last_no,
        first_yes=ahead + first_yes,
        ended=ahead + ended,
    )

    latest, width = bracket(done(sent / 1e9, received / 1e9), stamps)

    slack = 1e-9  # of floats around 1000
    assert latest >= first_yes / 1e9 - slack
    assert latest - width <= last_no / 1e9 + slack
    assert width <= (gap + there + back) / 1e9 + 2 * slack


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
