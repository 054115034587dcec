"""CloudNativePG's Cluster, as an API server has it: at rest or at work, and how it is promoted."""

from typing import Any

import pytest
from tests.machine.kubernetes import apiobjects as api

from brownout.databases.postgresql import cloudnative
from brownout.databases.postgresql.adapter import PostgresqlAdapter
from brownout.databases.postgresql.adapters import postgresql_adapter
from brownout.databases.postgresql.instance import Resource
from brownout.databases.postgresql.instances import InstancesAdapter
from brownout.databases.postgresql.view import Listed
from brownout.inventory.model import Cluster, Node
from brownout.machine.kubernetes import KubernetesSpec

_NOW = "2026-11-27T10:00:00.000000Z"


def test_a_promotion_is_what_the_plug_in_writes_of_the_version_that_was_read() -> None:
    assert cloudnative.promotion(api.cloud_native(), "shop-2", _NOW) == {
        "metadata": {"resourceVersion": "90210"},
        "status": {
            "targetPrimary": "shop-2",
            "targetPrimaryTimestamp": _NOW,
            "phase": "Switchover in progress",
            "phaseReason": "Switching over to shop-2",
        },
    }


def test_a_cluster_without_a_status_is_not_at_rest() -> None:
    fresh = {**api.cloud_native(), "status": None}
    assert len(list(cloudnative.unrest(fresh))) == 2
    assert cloudnative.primary(fresh) == ""


def _node(number: int, program: str) -> Node:
    pod = f"shop-{number}"
    spec = KubernetesSpec(pod=pod, container="postgres", program=program)
    return Node(name=pod, address=f"10.0.0.{number}:5432", host=spec)


@pytest.mark.parametrize(
    ("program", "adapter"), [("postgres", InstancesAdapter), ("patroni", PostgresqlAdapter)]
)
def test_pods_whose_program_is_postgres_have_an_operator_and_others_patroni(
    program: str, adapter: type[Any]
) -> None:
    nodes = tuple(_node(number, program) for number in (1, 2))
    cluster = Cluster(name="shop", database="postgresql", environment="lab", nodes=nodes)
    with postgresql_adapter(cluster) as chosen:
        assert type(chosen) is adapter


def test_the_operator_says_who_leads_and_each_instance_only_of_itself(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    nodes = tuple(_node(number, "postgres") for number in (1, 2))
    cluster = Cluster(name="shop", database="postgresql", environment="lab", nodes=nodes)
    resource = api.cloud_native(status={"currentPrimary": "shop-2", "timelineID": 4})
    monkeypatch.setattr(Resource, "read", lambda *_: resource)
    with InstancesAdapter(cluster) as adapter:
        assert adapter._links["shop-1"].listed() == (
            Listed("shop-1", False, "", 4),
            Listed("shop-2", True, "", 4),
            Listed("shop-3", False, "", 4),
        )
        assert not adapter.supports("supervisor").ok
        assert adapter.failure_detection() is None
