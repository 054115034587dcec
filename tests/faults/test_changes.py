"""Planned changes of a real replica set: written down, guarded, and put back, after a crash too."""

from pathlib import Path

import pytest
from tests import kill_harness
from tests.waiting import await_whole

from brownout.base.errors import ClusterError, ConfigurationError, Refused, Unsupported
from brownout.databases.milestones import still_unmet, unmet
from brownout.databases.mongodb.adapter import MongoAdapter
from brownout.faults import undos
from brownout.faults.faults import Faults
from brownout.faults.redundancy import await_redundancy
from brownout.inventory.model import Cluster, Guards
from brownout.machine.host import host_for
from brownout.run.events import EventLog, read_events
from brownout.session.targets import next_spare


@pytest.fixture
def cluster(lab_mongodb: Cluster) -> Cluster:
    return lab_mongodb


def names(faults: Faults) -> list[str]:
    return [node.name for node in faults.members]


def test_a_replaced_member_is_back_in_the_end_with_the_say_that_it_had(
    lab_mongodb: Cluster, adapter: MongoAdapter, faults: Faults, log: Path
) -> None:
    old, new = adapter.targets("secondary", 1)[0], lab_mongodb.spares[0]
    say = adapter.setting("votes_and_priority", old)
    faults.run("remove_node", old)
    faults.run("add_node", new)
    assert names(faults) == [n.name for n in lab_mongodb.nodes if n != old] + [new.name]
    assert faults.broken == {}
    assert faults.added == new
    await_redundancy(lambda: unmet(adapter, "redundant"), "n4 has no vote yet")
    assert adapter.setting("votes_and_priority", new)["votes"] == 0
    faults.run("admit_node", new)
    assert adapter.setting("votes_and_priority", new)["votes"] == 1
    assert undos.left(read_events(log)) == faults.pending != ()
    assert faults.put_back() == []
    assert undos.left(read_events(log)) == faults.pending == ()
    assert still_unmet(adapter, "whole") == []
    assert adapter.setting("votes_and_priority", old) == say
    assert not host_for(new).running().running
    (data,) = adapter.data_directories(new)
    assert list(data.iterdir()) == []


@pytest.mark.matrix
def test_a_spare_that_held_data_before_it_was_added_keeps_what_it_has(
    lab_mongodb: Cluster, faults: Faults, adapter: MongoAdapter
) -> None:
    spare = lab_mongodb.spares[0]
    (data,) = adapter.data_directories(spare)
    faults.run("add_node", spare)
    await_redundancy(lambda: unmet(adapter, "redundant"), "it has no data yet", 60)
    faults.run("remove_node", spare)  # by the method, which empties nothing
    before = sorted(path.name for path in data.iterdir())
    assert before
    faults.run("add_node", spare)
    await_redundancy(lambda: unmet(adapter, "redundant"), "it has no data yet", 60)
    assert faults.put_back() == []
    assert set(before) & {path.name for path in data.iterdir()}


def test_taking_back_a_change_leaves_nothing_to_put_back(
    lab_mongodb: Cluster, faults: Faults, adapter: MongoAdapter
) -> None:
    spare = lab_mongodb.spares[0]
    faults.run("add_node", spare)
    with pytest.raises(ClusterError, match="has no spare node to add, and 1 are members now"):
        next_spare(lab_mongodb, faults.members)
    await_redundancy(lambda: unmet(adapter, "redundant"), "it has no data yet", 60)
    faults.run("remove_node", spare)
    assert faults.pending == ()
    assert still_unmet(adapter, "whole") == []


@pytest.mark.matrix
def test_a_spare_that_was_out_of_the_set_already_when_the_run_died_is_stopped_and_emptied(
    lab_mongodb: Cluster, adapter: MongoAdapter, faults: Faults, log: Path
) -> None:
    spare = lab_mongodb.spares[0]
    faults.run("add_node", spare)
    await_redundancy(lambda: unmet(adapter, "redundant"), "it has no data yet", 60)
    adapter.leave(spare)  # and then it died, before it stopped it
    events = read_events(log)
    after = Faults(lab_mongodb, adapter, EventLog(log), lambda t: t, undos.left(events))
    assert after.put_back() == []
    assert not host_for(spare).running().running
    assert still_unmet(adapter, "whole") == []
    faults.resolve("remove_node", spare.name)


def test_what_is_refused_is_not_written_down_and_owes_nothing(
    lab_mongodb: Cluster, faults: Faults, log: Path
) -> None:
    member = lab_mongodb.nodes[0]
    with pytest.raises(Refused, match=r"nothing is touched: possible now: .*member"):
        faults.run("add_node", member)
    with pytest.raises(Unsupported, match=r"replication_factor: .*nothing is touched"):
        faults.run("adjust", setting="replication_factor", value=3)
    with pytest.raises(ConfigurationError, match="no node was added"):
        _ = faults.added
    assert faults.pending == ()
    assert not log.exists()


@pytest.mark.parametrize("act", ["add", "remove"])  # which undoes it
def test_the_inventory_may_deny_a_change(
    act: str, lab_mongodb: Cluster, adapter: MongoAdapter, log: Path
) -> None:
    denying = lab_mongodb.model_copy(update={"guards": Guards(deny_acts=(act,))})
    faults = Faults(denying, adapter, EventLog(log), lambda t: t)
    with pytest.raises(Refused, match=f"deny list: the inventory denies {act}"):
        faults.run("add_node", denying.spares[0])
    assert not log.exists()


@pytest.mark.matrix
@pytest.mark.parametrize(
    ("experiment", "mark", "mended"),
    [("scale-out", "add_node", "n4"), ("scale-in", "remove_node", "n")],
)
def test_a_run_killed_in_the_middle_of_a_change_is_healed(
    experiment: str, mark: str, mended: str, fresh_lab: Cluster, tmp_path: Path
) -> None:
    found = kill_harness.kill_and_heal(fresh_lab, tmp_path / "run", mark, experiment=experiment)
    assert mended in found.mended
    spare = fresh_lab.spares[0]
    assert not host_for(spare).running().running
    with MongoAdapter(fresh_lab) as adapter:
        await_whole(adapter)
        says = [adapter.setting("votes_and_priority", node) for node in fresh_lab.nodes]
    assert [say["votes"] for say in says] == [1, 1, 1]
