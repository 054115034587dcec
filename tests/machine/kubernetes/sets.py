"""StatefulSets for tests, as the API takes them."""

from collections.abc import Sequence
from typing import Any

__all__ = ["stateful_set"]


def stateful_set(
    name: str,
    replicas: int,
    command: Sequence[str],
    *,
    container: str = "main",
    mount: str = "",
    **template: Any,
) -> dict[str, Any]:
    """Return a StatefulSet whose pods start at once; `template` adds to their specification.

    With a `mount` each pod has a claim `data-POD` there.
    """
    labels = {"app": name}
    main: dict[str, Any] = {"name": container, "image": "none", "command": list(command)}
    templates = []
    if mount:
        main["volumeMounts"] = [{"name": "data", "mountPath": mount}]
        wanted = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
        templates = [{"metadata": {"name": "data"}, "spec": wanted}]
    return {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": {"name": name},
        "spec": {
            "serviceName": name,
            "replicas": replicas,
            "podManagementPolicy": "Parallel",
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels},
                "spec": {"containers": [main], **template},
            },
            "volumeClaimTemplates": templates,
        },
    }
