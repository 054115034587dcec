"""Where a node keeps its data, and whether it comes back without: by its own configuration."""

from pathlib import Path

import pytest
from tests.wording import naming

from brownout.base.errors import ClusterError, Refused
from brownout.databases.adapter import Returning, adapter_for
from brownout.databases.cassandra import storage as storage_of
from brownout.databases.cassandra.settings import living_settings
from brownout.databases.lab.ports import reserve_ports
from brownout.inventory.model import Cluster, Node, ProcessSpec
from brownout.machine.host import host_for

ITSELF = "-Dcassandra.replace_address_first_boot=127.0.0.1"


def yaml(home: Path, more: str = "", seeds: str = "127.0.0.2") -> str:
    return (
        f"listen_address: 127.0.0.1\ndata_file_directories: [{home}/data]\n"
        f"commitlog_directory: {home}/commitlog\nhints_directory: {home}/hints\n"
        "seed_provider:\n- class_name: Simple\n  parameters:\n"
        f"  - seeds: '{seeds}'\n{more}"
    )


def storage(home: Path) -> None:
    for name in ("data/system", "data/shop", "commitlog", "hints"):
        (home / name).mkdir(parents=True)
    (home / "commitlog" / "CommitLog-7-1.log").touch()


def node(home: Path, text: str, *properties: str) -> Node:
    """Return a node that is down, with this cassandra.yaml."""
    home.mkdir(exist_ok=True)
    (home / "cassandra.yaml").write_text(text, encoding="utf-8")
    (port,) = reserve_ports(1, home)
    host = ProcessSpec(
        pid_file=home / "pid",
        config_file=home / "cassandra.yaml",
        command=("java", *properties, "CassandraDaemon"),
    )
    return Node(name=home.name, address=f"127.0.0.1:{port}", host=host)


def directories(*nodes: Node, begun: bool = False) -> list[Path]:
    cluster = Cluster(name="c", database="cassandra", environment="test", nodes=nodes)
    adapter = adapter_for(cluster)
    try:
        return adapter.data_directories(nodes[0], begun)
    finally:
        adapter.close()


def before_start(one: Node) -> object:
    cluster = Cluster(name="c", database="cassandra", environment="test", nodes=(one,))
    adapter = adapter_for(cluster)
    assert isinstance(adapter, Returning)
    try:
        return adapter.before_start(one, emptied=False)
    finally:
        adapter.close()


@pytest.fixture
def home(tmp_path: Path) -> Path:
    storage(tmp_path / "n1")
    return tmp_path / "n1"


def test_a_wipe_empties_data_commit_log_and_hints(home: Path) -> None:
    wanted = [home / "data", home / "commitlog", home / "hints"]
    assert directories(node(home, yaml(home), ITSELF)) == wanted


def test_the_jvm_is_told_by_a_file_of_arguments_or_beside_cassandra_yaml(home: Path) -> None:
    (home / "jvm.args").write_text(f'"{ITSELF}:7000"\n')
    assert directories(node(home, yaml(home), f"@{home / 'jvm.args'}"))
    (home / "jvm-server.options").write_text(f"# {ITSELF}\n")
    with pytest.raises(Refused, match="would not come back as the node that it was"):
        directories(node(home, yaml(home)))
    (home / "jvm-server.options").write_text(f"{ITSELF}\n")
    assert directories(node(home, yaml(home)))


@pytest.mark.parametrize(
    ("more", "seeds", "properties", "why"),
    [
        ("", "127.0.0.2", (), "its JVM has replace_address_first_boot '', wanted '127.0.0.1'"),
        ("", "127.0.0.2", (f"{ITSELF}9",), "wanted '127.0.0.1'"),
        ("", "127.0.0.2, 127.0.0.1", (ITSELF,), "it is a seed in its own cassandra.yaml"),
        ("auto_bootstrap: false\n", "127.0.0.2", (ITSELF,), "`auto_bootstrap: false`"),
    ],
)
def test_a_node_that_would_not_copy_what_it_lost_is_not_wiped_and_not_started(
    more: str, seeds: str, properties: tuple[str, ...], why: str, home: Path, tmp_path: Path
) -> None:
    with pytest.raises(Refused, match=why):
        directories(node(home, yaml(home, more, seeds), *properties))
    bare = tmp_path / "n2"
    (bare / "data").mkdir(parents=True)
    with pytest.raises(ClusterError, match=why):
        before_start(node(bare, yaml(bare, more, seeds), *properties))


def test_a_node_that_has_its_data_is_started_however_it_is_configured(home: Path) -> None:
    assert before_start(node(home, yaml(home))) == {}


def test_a_node_without_data_that_replaces_itself_is_started(tmp_path: Path) -> None:
    bare = tmp_path / "n1"
    (bare / "data").mkdir(parents=True)
    assert before_start(node(bare, yaml(bare), ITSELF)) == {"replaces_itself": True}


def test_what_is_not_named_is_not_guessed(home: Path) -> None:
    text = yaml(home).replace(f"commitlog_directory: {home}/commitlog\n", "")
    with pytest.raises(Refused, match="does not name commitlog_directory, wanted absolute paths"):
        directories(node(home, text, ITSELF))


