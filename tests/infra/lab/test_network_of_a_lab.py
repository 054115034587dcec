"""A lab whose members have network namespaces: nothing of them is left, however it ended."""

import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from tests.links import partitionable
from tests.waiting import await_true, await_whole
from tests.wording import mentions

from brownout.databases.adapter import adapter_for
from brownout.databases.lab.network import left
from brownout.databases.mongodb.lab.settings import ReplicaSetLab
from brownout.infra import lab
from brownout.inventory import labs
from brownout.inventory.model import Cluster
from brownout.machine import network
from brownout.machine.host import host_for

NAME = "lab-mongodb-partition"
MINE = (
    "database: mongodb\nenvironment: lab\n"
    "lab: {engine: mongodb, network_namespaces: true, members: 1}\n"
)
WHY_NOT = network.why_not()
pytestmark = pytest.mark.skipif(bool(WHY_NOT), reason=f"NOT TESTED: labs of namespaces: {WHY_NOT}")


@pytest.fixture
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The directory of a lab of one member; whatever a test leaves of it is taken down."""
    (tmp_path / "clusters").mkdir()
    inventory = tmp_path / "clusters" / f"{NAME}.yaml"
    inventory.write_text(MINE, encoding="utf-8")
    monkeypatch.setenv("BROWNOUT_CLUSTERS", str(inventory.parent))
    monkeypatch.setenv("BROWNOUT_LAB_DIR", str(tmp_path / "lab"))
    yield labs.directory(NAME)
    lab.down(NAME)
    assert left(labs.directory(NAME)) == []


def test_up_heals_a_partition_and_down_leaves_no_network(lab_partition: Cluster) -> None:
    # No primary: one that is joined again before the others notice may still be replaced by them.
    name = next(m.name for m in lab.status(NAME).members if m.state == "SECONDARY")
    one = lab_partition.node(name)
    others = [node for node in lab_partition.nodes if node != one]
    host = partitionable(one)
    host.partition([node.address for node in others], 120)
    said: list[str] = []
    assert lab.up(NAME, progress=said.append) == lab_partition
    assert any(mentions(line, one.name, "partition") for line in said)
    assert host.cut_off() == []
    assert len(left(labs.directory(NAME))) == 5  # the hub, three members, and our end of it
    assert lab.down(NAME)
    assert left(labs.directory(NAME)) == []
    assert not lab.down(NAME)


def test_a_lab_whose_directory_was_deleted_takes_its_network_with_it(directory: Path) -> None:
    cluster = lab.up(NAME)
    host_for(cluster.nodes[0]).stop("kill")
    shutil.rmtree(directory)
    assert len(left(directory)) == 3
    assert lab.down(NAME)
    assert left(directory) == []


def test_a_lab_whose_maker_was_killed_is_made_anew(directory: Path) -> None:
    maker = subprocess.Popen(
        [sys.executable, "-c", f"from brownout.infra import lab; lab.up('{NAME}')"]
    )
    await_true(lambda: left(directory), every_s=0.001)
    maker.send_signal(signal.SIGKILL)
    maker.wait()
    assert lab.status(NAME).condition == "half-made"
    lab.up(NAME)
    assert lab.status(NAME).condition == "up"
    assert len(left(directory)) == 3


@pytest.mark.live
@pytest.mark.parametrize("name", ["lab-etcd-partition", "lab-redis-partition"])
def test_a_primary_that_is_cut_off_is_replaced_and_joins_the_others_again(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BROWNOUT_LAB_DIR", str(tmp_path))
    try:
        cluster = lab.up(name)
        with closing(adapter_for(cluster)) as adapter:
            (old,) = adapter.targets("primary", 1)
            before = {member.node: member.state for member in adapter.members()}
            host = partitionable(old)
            host.partition([node.address for node in cluster.nodes if node != old], 120)
            assert host.cut_off()
            await_true(lambda: any(
                member.state == before[old.name] != before[member.node]
                for member in adapter.members()
            ))  # fmt: skip
            host.heal_partition()
            await_whole(adapter)
    finally:
        lab.down(name)
    assert left(labs.directory(name)) == []


def test_what_cannot_be_cut_off_is_no_such_lab() -> None:
    with pytest.raises(ValueError, match="network_namespaces: wanted not secure"):
        ReplicaSetLab(engine="mongodb", network_namespaces=True, secure=True)
