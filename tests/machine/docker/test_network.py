"""A container is cut off and joined again in its own, real network, from the engine's machine."""

import shutil
import socket
from collections.abc import Callable

import pytest
from tests.links import Link, partitionable
from tests.machine.docker.boxes import Box
from tests.machine.docker.recorded import RecordedEngine
from tests.waiting import await_true

from brownout.base.errors import Refused, Unsupported
from brownout.inventory.model import Node
from brownout.machine import bandwidth, cut_off, network, one_way, packet_loss
from brownout.machine.docker import DockerHost
from brownout.machine.host import host_for
from brownout.machine.packet_filter import Match

WHY_NOT = network.why_not()
pytestmark = pytest.mark.skipif(bool(WHY_NOT), reason=f"NOT TESTED: partitions: {WHY_NOT}")


@pytest.fixture
def own_network(engine: RecordedEngine, box: Box, node_of: Callable[..., Node]) -> Node:
    """A node whose container runs in a network of its own, as the engine makes it one."""
    unshare = shutil.which("unshare")
    assert unshare is not None
    box.command = [unshare, "--net", "--", *box.command]
    engine.start(box)
    node = node_of()
    await_true(lambda: not network.is_ours(DockerHost(node).running().pid), "its own network")
    return node


def test_it_is_cut_off_in_its_own_network_and_joined_again(own_network: Node) -> None:
    link = partitionable(own_network)
    proof = link.partition(["198.18.0.9:1", "198.18.0.10:1"], 60)
    assert proof.evidence["from"] == ["198.18.0.9", "198.18.0.10"]
    assert sorted(link.cut_off()) == ["198.18.0.10", "198.18.0.9"]
    assert not link.heal_partition().already
    assert link.cut_off() == []
    assert link.heal_partition().already


def test_it_is_put_on_a_bad_link_in_several_ways_which_are_undone_one_by_one(
    own_network: Node,
) -> None:
    host = host_for(own_network)
    network_of = host.network()
    wanted = {
        packet_loss.FILTER: Match("in", "all", share=1000),
        one_way.FILTER: Match("out", "others", ("198.18.0.9:1",), 27017),
        bandwidth.FILTER: Match("in", "all", rate=125_000),
        cut_off.FILTER: Match(addresses=("198.18.0.10:2379",), port=2379),
    }
    with pytest.raises(Refused, match="no interface there has an address"):
        packet_loss.FILTER.drop(network_of, Match("out", "all"), 60)
    for each, match in wanted.items():
        assert each.why_not(network_of) == ""
        each.drop(network_of, match, 60)
    while wanted:
        assert all(each.look(network_of).rules for each in wanted)
        undone, _ = wanted.popitem()
        assert not undone.clear(network_of).already
        assert not undone.look(network_of)


def test_a_container_in_its_machines_network_is_never_cut_off(
    host: DockerHost, node_of: Callable[..., Node]
) -> None:
    with pytest.raises(Unsupported, match="has no network to itself"):
        Link(node_of(), host).cut_off()


def test_an_engine_of_another_machine_says_where_brownout_has_to_run(
    host: DockerHost, node_of: Callable[..., Node], monkeypatch: pytest.MonkeyPatch
) -> None:
    names = iter(["there", "here"])  # the engine's word for it, and ours
    monkeypatch.setattr(socket, "gethostname", lambda: next(names))
    with pytest.raises(Unsupported, match="run brownout on that machine"):
        Link(node_of(), host).cut_off()
