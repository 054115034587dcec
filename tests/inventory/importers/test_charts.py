"""An inventory of the pods of public charts and operators, in their published shapes."""

from dataclasses import replace
from typing import Any

import pytest
import yaml
from tests.inventory.importers.charts import CHARTS, Chart
from tests.wording import mentions

from brownout.base.errors import ConfigurationError
from brownout.inventory.importers import pods, written
from brownout.inventory.importers.pods import Wanted
from brownout.kubernetes.access import Access

_BY_NAME = {chart.name: chart for chart in CHARTS}
#: Pods of this operator have no names of their own, and the kubelet's are not wanted by name.
_OWN_SERVICE = {
    "metadata": {"name": "shop-1"},
    "spec": {"selector": {"cnpg.io/instanceName": "shop-1"}},
}


def _text(*charts: Chart, mixed: bool = False, services: Any = (), **wanted: Any) -> str:
    access = Access(namespace="databases")
    asked = Wanted("statefulset/shop", access, "shop", **wanted)
    documents = [chart.document() for chart in charts]
    imported, database = pods.read(
        asked, charts[0].owners(), documents, {}, services or [_OWN_SERVICE], mixed=mixed
    )
    return written(imported, database)


def _renamed(chart: Chart, **changes: Any) -> Chart:
    """The chart with its database's container changed."""
    containers = [
        {**one, **changes} if one["name"] == chart.container else one for one in chart.containers
    ]
    return replace(chart, containers=containers)


@pytest.mark.parametrize("named", [False, True], ids=["alone", "by --container"])
@pytest.mark.parametrize("chart", CHARTS, ids=lambda chart: chart.name)
def test_a_node_has_what_the_image_of_its_chart_has(chart: Chart, named: bool) -> None:
    text = _text(chart, container=chart.container if named else "")
    inventory = yaml.safe_load(text)
    node = inventory["nodes"][0]
    where = {"kind": "kubernetes", "namespace": "databases", "pod": chart.pod}
    assert inventory["database"] == chart.database
    assert node["host"] == {**where, **chart.host}
    assert node["address"].endswith(f":{chart.port}")
    assert chart.connection.items() <= inventory["connection"].items()
    notes = [line for line in text.splitlines() if line.lstrip().startswith("#")]
    for words in (*chart.notes, chart.shard):
        assert any(words in note for note in notes)


@pytest.mark.parametrize("chart", CHARTS, ids=lambda chart: chart.name)
def test_the_registry_and_the_version_of_an_image_do_not_matter(chart: Chart) -> None:
    image = next(one for one in chart.containers if one["name"] == chart.container)["image"]
    # what is private keeps the path of the public image, as mirrors do
    path = image.rpartition(":")[0].partition("/")[2] or image
    mirrored = f"registry.acme.dev:5000/mirror/{path}@sha256:{'ab' * 32}"
    inventory = yaml.safe_load(_text(_renamed(chart, image=mirrored)))
    assert inventory["database"] == chart.database
    assert inventory["nodes"][0]["host"]["program"] == chart.host["program"]


@pytest.mark.parametrize("chart", CHARTS, ids=lambda chart: chart.name)
def test_container_and_database_decide_whatever_image_and_container_are_called(
    chart: Chart,
) -> None:
    renamed = _renamed(chart, image="registry.acme.dev/base/golden:7", name="main")
    text = _text(renamed, container="main", database=chart.database)
    inventory = yaml.safe_load(text)
    assert inventory["database"] == chart.database
    assert inventory["nodes"][0]["host"]["container"] == "main"
    bare = _renamed(chart, image="golden", name="main", command=[], args=[], env=[], ports=[])
    told = _text(bare, container="main", database=chart.database)
    assert "`program` is" in told
    assert yaml.safe_load(told)["database"] == chart.database


@pytest.mark.parametrize("name", ["Bitnami mongodb", "Bitnami redis-cluster", "Crunchy PGO"])
def test_a_renamed_container_of_a_renamed_image_is_known_by_its_command_or_variables(
    name: str,
) -> None:
    chart = _BY_NAME[name]
    renamed = _renamed(chart, image="registry.acme.dev/base/golden:7", name="main")
    inventory = yaml.safe_load(_text(renamed))
    assert inventory["database"] == chart.database
    assert inventory["nodes"][0]["host"]["program"] == chart.host["program"]


def _bare(name: str, image: str, *ports: int) -> dict[str, Any]:
    return {"name": name, "image": image, "ports": [{"containerPort": one} for one in ports]}


def _pod(*containers: dict[str, Any]) -> Chart:
    return Chart("any", containers, "", {"container": containers[0]["name"]}, 0)


