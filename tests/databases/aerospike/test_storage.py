"""What a wipe empties: the files and devices that a node's own configuration names, no others."""

import subprocess
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

import pytest
from tests.loopdevice import Loop, loop_device
from tests.wording import naming

from brownout.base.errors import Refused
from brownout.databases.aerospike import storage
from brownout.databases.aerospike.adapter import AerospikeAdapter
from brownout.databases.aerospike.storage import devices_in, files_in
from brownout.inventory.model import Cluster, Node, ProcessSpec
from brownout.machine import storage as machine_storage
from brownout.machine.commands import LocalRunner
from brownout.machine.host import Proof, host_for
from brownout.machine.ssh.spec import SshSpec
from brownout.machine.storage import Rules

CONF = """
logging {
    file /var/log/aerospike.log {
        context any info
    }
}
namespace users {
    storage-engine device {
        file /data/a/users.dat   # the first
        file /data/b/users.dat /shadow/users.dat
        # file /data/c/users.dat
        filesize 4G
    }
}
namespace orders {
    storage-engine device {
        device /dev/nvme0n1 /dev/sdb
        device /dev/nvme1n1
    }
}
namespace cache {
    storage-engine memory {
        data-size 1G
    }
}
"""


def test_only_files_of_a_storage_engine_count_and_shadows_do_too() -> None:
    assert list(map(str, files_in(CONF))) == [
        "/data/a/users.dat", "/data/b/users.dat", "/shadow/users.dat",
    ]  # fmt: skip


def test_devices_and_their_shadows_count() -> None:
    assert list(map(str, devices_in(CONF))) == ["/dev/nvme0n1", "/dev/sdb", "/dev/nvme1n1"]


@pytest.mark.parametrize("kind", ["index-type flash", "sindex-type pmem"])
def test_an_index_that_a_wipe_would_leave_is_a_reason_to_refuse(kind: str, tmp_path: Path) -> None:
    file = tmp_path / "aerospike.conf"
    index = f" {kind} {{\n  mount /mnt/index1\n  mounts-budget 4G\n }}\n"
    file.write_text(f"namespace t {{\n{index} storage-engine device {{\n file /d/t.dat\n }}\n}}\n")
    host = ProcessSpec(pid_file=tmp_path / "pid", command=("asd",), config_file=file)
    node = Node(name="n1", address="a:1", host=host)
    with pytest.raises(Refused, match=naming("n1", "/mnt/index1")):
        storage.stored_on(node, host_for(node))
    assert storage.named(node, host_for(node)) == [Path("/d")]


@pytest.mark.parametrize(
    "text",
    [
        "namespace t {\n storage-engine device {\n filesize 4G\n file /d/t.dat }\n}\n",
        "namespace t { replication-factor 2\n storage-engine device { file /d/t.dat\n }\n}\n",
        "namespace t {\n storage-engine device{\n file /d/t.dat}\n}\n",
        "namespace t\n{\n storage-engine device\n {\n\tfile\t/d/t.dat # }\n }\n}\n",
    ],
)
def test_braces_may_stand_anywhere(text: str) -> None:
    assert files_in(f"{text}logging {{\n file /var/log/a.log {{\n context any info\n }}\n}}\n") == [
        Path("/d/t.dat")
    ]


def test_a_living_node_names_its_files_and_devices_with_their_shadows() -> None:
    configuration = {
        "storage-engine": "device",
        "storage-engine.file[0]": "/d/a.dat",
        "storage-engine.file[0].shadow": "/s/a.dat",
        "storage-engine.device[0]": "/dev/nvme0n1",
        "storage-engine.device[0].shadow": "/dev/sdb",
        "storage-engine.filesize": "4096",
        "storage-engine.file[0].age": "2",
    }
    assert storage.living([configuration, {"storage-engine": "memory"}]) == (
        [Path("/d/a.dat"), Path("/s/a.dat")],
        [Path("/dev/nvme0n1"), Path("/dev/sdb")],
    )


def test_a_configuration_without_storage_names_none() -> None:
    assert files_in("service {\n}\n") == []
    assert devices_in("service {\n}\n") == []


def node_with(home: Path, *lines: str) -> Node:
    """A node whose configuration has these lines in its `storage-engine`."""
    home.mkdir(exist_ok=True)
    file = home / "aerospike.conf"
    inner = "\n".join(lines)
    file.write_text(f"namespace test {{\nstorage-engine device {{\n{inner}\n}}\n}}\n")
    host = ProcessSpec(pid_file=home / "asd.pid", command=("true",), config_file=file)
    return Node(name=home.name, address="127.0.0.1:3000", host=host)