def tarball(home: Path, script: str) -> Node:
    """Return a node of a tarball whose cassandra.yaml names no directory."""
    for name in ("data/data/system", "data/commitlog", "data/hints", "conf", "bin"):
        (home / name).mkdir(parents=True)
    (home / "data" / "saved_caches").mkdir()
    (home / "bin" / "cassandra.in.sh").write_text(script, encoding="utf-8")
    lines = [line for line in yaml(home).splitlines() if "_director" not in line]
    one = node(home, "\n".join(lines), ITSELF)
    (home / "cassandra.yaml").rename(home / "conf" / "cassandra.yaml")
    assert one.host is not None
    host = one.host.model_copy(update={"config_file": home / "conf" / "cassandra.yaml"})
    return one.model_copy(update={"host": host})


@pytest.mark.parametrize("value", ['"$CASSANDRA_HOME/data"', "${CASSANDRA_HOME}/data"])
def test_what_a_tarballs_file_does_not_name_is_where_its_start_script_says(
    value: str, tmp_path: Path
) -> None:
    home = tmp_path / "cassandra"
    script = f"#cassandra_storagedir=/no\ncassandra_storagedir={value}\n"
    wanted = [home / "data" / name for name in ("data", "commitlog", "hints", "saved_caches")]
    assert directories(tarball(home, script)) == wanted


@pytest.mark.parametrize("value", ['"${STORAGE:-/data}"', "`pwd`/data", '""'])
def test_a_start_script_that_decides_by_its_environment_is_not_believed(
    value: str, tmp_path: Path
) -> None:
    one = tarball(tmp_path / "n1", f"cassandra_storagedir={value}\n")
    with pytest.raises(Refused, match="does not name data_file_directories"):
        directories(one)


def test_a_start_script_and_options_that_differ_are_refused(tmp_path: Path) -> None:
    one = tarball(tmp_path / "n1", 'cassandra_storagedir="$CASSANDRA_HOME/data"\n')
    options = tmp_path / "n1" / "conf" / "jvm-server.options"
    options.write_text(f"{ITSELF}\n-Dcassandra.storagedir=/srv/cassandra\n")
    with pytest.raises(Refused, match=naming("/srv/cassandra", "cassandra.in.sh")):
        directories(one)


def test_what_somebody_else_left_is_not_wiped_unless_the_wipe_has_begun(home: Path) -> None:
    (home / "commitlog" / "CommitLog-7-1.log").unlink()
    (home / "commitlog" / "thesis.doc").touch()
    with pytest.raises(Refused, match=r"does not look like Cassandra's storage: it holds thesis"):
        directories(node(home, yaml(home), ITSELF))
    assert directories(node(home, yaml(home), ITSELF), begun=True)


def test_two_nodes_that_share_a_directory_are_refused(home: Path, tmp_path: Path) -> None:
    other = node(tmp_path / "n2", yaml(home), ITSELF)
    with pytest.raises(Refused, match=naming("n1", "n2", home)):
        directories(node(home, yaml(home), ITSELF), other)


def test_what_a_living_node_says_of_its_directories_is_read() -> None:
    rows = {
        "data_file_directories": "[/a, /b]",
        "commitlog_directory": "/c",
        "hints_directory": "/h",
        "saved_caches_directory": "/s",
        "local_system_data_file_directory": "null",
        "cdc_raw_directory": "/x",
    }
    found = storage_of.answered(rows, {})
    assert found == {
        "data_file_directories": ["/a", "/b"],
        "commitlog_directory": "/c",
        "hints_directory": "/h",
        "saved_caches_directory": "/s",
    }
    assert storage_of.answered(rows, {"cdc_raw_directory": "/x"})["cdc_raw_directory"] == "/x"


def test_what_is_not_set_lies_in_the_storage_directory_of_the_jvm(tmp_path: Path) -> None:
    home = tmp_path / "n1"
    storage(home)
    (home / "saved_caches").mkdir()
    text = yaml(home).replace(f"hints_directory: {home}/hints\n", "")
    with pytest.raises(Refused, match="does not name hints_directory"):
        directories(node(home, text, ITSELF))
    given = (ITSELF, f"-Dcassandra.storagedir={home}")
    found = directories(node(home, text, *given))
    assert found == [home / each for each in ("data", "commitlog", "hints", "saved_caches")]
    with pytest.raises(Refused, match="does not name hints_directory"):
        directories(node(home, text, ITSELF, "-Dcassandra.storagedir=$CASSANDRA_HOME/data"))


def test_a_living_jvm_names_its_configuration(tmp_path: Path) -> None:
    home = tmp_path / "n1"
    one = node(home, yaml(home), ITSELF)
    (home / "jvm args").write_text(f'"-Dcassandra.config=file://{home}/cassandra.yaml"\n')
    for words in (
        ("java", f"@{home}/jvm args"),
        ("java", f"-Dcassandra.config=file:{home}/cassandra.yaml"),
    ):
        assert living_settings(host_for(one), words)["listen_address"] == "127.0.0.1"
    assert living_settings(host_for(one), ("java", "-Dcassandra.config=cassandra.yaml")) == {}
