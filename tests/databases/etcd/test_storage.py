"""Where a member keeps its data: read from its own configuration, doubted, and refused."""

from pathlib import Path

import pytest

from brownout.base.errors import Refused
from brownout.databases.adapter import adapter_for
from brownout.databases.lab.ports import reserve_ports
from brownout.inventory.model import Cluster, Node, ProcessSpec

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
        (f"data-dir: DATA\n{EXISTING}", "lacks `initial-advertise-peer-urls`"),
    ],
)
def test_a_wipe_that_would_not_be_undone_is_refused(tmp_path: Path, text: str, why: str) -> None:
    configured = node(tmp_path, "n1", text.replace("DATA", str(storage(tmp_path))))
    with pytest.raises(Refused, match=why):
        directories(configured)


def test_what_does_not_look_like_etcd_is_refused(tmp_path: Path) -> None:
    (tmp_path / "data" / "photos").mkdir(parents=True)
    configured = node(tmp_path, "n1", f"data-dir: {tmp_path / 'data'}\n{PEER}{EXISTING}")
    with pytest.raises(Refused, match="does not look like etcd's storage: it holds photos"):
        directories(configured)


def test_a_directory_that_is_another_members_too_is_refused(tmp_path: Path) -> None:
    text = f"data-dir: {storage(tmp_path)}\n{PEER}{EXISTING}"
    both = node(tmp_path, "n1", text), node(tmp_path, "n2", text)
    with pytest.raises(Refused, match="of node `n2` are the same or lie in each other"):
        directories(*both)
