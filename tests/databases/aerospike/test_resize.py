"""Members come and go: real processes, found, taken in, drained and forgotten."""

from collections.abc import Iterator

import pytest
from tests.waiting import await_true
from tests.wording import mentions

from brownout.base.errors import ClusterError
from brownout.databases.aerospike.adapter import AerospikeAdapter
from brownout.databases.aerospike.mesh import ALUMNI, NETWORK, PEERS, endpoint_of, seeds, strangers
from brownout.databases.aerospike.resize import holding_of
from brownout.databases.aerospike.view import View
from brownout.databases.resize import Adjustable, Resizing
from brownout.inventory.model import Cluster
from brownout.machine.host import host_for
from brownout.run.balance import Holding

SLOW = {"migrate_sleep": 500_000, "migrate_threads": 1}


@pytest.fixture
def adapter(lab_aerospike: Cluster) -> Iterator[AerospikeAdapter]:
    with AerospikeAdapter(lab_aerospike) as found:
        yield found


def test_the_adapter_resizes_and_adjusts(adapter: AerospikeAdapter) -> None:
    assert isinstance(adapter, Resizing)
    assert isinstance(adapter, Adjustable)
    for scenario in ("add", "remove", "replication_factor", "migration_speed", "rolling"):
        assert adapter.supports(scenario).ok, scenario
    assert "gives n1, n2, n3, n4, n5 no `rack`" in adapter.supports("racks").reason


def test_a_spare_joins_gets_its_share_and_leaves_without_a_trace(
    lab_aerospike: Cluster, adapter: AerospikeAdapter
) -> None:
    members, spare = lab_aerospike.nodes, lab_aerospike.node("n6")
    assert adapter.objections_to_join(spare) == []

    before = adapter.signature()
    host_for(spare).start()
    joined = adapter.join(spare)
    adapter.expect([*members, spare])
    await_true(lambda: adapter.stable("redundant").reached, "redundancy")
    again = adapter.join(spare)
    held = adapter.holdings()
    objections = adapter.objections_to_join(spare), adapter.objections_to_leave(spare)

    left = adapter.leave(spare)
    host_for(spare).stop("clean")
    adapter.expect(members)
    forgotten = adapter.forget(spare)
    await_true(lambda: adapter.stable("whole").reached, "five whole nodes")

    assert joined.evidence["cluster_key"] != before
    assert not joined.already
    assert again.already
    assert set(held) == {"n1", "n2", "n3", "n4", "n5", "n6"}
    assert held["n6"].to_move == 0
    assert objections == ([objections[0][0]], [])
    assert mentions(objections[0][0], "n6")
    assert left.evidence["quiesced"] == ["n6"]
    assert set(forgotten.evidence["told"]) == {"n1", "n2", "n3", "n4", "n5"}
    assert not any(strangers(view) for view in adapter.ask(ALUMNI, PEERS))
    assert adapter.forget(spare).already


@pytest.mark.matrix
def test_a_member_that_left_is_no_seed_any_more_and_comes_back_by_its_own(
    lab_aerospike: Cluster, adapter: AerospikeAdapter
) -> None:
    *rest, last = lab_aerospike.nodes
    where = endpoint_of(last)
    host_for(last).stop("kill")
    adapter.expect(rest)
    assert adapter.leave(last).already

    adapter.forget(last)
    await_true(lambda: adapter.stable("whole").reached, "four whole nodes")

    views = adapter.ask(NETWORK)
    assert not any(where.named_by(seeds(view)) for view in views)
    assert mentions(adapter.objections_to_leave(last)[0], last.name)
    host_for(last).start()
    proof = adapter.join(last)
    assert proof.evidence["tipped"] == {}, "its own configuration names the others"


def test_nothing_is_resized_while_it_migrates(
    lab_aerospike: Cluster, adapter: AerospikeAdapter
) -> None:
    node, spare = lab_aerospike.node("n2"), lab_aerospike.node("n6")
    as_it_was = adapter.setting("migration_speed", None)
    adapter.adjust("migration_speed", SLOW, None)
    try:
        adapter.drain(node)
        wanted = "nothing left to migrate"
        assert wanted in adapter.objections_to_join(spare)[0]
        assert wanted in adapter.objections_to_leave(lab_aerospike.node("n3"))[0]
        assert wanted in adapter.objections_to_adjust("replication_factor", 3, None)[0]
        assert adapter.objections_to_adjust("migration_speed", {"migrate_threads": 2}, None) == []
    finally:
        adapter.adjust("migration_speed", as_it_was, None)
        adapter.undrain(node)


def test_a_node_that_does_not_come_is_an_error_with_what_each_says(
    lab_aerospike: Cluster, adapter: AerospikeAdapter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("brownout.databases.aerospike.join._BY_ITSELF_S", 0.1)
    monkeypatch.setattr("brownout.databases.aerospike.join._TIMEOUT_S", 0.3)

    with pytest.raises(ClusterError) as caught:
        adapter.join(lab_aerospike.node("n6"))

    assert "node `n6` is not in one cluster with the others" in caught.value.message
    assert "n1: ERROR:7:cluster not specified size" in caught.value.message
    assert "n6: " in caught.value.message
    where = endpoint_of(lab_aerospike.node("n6"))
    told = [where.named_by(seeds(view)) for view in adapter.ask(NETWORK)]
    adapter.forget(lab_aerospike.node("n6"))
    assert all(told), "each was told of it"
    assert not any(where.named_by(seeds(view)) for view in adapter.ask(NETWORK))


MOVES = (
    "migrate_tx_partitions_remaining=3;migrate_rx_partitions_remaining=4;migrate_record_receives=9"
)


def view(numbers: str, key: str = "ABC", **others: str) -> View:
    told = {"statistics": f"cluster_key={key}", "namespace/test": numbers}
    return View("n1", "", told | {f"namespace/{name}": text for name, text in others.items()})


@pytest.mark.parametrize("name", ["data_used_bytes", "device_used_bytes", "memory_used_bytes"])
def test_bytes_are_called_differently(name: str) -> None:
    assert holding_of(view(f"objects=7;{name}=100;{MOVES}")) == Holding(7, 100, 7, 9)


def test_devices_count_before_the_memory_of_their_index() -> None:
    both = f"objects=7;memory_used_bytes=1;device_used_bytes=100;{MOVES}"

    assert holding_of(view(both)) == Holding(7, 100, 7, 9)


def test_namespaces_are_summed_up() -> None:
    text = f"objects=7;data_used_bytes=100;{MOVES}"

    assert holding_of(view(text, cache=text)) == Holding(14, 200, 14, 18)


def test_an_orphan_has_nothing_to_move_and_that_says_nothing() -> None:
    found = holding_of(view(f"objects=7;data_used_bytes=100;{MOVES}", key="0"))

    assert found is not None
    assert found.to_move is None


@pytest.mark.parametrize("numbers", ["", "objects=7", "data_used_bytes=100"])
def test_what_a_node_does_not_say_is_not_zero(numbers: str) -> None:
    assert holding_of(view(numbers)) is None
