"""Packets of a node in a real network namespace are dropped, as many as was asked for, and no more.

What arrives is counted by those who sent it, and compared with what the kernel says it dropped.
"""

import contextlib
import math
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.machine.held import held_before
from tests.namespaces import (
    PORT,
    WHY_NOT,
    Traffic,
    await_no_switch,
    node_at,
    three_places,
    waiting_switches,
)
from tests.waiting import await_true

from brownout.base.errors import ConfigurationError, HostError, Refused
from brownout.databases.lab.network import Place
from brownout.machine import bandwidth, one_way, packet_loss, partition
from brownout.machine.host import host_for
from brownout.machine.network import Network
from brownout.machine.packet_filter import Direction, Match, PacketFilter

pytestmark = pytest.mark.skipif(bool(WHY_NOT), reason=f"NOT TESTED: dropped packets: {WHY_NOT}")

DATAGRAMS = 3000
#: All filters of faults, with something that each can drop.
EVERY = {
    partition.FILTER: Match(addresses=("198.18.255.9:1",)),
    packet_loss.FILTER: Match(whose="all", share=1000),
    one_way.FILTER: Match("in", "these", ("198.18.255.9:1",)),
    bandwidth.FILTER: Match(whose="all", rate=125_000),
}


@pytest.fixture
def places(tmp_path: Path) -> Iterator[dict[str, Place]]:
    with three_places(tmp_path) as places:
        yield places


@pytest.fixture
def traffic(places: dict[str, Place]) -> Iterator[Traffic]:
    """A server in the place of node n1."""
    with contextlib.closing(Traffic(places["n1"])) as server:
        yield server


def network_of(place: Place) -> Network:
    return host_for(node_at(place)).network()


def is_close_to(lost: int, share: float, n: int = DATAGRAMS) -> bool:
    """Whether so many of `n` are lost by chance where each is lost with probability `share`."""
    return abs(lost - share * n) <= 5 * math.sqrt(n * share * (1 - share))


@pytest.mark.parametrize(
    ("direction", "share", "lost"),
    [
        ("both", 1000, 0.19),
        ("both", 0, 0.0),
        pytest.param("in", 1000, 0.1, marks=pytest.mark.matrix),
        pytest.param("out", 1000, 0.1, marks=pytest.mark.matrix),
    ],
)
def test_the_share_of_packets_that_was_asked_for_is_lost_and_counted(
    places: dict[str, Place],
    traffic: Traffic,
    direction: Direction,
    share: int,
    lost: float,
) -> None:
    network = network_of(places["n1"])
    assert packet_loss.FILTER.why_not(network) == ""
    # On one port, so that what the kernel itself sends is not counted, as by IPv6.
    match = Match(direction, "all", port=PORT, share=share)
    proof = packet_loss.FILTER.drop(network, match, 60)
    rule = f"numgen random mod 10000 < {share}"
    chains = {"in": ["incoming"], "out": ["outgoing"], "both": ["incoming", "outgoing"]}
    assert proof.evidence["rules"] == dict.fromkeys(chains[direction], rule)
    answered = traffic.answered(places["n2"], DATAGRAMS)
    assert is_close_to(DATAGRAMS - answered, lost)
    dropped = packet_loss.FILTER.clear(network).evidence["dropped_packets"]
    assert dropped == pytest.approx(DATAGRAMS - answered, abs=5)  # an answer may come late
    assert traffic.answered(places["n2"], 100) == 100


def test_what_goes_out_is_lost_unnoticed_so_that_tcp_sends_it_again(
    places: dict[str, Place],
) -> None:
    network = network_of(places["n1"])
    with contextlib.closing(Traffic(places["n2"])) as there:
        packet_loss.FILTER.drop(network, Match("out", "all", share=500), 60)
        _, again = there.stream(places["n1"], 5_000_000)
    dropped = packet_loss.FILTER.clear(network).evidence["dropped_packets"]
    assert dropped > 0
    assert (
        again >= dropped / 2
    )  # some were answers, and of what is handled as one all is sent again


