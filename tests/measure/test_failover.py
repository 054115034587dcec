"""How soon there was a new primary, and how soon the client was served: by what was seen."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from tests.measure.signals import make_series
from tests.measure.views import data_of, view

from brownout.measure.data import RunData, Seen
from brownout.measure.failover import (
    Succession,
    client_recovered_time,
    promoted_time,
    successions,
)
from brownout.measure.settings import MeasureSettings
from brownout.run.events import Event
from brownout.run.lanes import Lane
from brownout.run.primaries import Look
from brownout.run.table import OUTCOME_COLUMNS, SERIES_COLUMNS, Series, Table, frozen

LAB = MeasureSettings.lab()
KILLED = Event(
    1, "break", "kill_node", "n1", requested=30.0, effective=30.0, undo={"action": "start_node"}
)
STARTED = Event(2, "mend", "start_node", "n1", requested=35.0, effective=35.2)


def looks(node: str, said: str, since: float, shard: str = "", apart: float = 0.1) -> list[Look]:
    """A node's looks: an election's number, `-` for no and `?` for no answer in 0.05 s."""
    answers = {"-": False, "?": None}
    return [
        Look(t := since + n * apart, t + (0.05 if sign == "?" else 0.01), shard, node,
             answers.get(sign, True), "" if sign in answers else sign)
        for n, sign in enumerate(said)
    ]  # fmt: skip


def promoted(*answers: Sequence[Look], events: Sequence[Event] = (KILLED,)) -> Seen | None:
    """The measure of a fault at 30 s, in a load of 33 s."""
    data = asked(*answers, events=events)
    return promoted_time(view(data, 30.0, 33.0), data)


def asked(*answers: Sequence[Look], events: Sequence[Event] = (KILLED,)) -> RunData:
    """A load of 33 s in which nodes gave these answers."""
    data = data_of(make_series([80] * 330, [80] * 330), LAB, events=events)
    seen = sorted((look for each in answers for look in each), key=lambda look: look.answered)
    return RunData(data.series, data.events, data.streams, LAB, data.end, primaries=seen)


@pytest.mark.parametrize(
    ("n1", "n2", "seen"),
    [
        ("5" + "-" * 30, "-" * 11 + "6" * 20, (0.9, 1.01)),  # killed, and the next is elected
        ("5" + "?" * 30, "-" * 11 + "6" * 20, (0.9, 1.01)),  # killed, and so it gives no answer
        ("5" * 12 + "-" * 19, "-" * 11 + "6" * 20, (0.9, 1.01)),  # the old one did not notice yet
        ("5" + "-" * 9 + "6" * 21, "-" * 31, (0.8, 0.91)),  # elected again
        ("5" * 31, "-" * 31, (0.0, 0.0)),  # another node was the target
        ("5" + "?" * 9 + "5" * 21, "-" * 31, (0.0, 0.0)),  # back before anybody else was elected
        ("5" * 30 + "?", "-" * 31, (0.0, 0.0)),  # one answer is missing at the end
        ("5" + "-" * 30, "-" * 31, (2.9, None)),  # nobody was elected
        ("5" + "?" * 30, "-" * 31, (2.9, None)),
        ("5" + "-" * 30, "-" * 11 + "?" * 9 + "6" * 11, (0.9, 1.91)),  # since its last no, perhaps
        ("5" + "-" * 30, "-" * 11 + "?" * 20, (0.9, None)),  # perhaps n2 was, and nobody heard
        ("5" + "-" * 30, "-" * 11, (0.9, None)),  # n2 was asked no more
        ("5" * 31, "-" * 11, (0.0, None)),
        ("5" * 11, "-" * 11, (0.0, None)),
        ("5" + "-" * 10, "-" * 11, (0.9, None)),  # the looks end long before the load does
    ],
)
def test_a_new_primary_is_the_first_by_another_election(n1: str, n2: str, seen: Seen) -> None:
    assert promoted(looks("n1", n1, 29.9), looks("n2", n2, 29.9)) == pytest.approx(seen)


@pytest.mark.parametrize(
    ("n1", "n2", "before", "after"),
    [
        ("5" + "-" * 30, "-" * 11 + "6" * 20, "n1", "n2"),
        ("5" + "-" * 9 + "6" * 21, "-" * 31, "n1", "n1"),  # by another election
        ("5" + "?" * 20 + "5" * 10, "-" * 31, "n1", "n1"),  # ill, and still the same election's
        ("5" + "-" * 30, "-" * 31, "n1", None),
        ("-" * 31, "-" * 11 + "6" * 20, "", "n2"),
    ],
)
def test_it_is_known_who_followed_whom(n1: str, n2: str, before: str, after: str | None) -> None:
    data = asked(looks("n1", n1, 29.9), looks("n2", n2, 29.9))
    (seen,) = successions(view(data, 30.0, 33.0), data)
    assert (seen.before, seen.after) == (before, after)
    assert seen.at == promoted(looks("n1", n1, 29.9), looks("n2", n2, 29.9))


def test_each_shard_has_its_own_succession() -> None:
    data = asked(
        *(looks(f"{shard}1", "5" * 31, 29.9, shard) for shard in "ab"),
        looks("b2", "-" * 31, 29.9, "b"),
    )
    assert successions(view(data, 30.0, 33.0), data) == (
        Succession("a", "a1", "a1", 0.0, 0.0),
        Succession("b", "b1", "b1", 0.0, 0.0),
    )


FROZEN = Event(
    1, "break", "pause_node", "n1", requested=30.0, effective=30.05, undo={"action": "resume_node"}
)
RESUMED = Event(2, "mend", "resume_node", "n1", requested=31.0, effective=31.1)


@pytest.mark.parametrize(
    ("events", "seen"),
    [
        ((), (0.0, None)),  # nobody knows whether it served others
        ((KILLED,), (2.9, None)),
        ((FROZEN,), (2.9, None)),
        ((FROZEN, RESUMED), (0.0, None)),  # it is free again, and what it does is not known
        ((replace(KILLED, node="n2"),), (0.0, None)),
        ((replace(KILLED, undo={"action": "heal_partition"}),), (0.0, None)),
        ((replace(KILLED, undo=None),), (0.0, None)),
        ((replace(KILLED, effective=None),), (0.0, None)),
        ((replace(KILLED, error="it did not end"),), (0.0, None)),
        ((replace(KILLED, evidence={"skipped": True}),), (0.0, None)),
        ((replace(KILLED, type="mend"),), (0.0, None)),
    ],
)
def test_silence_is_no_primary_only_where_an_event_proves_it(
    events: Sequence[Event], seen: Seen
) -> None:
    silent = looks("n1", "5" + "?" * 30, 29.9)
    assert promoted(silent, looks("n2", "-" * 31, 29.9), events=events) == pytest.approx(seen)


def test_a_killed_node_that_was_primary_again_and_fell_silent_is_one_nobody_knows_of() -> None:
    """Whoever started it left no event; its claim is by the election before, so none is new."""
    again = looks("n1", "5" + "?" * 9 + "5" + "?" * 20, 29.9)
    assert promoted(again, looks("n2", "-" * 31, 29.9)) == pytest.approx((0.0, None))


def test_an_answer_from_before_the_effect_may_come_after_the_request() -> None:
    """Nodes are asked from just before the break on, which waits for a slow one only so long."""
    data = data_of(make_series([80] * 400, [80] * 400), LAB, events=(KILLED,))
    seen = [
        Look(29.99, 30.05, "", "n1", True, "5"), *looks("n2", "-" * 10 + "6" * 10, 30.1),
        *looks("n1", "-" * 20, 30.15),
    ]  # fmt: skip
    seen.sort(key=lambda look: look.answered)
    data = RunData(data.series, data.events, data.streams, LAB, data.end, primaries=seen)
    late = view(data, 30.0, 40.0)
    assert promoted_time(late, data) == pytest.approx((1.0, 1.11))


def test_of_several_shards_the_last_one_counts() -> None:
    one = [*looks("a1", "5" + "-" * 30, 29.9, "a"), *looks("a2", "-" * 4 + "6" * 27, 29.9, "a")]
    two = [*looks("b1", "5" + "-" * 30, 29.9, "b"), *looks("b2", "-" * 9 + "6" * 22, 29.9, "b")]
    kept = looks("c1", "5" * 31, 29.9, "c")
    assert promoted(one, two, kept) == pytest.approx((0.7, 0.81))
    assert promoted(one, two, looks("c1", "5" + "-" * 30, 29.9, "c")) == pytest.approx((2.9, None))


@pytest.mark.parametrize("said", ["5" * 20, "?" * 5 + "5" * 15])
def test_a_primary_that_nobody_asked_before_the_fault_is_not_taken_for_a_new_one(said: str) -> None:
    """Another shard's answer does not help; a node that said no before it is the new one."""
    known = [*looks("a1", "5" + "-" * 30, 29.9, "a"), *looks("a2", "-" * 4 + "6" * 27, 29.9, "a")]
    assert promoted(looks("n1", said, 30.1), looks("n2", "-" * 20, 30.1)) is None
    assert promoted(known, looks("n1", said, 30.1, "b")) is None
    assert promoted(looks("n1", "-" * 4 + "5" * 15, 29.9)) == pytest.approx((0.2, 0.31))


