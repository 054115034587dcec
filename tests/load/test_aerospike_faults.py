"""What the generator makes of the faults of five nodes of the stand-in: ends, causes, lanes."""

from collections.abc import Callable, Mapping

import pytest

from brownout.base.errors import GeneratorError
from brownout.machine.host import host_for

from .conftest import GENTLY, KEYS, Running, kill_with_writes_on_their_way

pytestmark = pytest.mark.live

#: All that a lost or hung node may look like from outside.
CAUSES = {
    "circuit-breaker",
    "client-timeout-connect",
    "client-timeout-read",
    "client-timeout-total",
    "connection-reset",
    "late",
    "no-node",
    "no-slot",
    "pool-exhausted",
    "quorum-unavailable",  # from a node that came back and is still alone
    "server-timeout",
}


def assert_accounts_are_in_order(load: Running, stopped: Mapping[str, int]) -> None:
    """The schedule never stopped, everything ended once, and the lanes are the nodes."""
    assert stopped["identity_violations"] == 0
    ends = ("ok", "late", "failed", "in_doubt", "shed", "missed")
    assert stopped["offered"] == sum(stopped[end] for end in ends)
    for stream in load.workload.streams:
        assert set(load.offered_each_second(stream.name)) == {int(stream.rate)}
    assert set(load.causes("lookups") + load.causes("orders")) <= CAUSES
    assert {node.address for node in load.cluster.nodes} == set(load.lanes())
    assert all(row["in_doubt"] == "0" for row in load.rows("outcomes.csv") if row["op"] == "read")


@pytest.mark.matrix  # in CI experiments kill a node, and check the ledger too
def test_a_killed_node_puts_writes_in_doubt_and_loses_none(
    running_aerospike: Callable[..., Running],
) -> None:
    load = running_aerospike()
    node = load.cluster.nodes[1]
    kill_with_writes_on_their_way(host_for(node))
    load.until("its connections break", lambda: load.caused("connection-reset"))
    load.until("the others have taken over", load.well)
    host_for(node).start()
    stopped = load.finish()
    assert_accounts_are_in_order(load, stopped)
    assert stopped["in_doubt"] > 0
    bad = {row["lane"] for row in load.rows("lanes.csv") if int(row["bad"])}
    assert node.address in bad
    ledger = load.ledger()
    assert (ledger.state, ledger.keys, ledger.unread) == ("clean", KEYS, 0)


def test_a_hung_node_leaves_what_waits_for_it_in_doubt(
    running_aerospike: Callable[..., Running],
) -> None:
    load = running_aerospike()
    host = host_for(load.cluster.nodes[1])
    host.pause()
    try:
        load.until("it answers nothing", lambda: load.caused("client-timeout-read"))
    finally:
        host.resume()
    load.until("all is well again", load.well)
    stopped = load.finish()
    assert_accounts_are_in_order(load, stopped)
    assert load.causes("orders")["client-timeout-read"] > 0
    assert stopped["in_doubt"] > 0
    ledger = load.ledger()
    assert (ledger.unexpected, ledger.corrupt, ledger.unread) == (0, 0, 0)


def test_a_namespace_that_the_server_does_not_have_is_refused(
    running_aerospike: Callable[..., Running],
) -> None:
    with pytest.raises(GeneratorError, match='has no namespace "orders"; it has test'):
        running_aerospike(f"{GENTLY},options.aerospike.namespace=orders")
