"""A lab whose nodes have file systems of their own: nothing of them is left, however it ended."""

import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from tests.waiting import await_true, await_whole

from brownout.base.errors import Unsupported
from brownout.databases.adapter import adapter_for
from brownout.databases.etcd.lab.settings import EtcdLab
from brownout.databases.lab import file_systems
from brownout.databases.lab.file_systems import left
from brownout.infra import lab
from brownout.inventory import labs
from brownout.machine.host import host_for

NAME = "lab-etcd-disk"
MINE = (
    "database: etcd\nenvironment: lab\nallow_data_loss: true\n"
    "lab: {engine: etcd, own_file_systems: true, file_system_mb: 256, members: 1}\n"
)
WHY_NOT = file_systems.why_not()
needs_loop_devices = pytest.mark.skipif(
    bool(WHY_NOT), reason=f"NOT TESTED: labs with file systems of their own: {WHY_NOT}"
)


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
    assert not labs.directory(NAME).exists()


@needs_loop_devices
@pytest.mark.live
def test_a_lab_with_a_frozen_disk_goes_down_and_leaves_no_file_system(directory: Path) -> None:
    cluster = lab.up(NAME)
    with closing(adapter_for(cluster)) as adapter:
        (data,) = adapter.data_directories(cluster.nodes[0])
    disk = directory / "n1" / "disk"
    assert data.is_relative_to(disk)
    assert shutil.disk_usage(disk).total < 256 << 20
    subprocess.run(["fsfreeze", "-f", str(disk)], check=True)
    assert lab.down(NAME)
    assert left(directory) == []
    assert not lab.down(NAME)


@needs_loop_devices
@pytest.mark.live
def test_a_lab_whose_directory_was_deleted_frees_its_loop_devices(directory: Path) -> None:
    (node,) = lab.up(NAME).nodes
    host_for(node).stop("kill")
    shutil.rmtree(directory, ignore_errors=True)
    assert len(left(directory)) == 2  # the mount and its loop device
    assert lab.down(NAME)
    assert left(directory) == []


@needs_loop_devices
def test_a_loop_device_that_others_have_open_for_a_moment_is_waited_for(tmp_path: Path) -> None:
    spec = EtcdLab(engine="etcd", own_file_systems=True, file_system_mb=64)
    file_systems.places(tmp_path, ["n1"], spec)
    (device,) = [path for path in left(tmp_path) if path.startswith("/dev/")]
    with Path(device).open("rb") as opened:
        closing_it = threading.Timer(0.3, opened.close)
        closing_it.start()
        file_systems.remove(tmp_path)
        closing_it.join()
    assert left(tmp_path) == []


@needs_loop_devices
@pytest.mark.live
def test_a_lab_whose_maker_was_killed_is_made_anew_with_its_file_systems(directory: Path) -> None:
    maker = subprocess.Popen(
        [sys.executable, "-c", f"from brownout.infra import lab; lab.up('{NAME}')"]
    )
    await_true(lambda: left(directory), every_s=0.001)
    maker.send_signal(signal.SIGKILL)
    maker.wait()
    assert lab.status(NAME).condition == "half-made"
    lab.up(NAME)
    assert lab.status(NAME).condition == "up"
    assert len(left(directory)) == 2


@needs_loop_devices
@pytest.mark.matrix
@pytest.mark.parametrize("engine", ["mongodb", "postgresql", "redis", "cassandra", "etcd"])
def test_each_node_has_its_data_on_a_file_system_of_its_own(
    engine: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BROWNOUT_LAB_DIR", str(tmp_path))
    name = f"lab-{engine}-disk"
    try:
        cluster = lab.up(name)
        with closing(adapter_for(cluster)) as adapter:
            devices = [
                {path.stat().st_dev for path in adapter.data_directories(node)}
                for node in cluster.nodes
            ]
            assert all(len(own) == 1 for own in devices)
            assert len(set.union(*devices)) == len(cluster.nodes)
            host_for(cluster.nodes[-1]).stop("kill")
            lab.up(name)
            await_whole(adapter)
    finally:
        lab.down(name)
    assert left(labs.directory(name)) == []


def test_without_root_such_a_lab_is_refused_before_anything_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BROWNOUT_LAB_DIR", str(tmp_path))
    monkeypatch.setattr(file_systems, "may", lambda *_: False)
    monkeypatch.setattr(shutil, "which", lambda tool: f"/usr/sbin/{tool}")
    with pytest.raises(Unsupported, match="CAP_SYS_ADMIN"):
        lab.up(NAME)
    assert not labs.directory(NAME).exists()
