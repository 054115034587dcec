"""Milestones hold: by looks as they were recorded, and by a member that is really lost again."""

import errno
import time
from collections.abc import Iterable
from typing import cast

import pytest
from tests.waiting import await_true

from brownout.databases.adapter import Adapter, MilestoneState
from brownout.faults.faults import Faults
from brownout.inventory.model import Cluster
from brownout.machine.host import host_for
from brownout.session.milestones import Course, Crossing, Looks, MilestoneWatcher

#: What looks at a member said, a second each: it was SECONDARY for one, then in ROLLBACK for 210 s.
ROLLBACK = [*[False] * 18, True, *[False] * 210, *[True] * 10]


def looked(answers: Iterable[bool | None], hold_s: float = 3.0) -> tuple[Looks, list[str]]:
    """Look once a second; return what the looks come to, and when it was reached or revoked."""
    looks, told = Looks("rejoined", hold_s), []
    for second, yes in enumerate(answers):
        if looks.look(float(second), second + 0.25, yes, {"second": second}):
            told.append(f"{'reached' if looks.reached else 'revoked'} at {second}")
    return looks, told


def test_a_member_that_is_back_for_a_second_before_its_rollback_has_not_rejoined() -> None:
    looks, told = looked(ROLLBACK)
    assert told == ["reached at 232"]
    assert (looks.crossing.last_no, looks.crossing.first_yes) == (228.0, 229.25)
    assert looks.crossing.detail == {"second": 229}, "as it was at the first yes"


def test_a_no_revokes_what_was_reached_and_the_next_row_counts() -> None:
    looks, told = looked([False, *[True] * 5, False, False, *[True] * 5])
    assert told == ["reached at 4", "revoked at 6", "reached at 11"]
    assert (looks.crossing.last_no, looks.crossing.first_yes) == (7.0, 8.25)


def test_what_was_revoked_and_not_reached_again_is_not_reached() -> None:
    looks, told = looked([False, *[True] * 5, False, True])
    assert told == ["reached at 4", "revoked at 6"]
    assert (looks.reached, looks.undecided) == (False, True)
    assert (looks.crossing.last_no, looks.crossing.first_yes) == (6.0, None)


def test_a_look_without_an_answer_breaks_a_row_and_revokes_nothing() -> None:
    looks, told = looked([False, True, True, None, *[True] * 4, None, True])
    assert told == ["reached at 7"]
    assert (looks.crossing.last_no, looks.crossing.first_yes) == (0.0, 4.25), "it is no no either"


@pytest.mark.parametrize(("hold_s", "told"), [(0.0, "reached at 1"), (2.0, "reached at 3")])
def test_it_is_reached_when_the_row_is_as_long_as_the_hold(hold_s: float, told: str) -> None:
    assert looked([False, *[True] * 9], hold_s)[1] == [told]


def test_redundancy_says_that_every_member_rejoined_however_long_its_looks_took() -> None:
    course, told = Course(hold_s=1.0), []
    course.take("changed", 0.0, 0.1, True, {})
    course.take("rejoined", 1.0, 1.1, False, {})
    course.take("redundant", 1.1, 1.1, False, {})
    # Of 0.95 s between the looks at one, and 1.55 s at the other: a busy machine.
    for asked, answered, redundant in [(1.2, 2.5, 2.6), (2.7, 3.45, 4.15)]:
        told += course.take("rejoined", asked, answered, True, {})
        told += course.take("redundant", answered, redundant, True, {})
    assert [(each.name, each.first_yes) for each in told] == [("rejoined", 2.5), ("redundant", 2.6)]
    assert course["rejoined"].reached
    assert course["redundant"].reached


@pytest.fixture
def cluster(lab_mongodb: Cluster) -> Cluster:
    return lab_mongodb


@pytest.mark.quiet  # members that get no time to answer look like the one that is paused
def test_redundancy_that_a_cluster_loses_again_is_revoked_and_awaited_anew(
    cluster: Cluster, adapter: Adapter, faults: Faults
) -> None:
    told: list[tuple[str, bool]] = []
    watcher = MilestoneWatcher(
        adapter,
        lambda: faults.settled,
        lambda crossing: told.append((crossing.name, crossing.first_yes is not None)),
        hold_s=1.0,
    )
    node = adapter.targets("secondary", 1)[0]
    watcher.arm()
    watcher.start()
    try:
        faults.run("kill_node", node)
        faults.run("start_node", node)
        first = watcher.wait("redundant", 60)
        assert first.first_yes is not None
        assert time.monotonic() - first.first_yes >= 1.0, "the wait is over when the hold is"
        host_for(node).pause()  # it gives no answer, which is not a no
        await_true(lambda: adapter.stable("rejoined").unknown, "silent")
        time.sleep(1.0)  # several looks, none of which gets an answer
        assert all(yes for _, yes in told), told
        host_for(node).resume()
        await_true(lambda: adapter.stable("redundant").reached, "answering")
        watcher.wait("redundant", 60)  # after a long pause the others may have said no
        before = len(told)
        host_for(node).stop("kill")  # by somebody else: nothing of the fault
        await_true(lambda: ("redundant", False) in told[before:], "revoked")
        host_for(node).start()
        again = watcher.wait("redundant", 60)
    finally:
        watcher.stop()
    assert again.first_yes is not None
    assert again.last_no is not None
    assert again.last_no > first.first_yes
    redundant = [yes for name, yes in told[before:] if name == "redundant"]
    assert redundant == [False, True]


