"""The Indexed Job of a load: as the API takes it, and nothing of the load in it."""

import json
from typing import Any

import kubernetes_validate
import pytest

from brownout.load.kubernetes.manifest import job, label_of, selector
from brownout.load.kubernetes.spec import KubernetesLoad

EVERYTHING: dict[str, Any] = {
    "namespace": "load",
    "pull_secrets": ["registry"],
    "cpu": "1500m",
    "memory": "1Gi",
    "apart_from": {"app": "orders"},
    "node_selector": {"pool": "load"},
    "tolerations": [{"key": "load", "operator": "Exists", "effect": "NoSchedule"}],
    "spread": "preferred",
}


def made(**changes: Any) -> dict[str, Any]:
    settings = {"where": "kubernetes", "hosts": 3, "image": "brownout:1", **changes}
    return job(KubernetesLoad.model_validate(settings), "brownout-load-1", "run.1")


def pod(**changes: Any) -> dict[str, Any]:
    spec: dict[str, Any] = made(**changes)["spec"]["template"]["spec"]
    return spec


@pytest.mark.parametrize("changes", [{}, EVERYTHING])
@pytest.mark.parametrize("version", ["1.29", kubernetes_validate.latest_version()])
def test_the_api_takes_it(changes: dict[str, Any], version: str) -> None:
    kubernetes_validate.validate(made(**changes), version, strict=True)


def test_a_lost_pod_is_not_replaced_and_takes_no_other_along() -> None:
    spec = made()["spec"]

    assert (spec["completionMode"], spec["completions"], spec["parallelism"]) == ("Indexed", 3, 3)
    assert spec["backoffLimitPerIndex"] == 0
    assert "backoffLimit" not in spec  # of the whole Job: it would end the others
    assert pod()["restartPolicy"] == "Never"


def test_the_pods_end_by_themselves_when_nobody_is_left() -> None:
    (container,) = pod(hold_s=7)["containers"]

    assert container["stdin"]
    assert container["stdinOnce"]
    assert container["command"][-2:] == ["--hold", "7"]
    assert made(at_most_s=3600)["spec"]["activeDeadlineSeconds"] == 3600
    assert made()["spec"]["ttlSecondsAfterFinished"] > 0


def test_a_namespace_of_the_restricted_standard_takes_the_pods() -> None:
    """https://kubernetes.io/docs/concepts/security/pod-security-standards/#restricted"""
    found = pod()
    (container,) = found["containers"]

    assert found["securityContext"]["runAsNonRoot"]
    assert found["securityContext"]["seccompProfile"]["type"] == "RuntimeDefault"
    assert not container["securityContext"]["allowPrivilegeEscalation"]
    assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
    assert all(set(volume) == {"name", "emptyDir"} for volume in found["volumes"])
    assert found["automountServiceAccountToken"] is False


def test_each_generator_has_a_machine_of_its_own() -> None:
    (apart,) = pod()["affinity"]["podAntiAffinity"][
        "requiredDuringSchedulingIgnoredDuringExecution"
    ]

    assert apart["topologyKey"] == "kubernetes.io/hostname"
    assert apart["labelSelector"]["matchLabels"] == made()["spec"]["template"]["metadata"]["labels"]


def test_generators_keep_away_from_the_database() -> None:
    spread = pod(**EVERYTHING)
    (apart,) = spread["affinity"]["podAntiAffinity"][
        "requiredDuringSchedulingIgnoredDuringExecution"
    ]

    assert apart["labelSelector"]["matchLabels"] == {"app": "orders"}
    assert apart["namespaceSelector"] == {}
    assert spread["topologySpreadConstraints"][0]["whenUnsatisfiable"] == "ScheduleAnyway"


def test_a_generator_is_not_throttled() -> None:
    (container,) = pod()["containers"]

    assert container["resources"]["limits"] == {"memory": "512Mi"}
    assert container["resources"]["requests"] == {"cpu": "1", "memory": "512Mi"}


def test_nothing_is_given_by_environment() -> None:
    assert '"env' not in json.dumps(made(**EVERYTHING))


@pytest.mark.parametrize(
    ("run", "label"),
    [
        ("20261121T154907Z-node-wipe-4711", "20261121T154907Z-node-wipe-4711"),
        ("a run with spaces/", "a-run-with-spaces"),
        ("x" * 100, "x" * 63),
    ],
)
def test_a_run_is_known_by_its_label(run: str, label: str) -> None:
    assert label_of(run) == label
    assert selector(run) == f"brownout/run={label}"


@pytest.mark.parametrize(
    ("changes", "wanted"),
    [
        ({"hosts": 0}, "hosts"),
        ({"image": ""}, "image"),
        ({"memory": "much"}, "memory"),
        ({"node_selector": {"pool": "no such value"}}, "node_selector"),
        ({"namespace": "No"}, "namespace"),
        ({"unknown": 1}, "unknown"),
    ],
)
def test_a_setting_that_cannot_be_is_refused(changes: dict[str, Any], wanted: str) -> None:
    with pytest.raises(ValueError, match=wanted):
        made(**changes)
