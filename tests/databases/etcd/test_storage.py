"""Where a member keeps its data: read from its own configuration, doubted, and refused."""

from pathlib import Path

import pytest
from tests.waiting import await_true
from tests.wording import naming

from brownout.base.errors import Refused
from brownout.databases.adapter import adapter_for
from brownout.databases.etcd.adapter import EtcdAdapter
from brownout.databases.etcd.lab.server import find_etcd
from brownout.databases.lab.ports import reserve_ports
from brownout.inventory.model import Cluster, Node, ProcessSpec
from brownout.machine.host import host_for

PEER = "initial-advertise-peer-urls: http://127.0.0.1:2380\n"
EXISTING = "initial-cluster-state: existing\n"


def node(directory: Path, name: str, text: str) -> Node:
    """Return a node that is down, with this configuration file."""
    home = directory / name
    home.mkdir()
    file = home / "etcd.yaml"
    file.write_text(text, encoding="utf-8")
    (port,) = reserve_ports(1, home)
    command = ("etcd", "--config-file", str(file))
    host = ProcessSpec(pid_file=home / "etcd.pid", command=command)
    return Node(name=name, address=f"127.0.0.1:{port}", host=host)


def directories(*nodes: Node) -> list[Path]:
    """Ask for the data directories of the first of some nodes."""
    cluster = Cluster(name="c", database="etcd", environment="test", nodes=nodes)
    adapter = adapter_for(cluster)
    try:
        return adapter.data_directories(nodes[0])
    finally:
        adapter.close()


def storage(directory: Path, name: str = "data") -> Path:
    (directory / name / "member").mkdir(parents=True)
    return directory / name


def test_a_member_that_is_down_is_asked_by_its_file(tmp_path: Path) -> None:
    data, log = storage(tmp_path), tmp_path / "wal"
    log.mkdir()
    (log / "0000000000000000-0000000000000000.wal").touch()
    text = f"data-dir: {data}\n{PEER}{EXISTING}"
    assert directories(node(tmp_path, "n1", text)) == [data]
    assert directories(node(tmp_path, "n2", f"{text}wal-dir: {log}\n")) == [data, log]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (PEER + EXISTING, "its configuration has `data-dir` '', wanted an absolute path"),
        (f"data-dir: n1.etcd\n{PEER}{EXISTING}", "'n1.etcd', wanted an absolute path"),
        (f"data-dir: DATA\n{PEER}", "has `initial-cluster-state` 'new', wanted 'existing'"),
        (f"data-dir: DATA\n{EXISTING}", "has no `initial-advertise-peer-urls`"),
    ],
)
def test_a_wipe_that_would_not_be_undone_is_refused(tmp_path: Path, text: str, why: str) -> None:
    configured = node(tmp_path, "n1", text.replace("DATA", str(storage(tmp_path))))
    with pytest.raises(Refused, match=why):
        directories(configured)


def test_what_does_not_look_like_etcd_is_refused(tmp_path: Path) -> None:
    (tmp_path / "data" / "photos").mkdir(parents=True)
    configured = node(tmp_path, "n1", f"data-dir: {tmp_path / 'data'}\n{PEER}{EXISTING}")
    with pytest.raises(Refused, match=naming("n1", "etcd's", "photos")):
        directories(configured)


def test_a_directory_that_is_another_members_too_is_refused(tmp_path: Path) -> None:
    text = f"data-dir: {storage(tmp_path)}\n{PEER}{EXISTING}"
    both = node(tmp_path, "n1", text), node(tmp_path, "n2", text)
    with pytest.raises(Refused, match=naming("n1", "n2", tmp_path / "data")):
        directories(*both)


def test_a_configuration_that_was_edited_since_the_member_was_started_is_refused(
    tmp_path: Path,
) -> None:
    """Its file names another directory by now, and its open files show where its data lie."""
    client, peer = reserve_ports(2, tmp_path)
    data, other = tmp_path / "data", tmp_path / "other"
    (other / "member").mkdir(parents=True)
    file = tmp_path / "etcd.yaml"
    text = (
        f"data-dir: {data}/\nlisten-client-urls: http://127.0.0.1:{client}\n"
        f"advertise-client-urls: http://127.0.0.1:{client}\n"
        f"listen-peer-urls: http://127.0.0.1:{peer}\n"
        f"initial-advertise-peer-urls: http://127.0.0.1:{peer}\n"
        f"initial-cluster: default=http://127.0.0.1:{peer}\n"
    )
    file.write_text(text)
    host = ProcessSpec(
        pid_file=tmp_path / "pid",
        log_file=tmp_path / "log",
        command=(str(find_etcd()), "--config-file", str(file)),
    )
    one = Node(name="n1", address=f"127.0.0.1:{client}", host=host)
    cluster = Cluster(name="c", database="etcd", environment="test", nodes=(one,))
    host_for(one).start()
    try:
        with EtcdAdapter(cluster) as adapter:
            await_true(lambda: adapter.evidence(one).get("member_id"), "it answers")
            existing = text + "initial-cluster-state: existing\n"
            file.write_text(existing)
            assert adapter.data_directories(one) == [data]
            file.write_text(existing.replace(str(data), str(other)))
            with pytest.raises(Refused, match=naming("n1", f"`{other}`", f"`{data}/member/")):
                adapter.data_directories(one)
            file.write_text(existing.replace(f"data-dir: {data}/", "data-dir: data"))
            with pytest.raises(Refused, match=r"'data', wanted .*; its process has `/.*data`"):
                adapter.data_directories(one)
    finally:
        host_for(one).stop("kill")
