"""The Indexed Job that is the generators of one run, as the API takes it. Pure.

Nothing of the load stands in it: no address, no secret, no file. Each pod gets those over its
input, once it runs.
"""

import re
from typing import Any

from brownout.load.kubernetes.spec import KubernetesLoad

__all__ = ["CONTAINER", "DEPOT", "RUN_LABEL", "command", "job", "label_of", "selector"]

CONTAINER = "generator"
#: Where in a pod its generator keeps what it writes, and in `tls` what it connects with.
DEPOT = "/run/brownout"
RUN_LABEL = "brownout/run"

#: For draining what is in flight, and for fetching the files of a pod that is being deleted.
_GRACE_S = 60
#: Kubernetes removes what is finished and was not removed after this.
_KEPT_S = 600


def label_of(run: str) -> str:
    """Return a run's name as a label's value: at most 63 letters, digits, `-`, `_` and `.`."""
    return re.sub(r"[^A-Za-z0-9._-]", "-", run)[-63:].strip("-_.")


def selector(run: str) -> str:
    """Return what selects everything of a run."""
    return f"{RUN_LABEL}={label_of(run)}"


def command(settings: KubernetesLoad) -> list[str]:
    """Return what a pod's process is: the generator itself."""
    return [settings.program, "run", "--depot", DEPOT, "--hold", str(settings.hold_s)]


def job(settings: KubernetesLoad, name: str, run: str) -> dict[str, Any]:
    """Return the Job.

    A lost pod is never replaced: another process could not continue its part, and the loss
    would go unnoticed. Nor does it take the others along (`backoffLimitPerIndex`, Kubernetes 1.29).
    """
    labels = {
        "app.kubernetes.io/name": "brownout",
        "app.kubernetes.io/component": "load",
        RUN_LABEL: label_of(run),
    }
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name, "namespace": settings.namespace, "labels": labels},
        "spec": {
            "completionMode": "Indexed",
            "completions": settings.hosts,
            "parallelism": settings.hosts,
            "backoffLimitPerIndex": 0,
            "activeDeadlineSeconds": settings.at_most_s,
            "ttlSecondsAfterFinished": _KEPT_S,
            "template": {"metadata": {"labels": labels}, "spec": _pod(settings, labels)},
        },
    }


def _pod(settings: KubernetesLoad, labels: dict[str, str]) -> dict[str, Any]:
    return {
        "restartPolicy": "Never",
        "terminationGracePeriodSeconds": _GRACE_S,
        "serviceAccountName": settings.service_account,
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "securityContext": _identity(settings),
        "containers": [_container(settings)],
        "volumes": [
            {"name": "depot", "emptyDir": {"sizeLimit": settings.disk}},
            {"name": "tls", "emptyDir": {"medium": "Memory", "sizeLimit": "4Mi"}},
        ],
        **_placement(settings, labels),
        **({"imagePullSecrets": [{"name": n} for n in settings.pull_secrets]}
           if settings.pull_secrets else {}),
    }  # fmt: skip


def _identity(settings: KubernetesLoad) -> dict[str, Any]:
    """Return whom the pod runs as: the image's own user, as long as that is not root."""
    context: dict[str, Any] = {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}}
    return context if settings.user is None else {**context, "runAsUser": settings.user}


def _container(settings: KubernetesLoad) -> dict[str, Any]:
    """Return the generator. It has no limit of CPU: being throttled would look like a slow server.

    `stdinOnce`: when our stream breaks its input ends, and so does it, a minute later.
    """
    return {
        "name": CONTAINER,
        "image": settings.image,
        "imagePullPolicy": settings.pull_policy,
        "command": command(settings),
        "terminationMessagePolicy": "FallbackToLogsOnError",  # what it said if it ends at once
        "stdin": True,
        "stdinOnce": True,
        "resources": {
            "requests": {"cpu": settings.cpu, "memory": settings.memory},
            "limits": {"memory": settings.memory},
        },
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
            "readOnlyRootFilesystem": True,
        },
        "volumeMounts": [
            {"name": "depot", "mountPath": DEPOT},
            {"name": "tls", "mountPath": f"{DEPOT}/tls"},
        ],
    }


def _placement(settings: KubernetesLoad, labels: dict[str, str]) -> dict[str, Any]:
    """Return on which machines the pods may be: each on its own, apart from the database."""
    machine = "kubernetes.io/hostname"
    placement: dict[str, Any] = {}
    apart = []
    if settings.spread == "required":
        apart.append({"labelSelector": {"matchLabels": labels}, "topologyKey": machine})
    else:
        placement["topologySpreadConstraints"] = [
            {
                "maxSkew": 1,
                "topologyKey": machine,
                "whenUnsatisfiable": "ScheduleAnyway",
                "labelSelector": {"matchLabels": labels},
            }
        ]
    if settings.apart_from:
        apart.append(
            {
                "labelSelector": {"matchLabels": settings.apart_from},
                "namespaceSelector": {},
                "topologyKey": machine,
            }
        )
    if apart:
        required = "requiredDuringSchedulingIgnoredDuringExecution"
        placement["affinity"] = {"podAntiAffinity": {required: apart}}
    if settings.node_selector:
        placement["nodeSelector"] = settings.node_selector
    if settings.tolerations:
        placement["tolerations"] = [t.model_dump(exclude_none=True) for t in settings.tolerations]
    return placement
