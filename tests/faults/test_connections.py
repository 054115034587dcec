"""Real servers count the connections that are held to them, until they are closed."""

from pathlib import Path

import pytest
from tests.waiting import await_true

from brownout.base.errors import Refused
from brownout.databases.adapter import Adapter, CountingConnections
from brownout.faults.faults import Faults
from brownout.faults.undos import left
from brownout.inventory.model import Cluster, Guards
from brownout.run.events import EventLog, read_events


@pytest.fixture
def cluster(lab_mongodb: Cluster) -> Cluster:
    return lab_mongodb


@pytest.mark.parametrize("mode", ["idle", "slow"])
def test_a_primary_counts_what_is_held_and_has_it_no_more_after_the_undo(
    cluster: Cluster, adapter: Adapter, faults: Faults, log: Path, mode: str
) -> None:
    primary = adapter.targets("primary", 1)[0]
    evidence = faults.run("hold_connections", primary, connections=60, mode=mode)["evidence"]
    assert (evidence["open"], evidence["mode"]) == (60, mode)
    assert evidence["server"]["during"] - evidence["server"]["before"] >= 55
    assert faults.broken == {primary.name: "close_connections"}
    assert faults.put_back() == []
    assert faults.pending == left(read_events(log)) == ()
    assert isinstance(adapter, CountingConnections)
    most = evidence["server"]["during"] - 40
    await_true(lambda: adapter.connections(primary) < most, "the server sees that they are closed")


def test_what_the_inventory_forbids_opens_nothing(
    cluster: Cluster, adapter: Adapter, log: Path
) -> None:
    denying = cluster.model_copy(update={"guards": Guards(deny_acts=("connections",))})
    with pytest.raises(Refused, match="denies"):
        Faults(denying, adapter, EventLog(log), lambda t: t).run(
            "hold_connections", cluster.nodes[0]
        )
    assert not log.exists()
