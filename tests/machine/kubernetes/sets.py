"""StatefulSets for tests, as the API takes them."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

__all__ = ["stateful_set"]


def stateful_set(
    name: str,
    replicas: int,
    command: Sequence[str],
    *,
    container: str = "main",
    mounts: Mapping[str, object] = MappingProxyType({}),
    **template: Any,
) -> dict[str, Any]:
    """Return a StatefulSet whose pods start at once; `template` adds to their specification.

    Each pod has a claim `NAME-POD` at each of its `mounts`, which are paths by NAME.
    """
    labels = {"app": name}
    main: dict[str, Any] = {"name": container, "image": "none", "command": list(command)}
    main["volumeMounts"] = [{"name": n, "mountPath": str(path)} for n, path in mounts.items()]
    wanted = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    templates = [{"metadata": {"name": n}, "spec": wanted} for n in mounts]
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
