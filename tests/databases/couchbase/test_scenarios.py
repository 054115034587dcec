"""No fault is offered, and a mock is never taken for a database."""

from typing import Any

import pytest

from brownout.base.errors import ClusterError, Unsupported
from brownout.databases.couchbase import adapter as module
from brownout.databases.couchbase.adapter import NO_FAULTS, CouchbaseAdapter
from brownout.databases.couchbase.view import MOCK, View
from brownout.faults import registry
from brownout.inventory.model import Cluster


def cluster(**settings: Any) -> Cluster:
    return Cluster.model_validate(
        {
            "name": "c",
            "database": "couchbase",
            "environment": "lab",
            "nodes": [{"name": "n1", "address": "127.0.0.1:11210", "api": "127.0.0.1:8091"}],
            "connection": {"auth": {"username": "me", "password": {"env": "C_PASSWORD"}}},
            **settings,
        }
    )


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have every node say that it is a mock."""
    monkeypatch.setenv("C_PASSWORD", "s3cr3t")
    monkeypatch.setattr(
        module, "look", lambda node, _: View(node.name, node.address, MOCK, {"rev": 1})
    )


@pytest.mark.usefixtures("answers")
def test_every_fault_there_is_is_refused_with_one_sentence() -> None:
    acts = {fault.act for fault in registry.faults().values()}
    with CouchbaseAdapter(cluster()) as adapter:
        for act in (*acts, "racks", "rolling", "node-kill", "undrain"):
            answer = adapter.supports(act)
            assert (answer.ok, answer.reason) == (False, NO_FAULTS)


@pytest.mark.usefixtures("answers")
def test_nothing_that_a_fault_needs_is_given() -> None:
    with CouchbaseAdapter(cluster()) as adapter:
        (node,) = cluster().nodes
        for asked in (adapter.drain, adapter.undrain, adapter.data_directories):
            with pytest.raises(Unsupported, match="offers no fault on Couchbase"):
                asked(node)
        assert adapter.would_lose([node]) == [NO_FAULTS]


@pytest.mark.usefixtures("answers")
def test_a_mock_is_used_only_where_results_say_that_it_is_one() -> None:
    with CouchbaseAdapter(cluster()) as adapter:
        with pytest.raises(ClusterError, match="only lab-couchbase names a mock"):
            adapter.ready()
        assert adapter.engine() == "CouchbaseMock 1.5.27 (a mock)"
    with CouchbaseAdapter(cluster(lab={"engine": "couchbase", "stand_in": True})) as adapter:
        adapter.ready()
