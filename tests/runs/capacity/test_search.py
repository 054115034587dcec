"""The search finds a capacity that is known, also where the answers are noisy or odd."""

import random
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brownout.runs.capacity.search import Probe, Search, Settings, Verdict

Answers = Callable[[Probe], Verdict]


def searched(settings: Settings, answers: Answers) -> Search:
    """Carry a search out on a made-up system; it has to end by itself."""
    search = Search(settings)
    for _ in range(1000):
        probe = search.next()
        if probe is None:
            return search
        search.take(probe, answers(probe))
    raise AssertionError("the search does not end")


def up_to(capacity: float, beyond: Verdict = "breach") -> Answers:
    """A system that holds up to `capacity` and not above."""
    return lambda probe: "holds" if probe.rate <= capacity else beyond


@given(
    capacity=st.floats(50, 5e6),
    start=st.floats(1, 1e5),
    factor=st.floats(1.2, 4),
    precision=st.floats(0.005, 0.1),
)
def test_a_known_capacity_is_found_within_the_precision(
    capacity: float, start: float, factor: float, precision: float
) -> None:
    settings = Settings(start, factor, precision, again=0, most_steps=1000)
    if capacity < start / 250:  # the search gives up between a 256th and a 1024th
        return
    found = searched(settings, up_to(capacity)).finding()
    assert found.rate is not None
    assert found.rate <= capacity <= found.rate * (1 + precision) * 1.001
    assert (found.bound, found.confirmed) == ("exact", True)


def test_a_capacity_is_found_in_few_steps() -> None:
    search = searched(Settings(1000), up_to(188_575))
    assert search.finding().rate == pytest.approx(188_575, rel=0.02)
    assert len(search.answers) < 25


def test_a_start_above_what_holds_goes_down_until_one_holds() -> None:
    search = searched(Settings(100_000, again=0), up_to(730))
    assert search.finding().rate == pytest.approx(730, rel=0.02)
    assert [answer.rate for answer in search.answers[:3]] == [100_000, 50_000, 25_000]


def test_where_no_rate_holds_none_is_found_and_the_search_ends() -> None:
    found = searched(Settings(1000), up_to(0.0)).finding()
    assert (found.rate, found.bound, found.why) == (None, "none", "no rate held")
    assert found.above is not None
    assert found.above < 2


def test_a_limit_of_the_generator_is_never_the_limit_of_the_database() -> None:
    found = searched(Settings(1000), up_to(5000, "limited")).finding()
    assert found.rate == pytest.approx(5000, rel=0.02)
    assert found.bound == "at least"
    assert "the database is not the limit" in found.why


def test_a_breach_below_a_limit_of_the_generator_is_exact() -> None:
    def answers(probe: Probe) -> Verdict:
        return "limited" if probe.rate > 3000 else up_to(2500)(probe)

    found = searched(Settings(1000), answers).finding()
    assert found.bound == "exact"
    assert found.rate == pytest.approx(2500, rel=0.02)


def test_a_ceiling_that_holds_is_a_lower_bound_and_is_never_exceeded() -> None:
    search = searched(Settings(300, ceiling=1000), up_to(5000))
    assert max(answer.rate for answer in search.answers) == 1000
    found = search.finding()
    assert (found.rate, found.bound, found.confirmed) == (1000, "at least", True)


def test_one_hiccup_does_not_halve_the_answer() -> None:
    told: list[float] = []

    def answers(probe: Probe) -> Verdict:
        told.append(probe.rate)
        return "breach" if len(told) == 2 else up_to(10_000)(probe)

    assert searched(Settings(1000), answers).finding().rate == pytest.approx(10_000, rel=0.02)


@pytest.mark.parametrize("seed", range(20))
def test_noise_of_the_capacity_moves_the_answer_no_further_than_the_noise(seed: int) -> None:
    chance = random.Random(seed)

    def answers(probe: Probe) -> Verdict:
        wobble = 0.01 if probe.kind == "confirm" else 0.05  # a long run has less of it
        return up_to(20_000 * chance.gauss(1, wobble))(probe)

    found = searched(Settings(1000), answers).finding()
    assert found.rate == pytest.approx(20_000, rel=0.12)
    assert found.confirmed


def test_a_rate_that_the_long_run_does_not_hold_makes_way_for_a_lower_one() -> None:
    def answers(probe: Probe) -> Verdict:
        return up_to(9000 if probe.kind == "confirm" else 10_000)(probe)

    search = searched(Settings(1000), answers)
    found = search.finding()
    assert found.rate == pytest.approx(9000, rel=0.02)
    assert found.confirmed
    failed = [a.rate for a in search.answers if (a.kind, a.verdict) == ("confirm", "breach")]
    assert len(failed) == len(set(failed)) > 0  # a long run that fails is not made again


def test_rates_that_hold_above_one_that_does_not_are_named_and_not_believed() -> None:
    def answers(probe: Probe) -> Verdict:
        return "breach" if 3000 < probe.rate < 5000 else up_to(50_000)(probe)

    search = Search(Settings(1000, factor=8, again=0))
    while (probe := search.next()) is not None:
        search.take(probe, answers(probe))
    found = search.finding()
    assert found.rate is not None
    assert found.rate <= 3000 or not found.odd
    assert all(rate > (found.above or 0) for rate in found.odd)


def test_a_search_that_was_cut_short_goes_on_as_if_it_had_not_been() -> None:
    whole = searched(Settings(1000), up_to(7777))
    resumed = Search(Settings(1000), list(whole.answers[:5]))
    while (probe := resumed.next()) is not None:
        resumed.take(probe, up_to(7777)(probe))
    assert resumed.answers == whole.answers


def test_what_a_search_that_was_cut_short_knows_is_a_lower_bound() -> None:
    whole = searched(Settings(1000, again=0), up_to(7777))
    found = Search(whole.settings, list(whole.answers[:4])).finding()
    assert found.bound == "at least"
    assert not found.confirmed
    assert found.rate == 4000


@given(verdicts=st.lists(st.sampled_from(("holds", "breach", "limited")), min_size=60))
def test_whatever_the_answers_are_the_search_ends(verdicts: list[Verdict]) -> None:
    search = Search(Settings(1000))
    for verdict in verdicts:
        probe = search.next()
        if probe is None:
            break
        assert probe.rate > 0
        search.take(probe, verdict)
    assert search.next() is None
    found = search.finding()
    assert (found.rate is None) == (found.bound == "none")
