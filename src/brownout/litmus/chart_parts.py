"""What the chart is made of: its faults, their variables in words, and what their accounts may do.

Facts of Litmus: its runner starts the job, reads engine, experiment, config maps and secrets, and
writes the engine's status; the experiment reads its engine and writes its ChaosResult.
"""

from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from yaml import safe_load

__all__ = ["ACCOUNT", "DRIVER", "FAULTS", "IMAGE", "VARIABLES", "Fault", "rbac", "runner_rules"]

Rules = list[dict[str, list[str]]]
IMAGE = "registry.example.com/brownout:0.1.0"
#: Runs our faults; the other one lets our experiments start faults of Litmus.
ACCOUNT, DRIVER = "brownout-litmus", "brownout-litmus-driver"


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault of the chart: an experiment of ours, `database` whose limits its engine shows."""

    name: str
    title: str
    text: str
    keywords: tuple[str, ...]
    database: str


def _faults() -> tuple[Fault, ...]:
    text = (files("brownout.litmus") / "faults.yaml").read_text(encoding="utf-8")
    return tuple(Fault(**{**one, "keywords": tuple(one["keywords"])}) for one in safe_load(text))


#: Written down in `faults.yaml`.
FAULTS = _faults()

#: What stands above each variable in fault.yaml and engine.yaml.
VARIABLES = {
    "TOTAL_CHAOS_DURATION": "seconds for which the node stays down",
    "RAMP_TIME": "seconds of undisturbed load before the fault",
    "BROWNOUT_CLUSTER": "name of an inventory in the config map brownout-clusters",
    "BROWNOUT_WORKLOAD": "a workload's name; empty takes the cluster's own",
    "BROWNOUT_LOAD": "changes single settings of the workload, as streams.app.rate=400",
    "BROWNOUT_TARGET": "the node: primary, secondary, random or a name",
    "BROWNOUT_SEED": "of keys, arrivals and random choices; 0 draws one",
    "BROWNOUT_CONFIRM": "the cluster's own name, wanted for environment: production",
    "BROWNOUT_BASELINE_S": "length of the baseline in seconds; 0 takes the measures' own",
    "BROWNOUT_CANARY": "another client beside the load: true, false, or settings as rate=5",
    "BROWNOUT_MODE": "how the node is stopped: kill or clean",
}


def runner_rules() -> Rules:
    """Return what Litmus's runner and the experiment's own pod ask of the API server."""
    return [
        _rule("", ["pods"], ["get", "list"]),
        _rule("", ["events"], ["create", "get", "update"]),
        _rule("", ["configmaps", "secrets"], ["get"]),
        _rule("batch", ["jobs"], ["create", "delete"]),
        _rule("litmuschaos.io", ["chaosengines"], ["get", "update"]),
        _rule("litmuschaos.io", ["chaosexperiments"], ["get"]),
        _rule("litmuschaos.io", ["chaosresults"], ["create", "get", "update"]),
    ]


def rbac() -> list[dict[str, Any]]:
    """Return service account, role and binding: of our faults, and of who drives Litmus's."""
    driving = [
        _rule("", ["events"], ["list"]),
        _rule("litmuschaos.io", ["chaosengines"], ["create", "delete", "get", "patch"]),
        _rule("litmuschaos.io", ["chaosresults"], ["get"]),
    ]
    return [*_account(ACCOUNT, runner_rules()), *_account(DRIVER, driving)]


def _rule(group: str, resources: list[str], verbs: list[str]) -> dict[str, list[str]]:
    return {"apiGroups": [group], "resources": resources, "verbs": verbs}


def _account(name: str, rules: Rules) -> list[dict[str, Any]]:
    metadata = {"name": name, "namespace": "litmus"}
    subject = {"kind": "ServiceAccount", "name": name, "namespace": "litmus"}
    group = "rbac.authorization.k8s.io"
    return [
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata},
        {"apiVersion": f"{group}/v1", "kind": "Role", "metadata": metadata, "rules": rules},
        {
            "apiVersion": f"{group}/v1",
            "kind": "RoleBinding",
            "metadata": metadata,
            "subjects": [subject],
            "roleRef": {"apiGroup": group, "kind": "Role", "name": name},
        },
    ]
