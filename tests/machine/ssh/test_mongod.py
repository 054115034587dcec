"""A real replica set whose members are reached by ssh: killed, wiped, started, whole again."""

import shlex
from collections.abc import Iterator

import pytest
from tests.sshd import Sshd
from tests.waiting import await_whole

from brownout.base.errors import Refused
from brownout.databases.adapter import Adapter, adapter_for
from brownout.inventory.model import Cluster, Node, ProcessSpec
from brownout.machine.host import host_for
from brownout.machine.ssh import SshSpec


def _over_ssh(node: Node, sshd: Sshd) -> Node:
    """Return the node as an inventory of another machine would describe it."""
    local = node.host
    assert isinstance(local, ProcessSpec)
    pid_file = shlex.quote(str(local.pid_file))
    settings = {
        **sshd.login(),
        "config_file": str(local.config_file),
        "commands": {
            "start": f"echo $$ > {pid_file}; exec {shlex.join(local.command)}",
            "stop": f"kill -TERM $(cat {pid_file})",
            "pid_file": str(local.pid_file),
            "program": "mongod",
            "log_file": str(local.log_file),
        },
    }
    return node.model_copy(update={"host": SshSpec.model_validate(settings)})


@pytest.fixture
def cluster(fresh_lab: Cluster, sshd: Sshd) -> Cluster:
    """The lab, every member of which is behind the sshd."""
    nodes = tuple(_over_ssh(node, sshd) for node in fresh_lab.nodes)
    return fresh_lab.model_copy(update={"nodes": nodes})


@pytest.fixture
def adapter(cluster: Cluster) -> Iterator[Adapter]:
    adapter = adapter_for(cluster)
    yield adapter
    adapter.close()


@pytest.mark.matrix
def test_a_primary_is_killed_wiped_and_started_over_ssh_and_the_set_is_whole_again(
    adapter: Adapter, sshd: Sshd
) -> None:
    (node,) = adapter.targets("primary", 4711)
    host = host_for(node)
    with pytest.raises(Refused, match="running, pid"):
        host.wipe(adapter.data_directories(node))

    killed = host.stop("kill")
    sshd.cut()  # the way in breaks in the midst of the fault
    wiped = host.wipe(adapter.data_directories(node))
    started = host.start()

    await_whole(adapter)
    assert (killed.evidence["state"], killed.evidence["program"]) == ("gone", "mongod")
    assert wiped.evidence["directories"][0]["files_removed"] > 20
    assert killed.effective_monotonic < wiped.effective_monotonic < started.effective_monotonic


def test_a_paused_member_goes_on_by_itself_when_our_way_in_is_cut(
    adapter: Adapter, sshd: Sshd
) -> None:
    (node,) = adapter.targets("secondary", 4711)
    settings = {"undo_after_s": 3.0}
    assert isinstance(node.host, SshSpec)
    host = host_for(node.model_copy(update={"host": node.host.model_copy(update=settings)}))

    host.pause()
    sshd.stop()

    await_whole(adapter)
    sshd.start()
    assert host.running().describe().startswith("running")
