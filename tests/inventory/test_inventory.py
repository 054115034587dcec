"""Inventories: found by name or path, every mistake reported at once, secrets by reference."""

from pathlib import Path

import pytest
from tests.wording import mentions, naming

from brownout.base import plugins
from brownout.base.errors import ClusterError, ConfigurationError, Unsupported
from brownout.inventory import inventory
from brownout.inventory.database import with_options
from brownout.inventory.model import Cluster, ProcessSpec
from brownout.machine.host import host_for

MINIMAL = """
database: mongodb
environment: test
nodes:
  - {name: n1, address: "db1:27017"}
"""


@pytest.fixture(autouse=True)
def _no_inventories_of_this_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("BROWNOUT_CLUSTERS", raising=False)
    monkeypatch.setenv("BROWNOUT_LAB_DIR", str(tmp_path / "labs"))


def written(text: str, path: Path = Path("orders.yaml")) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def problems_of(text: str) -> list[str]:
    with pytest.raises(ConfigurationError) as caught:
        inventory.load(written(text))
    return [problem.removeprefix("orders.yaml: ") for problem in caught.value.problems]


def test_a_minimal_inventory_is_named_by_its_file_and_forbids_data_loss() -> None:
    cluster = inventory.load(written(MINIMAL))

    assert (cluster.name, cluster.environment, cluster.allow_data_loss) == ("orders", "test", False)
    assert cluster.node("n1").address == "db1:27017"


@pytest.mark.parametrize(
    "name",
    [
        *("example-aerospike", "example-mongodb", "lab-aerospike", "lab-atlas"),
        *("lab-mongodb", "lab-mongodb-racks", "lab-mongodb-secure"),
    ],
)
def test_every_shipped_inventory_is_valid(name: str) -> None:
    assert inventory.declared(name).name == name


@pytest.mark.parametrize("name", ["example-aerospike", "example-mongodb"])
def test_a_template_says_nothing_that_would_touch_a_machine(name: str) -> None:
    cluster = inventory.load(name)

    assert not cluster.allow_data_loss
    assert all(node.host is None for node in cluster.nodes)


def test_an_unknown_cluster_names_the_known_ones_and_where_they_were_looked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BROWNOUT_CLUSTERS", str(tmp_path / "mine"))

    with pytest.raises(ConfigurationError) as caught:
        inventory.load("order")

    message = str(caught.value)
    assert f"unknown cluster `order`; known: {', '.join(inventory.names())}; looked in" in message
    assert {"example-aerospike", "example-mongodb", "lab-mongodb"} <= set(inventory.names())
    assert str(tmp_path / "mine") in message
    assert "infra/clusters" in message
    assert "BROWNOUT_CLUSTERS" in message


def test_a_named_directory_wins_over_the_one_here_and_that_over_the_shipped_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = MINIMAL.replace("db1", "here")
    written(here, Path("infra/clusters/example-mongodb.yaml"))
    assert inventory.load("example-mongodb").nodes[0].address == "here:27017"

    written(MINIMAL.replace("db1", "mine"), tmp_path / "mine" / "example-mongodb.yaml")
    monkeypatch.setenv("BROWNOUT_CLUSTERS", str(tmp_path / "mine"))
    assert inventory.load("example-mongodb").nodes[0].address == "mine:27017"


def test_a_file_that_is_not_there_is_named() -> None:
    with pytest.raises(ConfigurationError, match=r"nowhere\.yaml.*No such file"):
        inventory.load("nowhere.yaml")


def test_every_mistake_is_reported_at_once_with_place_found_and_wanted() -> None:
    known_kinds = ", ".join(plugins.known("brownout.hosts"))

    problems = problems_of(
        """
        database: oracle
        environment: prod
        allow_data_los: true
        nodes:
          - {name: n1, address: db1}
          - {name: "n 2", address: "db2:27017", host: {kind: process, pid_file: run/n2.pid}}
          - {name: n3, address: "db3:27017", host: {kind: telnet}}
        connection: {timeout_s: -1}
        """
    )

    assert problems == [
        "database: found 'oracle', wanted one of aerospike, cassandra, couchbase, "
        "etcd, mongodb, postgresql, redis",
        next(line for line in problems if line.startswith("nodes[1].host.command: ")),
        "nodes[1].host.pid_file: found 'run/n2.pid', wanted an absolute path without `..`",
        f"nodes[2].host.kind: unknown host kind `telnet`, wanted one of: {known_kinds}",
        "environment: found 'prod', wanted lab, test, staging or production",
        "nodes[0].address: found 'db1', wanted host:port, as in db1.example.com:27017",
        "nodes[1].name: found 'n 2', wanted letters, digits, `.`, `_` and `-`",
        "connection.timeout_s: found -1, wanted more than 0",
        next(line for line in problems if mentions(line, "allow_data_los", "`allow_data_loss`")),
    ]


@pytest.mark.parametrize("zone", ["Europe", "Mars/Base", "../Berlin"])
def test_hours_of_a_zone_that_there_is_not_are_reported_with_what_was_wanted(zone: str) -> None:
    hours = f"Mon-Fri 09:00-16:30 {zone}"
    (problem,) = problems_of(f'{MINIMAL}\nguards: {{allowed_hours: ["{hours}"]}}\n')
    assert mentions(problem, "guards.allowed_hours[0]", hours, "Europe/Berlin")


def test_two_nodes_may_not_share_a_name_an_address_or_a_pid_file() -> None:
    host = "host: {kind: process, pid_file: /run/n.pid, command: [mongod]}"
    node = f'{{name: n1, address: "db1:27017", {host}}}'

    (problem,) = problems_of(
        f"database: mongodb\nenvironment: test\nnodes:\n  - {node}\n  - {node}"
    )

    assert "name 'n1' is there 2 times" in problem
    assert "address 'db1:27017' is there 2 times" in problem
    assert "host 'pid_file /run/n.pid' is there 2 times" in problem