@pytest.mark.parametrize("said", ["5?", "5" + "?" * 30, "?" * 31])
def test_a_primary_that_was_not_heard_since_the_effect_is_not_known_to_be_one(said: str) -> None:
    """Even where the load ends within a second of it."""
    asked = [*looks("n1", said, 29.9), *looks("n2", "-" * 31, 29.9)]
    asked.sort(key=lambda look: look.answered)
    data = data_of(make_series([80] * 330, [80] * 330), LAB)
    data = RunData(data.series, (), data.streams, LAB, data.end, primaries=asked)
    for until in (30.2, 30.8, 33.0):
        assert promoted_time(view(data, 30.0, until), data) == (0.0, None)


def test_where_no_node_was_asked_there_is_nothing_to_say() -> None:
    assert promoted() is None


def lane(offered: Sequence[int], ok: Sequence[int], pending: Sequence[int] = ()) -> Lane:
    bad = np.maximum(0, np.subtract(offered, ok))
    columns = {"offered": offered, "ok": ok, "bad": bad, "pending": pending or [0] * len(ok)}
    return {name: np.asarray(values, np.int64) for name, values in columns.items()}


def recovered(
    offered: Sequence[int], ok: Sequence[int], lanes: dict[str, Lane] | None = None,
    events: Sequence[Event] = (KILLED, STARTED),
) -> Seen | None:  # fmt: skip
    """The measure of a fault at 30 s, in a load of 40 s."""
    data = data_of(make_series(offered, ok), LAB, events=events, lanes=lanes)
    return client_recovered_time(view(data, 30.0, 40.0), data)


