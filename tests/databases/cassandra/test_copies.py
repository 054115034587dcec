"""What would be lost with a node: how many copies there are, and who waits for how many."""

from dataclasses import replace
from typing import Any

import pytest
from tests.wording import mentions

from brownout.databases.cassandra.copies import acknowledged_by, copies_of, lost_with
from brownout.databases.cassandra.view import View


def view(name: str, **changes: Any) -> View:
    local = {"host_id": f"id-{name}", "bootstrapped": "COMPLETED"}
    return replace(View(name, f"{name}:9042", local), **changes)


THREE = [view(name) for name in ("n1", "n2", "n3")]
SHOP = {"class": "org.apache.cassandra.locator.NetworkTopologyStrategy", "dc1": "3"}
ONE_COPY = {"class": "org.apache.cassandra.locator.SimpleStrategy", "replication_factor": "1"}


def lost(gone: set[str], views: list[View] = THREE, at: str = "QUORUM", **more: Any) -> list[str]:
    keyspaces = {"shop": SHOP, "system_traces": ONE_COPY, "system_auth": ONE_COPY, **more}
    return lost_with(gone, views, keyspaces, at, with_login=False)


def test_one_of_three_copies_is_no_loss() -> None:
    assert lost({"n1"}) == []


def test_a_keyspace_of_one_copy_is_lost() -> None:
    (said,) = lost({"n1"}, carts=ONE_COPY)
    assert said == "the keyspace `carts` has 1 copy, and n1 may have all"


@pytest.mark.parametrize("at", ["ONE", "LOCAL_ONE"])
def test_what_one_replica_acknowledged_alone_is_lost_with_it(at: str) -> None:
    (said,) = lost({"n1"}, at=at)
    assert f"a write at {at} is acknowledged by 1 copy, and n1 may have all of them" in said


def test_two_of_three_copies_may_be_all_that_a_quorum_was() -> None:
    assert mentions(lost({"n1", "n2"})[0], "QUORUM", 2, "n1 and n2")
    assert lost({"n1", "n2"}, at="ALL") == []


def test_a_node_that_does_not_serve_has_nothing() -> None:
    without = [*THREE[:2], View("n3", "n3:9042", error="connection refused")]
    assert mentions(lost({"n1"}, without)[0], "QUORUM", 2, "n1 and n3")


def test_what_a_node_keeps_for_another_one_is_lost_with_it() -> None:
    keeping = [view("n1", hints=frozenset({"id-n2"})), *THREE[1:]]
    assert lost({"n1"}, keeping) == ["n1 keeps hints for n2, which no other node may have"]
    assert lost({"n2"}, keeping) == []


def test_roles_of_one_copy_are_lost_where_a_login_is_wanted() -> None:
    (said,) = lost_with({"n1"}, THREE, {"system_auth": ONE_COPY}, "QUORUM", with_login=True)
    assert "the keyspace `system_auth` has 1 copy" in said


@pytest.mark.parametrize(
    ("at", "sure"),
    [("ONE", 1), ("TWO", 2), ("QUORUM", 4), ("LOCAL_QUORUM", 2), ("EACH_QUORUM", 4), ("ALL", 6)],
)
def test_each_level_waits_for_its_own_number_of_two_data_centres(at: str, sure: int) -> None:
    assert acknowledged_by(at, [3, 3]) == sure


def test_copies_are_read_from_every_kind_of_replication() -> None:
    assert copies_of(SHOP) == [3]
    assert copies_of({"class": "x", "dc1": "3/1", "dc2": "2"}) == [3, 2]
    assert copies_of({"class": "org.apache.cassandra.locator.LocalStrategy"}) == []
