"""Why a pod must not be broken, judged from objects as an API server has them."""

from typing import Any

import pytest
from tests.machine.kubernetes import apiobjects as api

from brownout.machine.kubernetes import pod as pods
from brownout.machine.kubernetes.controllers import Controller
from brownout.machine.kubernetes.objections import objections, selects
from brownout.machine.kubernetes.pod import HELD


def _found(
    said: dict[str, Any] | None = None,
    controller: dict[str, Any] | None = None,
    *budgets: dict[str, Any],
    over_budget: bool = False,
    broken: bool = False,
) -> str:
    pod = pods.read(said or api.pod())
    brings_back = pod.controller[0] in ("", "StatefulSet")
    return "; ".join(
        objections(
            pod,
            Controller(controller or api.stateful_set()) if brings_back else None,
            budgets,
            over_budget=over_budget,
            broken=broken,
        )
    )


def test_nothing_is_against_a_ready_pod_of_a_stateful_set_at_rest() -> None:
    assert _found() == ""


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"metadata": {"ownerReferences": []}}, "no controller owns it"),
        (
            {
                "metadata": {
                    "ownerReferences": [
                        {"kind": "ReplicaSet", "name": "web", "uid": "u", "controller": True}
                    ]
                }
            },
            "it is of ReplicaSet `web`, which need not bring it back under its name",
        ),
        (
            {
                "metadata": {
                    "ownerReferences": [
                        {"kind": "StatefulSet", "name": "db", "uid": "u", "controller": True}
                    ]
                }
            },
            "the StatefulSet `db` is another one than the pod's own",
        ),
        ({"status": {"conditions": [{"type": "Ready", "status": "False"}]}}, "it is not Ready"),
        ({"status": {"conditions": []}}, "it is not Ready"),
        ({"metadata": {"deletionTimestamp": "2026-11-21T20:00:00Z"}}, "it is being deleted"),
        (
            {"metadata": {"deletionTimestamp": "2026-11-21T20:00:00Z", "finalizers": [HELD]}},
            "it is held stopped by brownout",
        ),
    ],
)
def test_a_pod_that_would_not_come_back_or_is_not_well_is_refused(
    change: dict[str, Any], reason: str
) -> None:
    assert reason in _found(api.pod(**change))


def test_an_owner_that_is_no_controller_does_not_count() -> None:
    owners = [{"kind": "StatefulSet", "name": "db", "uid": api.SET_UID, "controller": False}]
    assert _found(api.pod(metadata={"ownerReferences": owners})) == _found(
        api.pod(metadata={"ownerReferences": []})
    )


def test_a_stateful_set_that_is_gone_brings_nothing_back() -> None:
    reasons = list(objections(pods.read(api.pod()), None, []))
    assert reasons == ["its StatefulSet `db` does not exist, so nothing would bring it back"]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"metadata": {"deletionTimestamp": "2026-11-21T20:00:00Z"}}, "is being deleted"),
        ({"metadata": {"generation": 4}}, "its controller has not looked at it yet"),
        ({"spec": {"replicas": 5}}, "has 3 pods, wanted 5"),
        (
            {"status": {"updateRevision": "db-new", "updatedReplicas": 1}},
            "in the midst of a rollout: the pod has revision db-6b7d9c6f5b, it would come back "
            "with db-new",
        ),
        (
            {
                "spec": {"updateStrategy": {"type": "OnDelete"}},
                "status": {"updateRevision": "db-new", "updatedReplicas": 0},
            },
            "it would come back with db-new",
        ),
    ],
)
def test_a_stateful_set_at_work_is_left_alone(change: dict[str, Any], reason: str) -> None:
    assert reason in _found(None, api.stateful_set(**change))


def test_while_others_are_renewed_a_renewed_pod_is_left_alone_too() -> None:
    moved = {"currentRevision": "db-old", "updatedReplicas": 2}
    assert "a rollout: 2 of its pods are renewed" in _found(None, api.stateful_set(status=moved))


@pytest.mark.parametrize(("name", "own"), [("db-0", "db-old"), ("db-2", api.REVISION)])
def test_a_rollout_that_its_partition_has_stopped_is_at_rest(name: str, own: str) -> None:
    partitioned = {"type": "RollingUpdate", "rollingUpdate": {"partition": 2}}
    moved = {"currentRevision": "db-old", "updatedReplicas": 1}
    controller = api.stateful_set(spec={"updateStrategy": partitioned}, status=moved)
    labels = {"app": "db", "controller-revision-hash": own}
    assert _found(api.pod(name, metadata={"labels": labels}), controller) == ""


def test_a_budget_that_allows_nothing_refuses_unless_the_inventory_overrides_it() -> None:
    assert _found(None, None, api.budget(1)) == ""
    reason = "PodDisruptionBudget `db-budget` allows no disruption now (2 of 3 pods are healthy"
    assert reason in _found(None, None, api.budget(0))
    assert _found(None, None, api.budget(0), over_budget=True) == ""


def test_what_is_broken_already_may_be_broken_once_more_if_it_comes_back() -> None:
    paused = api.pod(status={"conditions": [{"type": "Ready", "status": "False"}]})
    assert _found(paused, None, api.budget(0), broken=True) == ""
    alone = api.pod(metadata={"ownerReferences": []})
    assert _found(alone, None, broken=True) == _found(alone)


def test_a_budget_of_other_pods_says_nothing_and_one_not_looked_at_yet_says_no() -> None:
    others = {"selector": {"matchLabels": {"app": "web"}}}
    assert _found(None, None, api.budget(0, spec=others)) == ""
    stale = api.budget(1, metadata={"name": "db-budget", "generation": 2})
    assert "allows no disruption now" in _found(None, None, stale)


@pytest.mark.parametrize(
    ("selector", "wanted"),
    [
        (None, False),
        ({}, True),
        ({"matchLabels": {"app": "db", "tier": "x"}}, False),
        ({"matchExpressions": [{"key": "app", "operator": "In", "values": ["db"]}]}, True),
        ({"matchExpressions": [{"key": "app", "operator": "NotIn", "values": ["db"]}]}, False),
        ({"matchExpressions": [{"key": "tier", "operator": "NotIn", "values": ["x"]}]}, True),
        ({"matchExpressions": [{"key": "app", "operator": "Exists"}]}, True),
        ({"matchExpressions": [{"key": "app", "operator": "DoesNotExist"}]}, False),
    ],
)
def test_selectors_are_read_as_the_api_reads_them(
    selector: dict[str, Any] | None, wanted: bool
) -> None:
    assert selects(selector, {"app": "db"}) is wanted