@pytest.mark.parametrize(
    ("containers", "options", "parts"),
    [
        (
            [_bare("main", "golden:1", 27017)],
            {},
            ("golden:1", "--container main --database mongodb"),
        ),
        ([_bare("main", "golden:1")], {}, ("found 0", "golden:1", "--container", "--database")),
        ([_bare("main", "golden:1")], {"container": "main"}, ("main", "golden:1", "--database")),
        (
            [_bare("a", "mongo:8"), _bare("b", "mongo:8")],
            {},
            ("found 2", "a (mongodb)", "b (mongodb)", "--container"),
        ),
        ([_bare("a", "redis-cassandra")], {}, ("cassandra or redis", "--database")),
    ],
)
def test_a_doubt_says_what_was_seen_and_which_option_decides(
    containers: list[dict[str, Any]], options: dict[str, Any], parts: tuple[str, ...]
) -> None:
    with pytest.raises(ConfigurationError) as raised:
        _text(_pod(*containers), **options)
    assert mentions(str(raised.value), *parts)


@pytest.mark.parametrize(
    ("image", "words", "program"),
    [
        ("acme/hardened-mongodb70:1", [], "mongod"),
        ("acme/valkey/server:8", [], "valkey-server"),
        (
            "acme/base",
            ["tini", "--", "gosu", "db", "valkey-server", "/etc/v.conf"],
            "valkey-server",
        ),
        ("acme/base", ["sh", "-c", "umask 077; exec redis-server --dir /d"], "redis-server"),
        ("acme/base", ["/bin/sh", "-ec", "until nc -z a 1; do sleep 1; done\nexec etcd"], "etcd"),
        ("acme/base", ["chpst", "-u", "db", "env", "HOME=/x", "patroni", "/p.yml"], "patroni"),
        ("postgres:17", ["docker-entrypoint.sh", "postgres", "-c", "port=5432"], "postgres"),
    ],
)
def test_a_program_is_found_behind_what_starts_it(
    image: str, words: list[str], program: str
) -> None:
    text = _text(_pod({"name": "main", "image": image, "command": words}))
    assert yaml.safe_load(text)["nodes"][0]["host"]["program"] == program


def test_a_sharded_cluster_has_its_shards_its_routers_and_no_config_servers() -> None:
    def of(name: str, *flags: str) -> Chart:
        args = [f"--replSet={name}", *flags]
        server = {"name": "mongod", "image": "percona/percona-server-mongodb:8", "args": args}
        port = [{"name": "mongodb", "containerPort": 27018}]
        return Chart(name, [{**server, "ports": port}], "", {}, 0, pod=f"shop-{name}-0")

    router = {"name": "mongos", "image": "percona/percona-server-mongodb:8", "args": ["mongos"]}
    routers = Chart(
        "", [{**router, "ports": [{"containerPort": 27017}]}], "", {}, 0, "shop-mongos-0"
    )
    every = [of("rs0", "--shardsvr"), of("rs1", "--shardsvr"), of("cfg", "--configsvr"), routers]
    text = _text(*every)
    inventory = yaml.safe_load(text)
    assert [(node["name"], node["shard"]) for node in inventory["nodes"]] == [
        ("shop-rs0-0", "rs0"),
        ("shop-rs1-0", "rs1"),
    ]
    assert inventory["connection"]["hosts"] == [
        "shop-mongos-0.shop-headless.databases.svc.cluster.local:27017"
    ]
    assert "left out: shop-cfg-0" in text


def test_other_pods_of_a_selection_are_left_out_with_a_note_and_never_alone() -> None:
    other = replace(_pod(_bare("web", "acme/web:1", 80)), pod="web-0")
    database = _BY_NAME["Bitnami mongodb"]
    assert "# Left out: pod web-0" in _text(database, other, mixed=True)
    with pytest.raises(ConfigurationError, match="pod web-0"):
        _text(database, other)
    with pytest.raises(ConfigurationError, match="web-0"):
        _text(other, mixed=True)


def test_a_pod_without_a_name_is_reached_by_a_service_of_its_own_or_by_its_address() -> None:
    chart = _BY_NAME["CloudNativePG"]
    address = yaml.safe_load(_text(chart))["nodes"][0]["address"]
    assert address == "shop-1.databases.svc.cluster.local:5432"
    of_all = {"metadata": {"name": "shop-r"}, "spec": {"selector": {"cnpg.io/cluster": "shop"}}}
    with pytest.raises(ConfigurationError, match="Service"):
        _text(chart, services=[of_all])
    text = _text(chart, services=[of_all], pod_addresses=True)
    assert yaml.safe_load(text)["nodes"][0]["address"] == "10.4.0.7:5432"
    assert "a new pod has another address" in text


def test_no_value_of_a_variable_reaches_an_error() -> None:
    secret = [{"name": "ADMIN_PASSWORD", "value": "hunter2"}]
    with pytest.raises(ConfigurationError) as raised:
        _text(_pod({**_bare("main", "golden"), "env": secret}))
    assert "hunter2" not in str(raised.value)


def test_a_client_of_a_database_is_not_taken_for_one_by_its_variables() -> None:
    variables = [{"name": "REDIS_HOST", "value": "shop-redis"}]
    client = {**_bare("main", "acme/shop:1", 8080), "env": variables}
    with pytest.raises(ConfigurationError) as raised:
        _text(_pod(client))
    assert mentions(str(raised.value), "main", "--container main --database redis")
