"""CloudNativePG's resource of a cluster, as its operator keeps it. Pure.

Source: CloudNativePG 1.24 to 1.27, its documentation and its controller. `kubectl cnpg promote`
writes what `promotion` returns into the resource's status; the operator does the rest.
"""

from collections.abc import Iterator, Mapping
from typing import Any

__all__ = ["GROUP", "KIND", "LABEL", "ROLE", "primary", "promotion", "unrest"]

GROUP = "postgresql.cnpg.io/v1"
KIND = "Cluster"
#: The label of a pod with the name of its cluster, and that with its role there.
LABEL, ROLE = "cnpg.io/cluster", "cnpg.io/instanceRole"
#: The phases of a cluster at rest, and of one that switches over.
_HEALTHY = "Cluster in healthy state"
_SWITCHOVER = "Switchover in progress"


def unrest(resource: Mapping[str, Any]) -> Iterator[str]:
    """Yield why a cluster must be left alone: its operator is at work, or instances are missing."""
    status: Mapping[str, Any] = resource.get("status") or {}
    name = f"its Cluster `{resource['metadata']['name']}`"
    phase = str(status.get("phase") or "unknown")
    if phase != _HEALTHY:
        yield f"{name} is not at rest: its phase is `{phase}`, wanted `{_HEALTHY}`"
    wanted, ready = (
        (resource.get("spec") or {}).get("instances", 1),
        status.get("readyInstances", 0),
    )
    if ready != wanted:
        yield f"{name} has {ready} ready instances, wanted {wanted}"
    current, target = status.get("currentPrimary"), status.get("targetPrimary")
    if current != target:
        yield f"{name} moves its primary from `{current}` to `{target}`"


def primary(resource: Mapping[str, Any]) -> str:
    """Return the pod that the operator has as the primary."""
    return str((resource.get("status") or {}).get("currentPrimary") or "")


def promotion(resource: Mapping[str, Any], pod: str, now: str) -> dict[str, Any]:
    """Return the change of the resource's status by which its operator promotes `pod`.

    It holds for the version of the resource that was read. `now` is a time as RFC 3339 has it,
    with microseconds.
    """
    version = resource["metadata"]["resourceVersion"]
    status = {
        "targetPrimary": pod,
        "targetPrimaryTimestamp": now,
        "phase": _SWITCHOVER,
        "phaseReason": f"Switching over to {pod}",
    }
    return {"metadata": {"resourceVersion": version}, "status": status}
