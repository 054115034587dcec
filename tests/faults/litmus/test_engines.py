"""An engine with several experiments, by a real HTTP server in the API server's place."""

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, cast

import pytest
from tests.kubernetes_api import api_server

from brownout.base.errors import ClusterError
from brownout.databases.adapter import Adapter
from brownout.faults.faults import Faults
from brownout.faults.litmus import engines
from brownout.faults.litmus.api import Litmus
from brownout.faults.litmus.engines import Where, litmus_at
from brownout.inventory.model import Cluster
from brownout.machine.host import Proof
from brownout.run import contract
from brownout.run.events import EventLog, read_events

Document = dict[str, Any]
NAMES = ("pod-delete", "pod-network-loss")
ENGINE: Document = {
    "metadata": {"name": "web", "uid": "u-1"},
    "spec": {"engineState": "active", "experiments": [{"name": name} for name in NAMES]},
    "status": {"engineStatus": "initialized"},
}


def result(experiment: str, verdict: str, **annotations: str) -> Document:
    meta = {"name": f"web-{experiment}", "labels": {"chaosUID": "u-1"}, "annotations": annotations}
    output = {"errorOutput": {"errorCode": "X", "reason": "no pod"}} if verdict == "Error" else {}
    return {"metadata": meta, "status": {"experimentStatus": {"verdict": verdict, **output}}}


class Api:
    """Has objects by their names, each of which may change with every look at it."""

    def __init__(self) -> None:
        self.objects: dict[str, list[Document]] = {"web": [ENGINE], "events": [{"items": []}]}

    def answer(self, path: str) -> tuple[int, str]:
        states = self.objects.get(path.partition("?")[0].rpartition("/")[2], [])
        document = states.pop(0) if len(states) > 1 else states[0] if states else {}
        return (200 if states else 404), json.dumps(document)


@pytest.fixture
def api() -> Api:
    return Api()


@pytest.fixture
def litmus(api: Api, tmp_path: Path) -> Iterator[Litmus]:
    with (
        api_server(api.answer, tmp_path) as kubeconfig,
        closing(litmus_at(Where("shop", str(kubeconfig)), 0.0)) as made,
    ):
        yield made


def test_an_engine_is_waited_for_as_long_as_one_of_its_experiments_may_inject(
    api: Api, litmus: Litmus
) -> None:
    waiting = result("pod-network-loss", "Awaited")
    hit = result("pod-network-loss", "Awaited", **{"pod/web-0": "injected"})
    api.objects["web-pod-delete"] = [result("pod-delete", "Error")]
    api.objects["web-pod-network-loss"] = [waiting, waiting, hit]
    proof = engines._injected(litmus, ENGINE, 30, lambda: False)
    assert proof.evidence["seen"] == "pod/web-0 injected"
    assert proof.evidence["failed"] == ["web-pod-delete: X no pod"]
    assert engines._seen(litmus, ENGINE, "completed")["failed"] == ["web-pod-delete: X no pod"]


def test_an_engine_is_given_up_once_all_of_its_experiments_failed(api: Api, litmus: Litmus) -> None:
    for name in NAMES:
        api.objects[f"web-{name}"] = [result(name, "Error")]
    with pytest.raises(ClusterError, match=r"web-pod-delete: X no pod; web-pod-network-loss: X"):
        engines._injected(litmus, ENGINE, 30, lambda: False)


def test_one_whose_time_is_over_says_which_experiment_failed(api: Api, litmus: Litmus) -> None:
    api.objects["web-pod-delete"] = [result("pod-delete", "Error")]
    api.objects["web-pod-network-loss"] = [result("pod-network-loss", "Awaited")]
    with pytest.raises(ClusterError, match="after it was created: web-pod-delete: X no pod"):
        engines._injected(litmus, ENGINE, 0.6, lambda: False)


def test_an_experiment_that_failed_beside_others_breaks_the_contract_of_the_fault(
    tmp_path: Path,
) -> None:
    node = {"name": "n1", "address": "127.0.0.1:27017"}
    cluster = Cluster.model_validate(
        {"name": "orders", "database": "mongodb", "environment": "test", "nodes": [node]}
    )
    log = tmp_path / "events.ndjson"
    faults = Faults(cluster, cast(Adapter, None), EventLog(log), lambda t: t)  # it asks none
    whole = Proof(1.0, 0.0, {"engine": "web"})
    assert engines._noted(faults, whole) is whole
    engines._noted(faults, Proof(1.0, 0.0, {"failed": ["web-pod-delete: X no pod"]}))
    (breach,) = contract.breaches(read_events(log))
    assert breach.detail == "an experiment of the ChaosEngine failed: web-pod-delete: X no pod"
    assert not breach.allowed
