"""Over ssh a node is squeezed, has its CPU stolen, and is killed by the kernel."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from brownout.inventory.model import Node
from brownout.machine import control_groups, memory, steal
from brownout.machine.ssh import SshHost


@pytest.fixture
def node(node_at: Callable[..., Node]) -> Iterator[Node]:
    """A node that runs in the control group of the login, which others share."""
    if reason := control_groups.why_not_here():
        pytest.skip(f"NOT TESTED: limits over ssh: {reason}")
    node = node_at()
    host = SshHost(node)
    host.start()
    yield node
    host.stop("kill")
    assert list(Path("/run").glob(f"brownout-{node.key}.*")) == []


@pytest.fixture
def group(node: Node) -> Iterator[Path]:
    """A control group of the node's own."""
    group = control_groups.own(f"brownout-test-{os.getpid()}")
    assert group is not None
    (group / "cgroup.procs").write_text(str(SshHost(node).running().pid))
    yield group
    SshHost(node).stop("kill")
    control_groups.remove(group.name)


def test_a_node_in_a_shared_group_is_not_squeezed_and_one_of_its_own_is(
    node: Node, request: pytest.FixtureRequest
) -> None:
    host = SshHost(node)
    assert "other processes" in memory.why_not(node, host)
    group = request.getfixturevalue("group")
    assert memory.why_not(node, host) == ""
    evidence = memory.squeeze(node, host, 64, 0, 60).evidence
    assert (evidence["group"], evidence["mib"]) == (str(group), 64.0)
    assert memory.left_on(node, host).startswith("64.0 MiB by cgroup v")
    assert not memory.undo_on(node, host).already
    assert memory.left_on(node, host) == ""
    assert memory.undo_on(node, host).already


def test_its_cpu_is_stolen_and_given_back(node: Node) -> None:
    host = SshHost(node)
    pid = host.running().pid
    assert pid is not None
    before = os.sched_getaffinity(pid)
    assert steal.refusals(node, host, len(before) + 1.0, shared=True) != []
    assert steal.steal(node, host, 0.3, 60).evidence["got_cpus"] > 0.15
    assert len(os.sched_getaffinity(pid)) == 1
    assert not steal.undo_on(node, host).already
    assert os.sched_getaffinity(pid) == before


def test_the_kernel_kills_it(node: Node) -> None:
    host = SshHost(node)
    assert memory.kill(node, host).evidence["oom_kills"] >= 1
    assert not host.running().running
    assert memory.left_on(node, host) == ""
