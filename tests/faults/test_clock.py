"""The clock of a real server is set wrong, by its own account, and right again."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests import kill_harness
from tests.own_lab import own_lab
from tests.waiting import await_true

from brownout.base.errors import Refused
from brownout.databases.adapter import Adapter, TellingTime
from brownout.faults import undos
from brownout.faults.faults import Faults
from brownout.infra import lab
from brownout.inventory.model import Cluster, Guards
from brownout.machine import clock
from brownout.machine.host import host_for
from brownout.run.events import EventLog, read_events

NAME = os.environ.get("BROWNOUT_CLOCK_LAB", "lab-redis-clock")
WHY_NOT = clock.why_not_here()
pytestmark = [
    pytest.mark.skipif(bool(WHY_NOT), reason=f"NOT TESTED: own clocks: {WHY_NOT}"),
    pytest.mark.live,
]


@pytest.fixture
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Cluster]:
    with own_lab(NAME, tmp_path / "lab", monkeypatch) as own:
        yield own


def test_a_primary_tells_a_wrong_time_until_the_undo_and_lab_up_sets_it_right_too(
    cluster: Cluster, adapter: Adapter, faults: Faults, log: Path
) -> None:
    primary = adapter.targets("primary", 1)[0]
    host = host_for(primary)
    denying = cluster.model_copy(update={"guards": Guards(deny_acts=("clock",))})
    with pytest.raises(Refused, match="clock"):
        Faults(denying, adapter, EventLog(log), lambda t: t).run("skew_clock", primary)
    assert clock.left_on(primary, host) == ""
    assert not log.exists()
    evidence = faults.run("skew_clock", primary, offset_s=-60.0, undo_after_s=120)["evidence"]
    assert evidence["server_ahead_s"] == pytest.approx(-60, abs=1)
    assert faults.broken == {primary.name: "set_clock_right"}
    (event,) = read_events(log)
    assert event.undo == {"action": "set_clock_right"}
    assert clock.left_on(primary, host) == "-60 s"
    died = Faults(cluster, adapter, EventLog(log), lambda t: t, undos.left(read_events(log)))
    assert died.put_back() == []
    (right,) = [each for each in read_events(log) if each.name == "set_clock_right"]
    assert right.evidence["server_ahead_s"] == pytest.approx(0, abs=1)
    assert undos.left(read_events(log)) == ()
    assert clock.left_on(primary, host) == ""
    clock.skew(primary, host, 60, 0, 120)
    assert lab.up(NAME) == cluster
    assert clock.left_on(primary, host) == ""
    assert isinstance(adapter, TellingTime)
    faults.put_back()


@pytest.mark.matrix
def test_killed_at_any_moment_of_the_act_it_is_undone_by_its_record_or_by_the_node(
    cluster: Cluster, adapter: Adapter, tmp_path: Path
) -> None:
    node = cluster.nodes[0]
    for moment in range(10):
        log = tmp_path / f"{moment}.ndjson"
        arguments = {"offset_s": 60, "undo_after_s": 3}
        kill_harness.kill_act(cluster, log, "skew_clock", arguments, moment * 0.1)
        if moment % 2:  # half of them are left to the node itself
            await_true(lambda: clock.left_on(node, host_for(node)) == "", "the undo", 30)
        kill_harness.heal_act(cluster, adapter, log)
        assert clock.left_on(node, host_for(node)) == ""


@pytest.mark.matrix
def test_a_run_killed_while_its_nodes_clock_is_wrong_is_healed(
    cluster: Cluster, tmp_path: Path
) -> None:
    where, env = tmp_path / "run", {"BROWNOUT_CLUSTER": NAME}
    healed = kill_harness.kill_and_heal(cluster, where, "skew_clock", 0.5, "clock-skewed", env=env)
    assert "set_clock_right" in healed.mended
    assert {clock.left_on(node, host_for(node)) for node in cluster.nodes} == {""}