class Calm:
    """A cluster that shows no change."""

    def __init__(self) -> None:
        self.asked = self.looks = 0

    def signature(self) -> str:
        self.asked += 1
        return "as it was"

    def stable(self, _milestone: str) -> MilestoneState:
        self.looks += 1
        return MilestoneState(True)


def test_a_break_that_the_cluster_has_yet_to_notice_is_not_taken_for_unnoticed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("brownout.session.milestones.UNNOTICED_S", 0.1)
    calm, mended = Calm(), [True]
    watcher = MilestoneWatcher(cast(Adapter, calm), lambda: mended[0], lambda _: None, hold_s=0.0)
    watcher.arm()
    watcher.start()
    mended[0] = False  # the break itself comes after the start
    until = time.monotonic() + 0.5
    await_true(lambda: time.monotonic() > until and calm.asked > 5, "it looked for long")
    assert not watcher.passed("changed")
    mended[0] = True
    await_true(lambda: watcher.passed("changed"), "it is taken for unnoticed once it is mended")
    watcher.stop()


def test_a_cluster_that_never_noticed_was_redundant_from_the_mend_on_not_when_we_gave_up_waiting(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    gives_up_s = 3.0  # so long that a busy machine has looked long before
    monkeypatch.setattr("brownout.session.milestones.UNNOTICED_S", gives_up_s)
    reported: list[Crossing] = []
    mended = [False]
    watcher = MilestoneWatcher(cast(Adapter, Calm()), lambda: mended[0], reported.append, 0.3)
    began = time.monotonic()
    watcher.arm()
    watcher.start()
    time.sleep(0.5)  # it is broken for so long
    at, mended[0] = time.monotonic(), True
    assert watcher.wait("redundant", 0.0).first_yes is None, "a change may still come"
    crossing = watcher.wait("redundant", 30.0)
    watcher.stop()
    assert time.monotonic() - at > gives_up_s
    assert crossing.last_no is not None
    assert crossing.first_yes is not None
    assert began < crossing.last_no <= at <= crossing.first_yes < at + gives_up_s
    assert [each.name for each in reported] == ["rejoined", "redundant"]


def test_a_look_that_this_machine_refuses_does_not_end_the_watch() -> None:
    cluster = Calm()

    def refused_in_between() -> str:
        cluster.asked += 1
        if 1 < cluster.asked < 4:
            raise OSError(errno.EMFILE, "Too many open files")
        return "another" if cluster.asked > 5 else "as it was"

    cluster.signature = refused_in_between  # type: ignore[method-assign]
    watcher = MilestoneWatcher(cast(Adapter, cluster), lambda: True, lambda _: None, 0.0)
    watcher.arm()
    watcher.start()
    assert watcher.wait("redundant", 30.0).first_yes is not None
    watcher.stop()


def test_looks_before_a_change_that_came_late_say_nothing_of_what_followed_it() -> None:
    cluster, changed = Calm(), [False]
    cluster.signature = lambda: "another" if changed[0] else "as it was"  # type: ignore[method-assign]
    watcher = MilestoneWatcher(cast(Adapter, cluster), lambda: True, lambda _: None, 0.0)
    watcher.arm()
    watcher.start()
    await_true(lambda: cluster.looks > 5, "several looks said that it is redundant")
    assert watcher.crossing("redundant").first_yes is None
    at, changed[0] = time.monotonic(), True
    crossing = watcher.wait("redundant", 30.0)
    watcher.stop()
    assert crossing.first_yes is not None
    assert crossing.first_yes >= at


def test_the_silence_of_a_node_that_is_cut_off_from_us_is_no_change_of_the_cluster() -> None:
    asked: list[str] = []
    blind = [False]
    cluster = Calm()

    def signature() -> str:
        asked.append("look")
        return "n1=unreachable" if blind[0] or len(asked) > 1 else "n1=PRIMARY"

    cluster.signature = signature  # type: ignore[method-assign]
    watcher = MilestoneWatcher(
        cast(Adapter, cluster), lambda: False, lambda _: None, 0.0, lambda: blind[0]
    )
    watcher.arm()
    blind[0] = True
    watcher.start()
    await_true(lambda: len(asked) > 4, "several looks")
    assert not watcher.passed("changed")
    blind[0] = False
    await_true(lambda: watcher.passed("changed"), "a change that is seen again")
    watcher.stop()
