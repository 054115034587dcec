"""Where a member keeps its data: read from Patroni's configuration, doubted, and refused."""

from dataclasses import replace
from pathlib import Path

import pytest
from tests.wording import naming

from brownout.base.errors import Refused
from brownout.databases.adapter import adapter_for
from brownout.databases.lab.ports import reserve_ports
from brownout.databases.postgresql.settings import VARIABLE, living_directory, own_settings
from brownout.databases.postgresql.storage import directory as directory_of
from brownout.databases.postgresql.storage import is_data as storage_is_data
from brownout.inventory.model import Cluster, Node, ProcessSpec
from brownout.machine.footprint import Footprint
from brownout.machine.host import host_for


def node(directory: Path, name: str, data: object, server: Path | None = None) -> Node:
    """Return a node that is down, with this data directory in its configuration file."""
    home = directory / name
    home.mkdir()
    file = home / "patroni.yml"
    file.write_text(f"scope: c\nname: {name}\npostgresql: {{data_dir: {data}}}\n", encoding="utf-8")
    (port,) = reserve_ports(1, home)
    host = ProcessSpec(
        pid_file=home / "patroni.pid", command=("patroni", str(file)), server_directory=server
    )
    return Node(name=name, address=f"127.0.0.1:{port}", host=host)


def directories(*nodes: Node, begun: bool = False) -> list[Path]:
    """Ask for the data directories of the first of some nodes."""
    cluster = Cluster(name="c", database="postgresql", environment="test", nodes=nodes)
    adapter = adapter_for(cluster)
    try:
        return adapter.data_directories(nodes[0], begun)
    finally:
        adapter.close()


def storage(directory: Path, name: str = "data") -> Path:
    (directory / name / "pg_tblspc").mkdir(parents=True)
    (directory / name / "PG_VERSION").write_text("18\n")
    return directory / name


def test_a_member_that_is_down_is_asked_by_its_file(tmp_path: Path) -> None:
    data = storage(tmp_path)
    assert directories(node(tmp_path, "n1", data, data)) == [data]


def test_what_a_base_backup_left_half_made_may_be_emptied(tmp_path: Path) -> None:
    (tmp_path / "data" / "base").mkdir(parents=True)
    assert directories(node(tmp_path, "n1", tmp_path / "data"))
    (tmp_path / "rest" / "photos").mkdir(parents=True)
    assert directories(node(tmp_path, "n2", tmp_path / "rest"), begun=True)


def test_a_wipe_of_what_is_not_known_for_sure_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Refused, match=r"`postgresql\.data_dir` 'data', wanted an absolute path"):
        directories(node(tmp_path, "n1", "data"))
    (tmp_path / "photos" / "2026").mkdir(parents=True)
    with pytest.raises(Refused, match="does not look like PostgreSQL's storage: it holds 2026"):
        directories(node(tmp_path, "n2", tmp_path / "photos"))
    with pytest.raises(Refused, match=r"`host\.server_directory` `/elsewhere`"):
        directories(node(tmp_path, "n3", storage(tmp_path), Path("/elsewhere")))


def test_a_log_and_tablespaces_that_lie_elsewhere_are_emptied_before_the_data_directory(
    tmp_path: Path,
) -> None:
    data, log, space = storage(tmp_path), tmp_path / "log", tmp_path / "space"
    (log / "archive_status").mkdir(parents=True)
    (log / "00000001000000000000000A").touch()
    (space / "PG_16_202307071" / "5").mkdir(parents=True)
    (data / "pg_wal").symlink_to(log)
    (data / "pg_tblspc" / "16400").symlink_to(space)
    (data / "pg_tblspc" / "16401").mkdir()  # one that lies in it
    one = node(tmp_path, "n1", data)
    assert directories(one) == [log, space, data]
    host_for(one).wipe(directories(one))
    assert [*log.iterdir(), *space.iterdir(), *data.iterdir()] == []

    assert directories(one, begun=True) == [data]


@pytest.mark.parametrize(
    ("file", "is_data"),
    [
        ("data/base/5/2619_vm", True),
        ("data/base/5/pg_filenode.map", True),
        ("data/base/pgsql_tmp/pgsql_tmp71.0", True),
        ("data/base/5/t3_16401", True),
        ("data/global/pg_control", True),
        ("data/global/1262.1", True),
        ("elsewhere/pg_wal/000000010000000000000004", True),
        ("space/PG_18_202506291/16384/16385", True),
        ("base/n1/patroni.log", False),
        ("base/2026/patroni.log", False),
        ("global/postgresql.log", False),
        ("data/log/postgresql.csv", False),
    ],
)
def test_data_are_known_by_where_they_lie_whatever_the_folders_above_are_called(
    file: str, is_data: bool
) -> None:
    assert storage_is_data(Path("/srv") / file) is is_data


def test_a_link_to_what_is_no_tablespace_is_refused(tmp_path: Path) -> None:
    data = storage(tmp_path)
    (tmp_path / "photos" / "2026").mkdir(parents=True)
    (data / "pg_tblspc" / "16400").symlink_to(tmp_path / "photos")
    with pytest.raises(Refused, match=naming("n1", tmp_path / "photos", 2026)):
        directories(node(tmp_path, "n1", data))


