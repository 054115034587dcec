"""What an inventory says of a node that is a pod."""

from pathlib import Path
from typing import Any

import pytest

from brownout.base.errors import ConfigurationError
from brownout.inventory import inventory
from brownout.machine.host import host_for
from brownout.machine.kubernetes import KubernetesHost, KubernetesSpec


def _inventory(*hosts: dict[str, Any]) -> dict[str, Any]:
    nodes = [
        {"name": f"n{i}", "address": f"db{i}.example.com:27017", "host": host}
        for i, host in enumerate(hosts)
    ]
    return {"name": "orders", "database": "mongodb", "environment": "test", "nodes": nodes}


def _host(**changes: Any) -> dict[str, Any]:
    pod = {"kind": "kubernetes", "pod": "db-0", "container": "mongod", "program": "mongod"}
    return {**pod, **changes}


def test_a_pod_of_the_inventory_gets_its_host(tmp_path: Path) -> None:
    cluster = inventory.parse(_inventory(_host(namespace="databases")), tmp_path / "orders.yaml")
    assert isinstance(host_for(cluster.nodes[0]), KubernetesHost)
    spec = cluster.nodes[0].host
    assert isinstance(spec, KubernetesSpec)
    assert (spec.namespace, spec.start_timeout_s) == ("databases", 300.0)


def test_two_nodes_cannot_be_one_pod_and_may_be_in_two_namespaces(tmp_path: Path) -> None:
    path = tmp_path / "orders.yaml"
    with pytest.raises(ConfigurationError, match=r"pod default/db-0.*is there 2 times"):
        inventory.parse(_inventory(_host(), _host()), path)
    inventory.parse(_inventory(_host(), _host(namespace="other")), path)


@pytest.mark.parametrize(
    "change",
    [
        {"pod": "../secrets/x"},
        {"namespace": "a/b"},
        {"container": "Main"},
        {"program": "/usr/bin/mongod"},
        {"claims": ["data/.."]},
        {"kubeconfig": "nowhere"},
        {"token": "of-no-use-here"},
    ],
)
def test_what_is_no_name_of_the_api_is_found_before_anything_is_asked(
    change: dict[str, Any], tmp_path: Path
) -> None:
    with pytest.raises(ConfigurationError, match=rf"nodes\[0\]\.host\.{next(iter(change))}"):
        inventory.parse(_inventory(_host(**change)), tmp_path / "orders.yaml")