@pytest.mark.parametrize(
    ("ok", "seen"),
    [
        ([80] * 400, (0.0, 0.0)),  # retried by the driver: nobody noticed
        ([80] * 300 + [0] * 21 + [80] * 79, (2.1, 2.2)),
        ([80] * 300 + [0] * 21 + [1] + [40] * 20 + [80] * 58, (2.1, 2.2)),  # slow at first
        ([80] * 300 + [0] * 10 + [3] + [0] * 10 + [80] * 79, (2.1, 2.2)),  # a straggler
        ([80] * 300 + [0] * 10 + [80] * 10 + [0] * 10 + [80] * 70, (3.0, 3.1)),  # out again
        ([80] * 300 + [40] * 100, (0.0, 0.0)),  # worse, but served
        ([80] * 300 + [0] * 100, (10.0, None)),
        ([80] * 360 + [0] * 20 + [80] * 20, (0.0, 0.0)),  # that is the return of the node
        ([80] * 290 + [0] * 21 + [80] * 89, (1.1, 1.2)),  # it hurt before its effect
    ],
)
def test_the_client_is_served_again_at_the_first_success(ok: list[int], seen: Seen) -> None:
    assert recovered([80] * 400, ok) == pytest.approx(seen)


def test_in_a_closed_loop_whoever_waits_wants_something() -> None:
    ok = [80] * 300 + [0] * 21 + [80] * 79
    offered = [80] * 300 + [0] * 21 + [80] * 79
    pending = [0] * 300 + [16] * 21 + [0] * 79
    late = [0] * 321 + [16] + [0] * 78
    waited = make_series(offered, ok, closed=True, pending=pending, late=late)
    data = data_of(waited, LAB, events=(KILLED,))
    assert client_recovered_time(view(data, 30.0, 40.0), data) == pytest.approx((2.1, 2.2))


def test_a_wait_after_which_all_is_served_in_time_is_not_waited_for() -> None:
    ok = [80] * 300 + [0] * 5 + [480] + [80] * 94
    data = data_of(make_series([80] * 400, ok, failed=[0] * 400), LAB, events=(KILLED,))
    assert client_recovered_time(view(data, 30.0, 40.0), data) == (0.0, 0.0)


