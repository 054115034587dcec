"""The chart for a ChaosHub: every file of it, made from the experiments that it starts. Pure.

faults/brownout/brownout.chartserviceversion.yaml    the category
faults/brownout/brownout.package.yaml
faults/brownout/experiments.yaml                     every ChaosExperiment, for one `apply`
faults/brownout/<fault>/fault.yaml                   the ChaosExperiment
faults/brownout/<fault>/engine.yaml                  a ChaosEngine to start from
faults/brownout/<fault>/<fault>.chartserviceversion.yaml
rbac.yaml                                            its service accounts
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from brownout.base import catalog
from brownout.faults.litmus.manifest import API_VERSION
from brownout.judge import slo
from brownout.litmus.chart_parts import ACCOUNT, FAULTS, IMAGE, VARIABLES, Fault, rbac, runner_rules
from brownout.litmus.chart_text import documents, text
from brownout.litmus.definitions import definitions
from brownout.litmus.variables import LENGTHS
from brownout.session.options import SETTINGS

__all__ = ["chart"]

Document = dict[str, Any]
CATEGORY = "brownout"
_MIN_KUBERNETES = "1.28.0"


def chart(image: str = IMAGE, version: str = "0.1.0") -> dict[str, str]:
    """Return the text of each file by its path; every fault runs in `image`."""
    folder = f"faults/{CATEGORY}"
    files = {
        f"{folder}/{CATEGORY}.chartserviceversion.yaml": text(_category(version)),
        f"{folder}/{CATEGORY}.package.yaml": text(_package()),
        "rbac.yaml": documents(rbac()),
    }
    experiments = [_fault(fault, image, version) for fault in FAULTS]
    files[f"{folder}/experiments.yaml"] = documents(experiments)
    for fault, experiment in zip(FAULTS, experiments, strict=True):
        where = f"{folder}/{fault.name}"
        files[f"{where}/fault.yaml"] = text(experiment, VARIABLES)
        files[f"{where}/engine.yaml"] = text(_engine(fault), VARIABLES)
        files[f"{where}/{fault.name}.chartserviceversion.yaml"] = text(_version(fault, version))
    return files


def _fault(fault: Fault, image: str, version: str) -> Document:
    """The ChaosExperiment: what runs, with which variables, and what it may do."""
    labels = {
        "name": fault.name,
        "app.kubernetes.io/part-of": "litmus",
        "app.kubernetes.io/version": version,
    }
    return {
        "apiVersion": API_VERSION,
        "description": {"message": f"{fault.text}\n"},
        "kind": "ChaosExperiment",
        "metadata": {
            "name": fault.name,
            "labels": {**labels, "app.kubernetes.io/component": "chaosexperiment"},
        },
        "spec": {
            "definition": {
                "scope": "Namespaced",
                "permissions": runner_rules(),
                "image": image,
                "imagePullPolicy": "IfNotPresent",
                "command": ["tini", "--", "brownout"],
                "args": ["litmus", "run", fault.name],
                "env": [{"name": n, "value": value} for n, value in _environment(fault)],
                "labels": {**labels, "app.kubernetes.io/component": "experiment-job"},
                "configMaps": [{"name": "brownout-clusters", "mountPath": "/etc/brownout"}],
                "secrets": [{"name": "brownout-secrets", "mountPath": "/etc/brownout-secrets"}],
                "securityContext": {
                    "podSecurityContext": {
                        "runAsNonRoot": True,
                        "runAsUser": 10001,
                        "runAsGroup": 10001,
                        "fsGroup": 10001,
                    },
                    "containerSecurityContext": {
                        "allowPrivilegeEscalation": False,
                        "capabilities": {"drop": ["ALL"]},
                    },
                },
            }
        },
    }


def _engine(fault: Fault) -> Document:
    """The ChaosEngine: what people change, and the limits that the run is held to."""
    env = [{"name": name, "value": value} for name, value in _environment(fault)]
    limits = slo.file_limits(fault.name, fault.database)
    probes = definitions(limits, "cmdProbe", None, "", fault.name)
    return {
        "apiVersion": API_VERSION,
        "kind": "ChaosEngine",
        "metadata": {"name": f"brownout-{fault.name}", "namespace": "litmus"},
        "spec": {
            "engineState": "active",
            "chaosServiceAccount": ACCOUNT,
            "terminationGracePeriodSeconds": 600,
            "jobCleanUpPolicy": "retain",
            "experiments": [
                {"name": fault.name, "spec": {"components": {"env": env}, "probe": probes}}
            ],
        },
    }


def _environment(fault: Fault) -> Iterator[tuple[str, str]]:
    """Yield each variable with its default, which is the experiment's own."""
    configuration = json.loads(catalog.read("experiments", fault.name))["configuration"]
    length = next((name for name in LENGTHS if name in configuration), None)
    if length is not None:
        yield "TOTAL_CHAOS_DURATION", str(configuration[length])
    yield "RAMP_TIME", ""
    yield "BROWNOUT_CLUSTER", "database"
    declared = {
        value["key"]: value.get("default", "")
        for value in configuration.values()
        if isinstance(value, Mapping) and "key" in value
    }
    settings = {setting.environment: setting.default for setting in SETTINGS.values()}
    for name, default in {**settings, **declared}.items():
        if name in VARIABLES and name != "BROWNOUT_CLUSTER":
            yield name, str(default)


def _version(fault: Fault, version: str) -> Document:
    return {
        **_head(fault.name, version),
        "spec": {
            "displayName": fault.title,
            "categoryDescription": f"{fault.text}\n",
            "keywords": list(fault.keywords),
            "platforms": ["Kubernetes"],
            "maturity": "alpha",
            "maintainers": [{"name": "brownout"}],
            "minKubeVersion": _MIN_KUBERNETES,
            "provider": {"name": "brownout"},
            "labels": {
                "app.kubernetes.io/component": "chartserviceversion",
                "app.kubernetes.io/version": version,
            },
            "links": [{"name": "Documentation", "url": "docs/litmus.md"}],
            "icon": [{"url": f"icons/{fault.name}.png", "mediatype": "image/png"}],
            "chaosType": "infra",
        },
    }


def _category(version: str) -> Document:
    description = (
        "Break one thing in a real database cluster under load, and measure what its users feel. "
        "A fault passes only where every limit was met; no data is an error, never a pass.\n"
    )
    return {
        **_head(CATEGORY, version),
        "spec": {
            "displayName": "brownout",
            "categoryDescription": description,
            "faults": [
                {"name": f.name, "description": f.text, "displayName": f.title} for f in FAULTS
            ],
            "keywords": sorted({word for fault in FAULTS for word in fault.keywords}),
            "maintainers": [{"name": "brownout"}],
            "minKubeVersion": _MIN_KUBERNETES,
            "provider": {"name": "brownout"},
            "links": [{"name": "Documentation", "url": "docs/litmus.md"}],
            "icon": [{"url": f"icons/{CATEGORY}.png", "mediatype": "image/png"}],
        },
    }


def _head(name: str, version: str) -> Document:
    return {
        "apiVersion": API_VERSION,
        "kind": "ChartServiceVersion",
        "metadata": {
            "name": name,
            "version": version,
            "annotations": {
                "categories": CATEGORY,
                "vendor": "brownout",
                "chartDescription": "Faults of databases, measured by what their users feel",
            },
        },
    }


def _package() -> Document:
    faults = [
        {"name": f.name, "CSV": f"{f.name}.chartserviceversion.yaml", "desc": f.title}
        for f in FAULTS
    ]
    return {"packageName": CATEGORY, "faults": faults}
