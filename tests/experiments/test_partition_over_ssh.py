"""A primary behind ssh is cut off from its set for real; it joins by itself if the run is dead."""

import contextlib
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from tests import chaos_runner as chaos
from tests import kill_harness
from tests.faults.behind_ssh import elsewhere
from tests.links import partitionable
from tests.sshd import WHY_NOT, Sshd

from brownout.inventory import inventory as inventories
from brownout.inventory import labs
from brownout.inventory.model import Cluster, ProcessSpec
from brownout.machine import network
from brownout.machine.ssh import pool

pytestmark = [
    pytest.mark.live,
    pytest.mark.skipif(bool(WHY_NOT), reason=f"NOT TESTED: partitions over ssh: {WHY_NOT}"),
]


@pytest.fixture
def inventory(lab_partition: Cluster, tmp_path: Path) -> Iterator[Path]:
    """The inventory of a set each of whose members is behind a sshd of its own machine.

    Here a machine is a network namespace.
    """
    running = yaml.safe_load((labs.directory(lab_partition.name) / "inventory.yaml").read_text())
    del running["lab"]
    nodes = []
    with contextlib.ExitStack() as stack:
        for node, raw in zip(lab_partition.nodes, running["nodes"], strict=True):
            assert isinstance(node.host, ProcessSpec)
            enter = network.enter(node.host.network_namespace)
            address = node.address.rpartition(":")[0]
            sshd = Sshd(tmp_path / node.name, address=address, enter=enter).start()
            stack.callback(sshd.stop)
            nodes.append(elsewhere(raw, sshd.login()))
        stack.callback(pool.close_all)
        path = tmp_path / "far.yaml"
        path.write_text(yaml.safe_dump({**running, "name": "far", "nodes": nodes}))
        yield path


@pytest.mark.matrix  # in CI the next one cuts a node off by ssh, and a lab's partition is measured
@pytest.mark.quiet
def test_a_primary_behind_ssh_is_cut_off_and_no_acknowledged_write_is_lost(
    inventory: Path, tmp_path: Path
) -> None:
    ran = chaos.run_quickly("partition", tmp_path, str(inventory), partition_s=4)
    old = ran.impact["experiment"]["target"]
    assert ran.deeds == [("partition_node", old), ("heal_partition", old)], ran.output
    cut = next(event for event in ran.events if event["name"] == "partition_node"
               and event["stage"] == "effective")  # fmt: skip
    assert len(cut["evidence"]["from"]) == 2
    assert ran.impact["faults"][0]["redundancy_time"] is not None, ran.output
    assert ran.impact["ledger"]["state"] == "clean"
    assert ran.impact["ledger"]["acknowledged"] > 100
    ran.check_proven()


def test_a_run_killed_in_mid_partition_leaves_a_node_that_joins_the_others_by_itself(
    inventory: Path, lab_partition: Cluster, tmp_path: Path
) -> None:
    where = tmp_path / "run"
    where.mkdir()
    given = ("--var", f"cluster={inventory}", "--var", "undo_after_s=10", *chaos.GENTLY)
    settings = {"BROWNOUT_STATE": str(where / "state")}
    process = chaos.start(chaos.quick(chaos.load("partition")), where, *given, env=settings)
    cluster = inventories.load(inventory)
    hosts = [partitionable(node) for node in cluster.nodes]
    deadline = time.monotonic() + 120
    while not any(host.cut_off() for host in hosts):
        assert process.poll() is None, process.communicate()[0]
        assert time.monotonic() < deadline, "nobody was cut off"
        time.sleep(0.1)
    kill_harness.kill_tree(process.pid)
    process.communicate()
    while any(host.cut_off() for host in hosts):
        assert time.monotonic() < deadline, "the node is cut off for good"
        time.sleep(0.1)
    healed = kill_harness.heal(cluster, where, settings)
    assert "heal_partition" in healed.mended
