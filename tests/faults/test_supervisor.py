"""The supervisor of a primary dies alone: two primaries until it is back; guarded, and put back."""

from contextlib import closing
from pathlib import Path

import pytest
from tests.waiting import await_true, await_whole
from tests.wording import naming

from brownout.base.errors import Refused
from brownout.databases.adapter import Adapter, adapter_for
from brownout.databases.postgresql.adapter import PostgresqlAdapter
from brownout.faults import registry
from brownout.faults.act import PendingUndo
from brownout.faults.faults import Faults
from brownout.faults.undos import left
from brownout.inventory.model import Cluster, Node
from brownout.machine.host import host_for
from brownout.run.events import read_events

pytestmark = [pytest.mark.live, pytest.mark.timeout(600)]


@pytest.fixture
def cluster(lab_postgresql: Cluster) -> Cluster:
    return lab_postgresql


def primaries(adapter: Adapter) -> set[str]:
    """Who accepts writes, by each PostgreSQL's own word."""
    assert isinstance(adapter, PostgresqlAdapter)
    found = set()
    for candidate in adapter.candidates():
        with closing(candidate):
            if candidate.claim().primary:
                found.add(candidate.node)
    return found


def the(role: str, adapter: Adapter) -> Node:
    return adapter.targets(role, 1)[0]


def test_two_members_accept_writes_until_the_supervisor_is_back(
    adapter: Adapter, faults: Faults, log: Path
) -> None:
    primary = the("primary", adapter)
    evidence = faults.run("kill_supervisor", primary)["evidence"]
    assert (evidence["signal"], evidence["state"]) == ("SIGKILL", "gone")
    assert len(evidence["servers"]) == 1
    assert not host_for(primary).running().running
    assert left(read_events(log)) == (PendingUndo("start_supervisor", primary.name),)
    await_true(lambda: len(primaries(adapter)) == 2, "another one is primary as well", every_s=0.2)
    assert faults.put_back() == []  # which waits until the orphan is one no longer
    assert len(primaries(adapter)) == 1
    assert adapter.evidence(primary)["state"] == "REPLICA"
    assert left(read_events(log)) == ()
    await_whole(adapter)


@pytest.mark.matrix
def test_the_supervisor_of_a_replica_dies_only_where_that_is_meant(
    adapter: Adapter, faults: Faults, log: Path
) -> None:
    replica = the("replica", adapter)
    with pytest.raises(Refused, match=naming(replica.name, "REPLICA")):
        faults.run("kill_supervisor", replica)
    assert not log.exists()  # nothing was done
    before = primaries(adapter)
    faults.run("kill_supervisor", replica, of_a_replica=True)
    faults.run("start_supervisor", replica)
    assert primaries(adapter) == before
    await_whole(adapter)


@pytest.mark.matrix
def test_a_second_node_does_not_lose_its_supervisor(adapter: Adapter, faults: Faults) -> None:
    faults.run("kill_supervisor", the("primary", adapter))
    with pytest.raises(Refused, match="broken now"):
        faults.run("kill_supervisor", the("replica", adapter), of_a_replica=True)
    assert faults.put_back() == []
    await_whole(adapter)


@pytest.mark.matrix
def test_a_database_without_supervisors_says_so(lab_mongodb: Cluster) -> None:
    with closing(adapter_for(lab_mongodb)) as adapter:
        answer = registry.supports("supervisor", lab_mongodb, adapter)
    assert answer is not None
    assert (answer.ok, answer.reason) == (False, "mongodb has no supervisor beside its server")