SPARE = """
spares:
  - {name: %s, address: "%s", host: {kind: process, pid_file: %s, command: [mongod]}}
"""
HOSTED = MINIMAL.replace("}", ", host: {kind: process, pid_file: /run/n1, command: [mongod]}}")


def test_a_spare_is_a_node_of_its_own_that_is_no_member() -> None:
    cluster = inventory.load(written(HOSTED + SPARE % ("n2", "db2:27017", "/run/n2")))

    assert [node.name for node in cluster.nodes] == ["n1"]
    assert [node.name for node in cluster.every] == ["n1", "n2"]
    assert isinstance(cluster.node("n2").host, ProcessSpec)
    assert cluster.public()["members"] == 1


@pytest.mark.parametrize(
    ("spare", "problem"),
    [
        (("n1", "db2:27017", "/run/n2"), "name 'n1' is there 2 times"),
        (("n2", "db1:27017", "/run/n2"), "address 'db1:27017' is there 2 times"),
        (("n2", "db2:27017", "/run/n1"), "host 'pid_file /run/n1' is there 2 times"),
    ],
)
def test_a_spare_shares_no_name_address_or_process_with_a_node(
    spare: tuple[str, str, str], problem: str
) -> None:
    assert problems_of(HOSTED + SPARE % spare) == [f"the file: nodes and spares: {problem}"]


def test_a_spare_without_a_host_could_not_be_started() -> None:
    bare = MINIMAL + 'spares: [{name: n2, address: "db2:27017"}]'

    assert problems_of(bare) == ["the file: spares: n2 has no host, wanted how to start it"]


def test_a_cluster_needs_nodes_or_a_lab() -> None:
    assert problems_of("database: mongodb\nenvironment: test") == [
        "the file: found neither nodes nor lab, wanted one of them"
    ]


def test_a_host_gets_the_settings_of_its_kind() -> None:
    cluster = inventory.load(
        written(
            MINIMAL.replace(
                "}",
                ", host: {kind: process, pid_file: /run/n1.pid, command: [mongod, -f, /etc/m]}}",
            )
        )
    )

    spec = cluster.nodes[0].host
    assert isinstance(spec, ProcessSpec)
    assert spec.command == ("mongod", "-f", "/etc/m")


def test_a_node_without_a_host_cannot_be_acted_on() -> None:
    node = inventory.load(written(MINIMAL)).nodes[0]

    with pytest.raises(Unsupported, match="node `n1` has no `host` in the inventory"):
        host_for(node)


def test_an_unknown_node_names_the_known_ones() -> None:
    with pytest.raises(ConfigurationError, match="has no node `n9`; it has n1"):
        inventory.load(written(MINIMAL)).node("n9")


def test_a_lab_that_is_down_says_how_to_bring_it_up() -> None:
    with pytest.raises(ClusterError, match=r"is down; brownout lab up lab-mongodb"):
        inventory.load("lab-mongodb")


def test_what_a_run_records_of_a_cluster_is_not_how_to_log_in() -> None:
    cluster = inventory.load(written(MINIMAL + "connection: {options: {write_concern: 1}}"))

    assert isinstance(cluster, Cluster)
    assert set(cluster.public()) == {
        *("name", "database", "environment", "allow_data_loss", "members", "nodes", "spares"),
        "labels",
    }


@pytest.mark.parametrize(
    ("lab", "problem"),
    [
        (
            "{engine: aerospike, oplog_mb: 64}",
            "lab.oplog_mb: unknown setting of the engine `aerospike`, wanted one of engine, ",
        ),
        ("{engine: aerospike, members: 9}", "lab.members: found 9, wanted at most 7"),
        (
            "{engine: mongodb}",
            "lab.engine: found 'mongodb', of the database `aerospike` wanted one of aerospike",
        ),
        ("{members: 3}", "lab.engine: found None, of the database `aerospike` wanted one of "),
    ],
)
def test_a_lab_has_the_settings_of_its_engine_only(lab: str, problem: str) -> None:
    (found,) = problems_of(f"{{database: aerospike, environment: lab, lab: {lab}}}")
    assert found.startswith(problem)


def test_a_lab_is_written_down_with_the_settings_of_its_engine(tmp_path: Path) -> None:
    cluster = inventory.declared("lab-aerospike")
    assert cluster.lab is not None
    changed = cluster.lab.changed(heartbeat_timeout=20)
    dumped = cluster.model_copy(update={"lab": changed}).model_dump(mode="json")
    assert inventory.parse(dumped, tmp_path / "lab-aerospike.yaml").lab == changed
    with pytest.raises(ConfigurationError, match=naming("election_timeout_ms", "`aerospike`")):
        cluster.lab.changed(election_timeout_ms=900)


def test_a_workloads_options_win_over_the_inventorys() -> None:
    own = {"consistency": "QUORUM", "local_dc": "dc1"}
    nodes = [{"name": "n1", "address": "h1:9042"}]
    text = {"name": "shop", "database": "cassandra", "environment": "test", "nodes": nodes}
    declared = Cluster.model_validate({**text, "connection": {"options": own}})
    stated: dict[str, dict[str, object]] = {
        "cassandra": {"consistency": "ONE"},
        "mongodb": {"write_concern": 1},
    }
    assert with_options(declared, stated).connection.options == {**own, "consistency": "ONE"}
    assert with_options(declared, {}) == declared
