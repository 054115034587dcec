"""A node's block device wiped over ssh, and the wrong ones left alone."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.loopdevice import Loop, loop_device
from tests.wording import naming

from brownout.base.errors import Refused
from brownout.inventory.model import Node
from brownout.machine.ssh import SshHost

NodeAt = Callable[..., Node]


@pytest.fixture
def loop(tmp_path: Path) -> Iterator[Loop]:
    with loop_device(tmp_path) as device:
        yield device.filled()


@pytest.mark.parametrize("name", ["stable", "device"])
def test_a_device_of_the_inventory_is_wiped_by_either_of_its_names(
    node_at: NodeAt, loop: Loop, name: str
) -> None:
    host = SshHost(node_at(devices=[str(loop.stable)]))

    proof = host.wipe([getattr(loop, name)])

    assert loop.reads_zero()
    (evidence,) = proof.evidence["devices"]
    assert (evidence["real"], evidence["reads_zero"]) == (str(loop.device), True)
    assert not proof.already


def test_a_device_that_the_inventory_does_not_list_is_refused(node_at: NodeAt, loop: Loop) -> None:
    with pytest.raises(Refused, match=naming(loop.device, "`devices`")):
        SshHost(node_at()).wipe([loop.device])

    assert loop.untouched()


def test_a_directory_is_not_touched_if_a_device_beside_it_must_not_be(
    node_at: NodeAt, loop: Loop, tmp_path: Path
) -> None:
    data = tmp_path / "data"
    data.mkdir()
    (data / "file").touch()

    with pytest.raises(Refused, match="is not wiped"):
        SshHost(node_at()).wipe([data, loop.device])

    assert (data / "file").exists()


def test_the_device_of_a_running_node_is_refused(
    host: SshHost, node_at: NodeAt, loop: Loop
) -> None:
    with pytest.raises(Refused, match=r"running, pid \d+; stop it first"):
        SshHost(node_at(devices=[str(loop.stable)])).wipe([loop.stable])

    assert loop.untouched()
