"""A machine that is reached by ssh is cut off from others, and undoes it by itself."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.links import Link, partitionable
from tests.machine.test_partition import PORT, Places, places, reaches, rooted
from tests.namespaces import waiting_switches
from tests.sshd import WHY_NOT, Sshd
from tests.waiting import await_true

from brownout.base.errors import Refused
from brownout.databases.lab.network import Place
from brownout.inventory.model import Node
from brownout.machine import network, partition
from brownout.machine.ssh import SshSpec, pool

__all__ = ["places"]

pytestmark = [rooted, pytest.mark.skipif(bool(WHY_NOT), reason=f"NOT TESTED: ssh: {WHY_NOT}")]


@pytest.fixture
def sshd_there(places: Places, tmp_path: Path) -> Iterator[Sshd]:
    """A sshd in the namespace of the first node, at its address."""
    with contextlib.ExitStack() as stack:
        yield sshd_in(places["n1"], tmp_path / "sshd", stack)


def sshd_in(place: Place, directory: Path, stack: contextlib.ExitStack) -> Sshd:
    """Start a sshd in a namespace; it ends with `stack`."""
    server = Sshd(directory, address=place.address, enter=network.enter(place.namespace)).start()
    stack.callback(server.stop)
    stack.callback(pool.close_all)
    return server


def node(sshd: Sshd, undo_after_s: float = 60.0) -> Node:
    commands = {"start": "true", "stop": "true", "pid_file": "/nowhere/pid", "program": "sleep"}
    host = SshSpec.model_validate(
        {**sshd.login(), "commands": commands, "undo_after_s": undo_after_s}
    )
    return Node(name="n1", address=f"{sshd.address}:{PORT}", host=host)


@pytest.fixture
def host(sshd_there: Sshd) -> Link:
    return partitionable(node(sshd_there))


def test_it_is_cut_off_both_ways_and_joined_while_we_reach_it(places: Places, host: Link) -> None:
    first, second, third = places.values()
    proof = host.partition([f"{second.address}:1", f"{third.address}:2"])
    assert proof.evidence["from"] == [second.address, third.address]
    assert (proof.already, proof.evidence["undo_after_s"]) == (False, 60.0)
    assert 0 < proof.uncertainty_s < 5
    assert reaches(first, second, third) == [False, False]
    assert reaches(second, first, third) == [False, True]
    assert len(waiting_switches(first, partition.FILTER.mark)) == 1
    assert host.cut_off() == [second.address, third.address]
    assert not host.heal_partition().already
    assert reaches(first, second) == [True]
    assert waiting_switches(first, partition.FILTER.mark) == []
    assert host.heal_partition().already


def test_it_undoes_it_by_itself_though_every_connection_of_ours_is_gone(
    places: Places, sshd_there: Sshd
) -> None:
    first, second, _ = places.values()
    partitionable(node(sshd_there, undo_after_s=5.0)).partition([f"{second.address}:1"])
    sshd_there.stop()
    await_true(lambda: reaches(first, second) == [True], "the end of the cut")
    await_true(lambda: not waiting_switches(first, partition.FILTER.mark), "the end of its switch")


def test_where_we_come_from_is_never_cut_off(places: Places, host: Link) -> None:
    gateway = f"{places['n1'].address.rpartition('.')[0]}.1"
    with pytest.raises(Refused, match=f"`{gateway}` is where brownout comes from"):
        host.partition([f"{places['n2'].address}:1", f"{gateway}:1"])
    assert host.cut_off() == []
