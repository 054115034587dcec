"""A member answers late: written down, guarded, and put back, after a crash too."""

import time
from dataclasses import replace
from pathlib import Path

import pytest
from tests import kill_harness
from tests.links import Link as NodeLink
from tests.links import delayable
from tests.wording import mentions

from brownout.base.errors import ConfigurationError, Refused, Unsupported
from brownout.databases.adapter import Adapter, adapter_for
from brownout.databases.lab import proxies
from brownout.databases.milestones import still_unmet
from brownout.databases.mongodb.access import access
from brownout.databases.mongodb.link import Link
from brownout.faults import registry
from brownout.faults.act import PendingUndo
from brownout.faults.faults import Faults
from brownout.faults.heal import also_broken
from brownout.faults.undos import left
from brownout.infra import lab
from brownout.inventory import labs
from brownout.inventory.model import Cluster, Guards, Node, ProcessSpec
from brownout.machine import delay
from brownout.machine.host import Host, Proof
from brownout.run import contract
from brownout.run.events import EventLog, read_events

pytestmark = pytest.mark.live

BY = ("netem", "toxiproxy")


@pytest.fixture
def cluster(lab_slow: Cluster) -> Cluster:
    return lab_slow


def quickest_ms(node: Node, cluster: Cluster) -> float:
    """The shortest of some answers of a member, over one connection, in milliseconds."""
    link = Link(node, access(cluster), 5.0)
    try:
        link.ask("ping")
        took = []
        for _ in range(5):
            asked = time.monotonic()
            link.ask("ping")
            took.append(time.monotonic() - asked)
        return min(took) * 1000
    finally:
        link.close()


def test_every_answer_of_a_slowed_primary_comes_so_much_later_and_nobody_is_elected(
    lab_slow: Cluster, adapter: Adapter, faults: Faults, log: Path
) -> None:
    primary = adapter.targets("primary", 1)[0]
    assert quickest_ms(primary, lab_slow) < 300
    evidence = faults.run("delay_node", primary, latency_ms=300, jitter_ms=0)["evidence"]
    assert (evidence["state"], evidence["latency_ms"], evidence["already"]) == (
        "slowed", 300, False
    )  # fmt: skip
    assert evidence["by"] in BY
    assert faults.broken == {primary.name: "undelay_node"}
    (event,) = read_events(log)
    assert event.undo == {"action": "undelay_node"}
    assert event.arguments == {"latency_ms": 300, "jitter_ms": 0}
    assert quickest_ms(primary, lab_slow) >= 300
    assert faults.run("delay_node", primary, latency_ms=300, jitter_ms=0)["evidence"]["already"]
    assert not faults.run("delay_node", primary, latency_ms=200, jitter_ms=20)["evidence"][
        "already"
    ]
    assert delayable(primary).delayed() == f"200 ms ± 20 ms by {evidence['by']}"
    others = [node for node in lab_slow.nodes if node != primary]
    with pytest.raises(Refused, match=f"broken now: {primary.name}; at most 1 may be"):
        faults.run("delay_node", others[0], latency_ms=50, jitter_ms=0)
    assert adapter.targets("primary", 1) == [primary]
    assert faults.put_back() == []
    assert faults.pending == left(read_events(log)) == ()
    assert delayable(primary).delayed() == ""
    assert faults.run("undelay_node", primary)["evidence"]["already"]


@pytest.mark.parametrize(
    ("delayed", "made"),
    [({"delayed_packets": 0}, False), ({"delayed_packets": 3}, True), ({}, True)],
)
def test_a_delay_that_held_back_no_packet_was_not_made(
    faults: Faults,
    adapter: Adapter,
    log: Path,
    monkeypatch: pytest.MonkeyPatch,
    delayed: dict[str, int],
    made: bool,
) -> None:
    node = adapter.targets("primary", 1)[0]
    faults.run("delay_node", node, latency_ms=50)
    undo_on = delay.undo_on

    def counted(node: Node, host: Host) -> Proof:
        proof = undo_on(node, host)
        others = {
            name: proof.evidence[name] for name in proof.evidence if name != "delayed_packets"
        }
        return replace(proof, evidence={**others, **delayed})

    monkeypatch.setattr(delay, "undo_on", counted)
    faults.run("undelay_node", node)
    found = contract.breaches(read_events(log))
    assert [(each.clause, each.node) for each in found] == (
        [] if made else [(contract.DATA, node.name)]
    )


