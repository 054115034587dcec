"""Settings that are changed while the database serves, on real processes, and put back."""

from collections.abc import Iterator
from typing import Any

import pytest
from tests.waiting import await_true
from tests.wording import mentions

from brownout.base.errors import ClusterError, ConfigurationError
from brownout.databases.aerospike import factor
from brownout.databases.aerospike.adapter import AerospikeAdapter
from brownout.databases.aerospike.info import ask
from brownout.inventory.model import Cluster


@pytest.fixture
def adapter(lab_aerospike: Cluster) -> Iterator[AerospikeAdapter]:
    with AerospikeAdapter(lab_aerospike) as found:
        yield found


def test_nodes_that_say_a_new_factor_late_are_asked_again(
    adapter: AerospikeAdapter, monkeypatch: pytest.MonkeyPatch
) -> None:
    look, asked = factor._views, list[Any]()

    def late(*which: Any) -> Any:
        asked.append(look(*which))
        return asked[0] if len(asked) == 2 else asked[-1]  # as before it was set

    monkeypatch.setattr(factor, "_views", late)
    assert (
        adapter.adjust("replication_factor", 3, None).evidence["effective_replication_factor"] == 3
    )
    assert len(asked) == 3
    monkeypatch.undo()
    await_true(lambda: adapter.stable("redundant").reached, "three copies")
    adapter.adjust("replication_factor", 2, None)
    await_true(lambda: adapter.stable("redundant").reached, "two copies")


def test_the_replication_factor_is_raised_and_put_back(adapter: AerospikeAdapter) -> None:
    assert adapter.setting("replication_factor", None) == 2
    assert adapter.objections_to_adjust("replication_factor", 3, None) == []

    raised = adapter.adjust("replication_factor", 3, None)
    told = [view.says("effective_replication_factor") for view in adapter.ask()]
    await_true(lambda: adapter.stable("redundant").reached, "three copies")
    again = adapter.adjust("replication_factor", 3, None)
    adapter.adjust("replication_factor", 2, None)
    await_true(lambda: adapter.stable("redundant").reached, "two copies")

    assert raised.evidence["effective_replication_factor"] == 3
    assert told == [{"3"}] * 5
    assert again.already
    assert adapter.setting("replication_factor", None) == 2


def test_more_copies_than_nodes_are_refused_and_so_is_what_there_is_not(
    adapter: AerospikeAdapter,
) -> None:
    (above,) = adapter.objections_to_adjust("replication_factor", 6, None)
    (unknown,) = adapter.objections_to_adjust("oplog_mb", 6, None)

    assert mentions(above, "replication factor", 6, 5)
    assert "wanted one of replication_factor, migration_speed" in unknown
    with pytest.raises(ConfigurationError, match="oplog_mb"):
        adapter.setting("oplog_mb", None)


def test_factors_that_are_not_alike_are_told_by_node(adapter: AerospikeAdapter) -> None:
    command = "set-config:context=namespace;id=test;replication-factor=3"
    (one,) = adapter.targets("n2", 1)
    ask(one.address, [command], 2.0)
    try:
        with pytest.raises(ClusterError, match="n1: 2, n2: 3"):
            adapter.setting("replication_factor", None)
    finally:
        ask(one.address, [command.replace("=3", "=2")], 2.0)


def test_the_speed_is_set_on_every_node_and_each_gets_its_own_back(
    lab_aerospike: Cluster, adapter: AerospikeAdapter
) -> None:
    odd = lab_aerospike.node("n3")
    as_made = adapter.setting("migration_speed", None)
    adapter.adjust("migration_speed", {"migrate_threads": 2}, odd)
    before = adapter.setting("migration_speed", None)
    wanted = {"migrate_threads": 8, "migrate_sleep": 0, "migrate_max_num_incoming": 16}
    try:
        proof = adapter.adjust("migration_speed", wanted, None)
        during = adapter.setting("migration_speed", None)
        again = adapter.adjust("migration_speed", wanted, None)
        adapter.adjust("migration_speed", before, None)

        assert before["n3"]["migrate_threads"] == 2
        assert before["n1"] == {
            "migrate_threads": 1,
            "migrate_sleep": 1,
            "migrate_max_num_incoming": 4,
        }
        assert during == {node.name: wanted for node in lab_aerospike.nodes}
        assert proof.evidence["before"] == before
        assert not proof.already
        assert again.already
        assert adapter.setting("migration_speed", odd) == before["n3"]
    finally:
        adapter.adjust("migration_speed", as_made, None)


def test_a_node_that_is_gone_since_is_passed_over(adapter: AerospikeAdapter) -> None:
    mapping = {**adapter.setting("migration_speed", None), "n9": {"migrate_threads": 7}}

    assert adapter.adjust("migration_speed", mapping, None).already
