"""The ledger on Redis Cluster: it finds what a failover loses, and nothing else.

Replication is asynchronous. A replica that lost the link to its master while that acknowledges
writes, and is promoted once that master is gone, does not have them.
"""

from collections.abc import Callable
from contextlib import closing

import pytest
from tests.waiting import await_true

from brownout.databases.access import Access
from brownout.databases.redis.link import Link
from brownout.inventory.model import Node

from .conftest import Running

pytestmark = pytest.mark.matrix

GENTLY = "streams.lookups.rate=40,streams.orders.rate=100,streams.orders.ledger_keys=2000"
GENTLY += ",data.keys=500"


def part_from_replicas(master: Node) -> None:
    """Have a master refuse its replicas until it restarts, and cut them off."""
    with closing(Link(master, Access(), 5.0)) as link:
        link.ask("ACL", "SETUSER", "default", "-psync", "-sync", "-replconf")
        link.ask("CLIENT", "KILL", "TYPE", "replica")


@pytest.mark.parametrize("lags", [True, False])
def test_a_failover_to_a_replica_that_lags_loses_what_was_acknowledged(
    lags: bool, running_redis: Callable[..., Running]
) -> None:
    load = running_redis(GENTLY)
    node, host = load.primary()
    (replica,) = (n for n in load.cluster.nodes if n.shard == node.shard and n != node)
    if lags:
        part_from_replicas(node)
        began = load.lives[-1]["t"]
        load.until("more is acknowledged", lambda: load.lives[-1]["t"] > began + 1.5)
    host.stop("kill")
    await_true(
        lambda: any(m.node == replica.name and m.role == "primary" for m in load.adapter.members()),
        "the replica is promoted",
    )
    host.start()
    await_true(lambda: load.adapter.stable("whole").reached, "the cluster is whole")
    load.until("the load is well again", load.well)
    load.finish()
    ledger = load.ledger()
    assert ledger.acknowledged > 500
    if lags:
        assert ledger.state == "lost"
        assert ledger.lost > 10
    else:
        assert ledger.state == "clean"
