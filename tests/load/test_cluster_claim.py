"""The claim in the cluster: given back, renewed, taken again, and lost to another run."""

import time
from collections.abc import Iterator
from typing import Any

import pymongo
import pytest

from brownout.base.errors import GeneratorError, Refused
from brownout.base.wait import wait_until
from brownout.databases.adapter import adapter_for
from brownout.inventory.model import Cluster
from brownout.load import cluster_claim
from brownout.load.cluster_claim import ClusterClaim, Holder

NAMESPACE = "brownout_claims"


@pytest.fixture
def target(lab_mongodb: Cluster) -> dict[str, Any]:
    """How the load reaches the shared cluster."""
    adapter = adapter_for(lab_mongodb)
    try:
        return adapter.load_spec()
    finally:
        adapter.close()


@pytest.fixture
def documents(lab_mongodb: Cluster) -> Iterator[Any]:
    """The collection that has the claim; it is not there before and after."""
    address = ",".join(node.address for node in lab_mongodb.nodes)
    client: pymongo.MongoClient[dict[str, Any]]
    with pymongo.MongoClient(f"mongodb://{address}/?replicaSet={lab_mongodb.name}") as client:
        client.drop_database(NAMESPACE)
        yield client[NAMESPACE]["claim"]
        client.drop_database(NAMESPACE)


def _claim(target: dict[str, Any], token: str) -> ClusterClaim:
    return ClusterClaim(target, [NAMESPACE], f"run-{token}", token)


def test_one_run_has_it_until_it_gives_it_back(target: dict[str, Any], documents: Any) -> None:
    lost: list[Holder] = []
    first, second = _claim(target, "a"), _claim(target, "b")
    first.take(lost.append)
    assert first.look() is None
    with pytest.raises(Refused, match=r" run-a .*@.* UTC"):
        second.take(lost.append)
    second.release()
    assert second.look() is not None
    first.release()
    second.take(lost.append)
    second.release()
    assert documents.count_documents({}) == 0
    assert not lost


@pytest.fixture
def taken(
    target: dict[str, Any], documents: Any, monkeypatch: pytest.MonkeyPatch
) -> tuple[ClusterClaim, list[Holder]]:
    """The claim of a run, `a`, which is renewed often, and those to whom it loses it."""
    monkeypatch.setattr(cluster_claim, "_EVERY_S", 0.1)
    claim, lost = _claim(target, "a"), list[Holder]()
    claim.take(lost.append)
    return claim, lost


def test_a_claim_that_a_fault_lost_is_taken_again(
    documents: Any, taken: tuple[ClusterClaim, list[Holder]]
) -> None:
    claim, lost = taken
    documents.delete_many({})
    assert wait_until(lambda: documents.find_one({"token": "a"}), 20.0)
    claim.release()
    assert not lost


def test_a_run_whose_claim_another_one_has_taken_is_told_once(
    documents: Any, taken: tuple[ClusterClaim, list[Holder]]
) -> None:
    claim, lost = taken
    other = {"token": "b", "holder": "eve@m2", "run": "run-b", "since": time.time()}
    documents.update_one({"token": "a"}, {"$set": other})
    assert wait_until(lambda: lost, 20.0)
    claim.release()
    assert [each.holder for each in lost] == ["eve@m2"]
    assert documents.find_one({"token": "b"})  # ours alone is removed


def test_where_no_claim_can_be_kept_the_reason_is_said(
    target: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster_claim, "_MADE_WITHIN_S", 0.5)
    nowhere = {**target, "connection": {**target["connection"], "uri": "mongodb://127.0.0.1:1"}}
    with pytest.raises(GeneratorError, match="the claim in the cluster: namespace"):
        _claim(nowhere, "a").take(lambda _: None)