def targets(node: Node) -> list[Path]:
    cluster = Cluster(name="c", database="aerospike", environment="test", nodes=(node,))
    with AerospikeAdapter(cluster) as adapter:
        return adapter.data_directories(node)


def test_files_are_wiped_by_their_directory_and_devices_as_such(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    (data / "test.dat").touch()
    node = node_with(tmp_path / "n1", f"file {data}/test.dat", "device /dev/nvme0n1")
    assert targets(node) == [data, Path("/dev/nvme0n1")]


def test_a_directory_that_holds_more_than_the_nodes_storage_is_not_wiped(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    (data / "test.dat").touch()
    (data / "photos.tar").touch()
    with pytest.raises(Refused, match=r"holds more than its storage files: photos.tar"):
        targets(node_with(tmp_path / "n1", f"file {data}/test.dat"))


def test_a_node_that_stores_nothing_is_not_wiped(tmp_path: Path) -> None:
    with pytest.raises(Refused, match="names no `file` or `device`"):
        targets(node_with(tmp_path / "n1", "filesize 4G"))


def test_storage_that_is_another_nodes_too_is_not_wiped(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    nodes = tuple(
        node_with(tmp_path / name, f"file {data}/test.dat").model_copy(
            update={"address": f"127.0.0.1:300{name[1]}"}
        )
        for name in ("n1", "n2")
    )
    cluster = Cluster(name="c", database="aerospike", environment="test", nodes=nodes)
    with (
        AerospikeAdapter(cluster) as adapter,
        pytest.raises(Refused, match="of node `n2` are the same"),
    ):
        adapter.data_directories(nodes[0])


def on_ssh(node: Node, *devices: Path) -> Node:
    """The same node, reached by ssh, with `devices` listed in the inventory."""
    assert node.host is not None
    host = SshSpec(service="aerospike", devices=tuple(devices), config_file=node.host.config_file)
    return node.model_copy(update={"host": host})


def test_a_listed_device_of_a_node_that_has_none_is_a_mistake(tmp_path: Path) -> None:
    node = node_with(tmp_path / "n1", f"file {tmp_path}/data/test.dat")
    listed = on_ssh(node, Path("/dev/disk/by-id/nvme-x"))
    with pytest.raises(Refused, match=r"lists `/dev/disk/by-id/nvme-x` under `devices`, but"):
        storage.check_listed(listed, [])


def wipe(node: Node, *devices: Path) -> Proof:
    """Wipe what the node's configuration names, as on another machine, with `devices` listed."""
    rules = Rules(devices=tuple(map(PurePosixPath, devices)))
    found = [PurePosixPath(path) for path in targets(node)]
    return machine_storage.empty(
        LocalRunner(), machine_storage.check(LocalRunner(), found, rules), rules.timeout_s
    )


@pytest.fixture
def loop(tmp_path: Path) -> Iterator[Loop]:
    with loop_device(tmp_path) as device:
        yield device.filled()


def test_the_device_of_a_nodes_configuration_is_wiped_and_reads_zero(
    tmp_path: Path, loop: Loop
) -> None:
    proof = wipe(node_with(tmp_path / "n1", f"device {loop.device}"), loop.stable)
    assert proof.evidence["devices"][0]["reads_zero"]
    assert loop.reads_zero()


def test_a_listed_device_that_the_nodes_configuration_does_not_name_is_a_mistake(
    tmp_path: Path, loop: Loop
) -> None:
    (tmp_path / "other").mkdir()
    with loop_device(tmp_path / "other") as other, pytest.raises(Refused, match="does not name"):
        wipe(node_with(tmp_path / "n1", f"device {loop.device}"), loop.stable, other.stable)
    assert loop.untouched()


def test_a_device_of_the_configuration_that_the_inventory_does_not_list_is_not_wiped(
    tmp_path: Path, loop: Loop
) -> None:
    with pytest.raises(Refused, match=naming(loop.device, "`devices`")):
        wipe(node_with(tmp_path / "n1", f"device {loop.device}"))
    assert loop.untouched()


def test_a_device_that_is_mounted_is_not_wiped(tmp_path: Path, loop: Loop) -> None:
    place = tmp_path / "mounted"
    place.mkdir()
    subprocess.run(["mkfs.ext2", "-q", str(loop.device)], check=True)
    if subprocess.run(["mount", str(loop.device), str(place)], capture_output=True).returncode:
        pytest.skip("this machine does not let us mount")
    try:
        with pytest.raises(Refused, match=naming(loop.device, f"`{place}`")):
            wipe(node_with(tmp_path / "n1", f"device {loop.device}"), loop.stable)
        assert (place / "lost+found").is_dir()
    finally:
        subprocess.run(["umount", str(place)], check=True)
