"""What the generator makes of the faults of a real replica set: ends, causes, lanes, ledger."""

from collections.abc import Callable

import pytest

from brownout.machine.host import host_for

from .conftest import GENTLY, KEYS, Running, kill_with_writes_on_their_way

pytestmark = pytest.mark.live

UNROUTED = "unrouted"
SECONDARIES = "secondaries"
#: All that a lost or changing primary may look like from outside.
CAUSES = {
    "no-node",
    "no-slot",
    "connect-refused",
    "connection-reset",
    "client-timeout-connect",
    "client-timeout-read",
    "client-timeout-total",
    "pool-exhausted",
    "server-timeout",
    "not-primary",
    "late",
}


def bad(stopped: dict[str, int]) -> int:
    return sum(stopped[end] for end in ("late", "failed", "in_doubt", "shed"))


def assert_accounts_are_in_order(load: Running, stopped: dict[str, int], *also: str) -> None:
    """The schedule never stopped, everything ended once, and no acknowledged write is lost."""
    assert stopped["identity_violations"] == 0
    ends = ("ok", "late", "failed", "in_doubt", "shed", "missed")
    assert stopped["offered"] == sum(stopped[end] for end in ends)
    for stream in load.workload.streams:
        assert set(load.offered_each_second(stream.name)) == {int(stream.rate)}
    assert set(load.causes("lookups") + load.causes("orders")) <= CAUSES | {*also}
    ledger = load.ledger()
    assert (ledger.state, ledger.keys, ledger.unread) == ("clean", KEYS, 0)


@pytest.mark.matrix  # in CI experiments kill a primary, and check the ledger too
def test_a_killed_primary_is_a_gap_in_which_reads_fail_and_writes_may_be_in_doubt(
    running: Callable[..., Running],
) -> None:
    load = running()
    node, host = load.primary()
    kill_with_writes_on_their_way(host)
    load.until("the driver finds no primary", lambda: load.caused("no-node"))
    load.until("there is a new primary", load.well)
    host.start()
    stopped = load.finish()
    assert_accounts_are_in_order(load, dict(stopped))
    assert load.causes("lookups")["no-node"] > 0
    assert stopped["in_doubt"] > 0
    assert all(row["in_doubt"] == "0" for row in load.rows("outcomes.csv") if row["op"] == "read")
    lanes = load.lanes()
    assert lanes[:2] == [node.address, UNROUTED]
    assert len(lanes) == 3


def test_a_hung_primary_leaves_writes_in_doubt_until_another_takes_over(
    running: Callable[..., Running],
) -> None:
    load = running()
    node, host = load.primary()
    host.pause()
    try:
        load.until("it answers nothing", lambda: load.caused("client-timeout-read"))
        # Not the writes: the secondary may wait up to half a minute for its hung source, and no
        # majority acknowledges anything before it has turned to the new primary.
        load.until("there is a new primary", lambda: load.well("lookups"))
    finally:
        host.resume()
    stopped = load.finish()
    assert_accounts_are_in_order(load, dict(stopped))
    assert load.causes("orders")["client-timeout-read"] > 0
    assert stopped["in_doubt"] > 0
    assert load.lanes()[0] == node.address


@pytest.mark.matrix
def test_reads_from_secondaries_go_on_while_there_is_no_primary(
    running: Callable[..., Running],
) -> None:
    load = running(f"{GENTLY},options.mongodb.read_preference=secondary")
    _, host = load.primary()
    host.stop("kill")
    load.until("writes find no primary", lambda: load.caused("no-node"))
    load.until("there is a new primary", load.well)
    host.start()
    stopped = load.finish()
    # A secondary may not have all data yet when the load begins.
    assert_accounts_are_in_order(load, dict(stopped), "not-found")
    assert load.causes("lookups").total() < load.causes("orders").total()
    assert SECONDARIES in load.lanes()


@pytest.mark.quiet  # it asserts how little is lost
@pytest.mark.parametrize(
    "retries", [pytest.param("none", marks=pytest.mark.matrix), "driver-default"]
)
def test_a_step_down_costs_little_and_less_with_the_drivers_retries(
    running: Callable[..., Running], retries: str
) -> None:
    again = f"streams.lookups.retries={retries},streams.orders.retries={retries}"
    load = running(f"{GENTLY},{again}")
    node, _ = load.primary()
    load.adapter.drain(node)
    load.until("another member serves", lambda: load.well() and _moved(load, node.address))
    stopped = load.finish()
    assert_accounts_are_in_order(load, dict(stopped))
    # A second's worth at most; the write that waited for a majority may be in doubt.
    assert load.workload.rate is not None
    assert bad(dict(stopped)) < load.workload.rate


def _moved(load: Running, old: str) -> bool:
    lanes = load.lives[-1]["lanes"]
    return any(lane not in (old, UNROUTED) for lane in lanes)


@pytest.mark.matrix  # in CI a partition makes a primary acknowledge alone (tests/experiments)
def test_writes_that_only_a_dead_primary_had_are_found_lost(
    running: Callable[..., Running],
) -> None:
    load = running(f"{GENTLY},options.mongodb.write_concern=1")
    node, primary = load.primary()
    others = [host_for(other) for other in load.cluster.nodes if other.name != node.name]
    for host in others:
        host.stop("kill")  # a paused one would still find the writes in its socket
    seen = len(load.lives)
    load.until("it goes on without them", lambda: len(load.lives) > seen + 1)
    primary.stop("kill")
    for host in others:
        host.start()
    load.until("there is a new primary", lambda: load.well() and _moved(load, node.address))
    primary.start()
    load.finish()
    ledger = load.ledger()
    assert ledger.lost > 0
    assert (ledger.unexpected, ledger.corrupt, ledger.unread) == (0, 0, 0)
