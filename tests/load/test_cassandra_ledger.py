"""The ledger on Cassandra: it finds what one replica acknowledged alone and lost, nothing else.

Two of three nodes are frozen. The third one goes on to acknowledge at ONE, and keeps for the others
what they miss, until it loses its data. At QUORUM nothing is acknowledged meanwhile.
"""

from collections.abc import Callable

import pytest
from tests.waiting import await_true

from brownout.databases.starting import start
from brownout.machine.host import host_for

from .conftest import Running

pytestmark = [pytest.mark.matrix, pytest.mark.timeout(2400)]

GENTLY = "streams.lookups.rate=40,streams.orders.rate=60,streams.orders.ledger_keys=2000"
GENTLY += ",data.keys=300,options.cassandra.consistency="


@pytest.mark.parametrize("consistency", ["ONE", "QUORUM"])
def test_what_the_only_replica_that_had_it_loses_is_found_lost(
    consistency: str, running_cassandra: Callable[..., Running]
) -> None:
    load = running_cassandra(GENTLY + consistency)
    alone, *others = load.cluster.nodes
    for other in others:
        host_for(other).pause(600.0)
    began = load.lives[-1]["t"]
    load.until("the load goes on", lambda: load.lives[-1]["t"] > began + 8)
    host = host_for(alone)
    host.stop("kill")
    for other in others:
        host_for(other).resume()
    host.wipe(load.adapter.data_directories(alone))
    await_true(lambda: sum(m.healthy for m in load.adapter.members()) == 2, "the others serve", 60)
    start(alone, host, load.adapter, emptied=True)
    await_true(lambda: load.adapter.stable("whole").reached, "the cluster is whole", 900)
    load.until("the load is well again", load.well)
    load.finish()
    ledger = load.ledger()
    assert ledger.acknowledged > 20
    if consistency == "ONE":
        assert ledger.state == "lost"
        assert ledger.lost > 10
    else:
        assert ledger.state == "clean"
