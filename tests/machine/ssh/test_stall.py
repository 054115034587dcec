"""The disk of a node that is reached by ssh stalls, by least rights, and no other disk does."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.loopdevice import file_system, is_frozen
from tests.restricted import USER, install, installed, machine

from brownout.base.errors import Denied
from brownout.databases.lab import file_systems
from brownout.inventory.model import Cluster, Node
from brownout.machine import stall
from brownout.machine.commands import script
from brownout.machine.ssh import SshHost

WHY_NOT = file_systems.why_not()
pytestmark = [
    pytest.mark.skipif(bool(WHY_NOT), reason=f"NOT TESTED: stalled disks: {WHY_NOT}"),
    pytest.mark.matrix,  # in CI the disk of a process of this machine stalls
]


@pytest.fixture
def outer(tmp_path: Path) -> Iterator[Path]:
    """A file system of others, in which that of the node is mounted."""
    with file_system(tmp_path) as point:
        yield point


@pytest.fixture
def disk(outer: Path) -> Iterator[Path]:
    with file_system(outer) as point:
        (point / "data").mkdir()
        yield point


@pytest.fixture
def node(disk: Path, tmp_path: Path, node_at: Callable[..., Node]) -> Iterator[Node]:
    """A node of which only root may do anything, with its helpers installed."""
    with machine() as far:
        (tmp_path / "etc").mkdir()
        config = tmp_path / "etc" / "node.conf"
        config.write_text("data: there\n")
        made = node_at(**far.login(user=USER), sudo="helpers", config_file=str(config))
        other = Node(name="n2", address="192.0.2.1:1")
        cluster = Cluster(
            name="c",
            database="mongodb",
            environment="test",
            nodes=(made, other),
            allow_data_loss=True,
        )
        with installed([made]):
            install(cluster, made, [disk / "data"], tmp_path / "installation")
            SshHost(made).start()
            yield made
            SshHost(made).stop("kill")


def test_a_disk_stalls_by_the_helpers_of_its_node_and_a_kill_thaws_it(
    node: Node, disk: Path, outer: Path
) -> None:
    host = SshHost(node)
    assert host.missing_rights(["disk_stall", "disk_thaw"]) == []
    assert stall.why_not(node, host) == ""
    assert stall.why_not_now(node, host, [disk / "data"]) == []
    stall.stall(node, host, [disk / "data"], [], 60)
    assert is_frozen(disk)
    assert stall.left_on(node, host) == f"writes to {disk} wait"
    assert host.stop("kill").evidence["released"] == [f"stall: writes to {disk} wait"]
    assert not is_frozen(disk)
    runner, name = host.shell().runner, node.key
    for point in (outer, disk / "data"):
        device = str(point.stat().st_dev)
        with pytest.raises(Denied, match="not allowed: stall"):
            runner.run(script(stall.SCRIPTS["stall"].body, name, "2", device, str(point)))
        assert not is_frozen(point)
    with pytest.raises(Denied, match="not allowed: thaw"):
        runner.run(script(stall.SCRIPTS["thaw"].body, "n2-1"))
