"""What makes an Aerospike cluster look well when it is not, and what we make of it."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.waiting import await_true

from brownout.base.errors import Refused
from brownout.databases.aerospike import figures
from brownout.databases.aerospike.adapter import AerospikeAdapter
from brownout.databases.aerospike.view import View
from brownout.faults.faults import Faults
from brownout.inventory.model import Cluster, Node
from brownout.session.milestones import Crossing, MilestoneWatcher

STABLE = "cluster-stable:size=5;ignore-migrations=false"
HEADER = 8 << 20


@pytest.fixture
def cluster(lab_aerospike: Cluster) -> Cluster:
    return lab_aerospike


@pytest.fixture
def watcher(adapter: AerospikeAdapter, faults: Faults) -> Iterator[MilestoneWatcher]:
    found = MilestoneWatcher(adapter, lambda: not faults.broken, lambda crossing: None, hold_s=1.0)
    found.arm()
    faults.before_break = found.start
    yield found
    found.stop()


def told(adapter: AerospikeAdapter, *nodes: str) -> list[View]:
    """What these nodes say of the cluster."""
    return [view for view in adapter.ask(STABLE, "statistics") if view.node in nodes]


def reached(watcher: MilestoneWatcher, name: str) -> Crossing:
    crossing = watcher.wait(name, 60)
    assert crossing.first_yes is not None, f"never {name}"
    return crossing


@pytest.mark.matrix
def test_health_lies_after_a_kill_and_no_milestone_believes_it(
    adapter: AerospikeAdapter, faults: Faults, watcher: MilestoneWatcher, lab_aerospike: Cluster
) -> None:
    key = adapter.signature()
    killed = faults.run("kill_node", lab_aerospike.node("n2"))
    survivors = told(adapter, "n1", "n3", "n4", "n5")
    assert {view.answers[STABLE] for view in survivors} == {key}, "they all call it whole"
    assert {view.statistics["cluster_size"] for view in survivors} == {"5"}
    assert not adapter.stable("rejoined").reached, "the dead node was asked too"

    changed = reached(watcher, "changed")
    assert changed.last_no is not None
    assert changed.last_no > killed["effective"], "it was looked at in vain before"
    assert changed.detail["after"] not in ("", key)

    faults.run("start_node", lab_aerospike.node("n2"))
    rejoined, redundant = reached(watcher, "rejoined"), reached(watcher, "redundant")
    order = [crossing.first_yes for crossing in (changed, rejoined, redundant)]
    assert order == sorted(order, key=lambda t: t or 0.0)


def test_a_fast_restart_hides_the_outage_from_the_others_but_not_from_us(
    adapter: AerospikeAdapter, faults: Faults, watcher: MilestoneWatcher, lab_aerospike: Cluster
) -> None:
    key = adapter.signature()
    faults.run("kill_node", lab_aerospike.node("n2"))
    faults.run("start_node", lab_aerospike.node("n2"))
    (orphan,) = told(adapter, "n2")
    assert (orphan.state, orphan.count("migrate_partitions_remaining")) == ("orphan", 0)
    assert {view.answers[STABLE] for view in told(adapter, "n1", "n3", "n4", "n5")} == {key}
    assert not adapter.stable("rejoined").reached
    nothing_known = figures.migrations_remaining(adapter.ask("statistics"))
    assert nothing_known["status"] == "no_data", "an orphan has nothing to migrate"
    assert nothing_known["missing"] == ["n2: orphan"]

    assert reached(watcher, "redundant").detail["cluster_keys"] != [key]


def data_file(adapter: AerospikeAdapter, node: Node) -> Path:
    (directory,) = adapter.data_directories(node)
    (file,) = directory.iterdir()
    return file


def fresh_starts(node: Node) -> int:
    assert node.host is not None
    log: Path = node.host.log_file  # type: ignore[attr-defined]
    return log.read_text().count("found all 1 devices fresh")


@pytest.mark.matrix
def test_a_header_zeroed_under_a_live_node_is_undone_by_its_stop(
    adapter: AerospikeAdapter, faults: Faults, lab_aerospike: Cluster
) -> None:
    node = lab_aerospike.node("n3")
    before = fresh_starts(node)
    with data_file(adapter, node).open("r+b") as file:
        file.write(bytes(HEADER))  # by somebody who believes that this wipes it
    faults.run("stop_node", node)
    faults.run("start_node", node)
    await_true(lambda: adapter.stable("redundant").reached, "the node is back")
    assert fresh_starts(node) == before, "it came back with its data"


def test_we_wipe_a_node_only_when_it_is_proven_stopped_and_then_it_comes_back_empty(
    adapter: AerospikeAdapter, faults: Faults, lab_aerospike: Cluster
) -> None:
    node = lab_aerospike.node("n3")
    before = fresh_starts(node)
    with pytest.raises(Refused, match=r"running, pid \d+; stop it first"):
        faults.run("wipe_node", node)
    faults.run("stop_node", node)
    faults.run("wipe_node", node)
    faults.run("start_node", node)
    await_true(lambda: adapter.stable("redundant").reached, "the node is back")
    assert fresh_starts(node) == before + 1
