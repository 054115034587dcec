"""Each node is asked by itself who is primary, and one that hangs delays no other."""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from bson import ObjectId
from tests.measure.signals import make_series
from tests.measure.views import data_of, view
from tests.session.scripted_members import scripted_member
from tests.waiting import await_true, await_whole

from brownout.base.errors import ClusterError, NoAnswer
from brownout.databases import patience
from brownout.databases.adapter import REFUSES, Claim, Electing
from brownout.databases.mongodb.adapter import MongoAdapter
from brownout.inventory.model import Cluster
from brownout.machine.host import host_for
from brownout.measure.failover import promoted_time
from brownout.measure.overlap import primary_overlap
from brownout.measure.settings import MeasureSettings
from brownout.run.primaries import Look, read_primaries
from brownout.session.primary_watch import PrimaryWatch


class Asked:
    """A candidate that says what it is told to."""

    shard = ""

    def __init__(self, node: str, say: Callable[[], Claim]) -> None:
        self.node, self._say = node, say
        self.closed = threading.Event()

    def claim(self) -> Claim:
        return self._say()

    def close(self) -> None:
        self.closed.set()


def of(looks: Sequence[Look], node: str) -> list[Look]:
    return [look for look in looks if look.node == node]


def test_a_node_that_hangs_delays_neither_the_others_nor_the_end(tmp_path: Path) -> None:
    hung = threading.Event()

    def hang() -> Claim:
        hung.wait(60.0)
        raise NoAnswer("member `n2`: no answer in time")

    path = tmp_path / "primaries.csv"
    asked = [Asked("n1", lambda: Claim(True, "5")), Asked("n2", hang)]
    watch = PrimaryWatch(asked, path, lambda t: t)
    watch.start()  # it waits for n2, but not for long
    watch.start()  # one file, and one thread a node
    await_true(lambda: len(of(read_primaries(path), "n1")) >= 5, "looks at n1")
    assert of(read_primaries(path), "n2") == []
    ending = threading.Thread(target=watch.stop)
    ending.start()
    await_true(asked[0].closed.is_set, "the end for n1, while n2 hangs")
    hung.set()  # only now: an answer before the end would be followed by another question
    ending.join()
    await_true(asked[1].closed.is_set, "the end for n2")
    (silent,) = of(read_primaries(path), "n2")
    assert (silent.primary, silent.election) == (None, "")
    looks = of(read_primaries(path), "n1")
    assert {(look.primary, look.election) for look in looks} == {(True, "5")}
    assert all(a.answered <= b.asked for a, b in pairwise(looks))
    assert all(each.closed.is_set() for each in asked)
    watch.stop()


def test_who_was_primary_is_known_before_the_break_that_waits_for_it(tmp_path: Path) -> None:
    """A new connection takes some time; the fault must not be faster."""

    def connect() -> Claim:
        time.sleep(0.2)
        return Claim(True, "5")

    path = tmp_path / "primaries.csv"
    watch = PrimaryWatch([Asked("n1", connect), Asked("n2", connect)], path, lambda t: t)
    watch.start()
    first = read_primaries(path)
    watch.stop()
    assert {look.node for look in first} == {"n1", "n2"}


def test_what_was_never_started_is_stopped_and_writes_nothing(tmp_path: Path) -> None:
    PrimaryWatch([Asked("n1", lambda: Claim(False))], tmp_path / "p.csv", lambda t: t).stop()
    assert not (tmp_path / "p.csv").exists()


def test_a_node_that_refuses_connections_has_not_said_that_it_is_no_longer_primary(
    tmp_path: Path,
) -> None:
    """It may just have been killed, and its process is not yet seen to be gone."""
    claims = iter([Claim(True, "1")])
    path, began = tmp_path / "primaries.csv", time.monotonic()
    watch = PrimaryWatch([Asked("n1", lambda: next(claims, REFUSES))], path, lambda t: t)
    watch.start()
    await_true(lambda: len(read_primaries(path)) >= 3, "looks")
    watch.stop()
    assert [look.primary for look in read_primaries(path)][:3] == [True, False, False]
    assert watch.claimed("n1", began, time.monotonic()) is True
    assert watch.claimed("n1", began + 60, began + 61) is None


def test_before_the_load_has_a_clock_nothing_is_written_down(tmp_path: Path) -> None:
    times = iter([None] * 6)
    path = tmp_path / "primaries.csv"
    watch = PrimaryWatch([Asked("n1", lambda: Claim(False))], path, lambda t: next(times, t))
    watch.start()
    await_true(lambda: len(read_primaries(path)) >= 2, "looks")
    watch.stop()


