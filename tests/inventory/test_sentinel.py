"""Sentinels of an inventory: who promotes a replica of a Redis that is not a cluster."""

from pathlib import Path
from typing import Any

import pytest
from tests.wording import naming

from brownout.base.errors import ConfigurationError
from brownout.faults.link import match_of
from brownout.inventory import inventory

SENTINEL = {"master": "orders", "addresses": ["s1:26379", "s2:26379", "s3:26379"]}
INVENTORY = {
    "database": "redis",
    "environment": "test",
    "nodes": [{"name": "r1", "address": "r1:6379"}, {"name": "r2", "address": "r2:6379"}],
}


def parsed(**settings: Any) -> Any:
    return inventory.parse({**INVENTORY, **settings}, Path("orders.yaml"))


def test_the_sentinels_are_what_the_nodes_are_coordinated_by() -> None:
    cluster = parsed(sentinel=SENTINEL)
    assert cluster.sentinel.master == "orders"
    assert cluster.coordinators == ("s1:26379", "s2:26379", "s3:26379")
    assert parsed(coordination=["e:1"]).coordinators == ("e:1",)


def test_a_node_cut_off_from_the_others_is_cut_off_from_the_sentinels_too() -> None:
    cluster = parsed(sentinel=SENTINEL)
    of_others = match_of(cluster, cluster.node("r1"), {"peers": "members"}).addresses
    assert of_others == ("r2:6379", *SENTINEL["addresses"])
    bare = parsed()
    assert match_of(bare, bare.node("r1"), {"peers": "members"}).addresses == ("r2:6379",)


def test_their_password_is_read_by_reference_and_shown_nowhere(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("WATCHED", "not to be seen")
    login = {"username": "default", "password": {"env": "WATCHED"}}
    cluster = parsed(sentinel={**SENTINEL, "auth": login})
    assert cluster.sentinel.auth.password.get_secret_value() == "not to be seen"
    assert "not to be seen" not in repr(cluster) + cluster.model_dump_json()


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"sentinel": {"addresses": ["s1:26379"]}}, ("sentinel.master", "found nothing")),
        ({"sentinel": {"master": "orders"}}, ("sentinel.addresses", "found nothing")),
        ({"sentinel": {**SENTINEL, "addresses": []}}, ("sentinel.addresses",)),
        ({"sentinel": {**SENTINEL, "addresses": ["s1"]}}, ("sentinel.addresses", "host:port")),
        ({"sentinel": {**SENTINEL, "addresses": ["s:1", "s:1"]}}, ("s:1", "twice")),
        ({"sentinel": {**SENTINEL, "quorum": 2}}, ("sentinel.quorum", "unknown setting")),
        (
            {"sentinel": {**SENTINEL, "addresses": ["r1:6379"]}},
            ("sentinel.addresses", "r1:6379", "node's address"),
        ),
        ({"sentinel": SENTINEL, "coordination": ["e:1"]}, ("coordination", "the sentinels")),
        (
            {"sentinel": SENTINEL, "connection": {"hosts": ["r1:6379"]}},
            ("connection.hosts", "ask the sentinels"),
        ),
        ({"sentinel": SENTINEL, "database": "etcd"}, ("sentinel", "etcd")),
    ],
)
def test_what_is_missing_or_contradictory_is_said(
    settings: dict[str, Any], words: tuple[str, ...]
) -> None:
    with pytest.raises(ConfigurationError, match=naming(*words)):
        parsed(**settings)
