"""What the API says of our pods, in sentences for people. Pure, over the API's own JSON."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["Pod", "describe_wait", "final_problem", "what_became_of"]

Raw = Mapping[str, Any]

INDEX = "batch.kubernetes.io/job-completion-index"

#: Reasons of a waiting container that waiting does not cure.
_FINAL = frozenset(
    {
        "CreateContainerConfigError",
        "CreateContainerError",
        "ErrImageNeverPull",
        "ImageInspectError",
        "ImagePullBackOff",
        "InvalidImageName",
        "RunContainerError",
    }
)


@dataclass(frozen=True, slots=True)
class Pod:
    """One pod of the Job: `index` is its part of the load, `raw` all that the API says of it."""

    name: str
    index: int
    node: str
    raw: Raw

    @classmethod
    def of(cls, raw: Raw) -> "Pod":
        """Read a pod of the API's."""
        metadata = raw["metadata"]
        return cls(
            name=str(metadata["name"]),
            index=int((metadata.get("annotations") or {}).get(INDEX, -1)),
            node=str((raw.get("spec") or {}).get("nodeName") or ""),
            raw=raw,
        )

    @property
    def runs(self) -> bool:
        """Whether its container runs now."""
        return "running" in _container(self.raw) and not self.ended

    @property
    def ended(self) -> bool:
        """Whether its container ran and no longer does."""
        return self.raw.get("status", {}).get("phase") in ("Succeeded", "Failed")

    @property
    def exit_code(self) -> int | None:
        """How its process ended, -9 for a signal 9; None while it runs, or if unknown."""
        terminated = _container(self.raw).get("terminated")
        if not terminated:
            return None
        code = int(terminated.get("exitCode", 0))
        return code if code <= 128 else 128 - code

    def __str__(self) -> str:
        return f"pod {self.name} on node {self.node or '(none yet)'}"


def describe_wait(pods: Sequence[Pod], wanted: int) -> str:
    """Say how many pods run, and of the others why not: `2 of 3 run; pod x-1: Unschedulable: …`."""
    running = sum(pod.runs for pod in pods)
    reasons = [f"{pod.name}: {_why(pod.raw)}" for pod in pods if not pod.runs]
    if len(pods) < wanted:
        reasons.append(f"{wanted - len(pods)} not created yet")
    return "; ".join([f"{running} of {wanted} run", *reasons])


def final_problem(pods: Sequence[Pod]) -> str:
    """Return what will not get better by itself, naming the pod; empty while there is hope."""
    for pod in pods:
        waiting = _container(pod.raw).get("waiting") or {}
        if waiting.get("reason") in _FINAL:
            return f"{pod}: {_joined(waiting.get('reason'), waiting.get('message'))}"
        if pod.ended:
            message = (_container(pod.raw).get("terminated") or {}).get("message")
            return f"{pod} ended at once: {_joined(what_became_of(pod), message)}"
    return ""


def what_became_of(pod: Pod) -> str:
    """Say how a pod ended: `OOMKilled (exit code 137)`, `Evicted: …`, `it is being deleted`.

    Empty where nothing is wrong with it.
    """
    status = pod.raw.get("status", {})
    reasons = []
    if status.get("reason"):  # Evicted, NodeLost, DeadlineExceeded …
        reasons.append(_joined(status["reason"], status.get("message")))
    for condition in status.get("conditions") or ():
        if condition.get("type") == "DisruptionTarget" and condition.get("status") == "True":
            reasons.append(_joined(condition.get("reason"), condition.get("message")))
    terminated = _container(pod.raw).get("terminated")
    if terminated:
        reason = terminated.get("reason") or "ended"
        reasons.append(f"{reason} (exit code {terminated.get('exitCode')})")
    if pod.raw["metadata"].get("deletionTimestamp"):
        reasons.append("it is being deleted")
    if "running" in _container(pod.raw) and not _ready(status):
        reasons.append("its node does not answer the API server")
    return "; ".join(reasons)


def _ready(status: Raw) -> bool:
    """A running container without a probe is ready, unless its node has fallen silent."""
    conditions = status.get("conditions") or ()
    return all(each.get("status") != "False" for each in conditions if each["type"] == "Ready")


def _why(raw: Raw) -> str:
    """Say in which state a pod is, with the reason that the API has."""
    waiting = _container(raw).get("waiting")
    if waiting:
        return _joined(waiting.get("reason"), waiting.get("message"))
    status = raw.get("status", {})
    for condition in status.get("conditions") or ():
        if condition.get("type") == "PodScheduled" and condition.get("status") == "False":
            return _joined(condition.get("reason"), condition.get("message"))
    state = next(iter(_container(raw)), "")
    return state or str(status.get("phase") or "Pending")


def _container(raw: Raw) -> Raw:
    """Return the state of its one container: `{"running": …}`, `{"waiting": {"reason": …}}`."""
    statuses: Sequence[Raw] = raw.get("status", {}).get("containerStatuses") or ({},)
    state: Raw = statuses[0].get("state") or {}
    return {name: value for name, value in state.items() if value is not None}


def _joined(reason: Any, message: Any) -> str:
    parts = (" ".join(str(part).split()) for part in (reason, message) if part)
    return ": ".join(parts)[:400] or "no reason given"
