"""What the driver says of the primary, on a real replica set."""

import time

import pytest

from brownout.databases.mongodb.discovery import SetWatch
from brownout.inventory.model import Cluster
from brownout.machine.host import host_for


def go_on() -> bool:
    return False


def test_the_loss_of_a_primary_is_seen_and_then_its_successor(lab_mongodb: Cluster) -> None:
    with SetWatch(lab_mongodb) as watch:
        first = watch.await_primary(30, go_on)
        (node,) = [node for node in lab_mongodb.nodes if node.address == first]
        killed = host_for(node).stop("kill").effective_monotonic

        loss = watch.await_loss(killed - 1.0, 30, go_on)
        second = watch.await_primary(30, go_on)

    assert loss is not None
    assert loss.before == first
    assert second not in ("", first)
    assert killed - 1.0 <= loss.lost <= loss.at


def test_nothing_is_seen_where_nothing_happens(lab_mongodb: Cluster) -> None:
    with SetWatch(lab_mongodb) as watch:
        assert watch.await_primary(30, go_on) != ""
        assert watch.await_loss(time.monotonic(), 0.5, go_on) is None
    assert [change.before for change in watch.changes] == [""]  # closing it is no loss


@pytest.mark.quiet
def test_a_member_that_falls_silent_is_lost_from_its_last_sign_of_life(
    lab_mongodb: Cluster,
) -> None:
    with SetWatch(lab_mongodb) as watch:
        assert watch.await_serving(3, 30, go_on) is not None
        primary = watch.await_primary(30, go_on)
        node = next(node for node in lab_mongodb.nodes if node.address != primary)
        frozen = host_for(node).pause().effective_monotonic
        try:
            loss = watch.await_member_loss(frozen, 30, go_on)
            back = watch.await_serving(3, 0.0, go_on)
            losses = watch.losses  # resumed, it may call for an election
        finally:
            host_for(node).resume()
        again = watch.await_serving(3, 30, go_on)

    assert loss is not None
    assert loss.member == node.address
    assert loss.noticed > loss.at  # it said no goodbye: the driver waited for it
    assert back is None
    assert again is not None
    assert [each.member for each in losses] == [node.address]


def test_a_set_of_which_nobody_serves_is_known_as_such(fresh_lab: Cluster) -> None:
    with SetWatch(fresh_lab) as watch:
        assert watch.await_serving(len(fresh_lab.nodes), 30, go_on) is not None
        assert not watch.await_nobody(0.0, go_on)
        for node in fresh_lab.nodes:
            host_for(node).stop("kill")
        assert watch.await_nobody(30, go_on)
