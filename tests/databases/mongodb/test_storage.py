"""Where a member keeps its data: read from its own configuration, doubted, and refused."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.wording import naming

from brownout.base.errors import Refused
from brownout.databases.adapter import adapter_for
from brownout.databases.lab.ports import reserve_ports
from brownout.databases.mongodb.storage import living_directory, path_in_command, path_in_file
from brownout.inventory.model import Cluster, Node, ProcessSpec
from brownout.machine.footprint import Footprint
from brownout.machine.host import host_for


def node(
    directory: Path, name: str, data: Path | None, command: Sequence[str] = ("mongod",)
) -> Node:
    """Return a node that is down; its configuration file names `data`."""
    home = directory / name
    home.mkdir()
    configuration = home / "mongod.conf"
    if data is not None:
        configuration.write_text(f"storage:\n  dbPath: {data}\n", encoding="utf-8")
    (port,) = reserve_ports(1, home)
    host = ProcessSpec(
        pid_file=home / "mongod.pid", config_file=configuration, command=tuple(command)
    )
    return Node(name=name, address=f"127.0.0.1:{port}", host=host)


def directories(*nodes: Node) -> list[Path]:
    """Ask for the data directories of the first of some nodes."""
    cluster = Cluster(name="c", database="mongodb", environment="test", nodes=nodes)
    adapter = adapter_for(cluster)
    try:
        return adapter.data_directories(nodes[0])
    finally:
        adapter.close()


def storage(directory: Path, name: str = "data") -> Path:
    path = directory / name
    path.mkdir()
    (path / "WiredTiger").touch()
    return path


def test_a_member_that_is_down_is_asked_by_its_file(tmp_path: Path) -> None:
    data = storage(tmp_path)

    assert directories(node(tmp_path, "n1", data)) == [data]


def test_an_empty_directory_is_storage_too(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()

    assert directories(node(tmp_path, "n1", tmp_path / "data")) == [tmp_path / "data"]


def test_the_command_line_wins_over_the_file(tmp_path: Path) -> None:
    data = storage(tmp_path)
    command = ("mongod", "--dbpath", str(data))

    assert directories(node(tmp_path, "n1", tmp_path / "other", command)) == [data]


def test_the_file_may_be_named_by_the_command_alone(tmp_path: Path) -> None:
    data = storage(tmp_path)
    one = node(tmp_path, "n1", data, ["mongod", "-f", str(tmp_path / "n1" / "mongod.conf")])
    assert one.host is not None
    one = one.model_copy(update={"host": one.host.model_copy(update={"config_file": None})})

    assert directories(one) == [data]


def test_a_unit_may_name_the_file_or_the_directory(tmp_path: Path) -> None:
    data = storage(tmp_path)
    one = node(tmp_path, "n1", data)
    assert one.host is not None
    unit = tmp_path / "mongod.service"
    host = one.host.model_copy(update={"config_file": unit})
    of = one.model_copy(update={"host": host})
    for option in (f"-f{tmp_path}/n1/mongod.conf", f"--dbpath {data}"):
        unit.write_text(f'[Service]\nEnvironment="O={option}"\nExecStart=/usr/bin/mongod $O\n')
        assert directories(of) == [data]


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Refused, match=r"data directory is not known: .*mongod\.conf` cannot be"):
        directories(node(tmp_path, "n1", None))


def test_a_directory_that_does_not_look_like_mongodb_is_refused(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "thesis.tex").touch()

    with pytest.raises(Refused, match=r"not look like MongoDB's storage: it holds thesis\.tex"):
        directories(node(tmp_path, "n1", tmp_path / "data"))


@pytest.mark.parametrize("theirs", ["data", "data/n2", "."])
def test_a_directory_that_another_node_has_a_part_in_is_refused(
    tmp_path: Path, theirs: str
) -> None:
    data = storage(tmp_path)

    with pytest.raises(Refused, match=naming("n1", "n2", data)):
        directories(node(tmp_path, "n1", data), node(tmp_path, "n2", tmp_path / theirs))


def test_a_neighbour_whose_directory_is_not_known_is_a_reason_to_refuse(tmp_path: Path) -> None:
    with pytest.raises(Refused, match=naming("n2", "mongod.conf")):
        directories(node(tmp_path, "n1", storage(tmp_path)), node(tmp_path, "n2", None))


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("storage:\n  dbPath: /data/n1\n", "/data/n1"),
        ("storage: {dbPath: {__exec: 'pwd'}}", None),
        ("storage: {dbPath: ''}", None),
        ("storage: 3", None),
        ("net: {port: 1}", None),
        ("dbpath = /data/n1 # here\nlogpath=/log\n", "/data/n1"),
        ("storage.dbPath: '/data/n 1'\n", "/data/n 1"),
        ("logpath=/log\n", None),
        ("storage:\t\n  dbPath:\t/data/n1\t# here\n", "/data/n1"),
        ("storage:\n\tdbPath: /data/n1\n", None),
        ("storage: [", None),
        ("", None),
    ],
)
def test_only_a_plain_db_path_in_a_file_is_believed(text: str, wanted: str | None) -> None:
    assert path_in_file(text) == wanted


@pytest.mark.parametrize(
    ("footprint", "answer", "wanted"),
    [
        (None, {"parsed": {"storage": {"dbPath": "/d"}}}, "/d"),
        (None, {"parsed": {}}, "/data/db"),  # what a mongod uses that is told nothing
        (Footprint(("mongod", "--dbpath", "d"), {}, Path("/w")), None, "/w/d"),
        (Footprint(("mongod", "-f", "m.conf"), {}, Path("/w")), None, None),  # not to be read
        (Footprint(("mongod", "--config", "FILE"), {}, None), None, "/f"),
        (Footprint(("run.sh",), {}, Path("/w")), None, None),
        (None, None, None),
    ],
)
def test_a_living_member_is_known_by_its_answer_or_by_how_it_was_started(
    footprint: Footprint | None, answer: dict[str, Any] | None, wanted: str | None, tmp_path: Path
) -> None:
    file = tmp_path / "n1" / "mongod.conf"
    host = host_for(node(tmp_path, "n1", Path("/f")))
    if footprint is not None:
        words = tuple(str(file) if word == "FILE" else word for word in footprint.command)
        footprint = replace(footprint, command=words)
    assert living_directory(host, footprint, answer) == (wanted and Path(wanted))


@pytest.mark.parametrize(
    ("command", "wanted"),
    [
        (["mongod", "--dbpath", "/data/n1"], "/data/n1"),
        (["mongod", "--dbpath=/data/n1", "--fork"], "/data/n1"),
        (["mongod", "--dbpath"], None),
        (["mongod", "--config", "/etc/mongod.conf"], None),
        ([], None),
    ],
)
def test_a_db_path_in_a_command_line_is_found(command: list[str], wanted: str | None) -> None:
    assert path_in_command(command) == wanted
