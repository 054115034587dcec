"""A container gets less CPU by its engine, and what it had before again."""

import os
import signal
from collections.abc import Callable

import pytest
from tests.machine.docker.boxes import Box
from tests.waiting import await_true

from brownout.inventory.model import Node
from brownout.machine import cpu
from brownout.machine.docker import DockerHost, undo
from brownout.machine.docker.container import locate
from brownout.machine.docker.engine import connected

pytestmark = pytest.mark.usefixtures("host")


@pytest.fixture
def node(node_of: Callable[..., Node]) -> Node:
    return node_of()


def switches(host: DockerHost) -> list[int]:
    with connected(host._spec) as client:
        container = locate(client, "n1", "n1")
    return [each.pid for each in undo.armed(container, undo.CPU_MARK)]


@pytest.mark.parametrize(
    ("earlier", "limited", "later"),
    [
        ({}, {"CpuQuota": 20_000, "CpuPeriod": 100_000}, {"CpuQuota": 0, "CpuPeriod": 100_000}),
        ({"NanoCpus": 4_000_000_000}, {"NanoCpus": 200_000_000}, {"NanoCpus": 4_000_000_000}),
        (
            {"CpuQuota": 150_000, "CpuPeriod": 50_000},
            {"CpuQuota": 20_000, "CpuPeriod": 100_000},
            {"CpuQuota": 150_000, "CpuPeriod": 50_000},
        ),
    ],
)
def test_it_is_limited_as_it_was_configured_and_has_its_own_limit_again(
    host: DockerHost, box: Box, node: Node, earlier: dict[str, int], limited: dict[str, int],
    later: dict[str, int],
) -> None:  # fmt: skip
    box.host |= earlier
    record = cpu.before(node, host)
    assert not cpu.limit(node, host, 0.2, 600).already
    assert {key: box.host[key] for key in limited} == limited
    assert cpu.left_on(node, host) == "0.2 CPUs by docker update"
    assert len(switches(host)) == 1
    assert cpu.limit(node, host, 0.2, 600).already
    assert not cpu.undo_on(node, host, record).already
    assert {key: box.host[key] for key in later} == later
    assert switches(host) == []
    assert cpu.left_on(node, host) == ""
    assert cpu.undo_on(node, host, record).already


def test_a_second_limit_does_not_forget_what_was_there_at_first(
    host: DockerHost, box: Box, node: Node
) -> None:
    box.host["NanoCpus"] = 2_000_000_000
    cpu.limit(node, host, 0.5, 600)
    cpu.limit(node, host, 0.2, 600)
    cpu.undo_on(node, host)
    assert box.host["NanoCpus"] == 2_000_000_000


def test_the_record_puts_it_back_where_the_switch_is_gone(
    host: DockerHost, box: Box, node: Node
) -> None:
    record = cpu.before(node, host)
    switch = cpu.limit(node, host, 0.2, 600).evidence["undo_pid"]
    os.kill(switch, signal.SIGKILL)
    await_true(lambda: switches(host) == [], "the end of its switch")
    assert not cpu.undo_on(node, host, record).already
    assert box.host["CpuQuota"] == 0


def test_a_process_of_this_machine_undoes_it_after_the_limit(
    host: DockerHost, box: Box, node: Node
) -> None:
    cpu.limit(node, host, 0.2, 20)
    await_true(lambda: box.host["CpuQuota"] == 0, "the undo")
    await_true(lambda: switches(host) == [], "the end of its switch")
