"""Members that come and go on a real replica set."""

import json
import threading
from collections.abc import Iterator
from typing import Any

import pymongo
import pytest
import yaml
from tests.waiting import await_true
from tests.wording import mentions, naming

from brownout.base.errors import ClusterError, Refused
from brownout.databases.mongodb.access import access
from brownout.databases.mongodb.adapter import MongoAdapter
from brownout.databases.resize import Adjustable, Resizing
from brownout.inventory.model import Cluster, Node
from brownout.machine.host import host_for

LIMIT_S = 90.0
RECORDS = 1000
#: After so many the copy of a new member waits until the test lets it continue.
COPIED_FIRST = 100
HOLDS = "initialSyncHangDuringCollectionClone"


def _another_is_primary(adapter: MongoAdapter, node: Node) -> bool:
    """Whether there is a primary and it is not `node`; during an election there is none."""
    return any(m.role == "primary" and m.node != node.name for m in adapter.members())


def await_milestone(adapter: MongoAdapter, milestone: Any) -> None:
    await_true(lambda: adapter.stable(milestone).reached, milestone)


@pytest.fixture
def adapter(lab_mongodb: Cluster) -> Iterator[MongoAdapter]:
    """The shared lab, whole; the next test's `lab.up` puts back what one leaves."""
    with MongoAdapter(lab_mongodb) as adapter:
        yield adapter


def fill(cluster: Cluster) -> None:
    with pymongo.MongoClient[dict[str, Any]](access(cluster).uri, w="majority") as client:
        client.shop.orders.insert_many([{"n": n, "text": "x" * 100} for n in range(RECORDS)])


def test_it_can_be_resized_and_adjusted(adapter: MongoAdapter) -> None:
    assert isinstance(adapter, Resizing)
    assert isinstance(adapter, Adjustable)


@pytest.mark.matrix
def test_a_set_that_is_silent_for_a_moment_is_asked_again(
    adapter: MongoAdapter, lab_mongodb: Cluster
) -> None:
    hosts = [host_for(node) for node in lab_mongodb.nodes]
    before = adapter.setting("votes_and_priority", lab_mongodb.nodes[0])
    for host in hosts:
        host.pause(60)
    later = threading.Timer(3.0, lambda: [host.resume() for host in hosts])
    later.start()
    try:
        assert adapter.setting("votes_and_priority", lab_mongodb.nodes[0]) == before
    finally:
        later.join()
    await_milestone(adapter, "whole")


def test_a_spare_copies_all_data_without_a_say_then_gets_it_and_goes_again(
    fresh_lab: Cluster,
) -> None:
    fill(fresh_lab)
    with MongoAdapter(fresh_lab) as adapter:
        _add_and_remove(adapter, fresh_lab)


def _add_and_remove(adapter: MongoAdapter, cluster: Cluster) -> None:
    (spare,) = cluster.spares
    assert adapter.objections_to_join(spare) == []
    _hold_copy(spare)
    host_for(spare).start()

    joined = adapter.join(spare)
    adapter.expect([*cluster.nodes, spare])
    assert joined.evidence.items() >= {"members": 4, "voters": 3, "votes": 0}.items()
    assert adapter.join(spare).already

    await_true(lambda: (held := adapter.holdings().get("n4")) and held.received, "n4 copies")
    held = adapter.holdings()["n4"]
    assert (held.to_move or 0) > 0
    await_true(lambda: "initial_sync" in adapter.evidence(spare), "n4 answers")
    assert adapter.evidence(spare)["initial_sync"]["phase"] == "cloning"
    (copying,) = adapter.objections_to_leave(cluster.nodes[0])
    assert mentions(copying, "n4", "sync")
    with pytest.raises(ClusterError, match=naming("n4", "STARTUP2", "SECONDARY")):
        adapter.admit(spare)

    _continue_copy(spare)
    await_milestone(adapter, "whole")

    def amounts() -> set[tuple[int, int | None]]:
        return {(each.records, each.to_move) for each in adapter.holdings().values()}

    # One look may fall between a write of the primary and its arrival.
    await_true(lambda: amounts() == {(RECORDS, 0)}, "every member holds all data")
    assert adapter.admit(spare).evidence.items() >= {"voters": 4, "priority": 1}.items()
    assert adapter.admit(spare).already
    assert mentions(adapter.objections_to_join(spare)[0], spare.name)

    assert adapter.leave(spare).evidence["members"] == 3
    assert adapter.leave(spare).already
    host_for(spare).stop("clean")
    adapter.expect(cluster.nodes)
    assert adapter.forget(spare).already
    await_milestone(adapter, "whole")


