"""A fault is looked at while it lasts; the undo says what was seen of it."""

import errno
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.faults.lasting import watched
from tests.links import delayable, partitionable
from tests.waiting import await_true, await_whole

from brownout.base.errors import HostError
from brownout.databases.adapter import Adapter
from brownout.faults import watch
from brownout.faults.act import PendingUndo
from brownout.faults.faults import Faults
from brownout.faults.watch import Lasted, Watch, Watches
from brownout.inventory.model import Cluster, Node, ProcessSpec
from brownout.machine import network
from brownout.machine.host import Proof, host_for
from brownout.run.contract import breaches
from brownout.run.events import EventLog, read_events


@pytest.fixture(autouse=True)
def _often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "EVERY_S", 0.05)


class Scripted:
    """Answers one look after the other, the last one for ever; `taken` is how many there were."""

    def __init__(self, *answers: bool | None) -> None:
        self._answers, self.taken = list(answers), 0

    def __call__(self) -> bool | None:
        self.taken += 1
        answer = self._answers[0] if len(self._answers) == 1 else self._answers.pop(0)
        if answer is None and self.taken % 2:
            raise HostError("no answer")
        return answer


def watching(look: Callable[[], bool | None]) -> tuple[Watch, list[Lasted]]:
    ended: list[Lasted] = []
    return Watch(look, time.monotonic(), ended.append), ended


def test_a_fault_that_lasts_until_its_undo_has_not_ended() -> None:
    look = Scripted(True)
    running, ended = watching(look)
    await_true(lambda: look.taken > 2)
    lasted = running.stop()
    assert (lasted.first_no, ended) == (None, [])
    assert lasted.looks >= 2


def test_a_look_that_this_machine_refuses_does_not_end_the_watch() -> None:
    looks: list[bool] = []

    def look() -> bool:
        looks.append(len(looks) < 3)
        if len(looks) == 2:
            raise OSError(errno.EMFILE, "Too many open files")
        return looks[-1]

    running, ended = watching(look)
    await_true(lambda: ended)
    assert running.stop().first_no is not None


def test_a_fault_that_ends_does_so_between_the_last_yes_and_the_first_no() -> None:
    look = Scripted(True, True, False)
    running, ended = watching(look)
    await_true(lambda: ended)
    (lasted,) = ended
    assert running.stop() == lasted
    assert lasted.first_no is not None
    assert lasted.last_yes < lasted.first_no


@pytest.mark.parametrize("answers", [(True, None), (None,), (True, False, True), (False, True)])
def test_no_answer_and_a_single_no_say_nothing(answers: tuple[bool | None, ...]) -> None:
    look = Scripted(*answers)
    running, ended = watching(look)
    await_true(lambda: look.taken > len(answers) + 2)
    assert (running.stop().first_no, ended) == (None, [])


def test_a_look_that_is_under_way_when_the_undo_begins_does_not_count() -> None:
    asked, go = threading.Event(), threading.Event()

    def hangs() -> bool:
        asked.set()
        go.wait(30)
        return False  # the undo has done it by now

    running, ended = watching(hangs)
    asked.wait(30)
    lasted = running.stop()
    go.set()
    assert (lasted.looks, lasted.first_no, ended) == (0, None, [])


def undone(tmp_path: Path, already: bool, allowed: bool = False) -> tuple[Path, dict[str, Any]]:
    """Undo a fault that was in place at each look; `already`: it is not when it is undone."""
    log, look = tmp_path / "events.ndjson", Scripted(True)
    events = EventLog(log)
    watches = Watches(events, lambda t: t, allowed)
    entry, now = events.intent("break", "pause_node", node="n1"), time.monotonic()
    proof = Proof(now, 0.0, {"undo_after_s": 120.0})
    watches.begin(PendingUndo("resume_node", "n1"), entry, "pause_node", proof, look)
    await_true(lambda: look.taken > 2)
    watches.undo_begins("n1", "resume_node")
    seen = watches.undone("resume_node", "n1", Proof(time.monotonic(), 0.0, {}, already=already))
    return log, seen["watched"]


def test_an_undo_that_had_nothing_to_do_is_the_last_look(tmp_path: Path) -> None:
    log, seen = undone(tmp_path, already=True)
    (breach,) = breaches(read_events(log))
    assert (breach.clause, breach.node, breach.of, breach.allowed) == ("duration", "n1", 1, False)
    assert breach.last_seen is not None
    assert breach.first_not is not None
    assert breach.last_seen < breach.first_not
    assert seen["until_undo"] is False
    paused = read_events(log)[0]
    assert paused.evidence["ended_early"]
    assert paused.ended == pytest.approx(breach.first_not, abs=1e-5)


def test_an_undo_says_that_the_fault_lasted_until_it(tmp_path: Path) -> None:
    log, seen = undone(tmp_path, already=False)
    assert breaches(read_events(log)) == []
    assert seen["until_undo"] is True
    assert seen["looks"] >= 2


def test_an_experiment_may_allow_that_a_fault_ends_early(tmp_path: Path) -> None:
    log, _ = undone(tmp_path, already=True, allowed=True)
    (breach,) = breaches(read_events(log))
    assert breach.allowed


