"""Objects of Chaos Mesh and answers of AWS FIS as published; names and times are made up."""

from datetime import UTC, datetime
from typing import Any

__all__ = ["T0", "chaos", "fis", "stamp"]

#: 2026-11-28T08:01:02Z.
T0 = datetime(2026, 11, 28, 8, 1, 2, tzinfo=UTC).timestamp()


def stamp(t: float) -> str:
    """As `metav1.Time` is written: whole seconds."""
    return datetime.fromtimestamp(t, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _event(operation: str, t: float, kind: str = "Succeeded", message: str = "") -> dict[str, Any]:
    event = {"operation": operation, "type": kind, "timestamp": stamp(t)}
    return {**event, **({"message": message} if message else {})}


def chaos(
    applied: dict[str, float],
    recovered: dict[str, float] | None = None,
    action: str = "pod-failure",
    failed: dict[str, str] | None = None,
    again: dict[str, float] | None = None,
    paused: bool = False,
) -> dict[str, Any]:
    """A PodChaos: when each target was hit, when it recovered, and when it was hit `again`."""
    recovered, failed, again = recovered or {}, failed or {}, again or {}
    names = list(dict.fromkeys([*applied, *failed]))
    records = []
    for name in names:
        events = [_event("Apply", T0 - 3, "Failed", failed[name])] if name in failed else []
        events += [_event("Apply", applied[name])] if name in applied else []
        events += [_event("Recover", recovered[name])] if name in recovered else []
        events += [_event("Apply", again[name])] if name in again else []
        is_off = name in recovered and name not in again
        records.append({
            "id": name, "selectorKey": ".", "phase": "Not Injected" if is_off else
            "Injected" if name in applied else "Not Injected/Wait",
            "injectedCount": int(name in applied) + int(name in again),
            "recoveredCount": int(name in recovered),
            "events": events,
        })  # fmt: skip
    all_hit = bool(applied) and not set(failed) - set(applied)
    off = {*recovered} - {*again}
    conditions = {"Selected": bool(names), "AllInjected": all_hit and not off,
                  "AllRecovered": bool(off) and off == set(applied),
                  "Paused": paused}  # fmt: skip
    return {
        "apiVersion": "chaos-mesh.org/v1alpha1", "kind": "PodChaos",
        "metadata": {"name": "stall-one", "namespace": "shop",
                     "finalizers": ["chaos-mesh/records"]},
        "spec": {"action": action, "mode": "one", "duration": "8s",
                 "selector": {"namespaces": ["shop"], "labelSelectors": {"app": "orders-db"}}},
        "status": {
            "conditions": [{"type": name, "status": str(holds)}
                           for name, holds in conditions.items()],
            "experiment": {"desiredPhase": "Stop" if off else "Run",
                           "containerRecords": records},
        },
    }  # fmt: skip


def fis(status: str, **actions: tuple[str, float | None, float | None, str]) -> dict[str, Any]:
    """An answer of GetExperiment: each action's id, start, end and status."""
    arn = "arn:aws:ec2:eu-central-1:111122223333:instance/i-0orders"
    described = {}
    for name, (action_id, start, end, state) in actions.items():
        described[name] = {
            "actionId": action_id, "parameters": {"startInstancesAfterDuration": "PT2M"},
            "targets": {} if action_id == "aws:fis:wait" else {"Instances": "leader"},
            "startAfter": [], "state": {"status": state, "reason": f"Action is {state}."},
            **({"startTime": start} if start is not None else {}),
            **({"endTime": end} if end is not None else {}),
        }  # fmt: skip
    return {"experiment": {
        "id": "EXPorders1", "experimentTemplateId": "EXTorders1", "creationTime": T0 - 5,
        "roleArn": "arn:aws:iam::111122223333:role/fis", "tags": {"Name": "orders"},
        "state": {"status": status, "reason": f"Experiment is {status}."},
        "targets": {"leader": {"resourceType": "aws:ec2:instance", "resourceArns": [arn],
                               "selectionMode": "COUNT(1)"}},
        "actions": described, "stopConditions": [{"source": "none"}],
    }}  # fmt: skip
