"""Pods without a StatefulSet, judged from objects as an API server has them."""

from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any

import pytest
from tests.machine.kubernetes import apiobjects as api
from tests.wording import mentions

from brownout.machine.kubernetes import claims
from brownout.machine.kubernetes import pod as pods
from brownout.machine.kubernetes.controllers import Controller, operator_of
from brownout.machine.kubernetes.objections import objections


def _reasons(
    pod: Mapping[str, Any], resource: Mapping[str, Any] | None, *, others_held: bool = False
) -> str:
    read = pods.read(pod)
    operator = operator_of(read)
    controller = Controller(resource, operator, others_held) if operator else None
    return "; ".join(objections(read, controller, []))


def test_nothing_is_against_an_instance_of_a_cluster_at_rest() -> None:
    assert _reasons(api.instance(), api.cloud_native()) == ""


@pytest.mark.parametrize(
    ("status", "part"),
    [
        ({"phase": "Failing over"}, "`Failing over`"),
        ({"phase": "Upgrading cluster"}, "`Upgrading cluster`"),
        ({"readyInstances": 2}, "2 ready instances, wanted 3"),
        ({"targetPrimary": "shop-2"}, "`shop-2`"),
    ],
)
def test_a_cluster_that_its_operator_works_on_is_left_alone_unless_brownout_broke_it(
    status: dict[str, Any], part: str
) -> None:
    resource = api.cloud_native(status=status)
    assert part in _reasons(api.instance(), resource)
    assert _reasons(api.instance(), resource, others_held=True) == ""


@pytest.mark.parametrize(
    "resource",
    [
        None,
        api.cloud_native(metadata={"uid": "another"}),
        api.cloud_native(metadata={"deletionTimestamp": "2026-11-27T10:00:00Z"}),
    ],
    ids=["gone", "another", "ending"],
)
def test_an_instance_whose_cluster_would_not_bring_it_back_is_refused(
    resource: dict[str, Any] | None,
) -> None:
    assert mentions(_reasons(api.instance(), resource), "Cluster", "`shop`")


def test_a_resource_of_another_group_is_not_the_operators() -> None:
    pod = api.instance()
    pod["metadata"]["ownerReferences"][0]["apiVersion"] = "cluster.x-k8s.io/v1beta1"
    assert operator_of(pods.read(pod)) is None
    assert mentions(_reasons(pod, None), "Cluster", "`shop`", "StatefulSet")


def test_a_pod_of_a_kubelet_is_refused_as_such() -> None:
    pod = api.pod()
    pod["metadata"]["ownerReferences"] = [
        {"apiVersion": "v1", "kind": "Node", "name": "cp-1", "uid": "n", "controller": True}
    ]
    assert "the kubelet of `cp-1`" in _reasons(pod, None)


@pytest.mark.parametrize(("owner", "wiped"), [(api.CLUSTER_UID, True), ("another", False)])
def test_a_claim_is_the_instances_own_if_its_cluster_controls_both(owner: str, wiped: bool) -> None:
    pod = pods.read(api.instance())
    reference = {"kind": "Cluster", "name": "shop", "uid": owner, "controller": True}
    document = api.claim("shop-1", metadata={"ownerReferences": [reference]})
    used = {"shop-1": claims.read(document, None)}
    own = claims.of_operator(pod, used)
    reasons = list(claims.refusals(PurePosixPath("/data/db"), pod, "mongod", own, []))
    assert (reasons == []) is wiped