@pytest.mark.matrix
def test_a_run_killed_while_a_node_is_slow_is_healed(lab_slow: Cluster, tmp_path: Path) -> None:
    healed = kill_harness.kill_and_heal(lab_slow, tmp_path / "run", "delay_node", 0.5, "slow-node")
    assert "undelay_node" in healed.mended
    assert [delayable(node).delayed() for node in lab_slow.nodes] == ["", "", ""]


def test_a_slowed_node_is_found_without_a_record_and_lab_up_takes_it_away(
    lab_slow: Cluster,
) -> None:
    node = lab_slow.nodes[0]
    by = delayable(node).delay(80, 0).evidence["by"]
    assert also_broken(lab_slow, ()) == (PendingUndo("undelay_node", node.name),)
    said: list[str] = []
    assert lab.up(lab_slow.name, progress=said.append) == lab_slow
    assert any(mentions(line, node.name, "delay", f"80 ms by {by}") for line in said)
    assert also_broken(lab_slow, ()) == ()


def test_a_toxiproxy_that_died_is_started_again_by_lab_up(
    lab_slow: Cluster, adapter: Adapter
) -> None:
    if isinstance(lab_slow.nodes[0].host, ProcessSpec) and lab_slow.nodes[0].host.proxy is None:
        pytest.skip("NOT TESTED: a lab with toxiproxy, since this machine has netem")
    proxies.stop(labs.directory(lab_slow.name))
    assert lab.up(lab_slow.name) == lab_slow
    assert still_unmet(adapter, "whole") == []


@pytest.mark.parametrize(
    ("sizes", "words"),
    [((0, 0), "latency_ms: found 0"), ((60_001, 0), "latency_ms: found 60001"),
     ((10, 11), "jitter_ms: found 11, wanted 0 to latency_ms")],
)  # fmt: skip
def test_a_size_that_makes_no_sense_is_refused(
    sizes: tuple[int, int], words: str, lab_slow: Cluster
) -> None:
    host = delayable(lab_slow.nodes[0])
    with pytest.raises(ConfigurationError, match=words):
        host.delay(*sizes)
    assert host.delayed() == ""


def test_a_node_that_the_inventory_protects_is_not_slowed(
    lab_slow: Cluster, adapter: Adapter, log: Path
) -> None:
    denying = lab_slow.model_copy(update={"guards": Guards(deny_acts=("delay",))})
    faults = Faults(denying, adapter, EventLog(log), lambda monotonic: monotonic)
    with pytest.raises(Refused, match="the inventory denies delay"):
        faults.run("delay_node", lab_slow.nodes[0], latency_ms=50, jitter_ms=0)
    assert not log.exists()
    assert delayable(lab_slow.nodes[0]).delayed() == ""


def test_where_no_node_can_be_slowed_it_is_unsupported_and_nothing_is_written(
    lab_mongodb: Cluster, log: Path
) -> None:
    found = adapter_for(lab_mongodb)
    faults = Faults(lab_mongodb, found, EventLog(log), lambda monotonic: monotonic)
    host = NodeLink(lab_mongodb.nodes[0])
    try:
        support = registry.supports("delay", lab_mongodb, found)
        assert support is not None
        assert "nor a proxy in front of it" in support.reason
        with pytest.raises(Unsupported, match="nor a proxy in front of it"):
            faults.run("delay_node", lab_mongodb.nodes[0], latency_ms=50, jitter_ms=0)
        assert not log.exists()
        assert host.delayed() == ""
    finally:
        found.close()
