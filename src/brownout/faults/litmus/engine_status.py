"""What a ChaosEngine and its ChaosResults say of how far it is. Pure.

created ──▶ injected (event ChaosInject, or a target's chaosStatus) ──▶ completed or stopped
"""

from collections.abc import Iterable, Mapping
from typing import Any

__all__ = [
    "experiment_status",
    "failed",
    "injected_by",
    "is_over",
    "summary",
    "targets_of",
    "verdict_of",
]

Document = Mapping[str, Any]
_HIT = frozenset({"injected", "reverted"})
_NEVER = frozenset({"ChaosExperiment Not Found", "Skipped"})


def is_over(engine: Document) -> str:
    """Return `completed` or `stopped` once its operator says so, else nothing.

    One that was told to stop before an operator ever saw it is `never begun`, and stays so.
    """
    status = str((engine.get("status") or {}).get("engineStatus") or "")
    if not status and engine["spec"]["engineState"] == "stop":
        return "never begun"
    return status if status in ("completed", "stopped") else ""


def injected_by(results: Iterable[Document], engine_uid: str) -> str:
    """Return which target of this engine was hit by what its results say; empty for none.

    litmus-go notes targets as annotations, `pod/web-0: injected`, and moves them into the history.
    """
    for result in results:
        if _uid(result) == engine_uid:
            for name, status in targets_of(result).items():
                if status.lower() in _HIT:
                    return f"{name} {status}"
    return ""


def targets_of(result: Document) -> dict[str, str]:
    """Return the status of each target: `{"pod/web-0": "injected"}`."""
    history = (result.get("status") or {}).get("history") or {}
    statuses = {
        f"{each.get('kind')}/{each.get('name')}": str(each.get("chaosStatus"))
        for each in history.get("targets") or []
    }
    noted = (result["metadata"].get("annotations") or {}).items()
    final = {"injected", "reverted", "targeted"}
    return {**statuses, **{k: v for k, v in noted if "/" in k and str(v).lower() in final}}


def failed(engine: Document, results: Iterable[Document]) -> dict[str, str]:
    """Return which of its experiments failed before they hit a target, each with why, in words.

    `{"pod-delete": "web-pod-delete: TARGET_SELECTION_ERROR no pod"}`
    """
    reasons = {
        str(each.get("name")): f"{each.get('name')}: {each.get('status')}"
        for each in (engine.get("status") or {}).get("experiments") or []
        if each.get("status") in _NEVER
    }
    meta = engine["metadata"]
    for result in results:
        name, status = str(result["metadata"]["name"]), experiment_status(result)
        if (
            _uid(result) == meta["uid"]
            and status.get("verdict") == "Error"
            and not injected_by([result], meta["uid"])
        ):
            output = status.get("errorOutput") or {}
            reason = output.get("reason") or "it gives no reason"
            words = f"{name}: {output.get('errorCode', '')} {reason}"
            reasons[name.removeprefix(f"{meta['name']}-")] = words
    return reasons


def verdict_of(result: Document | None) -> str:
    """Return its verdict, `Awaited` while there is none."""
    return str(experiment_status(result).get("verdict") or "Awaited")


def experiment_status(result: Document | None) -> Document:
    """Return what a ChaosResult says of its experiment; empty while it says nothing."""
    status: Document = ((result or {}).get("status") or {}).get("experimentStatus") or {}
    return status


def summary(result: Document) -> dict[str, Any]:
    """Return what a ChaosResult says, with the percentage as a number or None.

    `{"phase": "Completed", "verdict": "Pass", "probe_success_percentage": 100.0, "error": "",
    "probes": {"recovery-time": "Passed"}, "targets": {"pod/web-0": "reverted"}}`
    """
    status = result.get("status") or {}
    judged = experiment_status(result)
    error = judged.get("errorOutput") or {}
    return {
        "phase": judged.get("phase"),
        "verdict": verdict_of(result),
        "probe_success_percentage": _number(judged.get("probeSuccessPercentage")),
        "error": ": ".join(str(error[key]) for key in ("errorCode", "reason") if error.get(key)),
        "probes": {
            str(probe.get("name")): str((probe.get("status") or {}).get("verdict"))
            for probe in status.get("probeStatuses") or []
        },
        "targets": targets_of(result),
    }


def _number(text: Any) -> float | None:
    try:
        return float(text)
    except (TypeError, ValueError):
        return None


def _uid(result: Document) -> str:
    return str((result["metadata"].get("labels") or {}).get("chaosUID") or "")