def test_an_old_primary_that_stays_one_is_seen_for_as_long_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The truth is when the members were told to change their mind; it lies within the bounds."""
    monkeypatch.setattr(patience, "LEAST_S", 60.0)  # an answer that is late is no silence here
    elections = {"n1": ObjectId("7fffffff0000000000000001"), "n2": None}
    path, events = tmp_path / "primaries.csv", []

    def turn(node: str, election: ObjectId | None) -> None:
        elections[node] = election
        events.append(time.monotonic())

    def primaries() -> list[str]:
        return [n for n in elections if of(read_primaries(path), n)[-1:] and
                of(read_primaries(path), n)[-1].primary]  # fmt: skip

    with (
        scripted_member(lambda: elections["n1"]) as one,
        scripted_member(lambda: elections["n2"]) as two,
    ):
        cluster = Cluster.model_validate({
            "name": "scripted", "database": "mongodb", "environment": "test",
            "nodes": [{"name": "n1", "address": one}, {"name": "n2", "address": two}],
        })  # fmt: skip
        with MongoAdapter(cluster) as adapter:
            watch = PrimaryWatch(adapter.candidates(), path, lambda t: t)
            watch.start()
            began = time.monotonic()
            try:
                await_true(lambda: primaries() == ["n1"], "the first primary")
                turn("n2", ObjectId("7fffffff0000000000000002"))
                await_true(lambda: primaries() == ["n1", "n2"], "both")
                seen = len(of(read_primaries(path), "n1"))
                await_true(lambda: len(of(read_primaries(path), "n1")) > seen + 4, "more looks")
                turn("n1", None)
                await_true(lambda: primaries() == ["n2"], "the second primary")
            finally:
                watch.stop()
    looks = read_primaries(path)
    data = replace(data_of(make_series([80] * 10, [80] * 10), MeasureSettings.lab()),
                   primaries=looks)  # fmt: skip
    whole = replace(view(data, 0.5, 1.0), start=began, effective=began, until=time.monotonic())
    found, promoted = primary_overlap(whole, data), promoted_time(whole, data)
    assert found is not None
    assert found[1] is not None
    assert 0.0 < found[0] <= events[1] - events[0] <= found[1]
    assert promoted is not None
    assert promoted[1] is not None
    assert promoted[0] <= events[0] - began <= promoted[1]


def test_a_member_far_away_is_heard_again_after_its_connection_is_lost(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """To connect takes longer than an answer may on a connection that stands."""
    monkeypatch.setattr(patience, "LEAST_S", 1.0)  # a busy machine keeps an answer back for less
    election = ObjectId("7fffffff0000000000000001")
    lost, hung, free = threading.Event(), threading.Event(), threading.Event()

    def say() -> ObjectId:
        if lost.is_set():
            lost.clear()
            raise ConnectionResetError
        if hung.is_set():
            free.wait(60.0)
        return election

    with scripted_member(say, connecting_s=0.6) as address:
        cluster = Cluster.model_validate({
            "name": "scripted", "database": "mongodb", "environment": "test",
            "nodes": [{"name": "n1", "address": address}],
        })  # fmt: skip
        with MongoAdapter(cluster) as adapter:
            (member,) = adapter.candidates()
            began = time.monotonic()
            assert member.claim().primary
            connecting_s = time.monotonic() - began
            assert connecting_s > patience.LEAST_S
            assert all(member.claim().primary for _ in range(3))
            lost.set()
            with pytest.raises(ClusterError):
                member.claim()
            assert member.claim().primary
            hung.set()
            began = time.monotonic()
            with pytest.raises(NoAnswer):
                member.claim()
            silent_s = time.monotonic() - began
            assert silent_s < 2 * connecting_s  # to connect, it waits for three of them
            hung.clear()
            free.set()
            assert member.claim().primary
            member.close()


@pytest.fixture
def adapter(lab_mongodb: Cluster) -> Iterator[MongoAdapter]:
    with MongoAdapter(lab_mongodb) as adapter:
        yield adapter


def test_members_of_a_set_say_who_is_primary_and_by_which_election(
    lab_mongodb: Cluster, adapter: MongoAdapter, tmp_path: Path
) -> None:
    """A paused member gives no answer, a dead one says no; the next one has another election."""
    assert isinstance(adapter, Electing)
    path = tmp_path / "primaries.csv"
    first = adapter.targets("primary", 1)[0]
    watch = PrimaryWatch(adapter.candidates(), path, lambda t: t)

    def said(node: str) -> list[bool | None]:
        return [look.primary for look in of(read_primaries(path), node)]

    watch.start()
    try:
        await_true(lambda: said(first.name).count(True) >= 2, "the primary's answers")
        host_for(first).pause()
        await_true(lambda: said(first.name)[-1] is None, "silence")
        host_for(first).resume()
        await_true(lambda: said(first.name)[-1] is not None, "an answer")
        primary = adapter.targets("primary", 1)[0]  # it may have been silent for too long
        host_for(primary).stop("kill")
        others = {n.name for n in lab_mongodb.nodes} - {primary.name}
        await_true(lambda: any(said(name)[-1:] == [True] for name in others), "the next primary")
        await_true(lambda: said(primary.name)[-1] is False, "a refused connection")
        host_for(primary).start()
        await_whole(adapter)
    finally:
        watch.stop()
    elections = {look.election for look in read_primaries(path) if look.primary}
    assert len(elections) >= 2
    assert all(len(each) == 24 for each in elections)
    assert {look.election for look in read_primaries(path) if not look.primary} == {""}
