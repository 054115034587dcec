"""For how long two nodes said that they accept writes, by known rows of answers."""

from collections.abc import Sequence

import pytest
from tests.measure.signals import make_series
from tests.measure.views import data_of, view

from brownout.measure.data import RunData, Seen
from brownout.measure.overlap import primary_overlap
from brownout.measure.settings import MeasureSettings
from brownout.run.events import Event
from brownout.run.primaries import Look

LAB = MeasureSettings.lab()


def looks(node: str, said: str, shard: str = "", since: float = 30.0) -> list[Look]:
    """A node's looks, one each 0.1 s and 0.02 s long: an election, `-` for no, `?` for none."""
    answers = {"-": False, "?": None}
    return [
        Look(since + n / 10, since + n / 10 + 0.02, shard, node, answers.get(sign, True),
             "" if sign in answers else sign)
        for n, sign in enumerate(said)
    ]  # fmt: skip


def overlap(*answers: list[Look], until: float = 31.0, events: Sequence[Event] = ()) -> Seen | None:
    """The measure of a fault from 30 s on."""
    data = data_of(make_series([80] * 400, [80] * 400), LAB, events=events)
    seen = sorted((look for each in answers for look in each), key=lambda look: look.answered)
    data = RunData(data.series, data.events, data.streams, LAB, data.end, primaries=seen)
    return primary_overlap(view(data, 30.0, until), data)


@pytest.mark.parametrize(
    ("n1", "n2", "seen"),
    [
        ("5555------", "------6666", (0.0, 0.0)),  # nobody is primary in between
        ("55555-----", "----666666", (0.0, 0.22)),  # once both said yes: for how long?
        ("5555------", "----666666", (0.0, 0.12)),  # the one's last and the other's first
        ("5555555555", "----666666", (0.48, 0.7)),  # until the end of the fault
        ("55555555--", "----666666", (0.28, 0.52)),
        ("555??????-", "-----66666", (0.0, 0.52)),  # primary until the no, perhaps
        ("555??????7", "-----6666-", (0.0, 0.52)),
        ("555?????55", "-----66666", (0.08, 0.6)),
        ("555???????", "-----66666", (0.0, 0.6)),
        ("---???????", "-----66666", (0.0, 0.0)),  # too short a silence to be elected in
        ("---????---", "-----66666", (0.0, 0.0)),  # it was no primary before and after
        ("---???7777", "5555555555", (0.28, 0.8)),  # since the no before, perhaps
        ("???6666666", "5555555555", (0.58, 1.0)),  # nobody knows since when
        ("5555566666", "----------", (0.0, 0.0)),  # elected again, it is not two
        ("----------", "----------", (0.0, 0.0)),
    ],
)
def test_two_primaries_are_at_once_between_the_least_and_the_most(
    n1: str, n2: str, seen: Seen
) -> None:
    assert overlap(looks("n1", n1), looks("n2", n2)) == pytest.approx(seen)
    assert overlap(looks("n1", n2), looks("n2", n1)) == pytest.approx(seen)


FROZEN = Event(
    1, "break", "pause_node", "n1", requested=30.2, effective=30.25, undo={"action": "resume_node"}
)
RESUMED = Event(2, "mend", "resume_node", "n1", requested=30.85, effective=30.86)


@pytest.mark.parametrize(
    ("n1", "n2", "seen"),
    [
        ("555??????-", "-----66666", (0.0, 0.1)),  # back from a pause, it did not say so
        ("555??????7", "-----6666-", (0.0, 0.1)),  # it did, when the other had just said no
        ("555?????55", "-----66666", (0.08, 0.28)),  # back from a pause, it says it still is
        ("---???????", "-----66666", (0.0, 0.0)),
    ],
)
def test_a_process_that_does_not_run_takes_no_writes(n1: str, n2: str, seen: Seen) -> None:
    both, events = [looks("n1", n1), looks("n2", n2)], (FROZEN, RESUMED)
    assert overlap(*both, events=events) == pytest.approx(seen)


def test_while_it_is_frozen_to_the_end_it_is_none() -> None:
    both = [looks("n1", "555???????"), looks("n2", "-----66666")]
    assert overlap(*both, events=(FROZEN,)) == (0.0, 0.0)


@pytest.mark.parametrize(
    ("n1", "n2", "seen"),
    [
        ("5555------", "------6666", (0.0, 9.1)),  # the looks of both end 9 s before the fault does
        ("----------", "----------", (0.0, 9.1)),
        ("5555555555", "----666666", (0.48, 9.7)),
        ("5555------", "5" * 100, (0.28, 9.52)),  # those of one do
        ("??????????", "5555555555", (0.0, 10.0)),  # one was never heard
        ("??????????", "??????????", (0.0, 10.0)),
    ],
)
def test_beyond_its_last_look_a_node_may_be_primary(n1: str, n2: str, seen: Seen) -> None:
    assert overlap(looks("n1", n1), looks("n2", n2), until=40.0) == pytest.approx(seen)


def test_three_primaries_are_counted_once() -> None:
    assert overlap(*(looks(node, "5555555555") for node in ("n1", "n2", "n3"))) == pytest.approx(
        (0.88, 1.0)
    )


def test_each_shard_has_a_primary_of_its_own_and_the_worst_one_counts() -> None:
    one, two = looks("a1", "5555555555", "a"), looks("b1", "5555555555", "b")
    assert overlap(one, two) == (0.0, 0.0)
    assert overlap(one, two, looks("b2", "----666666", "b")) == pytest.approx((0.48, 0.7))


def test_what_was_after_the_fault_or_was_never_asked_does_not_count() -> None:
    both = [looks("n1", "5555555555"), looks("n2", "5555555555")]
    assert overlap(*both, until=30.5) == pytest.approx((0.48, 0.5))
    assert overlap() is None