def test_a_lane_that_is_dark_while_others_serve_is_waited_for() -> None:
    dark = lane([40] * 400, [40] * 300 + [0] * 35 + [40] * 65)
    lit = lane([40] * 400, [40] * 400)
    total = [80] * 300 + [40] * 35 + [80] * 65
    assert recovered([80] * 400, total, {"a": dark, "b": lit}) == pytest.approx((3.5, 3.6))


def test_the_whole_load_is_served_again_when_its_reads_and_its_writes_are() -> None:
    """Secondaries answer reads of the same lane throughout."""
    data = reads_and_writes([40] * 400, [40] * 400, [40] * 300 + [0] * 25 + [40] * 75)
    assert client_recovered_time(view(data, 30.0, 40.0), data) == pytest.approx((2.5, 2.6))


@pytest.mark.parametrize("rate", [60, 20, 10, 5])
def test_a_client_that_is_never_served_is_not_thought_to_be_however_little_it_asks(
    rate: int,
) -> None:
    """In the last bucket of the load nothing may come, by chance."""
    for seed in range(40):
        offered = np.random.default_rng(seed).poisson(rate / 10, 400)
        ok = [*offered[:300], *[0] * 100]
        found = recovered(list(offered), ok)
        assert found is not None
        assert found[1] is None


def reads_and_writes(reads: Sequence[int], writes: Sequence[int], ok: Sequence[int]) -> RunData:
    """A load of which the reads are all good, and `ok` of the writes."""
    counts = {
        "offered": np.stack([reads, writes], 1), "ok": np.stack([reads, ok], 1),
        "failed": np.stack([np.zeros(400), np.subtract(writes, ok)], 1),
    }  # fmt: skip

    def table(names: Sequence[str]) -> Table:
        none = np.zeros((400, 2))
        made = {n: np.asarray(counts.get(n, none), np.int64) for n in names}
        return Table((("app", "read"), ("app", "update")), frozen(made))

    series = Series(table(SERIES_COLUMNS), table(OUTCOME_COLUMNS), frozenset())
    return data_of(series, LAB, events=(KILLED,))


@pytest.mark.parametrize("rates", [(54, 6), (780, 20), (795, 5)])
def test_an_outage_of_slow_writes_is_not_cut_to_pieces_beside_fast_reads(
    rates: tuple[int, int],
) -> None:
    for seed in range(40):
        random = np.random.default_rng(seed)
        reads, writes = (random.poisson(rate / 10, 400) for rate in rates)
        ok = [*writes[:300], *[0] * 50, *writes[350:]]
        data = reads_and_writes(list(reads), list(writes), ok)
        found = client_recovered_time(view(data, 30.0, 40.0), data)
        assert found is not None
        assert found[1] is not None
        first_served = next(n for n in range(350, 400) if writes[n])
        assert found == pytest.approx((first_served / 10 - 30, first_served / 10 - 29.9))


def test_a_lane_that_the_driver_leaves_is_over_with_its_last_operation() -> None:
    """The owner of a partition stops: the driver goes elsewhere, and what was sent still waits."""
    left = lane(
        [40] * 312 + [0] * 88, [40] * 300 + [0] * 100, [0] * 300 + [40] * 12 + [30] * 10 + [0] * 78
    )
    taken = lane([40] * 312 + [80] * 88, [40] * 312 + [80] * 88)
    total = [80] * 300 + [40] * 12 + [80] * 88
    assert recovered([80] * 400, total, {"a": left, "b": taken}) == pytest.approx((1.2, 1.3))
    back = lane(
        [40] * 312 + [0] * 48 + [40] * 40, [40] * 300 + [0] * 62 + [40] * 38,
        [0] * 300 + [40] * 12 + [0] * 88,
    )  # fmt: skip
    assert recovered([80] * 400, total, {"a": back, "b": taken}) == pytest.approx((1.2, 1.3))


def test_operations_that_are_few_and_far_between_end_no_outage_by_being_away() -> None:
    """One operation a second, each refused at once for 5 s."""
    offered = [1 if n % 10 == 0 else 0 for n in range(400)]
    ok = [n if not 300 <= at < 350 else 0 for at, n in enumerate(offered)]
    assert recovered(offered, ok, events=(KILLED,)) == pytest.approx((5.0, 5.1))