@pytest.fixture
def cluster(lab_etcd: Cluster) -> Cluster:
    return lab_etcd


def _follower(adapter: Adapter) -> Node:
    return adapter.targets("follower", 1)[0]


def _ended(log: Path) -> str:
    await_true(lambda: breaches(read_events(log)), "that it ended early", 30)
    (breach,) = breaches(read_events(log))
    return breach.detail


def test_a_pause_that_somebody_ends_is_known_before_its_undo_and_named_by_it(
    faults: Faults, adapter: Adapter, log: Path
) -> None:
    node = _follower(adapter)
    paused = faults.run("pause_node", node)
    assert not faults.settled
    os.kill(paused["evidence"]["pid"], signal.SIGCONT)
    ended = _ended(log)
    assert "before resume_node" in ended
    assert "undo_after_s" not in ended
    assert faults.settled, "milestones count from here on"
    assert faults.broken == {node.name: "resume_node"}
    resumed = faults.run("resume_node", node)
    assert resumed["evidence"]["watched"]["until_undo"] is False


def test_a_pause_that_its_own_switch_ends_is_known_as_that(
    faults: Faults, adapter: Adapter, log: Path
) -> None:
    faults.run("pause_node", _follower(adapter), undo_after_s=1)
    assert "its own switch (`undo_after_s`) had run out after 1 s" in _ended(log)


@pytest.mark.parametrize("fault", ["kill_node", "stop_node"])
def test_a_node_that_somebody_starts_again_was_not_down_for_as_long_as_it_was_meant(
    faults: Faults, adapter: Adapter, log: Path, fault: str
) -> None:
    node = _follower(adapter)
    faults.run(fault, node)
    host_for(node).start()  # a supervisor, or an operator
    assert _ended(log).startswith(f"{fault} of {node.name} ended by itself ")
    started = faults.run("start_node", node)
    assert started["evidence"]["already"]


def test_a_node_that_is_killed_while_it_is_paused_and_started_at_last_broke_nothing(
    faults: Faults, adapter: Adapter, log: Path
) -> None:
    node = _follower(adapter)
    faults.run("pause_node", node)
    faults.run("kill_node", node)
    faults.run("kill_node", node)
    started = faults.run("start_node", node)
    assert started["evidence"]["watched"]["until_undo"] is True
    await_whole(adapter)
    assert breaches(read_events(log)) == []


def test_the_undo_of_one_fault_leaves_the_watch_of_another_one_of_its_node(tmp_path: Path) -> None:
    log, over = tmp_path / "events.ndjson", threading.Event()
    events = EventLog(log)
    watches = Watches(events, lambda t: t)
    proof = Proof(time.monotonic(), 0.0, {})
    for fault, undo in (("partition_node", "heal_partition"), ("lose_packets", "deliver_packets")):
        entry = events.intent("break", fault, node="n1")
        watches.begin(PendingUndo(undo, "n1"), entry, fault, proof, lambda: not over.is_set())
    watches.undo_begins("n1", "heal_partition")
    over.set()
    await_true(lambda: breaches(read_events(log)), "that the loss ended early", 20)
    (breach,) = breaches(read_events(log))
    assert breach.detail.startswith("lose_packets of n1 ended by itself")


def test_a_reboot_ends_the_watch_since_it_may_start_the_node(tmp_path: Path) -> None:
    log = tmp_path / "events.ndjson"
    look = Scripted(True)
    watches = Watches(EventLog(log), lambda t: t)
    proof = Proof(time.monotonic(), 0.0, {})
    watches.begin(PendingUndo("start_node", "n1"), 1, "stop_node", proof, look)
    await_true(lambda: look.taken > 1)
    for undo in ("reboot_node", "start_node"):
        watches.undo_begins("n1", undo)
        assert watches.undone(undo, "n1", Proof(time.monotonic(), 0.0, {}, already=True)) == {}
    assert not log.exists()


@pytest.mark.parametrize(
    "flush",
    [
        "delete table inet brownout", "flush ruleset", "flush chain inet brownout outgoing",
        "flush set inet brownout peers4",
    ],
)  # fmt: skip
def test_a_partition_is_over_as_soon_as_an_operator_takes_any_of_its_rules(
    lab_partition: Cluster, tmp_path: Path, flush: str
) -> None:
    node, *others = lab_partition.nodes
    host, spec = partitionable(node), node.host
    assert isinstance(spec, ProcessSpec)
    log = tmp_path / "events"
    proof = host.partition([other.address for other in others], 60)
    try:
        lasting = watched(host_for(node), "partition_node", "heal_partition", proof, log, node)
        subprocess.run([*network.enter(spec.network_namespace), "nft", flush], check=True)
        assert "undo_after_s" not in lasting.breach().detail
    finally:
        host.heal_partition()


def test_a_delay_is_over_when_somebody_takes_it_away(lab_slow: Cluster, tmp_path: Path) -> None:
    node = lab_slow.nodes[0]
    host, log = delayable(node), tmp_path / "events"
    try:
        proof = host.delay(20, 0, 60)
        lasting = watched(host_for(node), "delay_node", "undelay_node", proof, log, node)
        host.undelay()  # another run's, or an operator's
        assert lasting.breach().clause == "duration"
    finally:
        host.undelay()
