"""One copy is changed behind the back of the others, under load: no read need ever notice."""

from collections.abc import Callable
from contextlib import closing

import pytest

from brownout.databases.access import Access
from brownout.databases.redis.link import Link
from brownout.inventory.model import Cluster

from .conftest import Running

pytestmark = pytest.mark.matrix  # it waits 30 s for the copies to become alike

GENTLY = "streams.lookups.rate=40,streams.orders.rate=40,streams.orders.ledger_keys=500"
GENTLY += ",data.keys=500"
#: A master keeps from its replicas what this script does.
ALONE = "redis.set_repl(redis.REPL_NONE) return redis.call('DEL', KEYS[1])"


def forget_on_masters(cluster: Cluster) -> set[str]:
    """Remove records from the masters alone; return which."""
    forgotten = set()
    for node in cluster.nodes:
        with closing(Link(node, Access(), 5.0)) as link:
            if "role:master" not in str(link.ask("INFO", "replication")):
                continue
            keys = link.ask("KEYS", "brownout/data/k000000001*")
            assert isinstance(keys, list)
            for key in map(str, keys):
                assert link.ask("EVAL", ALONE, "1", key) == 1
                forgotten.add(key.rpartition("/")[2])
    return forgotten


def test_copies_that_differ_are_found_and_named(running_redis: Callable[..., Running]) -> None:
    whole = running_redis(GENTLY)
    whole.finish(copies=True)
    copies = whole.ledger().copies
    assert copies is not None
    assert (copies.compared, copies.alone, copies.diverged, copies.unread) == (1000, 0, 0, 0)
    assert set(copies.servers) == {node.address for node in whole.cluster.nodes}

    load = running_redis("streams.lookups.rate=0.001," + GENTLY)  # which would notice by itself
    forgotten = forget_on_masters(load.cluster)
    load.finish(copies=True)
    copies = load.ledger().copies
    assert copies is not None
    assert copies.diverged == len(forgotten) == 10
    assert {each["key"] for each in copies.examples} == forgotten
    assert all("missing" in each["copies"].values() for each in copies.examples)


def test_every_node_of_cassandra_is_asked_for_its_own_copy(
    running_cassandra: Callable[..., Running],
) -> None:
    load = running_cassandra(GENTLY)
    load.finish(copies=True)
    copies = load.ledger().copies
    assert copies is not None
    assert (copies.compared, copies.alone, copies.diverged, copies.unread) == (1000, 0, 0, 0)
    assert set(copies.servers) == {node.address for node in load.cluster.nodes}
