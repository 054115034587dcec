"""A real primary on a bad link: how its cluster sees it, and that it is put back, also by heal."""

import random
from pathlib import Path

import pytest
from tests import chaos_runner as chaos
from tests import kill_harness
from tests.links import partitionable
from tests.waiting import await_true

from brownout.base.errors import ConfigurationError, Refused
from brownout.databases.adapter import Adapter
from brownout.faults import registry
from brownout.faults.faults import Faults
from brownout.faults.undos import left
from brownout.inventory.model import Cluster, Guards
from brownout.machine import bandwidth, one_way, packet_loss, partition
from brownout.machine.host import host_for
from brownout.run import contract
from brownout.run.events import EventLog, read_events
from brownout.session.leaderless import await_no_primary

FILTERS = {
    "lose_packets": packet_loss.FILTER,
    "cut_one_way": one_way.FILTER,
    "limit_bandwidth": bandwidth.FILTER,
}


@pytest.fixture
def cluster(lab_partition: Cluster) -> Cluster:
    return lab_partition


def words_left(cluster: Cluster) -> list[str]:
    """What is still dropped of any node's packets."""
    every = (*FILTERS.values(), partition.FILTER)
    return [text for n in cluster.nodes for f in every if (text := f.left_on(n, host_for(n)))]


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("lose_packets", {"percent": 10.0}),
        ("limit_bandwidth", {"kbit_s": 20_000}),
    ],
)
def test_a_primary_on_a_bad_link_keeps_its_role_and_is_put_back(
    cluster: Cluster,
    adapter: Adapter,
    faults: Faults,
    log: Path,
    name: str,
    arguments: dict[str, float],
) -> None:
    primary = adapter.targets("primary", 1)[0]
    undo = registry.faults()[name].undo_name
    evidence = faults.run(name, primary, undo_after_s=120, **arguments)["evidence"]
    assert evidence["rules"].keys() == {"incoming", "outgoing"}
    assert evidence["stays_open"] == ["its own addresses (lo)"]
    assert evidence.items() >= arguments.items()
    (event,) = read_events(log)
    assert event.undo == {"action": undo}
    assert event.arguments.items() >= {**arguments, "peers": "all", "direction": "both"}.items()
    assert faults.broken == {primary.name: undo}
    assert adapter.targets("primary", 1)[0] == primary
    assert faults.put_back() == []
    assert faults.pending == left(read_events(log)) == ()
    assert words_left(cluster) == []


def test_a_primary_that_clients_do_not_hear_stays_primary_though_we_do_not_hear_it_either(
    cluster: Cluster, adapter: Adapter, faults: Faults
) -> None:
    primary = adapter.targets("primary", 1)[0]
    proof = faults.run("cut_one_way", primary, direction="out", peers="clients", undo_after_s=120)
    evidence = proof["evidence"]
    assert len(evidence["except"]) == 2
    assert evidence["port"] == int(primary.address.rpartition(":")[2])
    assert evidence["stays_open"][:2] == [f"every port but {evidence['port']}", "the other members"]
    assert "may well be primary" in evidence["observer"]
    roles = {member.node: member.role for member in adapter.members()}
    assert roles.pop(primary.name) == "unknown"
    assert set(roles.values()) == {"secondary"}
    assert faults.hidden == {primary.name}
    assert await_no_primary(adapter, 0.5, lambda: False, faults.hidden) is None
    assert faults.put_back() == []
    assert faults.hidden == frozenset()
    await_true(lambda: adapter.targets("primary", 1)[0] == primary, "the same primary")


def test_several_faults_of_one_link_are_undone_one_by_one(
    cluster: Cluster, adapter: Adapter, faults: Faults
) -> None:
    node = adapter.targets("secondary", 1)[0]
    faults.run("lose_packets", node, percent=1.0, undo_after_s=120)
    faults.run("partition_node", node, undo_after_s=120)
    faults.run("cut_one_way", node, direction="in", peers="clients", undo_after_s=120)
    faults.run("limit_bandwidth", node, kbit_s=50_000, undo_after_s=120)
    faults.run("heal_partition", node)
    assert partitionable(node).cut_off() == []
    assert len(words_left(cluster)) == 3
    assert faults.put_back() == []
    assert words_left(cluster) == []