def test_a_directory_of_files_is_read_in_the_order_of_their_names(tmp_path: Path) -> None:
    data = storage(tmp_path)
    one = node(tmp_path, "n1", tmp_path / "other")
    parts = tmp_path / "parts"
    parts.mkdir()
    (parts / "a.yaml").write_text("postgresql: {data_dir: /x, listen: all}\n")
    (parts / "b.yml").write_text(f"postgresql:\n  data_dir: '{data}/' # here\n")
    (parts / "c.txt").write_text("[")
    assert one.host is not None
    host = one.host.model_copy(update={"config_file": parts, "server_directory": data})
    assert directories(one.model_copy(update={"host": host})) == [data]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("PATRONI_SCOPE=c\nPATRONI_POSTGRESQL_DATA_DIR=/env\n", "/env"),
        ("export PATRONI_CONFIGURATION='postgresql: {data_dir: /whole}'\n", "/whole"),
        ("[Service]\nExecStart=/usr/bin/patroni FILE\n", "/file"),
        ("[Service]\nExecStart=/usr/bin/python3 /usr/bin/patroni --x DIRECTORY\n", "/file"),
        (
            "[Service]\nEnvironment=PATRONI_POSTGRESQL_DATA_DIR=/env\nExecStart=patroni FILE\n",
            "/env",
        ),
        (
            "[Service]\nExecStart=/usr/bin/env PATRONI_POSTGRESQL_DATA_DIR=/env patroni FILE\n",
            "/env",
        ),
        ("[Service]\nEnvironmentFile=ENV\nExecStart=/usr/bin/patroni $CONF\n", "/file"),
    ],
)
def test_a_unit_and_variables_say_what_patroni_reads(
    text: str, wanted: str, tmp_path: Path
) -> None:
    (tmp_path / "parts").mkdir()
    file = tmp_path / "parts" / "patroni.yml"
    file.write_text("scope: c\npostgresql: {data_dir: /file}\n")
    (tmp_path / "env").write_text(f"CONF={file}\n")
    named = {"FILE": str(file), "DIRECTORY": str(file.parent), "ENV": str(tmp_path / "env")}
    for name, path in named.items():
        text = text.replace(name, path) if f" {name}\n" in text or f"={name}\n" in text else text
    config = tmp_path / "patroni"
    config.write_text(text)
    host = ProcessSpec(pid_file=tmp_path / "pid", command=("systemctl",), config_file=config)
    one = Node(name="n1", address="127.0.0.1:1", host=host)
    assert own_settings(one, host_for(one))["postgresql"]["data_dir"] == wanted


def test_a_value_that_a_later_file_takes_away_is_not_known(tmp_path: Path) -> None:
    (tmp_path / "a.yml").write_text("postgresql: {data_dir: /a}\n")
    (tmp_path / "b.yml").write_text("postgresql: {data_dir: null}\n")
    host = ProcessSpec(pid_file=tmp_path / "pid", command=("patroni",), config_file=tmp_path)
    one = Node(name="n1", address="127.0.0.1:1", host=host)
    with pytest.raises(Refused, match=naming("n1", "postgresql.data_dir")):
        directory_of(one, own_settings(one, host_for(one)))


@pytest.mark.parametrize(
    ("footprint", "directory"),
    [
        (Footprint(("patroni", "FILE"), {VARIABLE: "/env"}, Path("/w")), "/env"),
        (Footprint(("python", "-m", "patroni", "FILE"), {}, Path("/w")), "/w/data/pg0"),
        (Footprint(("patroni", "FILE"), {}, None), None),
        (Footprint(("patroni", "/none.yml"), {}, Path("/w")), None),
        (Footprint(("run.sh",), {}, Path("/w")), None),
    ],
)
def test_a_living_patroni_is_known_by_how_it_was_started(
    footprint: Footprint, directory: str | None, tmp_path: Path
) -> None:
    one = node(tmp_path, "n1", "data/pg0")
    words = (str(tmp_path / "n1" / "patroni.yml") if w == "FILE" else w for w in footprint.command)
    found = living_directory(host_for(one), replace(footprint, command=tuple(words)))
    assert found == (directory and Path(directory))


def test_a_directory_that_is_another_members_too_is_refused(tmp_path: Path) -> None:
    data = storage(tmp_path)
    both = node(tmp_path, "n1", data), node(tmp_path, "n2", data)
    with pytest.raises(Refused, match=naming("n1", "n2", data)):
        directories(*both)


def test_a_configuration_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    broken = node(tmp_path, "n1", storage(tmp_path))
    (tmp_path / "n1" / "patroni.yml").write_text("a: [")
    with pytest.raises(Refused, match="is not YAML"):
        directories(broken)
    (tmp_path / "n1" / "patroni.yml").write_text("text")
    with pytest.raises(Refused, match="is not a configuration of Patroni"):
        directories(broken)
