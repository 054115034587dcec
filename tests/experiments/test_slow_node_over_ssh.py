"""A real mongod on a machine that is reached by ssh is slowed by netem; it ends by itself, too."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests import chaos_runner as chaos
from tests import kill_harness
from tests.links import delayable
from tests.sshd import WHY_NOT
from tests.uml_mongod import LOAD, inventories_of

from brownout.base.wait import wait_until
from brownout.inventory import inventory as inventories
from brownout.inventory.model import Cluster
from brownout.run.latency import read_hlog

pytestmark = [
    pytest.mark.quiet,
    pytest.mark.matrix,
    pytest.mark.timeout(600),
    pytest.mark.skipif(bool(WHY_NOT), reason=f"NOT TESTED: delays over ssh: {WHY_NOT}"),
]

LATENCY_MS = 120


@pytest.fixture
def inventory(tmp_path: Path) -> Iterator[Callable[..., Path]]:
    """Write the inventory of a set of one member, which runs on a machine with netem."""
    with inventories_of(tmp_path) as write:
        yield write


def test_every_answer_comes_so_much_later_and_then_as_before(
    inventory: Callable[..., Path], tmp_path: Path
) -> None:
    far = str(inventory())
    ran = chaos.run_quickly(
        "slow-node", tmp_path, far, workload="lab", load=LOAD, latency_ms=LATENCY_MS, slow_s=6
    )
    print(ran.output)
    assert ran.deeds == [("delay_node", "n1"), ("undelay_node", "n1")], ran.output
    assert ran.directory is not None
    slowed, freed = (e for e in ran.events if e["stage"] == "effective")
    assert (slowed["evidence"]["by"], slowed["evidence"]["interface"]) == ("netem", "vec0")
    assert not freed["evidence"]["already"]
    assert "dropped_packets" not in freed["evidence"]
    log = read_hlog(ran.directory / "latency.hlog")
    slow = log.between(["lookups/read"], slowed["t"] + 1, freed["t"] - 1)
    assert slow is not None
    before = log.between(["lookups/read"], slowed["t"] - 2, slowed["t"])
    assert before is not None
    after = log.between(["lookups/read"], freed["t"] + 2, freed["t"] + 8)
    assert after is not None
    for name, found in (("before", before), ("slowed", slow), ("after", after)):
        print(name, found.at_rank(1), found.percentile_us(0.5), "us: quickest, median")
    assert (slow.at_rank(1) or 0) >= LATENCY_MS * 1000
    assert (before.at_rank(1) or 0) < LATENCY_MS * 1000
    assert (after.at_rank(1) or 0) < LATENCY_MS * 1000
    assert ran.impact["ledger"]["state"] == "clean"
    print("verdict:", ran.impact["verdict"], ran.impact["ledger"])
    ran.check_proven()


def test_a_run_killed_in_mid_delay_leaves_a_node_that_is_as_fast_as_before_by_itself(
    inventory: Callable[..., Path], tmp_path: Path
) -> None:
    path = inventory(undo_after_s=15)
    cluster: Cluster = inventories.load(path)
    where = tmp_path / "run"
    where.mkdir()
    given = (f"cluster={path}", "workload=lab", f"load={LOAD}", "slow_s=50")
    words = [word for one in given for word in ("--var", one)]
    settings = {"BROWNOUT_STATE": str(where / "state")}
    process = chaos.start(chaos.quick(chaos.load("slow-node")), where, *words, env=settings)
    host = delayable(cluster.nodes[0])
    assert wait_until(host.delayed, 240, stopped=lambda: process.poll() is not None)
    kill_harness.kill_tree(process.pid)
    process.communicate()
    assert wait_until(lambda: not host.delayed(), 120), "it is slow for good"
    healed = kill_harness.heal(cluster, where, settings)
    assert "undelay_node" in healed.mended
