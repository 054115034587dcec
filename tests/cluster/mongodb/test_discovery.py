"""What the driver says of the primary, on a real replica set."""

import time

from brownout.cluster.host import host_for
from brownout.cluster.model import Cluster
from brownout.cluster.mongodb.discovery import PrimaryWatch


def go_on() -> bool:
    return False


def test_the_loss_of_a_primary_is_seen_and_then_its_successor(lab_mongodb: Cluster) -> None:
    with PrimaryWatch(lab_mongodb) as watch:
        first = watch.await_primary(30, go_on)
        (node,) = [node for node in lab_mongodb.nodes if node.address == first]
        killed = host_for(node).stop("kill").effective_monotonic

        loss = watch.await_loss(killed - 1.0, 30, go_on)
        second = watch.await_primary(30, go_on)

    assert loss is not None
    assert loss.before == first
    assert second not in ("", first)


def test_nothing_is_seen_where_nothing_happens(lab_mongodb: Cluster) -> None:
    with PrimaryWatch(lab_mongodb) as watch:
        assert watch.await_primary(30, go_on) != ""
        assert watch.await_loss(time.monotonic(), 0.5, go_on) is None
    assert [change.before for change in watch.changes] == [""]  # closing it is no loss