#: A port that no database of a lab and none of its clients uses.
UNUSED = 9


@pytest.mark.parametrize(
    ("name", "arguments", "dropped", "made"),
    [
        ("lose_packets", {"percent": 50.0, "port": UNUSED}, False, False),
        ("cut_one_way", {"peers": "members", "port": UNUSED}, False, False),
        ("cut_one_way", {"peers": "clients", "port": UNUSED}, False, False),
        ("lose_packets", {"percent": 0.0}, False, True),
        ("cut_one_way", {"peers": "members"}, True, True),
        ("limit_bandwidth", {"kbit_s": 100_000_000}, False, True),
    ],
)
def test_a_fault_of_a_link_that_dropped_nothing_was_not_made_unless_it_is_a_limit_or_a_control(
    cluster: Cluster,
    adapter: Adapter,
    faults: Faults,
    log: Path,
    name: str,
    arguments: dict[str, float],
    dropped: bool,
    made: bool,
) -> None:
    node = adapter.targets("secondary", 1)[0]
    action = registry.faults()[name]
    faults.run(name, node, undo_after_s=120, **arguments)
    adapter.members()
    if dropped:
        await_true(lambda: FILTERS[name].look(host_for(node).network()).packets, "a lost packet")
    evidence = faults.run(action.undo_name, node)["evidence"]
    assert (evidence["dropped_packets"] > 0) is dropped
    found = contract.breaches(read_events(log))
    assert [(each.clause, each.node) for each in found] == (
        [] if made else [(contract.DATA, node.name)]
    )
    assert ("unfelt" in evidence) is (name == "limit_bandwidth")


@pytest.mark.parametrize(
    ("name", "arguments", "word"),
    [
        ("lose_packets", {"percent": 101.0}, "percent"),
        ("lose_packets", {"direction": "up"}, "direction"),
        ("cut_one_way", {"direction": "both"}, "direction"),
        ("cut_one_way", {"port": 70_000}, "port"),
        ("cut_one_way", {"peers": "n9"}, "n9"),
        ("limit_bandwidth", {"kbit_s": 1}, "kbit_s"),
    ],
)
def test_what_is_not_such_a_fault_touches_nothing(
    cluster: Cluster, faults: Faults, log: Path, name: str, arguments: dict[str, object], word: str
) -> None:
    with pytest.raises(ConfigurationError, match=word):
        faults.run(name, cluster.nodes[0], **arguments)
    assert not log.exists()
    assert words_left(cluster) == []


def test_what_the_inventory_denies_touches_nothing(
    cluster: Cluster, adapter: Adapter, log: Path
) -> None:
    for name in FILTERS:
        act = registry.faults()[name].act
        denying = cluster.model_copy(update={"guards": Guards(deny_acts=(act,))})
        with pytest.raises(Refused, match=f"the inventory denies {act}"):
            Faults(denying, adapter, EventLog(log), lambda t: t).run(name, cluster.nodes[0])
    assert not log.exists()
    assert words_left(cluster) == []


@pytest.mark.matrix
@pytest.mark.timeout(600)
@pytest.mark.parametrize("moment", range(10))
@pytest.mark.parametrize(
    ("experiment", "fault", "undo"),
    [
        ("lossy-link", "lose_packets", "deliver_packets"),
        ("black-hole", "cut_one_way", "open_both_ways"),
    ],
)
def test_a_run_killed_at_any_moment_of_a_bad_link_is_healed_and_no_rule_is_left(
    cluster: Cluster, tmp_path: Path, experiment: str, fault: str, undo: str, moment: int
) -> None:
    after_s = random.Random(f"{fault} {moment}").uniform(0, 0.4) if moment < 6 else moment - 6
    healed = kill_harness.kill_and_heal(
        cluster,
        tmp_path / "run",
        fault,
        after_s,
        experiment,
        ["--var", f"cluster={cluster.name}", *chaos.GENTLY],
    )
    print(f"{fault}: killed {after_s:.2f} s after its intent, {healed}")  # `pytest -rP` shows it
    assert undo in healed.mended
    assert words_left(cluster) == []