def test_the_primary_hands_over_leaves_and_is_taken_in_again_with_what_it_has(
    adapter: MongoAdapter, lab_mongodb: Cluster
) -> None:
    (primary,) = adapter.targets("primary", seed=1)
    rest = [node for node in lab_mongodb.nodes if node != primary]
    assert adapter.objections_to_leave(primary) == []

    left = adapter.leave(primary)
    host_for(primary).stop("clean")
    adapter.expect(rest)

    assert left.evidence["stepped_down"]["state_before"] == "PRIMARY"
    assert (left.evidence["members"], left.evidence["had"]) == (2, {"votes": 1, "priority": 1})
    await_milestone(adapter, "whole")
    (copies,) = adapter.objections_to_leave(rest[0])
    assert mentions(copies, rest[0].name, 1, 2)

    host_for(primary).start()
    assert not adapter.join(primary).already
    adapter.expect(lab_mongodb.nodes)
    await_milestone(adapter, "whole")
    assert adapter.admit(primary).evidence["voters"] == 3


@pytest.mark.matrix
def test_a_member_that_died_is_forgotten_all_the_same(
    adapter: MongoAdapter, lab_mongodb: Cluster
) -> None:
    (victim,) = adapter.targets("secondary", seed=1)
    host_for(victim).stop("kill")
    adapter.expect([node for node in lab_mongodb.nodes if node != victim])

    assert not adapter.forget(victim).already
    assert adapter.forget(victim).already
    await_milestone(adapter, "whole")
    with pytest.raises(Refused, match=victim.name):
        adapter.admit(victim)


class TestSettings:
    """Votes, priorities and the oplog, of one member."""

    def test_a_primary_with_less_priority_is_replaced_and_gets_it_back(
        self, adapter: MongoAdapter
    ) -> None:
        (node,) = adapter.targets("primary", seed=1)
        before = adapter.setting("votes_and_priority", node)
        assert before == {"votes": 1, "priority": 1}
        wanted = {"votes": 1, "priority": 0.5}
        assert adapter.objections_to_adjust("votes_and_priority", wanted, node) == []

        proof = adapter.adjust("votes_and_priority", wanted, node)

        assert (proof.evidence["after"], proof.evidence["election"]) == (wanted, True)
        assert adapter.adjust("votes_and_priority", wanted, node).already
        await_true(lambda: _another_is_primary(adapter, node), "another primary")
        adapter.adjust("votes_and_priority", before, node)
        assert adapter.setting("votes_and_priority", node) == before

    def test_a_primary_that_is_to_have_no_say_steps_down_first(self, adapter: MongoAdapter) -> None:
        (node,) = adapter.targets("primary", seed=1)

        proof = adapter.adjust("votes_and_priority", {"votes": 0, "priority": 0}, node)

        assert proof.evidence["stepped_down"]["state_before"] == "PRIMARY"
        assert adapter.setting("votes_and_priority", node) == {"votes": 0, "priority": 0}

    def test_the_oplog_is_resized_and_read_back_and_only_where_it_can_be_put_back(
        self, adapter: MongoAdapter, lab_mongodb: Cluster
    ) -> None:
        node = lab_mongodb.nodes[2]
        (why,) = adapter.objections_to_adjust("oplog_mb", 1024, node)
        assert mentions(why, "oplog_mb", node.name, 128, 990)

        assert adapter.adjust("oplog_mb", 1024, node).evidence == {
            **{"before_mb": 128, "after_mb": 1024}
        }
        assert adapter.adjust("oplog_mb", 1024, node).already
        assert adapter.objections_to_adjust("oplog_mb", 2048, node) == []
        (why,) = adapter.objections_to_adjust("oplog_mb", 989, node)
        assert "found 989, wanted 990 to" in why


def _hold_copy(node: Node) -> None:
    """Have a member that does not run yet stop in the middle of its copy, by a server fail point.

    What is asked meanwhile takes longer on a busy machine than the copy of any number of records.
    """
    assert node.host is not None
    assert node.host.config_file is not None
    file = node.host.config_file
    settings = yaml.safe_load(file.read_text(encoding="utf-8"))
    held = {"namespace": "shop.orders", "numDocsToClone": COPIED_FIRST}
    settings["setParameter"] |= {
        "collectionClonerBatchSize": 1,
        "enableTestCommands": 1,
        f"failpoint.{HOLDS}": json.dumps({"mode": "alwaysOn", "data": held}),
    }
    file.write_text(yaml.safe_dump(settings), encoding="utf-8")


def _continue_copy(node: Node) -> None:
    with pymongo.MongoClient[dict[str, Any]](node.address, directConnection=True) as client:
        client.admin.command("configureFailPoint", HOLDS, mode="off")