def test_clients_meet_a_black_hole_on_one_port_and_members_and_other_ports_do_not(
    places: dict[str, Place], traffic: Traffic
) -> None:
    first, second, _ = places.values()
    network = network_of(first)
    with contextlib.closing(Traffic(first, 6000)):
        match = Match("out", "others", (f"{second.address}:1",), PORT)
        proof = one_way.FILTER.drop(network, match, 60)
        assert (proof.evidence["except"], proof.evidence["port"]) == ([second.address], PORT)
        with pytest.raises(TimeoutError):  # not refused, not reset
            socket.create_connection((first.address, PORT), 0.5)
        socket.create_connection((first.address, 6000), 5).close()
        assert traffic.answered(second, 20) == 20
        one_way.FILTER.clear(network)
        socket.create_connection((first.address, PORT), 20).close()


@pytest.mark.parametrize("direction", ["in", pytest.param("out", marks=pytest.mark.matrix)])
def test_a_peer_is_cut_off_in_one_direction_only(
    places: dict[str, Place], traffic: Traffic, direction: Direction
) -> None:
    first, second, third = places.values()
    network = network_of(first)
    one_way.FILTER.drop(network, Match(direction, "these", (f"{second.address}:1",)), 60)
    assert traffic.answered(second, 50) == 0
    assert traffic.answered(third, 50) == 50
    dropped = one_way.FILTER.clear(network).evidence["dropped_packets"]
    assert dropped >= 50  # of the questions, or of the answers to those that came in


def test_no_more_than_a_rate_goes_through_once_the_first_second_is_over(
    places: dict[str, Place], traffic: Traffic
) -> None:
    network, rate = network_of(places["n1"]), 500_000
    bandwidth.FILTER.drop(network, Match("in", "all", rate=rate), 60)
    seconds, again = traffic.stream(places["n2"], 2 * rate)
    at_once = rate + 65_536
    assert (2 * rate - at_once) / seconds < 1.05 * rate
    assert again > 0
    assert bandwidth.FILTER.clear(network).evidence["dropped_packets"] > 0


def test_faults_of_one_node_do_not_undo_each_other(places: dict[str, Place]) -> None:
    place = places["n1"]
    network = network_of(place)
    for each, match in EVERY.items():
        each.drop(network, match, 600)
    left = {each: each.look(network).rules for each in EVERY}
    while left:
        assert {each: each.look(network).rules for each in left} == left
        assert [len(waiting_switches(place, each.mark)) for each in left] == [1] * len(left)
        undone, _ = left.popitem()
        undone.clear(network)
        assert not undone.look(network)
        assert waiting_switches(place, undone.mark) == []


@pytest.mark.parametrize(
    "each",
    [
        packet_loss.FILTER,
        *(
            pytest.param(each, marks=pytest.mark.matrix)
            for each in (one_way.FILTER, bandwidth.FILTER)
        ),
    ],
    ids=lambda each: each.act,
)
def test_each_ends_by_itself_after_its_limit_and_leaves_no_switch(
    places: dict[str, Place], each: PacketFilter
) -> None:
    place = places["n1"]
    network = network_of(place)
    other = partition.FILTER
    other.drop(network, EVERY[other], 600)
    each.drop(network, EVERY[each], 60)
    assert each.drop(network, EVERY[each], 1).already  # and the limit is the later one's
    await_true(lambda: not each.look(network), "the end of the fault")
    await_no_switch(place, each.mark)
    assert each.clear(network).already
    assert other.look(network)


def test_what_names_nobody_or_its_own_machine_touches_nothing(places: dict[str, Place]) -> None:
    network = network_of(places["n1"])
    with pytest.raises(ConfigurationError, match="no other node"):
        one_way.FILTER.drop(network, Match("in"), 60)
    with pytest.raises(Refused, match="an address of its own machine"):
        one_way.FILTER.drop(network, Match("in", "these", (f"{places['n1'].address}:1",)), 60)
    assert not one_way.FILTER.look(network)
    assert waiting_switches(places["n1"], one_way.FILTER.mark) == []


@pytest.mark.parametrize("filter", EVERY, ids=lambda each: each.act)
def test_rules_that_are_undone_before_they_are_made_do_not_stay_without_a_switch(
    places: dict[str, Place], filter: PacketFilter, tmp_path: Path
) -> None:
    network = network_of(places["n1"])
    with held_before(
        "nft", "-f", lambda: filter.drop(network, EVERY[filter], 60), tmp_path
    ) as made:
        filter.clear(network)  # as after a time-out of ours
    with pytest.raises(HostError, match="undone"):
        made.result()
    assert not filter.look(network)
