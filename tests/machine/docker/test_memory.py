"""A container gets less memory by its engine, and what it had before again."""

import os
import signal
from collections.abc import Callable

import pytest
from tests.machine.docker.boxes import Box
from tests.waiting import await_true

from brownout.base.errors import Refused
from brownout.inventory.model import Node
from brownout.machine import memory
from brownout.machine.docker import DockerHost, undo
from brownout.machine.docker.container import locate
from brownout.machine.docker.engine import connected

pytestmark = pytest.mark.usefixtures("host")

_MIB = 2**20


@pytest.fixture
def node(node_of: Callable[..., Node], box: Box) -> Node:
    box.host["Memory"], box.used = 512 * _MIB, 100 * _MIB
    return node_of()


def switches(host: DockerHost) -> list[int]:
    with connected(host._spec) as client:
        container = locate(client, "n1", "n1")
    return [each.pid for each in undo.armed(container, undo.MEMORY_MARK)]


@pytest.mark.parametrize(("mib", "share", "limit"), [(64.0, 0.0, 64), (0.0, 0.5, 50)])
def test_it_is_limited_and_has_its_own_limit_again(
    host: DockerHost, box: Box, node: Node, mib: float, share: float, limit: int
) -> None:
    assert memory.why_not(node, host) == ""
    record = memory.before(node, host)
    proof = memory.squeeze(node, host, mib, share, 600)
    assert (proof.already, proof.evidence["mib"], proof.evidence["used_mib"]) == (False, limit, 100)
    assert box.host["Memory"] == limit * _MIB
    assert memory.left_on(node, host) == f"{limit:.1f} MiB by docker update"
    assert memory.squeeze(node, host, mib, share, 600).already
    assert len(switches(host)) == 1
    assert not memory.undo_on(node, host, record).already
    assert (box.host["Memory"], switches(host)) == (512 * _MIB, [])
    assert memory.undo_on(node, host, record).already


def test_the_record_puts_it_back_where_the_switch_is_gone(
    host: DockerHost, box: Box, node: Node
) -> None:
    record = memory.before(node, host)
    switch = memory.squeeze(node, host, 64, 0, 600).evidence["undo_pid"]
    os.kill(switch, signal.SIGKILL)
    await_true(lambda: switches(host) == [], "the end of its switch")
    assert not memory.undo_on(node, host, record).already
    assert box.host["Memory"] == 512 * _MIB


@pytest.mark.parametrize("mib", [5.0, 513.0])
def test_what_the_engine_does_not_take_is_refused_and_no_switch_is_left(
    host: DockerHost, box: Box, node: Node, mib: float
) -> None:
    with pytest.raises(Refused, match="its own limit"):
        memory.squeeze(node, host, mib, 0, 600)
    assert (box.host["Memory"], switches(host)) == (512 * _MIB, [])


def test_one_without_a_limit_says_so_and_so_does_the_kernels_kill(
    host: DockerHost, box: Box, node: Node
) -> None:
    box.host["Memory"] = 0
    assert "--memory" in memory.why_not(node, host)
    assert "kill_node" in memory.why_no_kill(node, host)
