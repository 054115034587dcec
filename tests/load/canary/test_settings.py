"""Which canary a run has: the inventory's, changed or switched off by the experiment."""

from typing import Any

import pytest

from brownout.base.errors import ConfigurationError
from brownout.inventory.canary import CanarySpec
from brownout.inventory.model import Cluster, Node
from brownout.load.canary import canary_of


def cluster(database: str = "mongodb", canary: CanarySpec | None = None) -> Cluster:
    node = Node(name="n1", address="127.0.0.1:1")
    return Cluster(
        name="c", database=database, environment="test", nodes=(node,), canary=canary
    )  # fmt: skip


MINE = CanarySpec(rate=2, policies={"retryWrites": False})


@pytest.mark.parametrize("wanted", ["", None])
def test_without_a_word_the_inventory_decides(wanted: Any) -> None:
    assert canary_of(wanted, cluster()) is None
    assert canary_of(wanted, cluster(canary=MINE)) == MINE


@pytest.mark.parametrize("wanted", ["false", False, "off"])
def test_an_experiment_switches_it_off(wanted: Any) -> None:
    assert canary_of(wanted, cluster(canary=MINE)) is None


@pytest.mark.parametrize("wanted", ["true", True])
def test_an_experiment_switches_it_on_as_the_inventory_has_it(wanted: Any) -> None:
    assert canary_of(wanted, cluster()) == CanarySpec()
    assert canary_of(wanted, cluster(canary=MINE)) == MINE


@pytest.mark.parametrize(
    "wanted",
    ["rate=5,policies.timeoutMS=300", {"rate": 5, "policies": {"timeoutMS": 300}}],
)
def test_single_settings_go_over_those_of_the_inventory(wanted: Any) -> None:
    changed = canary_of(wanted, cluster(canary=MINE))
    assert changed == CanarySpec(rate=5, policies={"retryWrites": False, "timeoutMS": 300})


@pytest.mark.parametrize(
    ("database", "wanted", "said"),
    [
        ("mongodb", "perhaps", "configuration.canary: override `perhaps`: wanted path=value"),
        ("mongodb", "rate=0", "configuration.canary.rate: "),
        ("mongodb", "policies.retryWriets=true", "pymongo says: Unknown option: retryWriets"),
        ("mongodb", "policies.password=hunter2", "found password, which say where to connect"),
        ("aerospike", "policies.read.total=5", 'aerospike says: "total" is an invalid policy'),
        ("aerospike", "policies.read.replica=POLICY_X", "wanted the name of a constant"),
        ("aerospike", "policies.hosts=x", "found hosts; wanted what the client itself has"),
        ("postgresql", "policies.connect_timeot=5", 'psycopg says: invalid connection option "c'),
        ("postgresql", "policies.sslkey=hunter2", "found sslkey, which say where to connect"),
        ("postgresql", "policies.pool.size=5", "canary.policies.pool: found size, wanted min_size"),
        ("postgresql", "policies.pool=5", "canary.policies.pool: found 5, wanted settings"),
        ("postgresql", "policies.pool.max_size=0", "psycopg says: max_size must be greater"),
        ("redis", "policies.socket_timeout=never", "canary.policies.socket_timeout: found 'never'"),
        ("redis", "policies.password=hunter2", "canary.policies.password: unknown"),
        ("etcd", "true", "wanted one that has a canary: aerospike, mongodb, postgresql, redis"),
    ],
)
def test_what_is_wrong_is_said_before_anything_is_touched(
    database: str, wanted: str, said: str
) -> None:
    with pytest.raises(ConfigurationError) as told:
        canary_of(wanted, cluster(database))
    assert said in str(told.value)
    assert "hunter2" not in str(told.value)
