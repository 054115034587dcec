"""Why a pod must not be broken: it would not come back, or more than it would suffer. Pure.

The API's objects are judged as it has them: a pod, what controls it, the namespace's budgets.
"""

from collections.abc import Iterator, Mapping, Sequence

from brownout.kubernetes.objects import Object
from brownout.machine.kubernetes.controllers import SET, Controller
from brownout.machine.kubernetes.pod import Pod

__all__ = ["objections", "selects"]


def objections(
    pod: Pod,
    controller: Controller | None,
    budgets: Sequence[Object],
    *,
    over_budget: bool = False,
    broken: bool = False,
) -> Iterator[str]:
    """Yield every reason against stopping, killing or pausing a pod.

    `controller` brings it back; `budgets` are the PodDisruptionBudgets of its namespace. One that
    is `broken` already, as a paused one, need be neither ready nor within a budget. An operator's
    resource that is not at rest because brownout broke its pods does not count.
    """
    if pod.deleting:
        yield "it is being deleted" if not pod.held else "it is held stopped by brownout"
    elif not pod.ready and not broken:
        yield "it is not Ready"
    yield from _owner(pod, controller)
    document = controller.document if controller is not None else None
    if controller is not None and document is not None:
        if controller.operator is None:
            yield from _rollout(pod, document)
        elif not (broken or controller.others_held):
            yield from controller.operator.unrest(document)
    if not over_budget and not broken:
        yield from _budgets(pod, budgets)


def selects(selector: Object | None, labels: Mapping[str, str]) -> bool:
    """Whether a label selector matches; an empty one matches all, none matches nothing."""
    if selector is None:
        return False
    wanted: Mapping[str, str] = selector.get("matchLabels") or {}
    expressions: Sequence[Object] = selector.get("matchExpressions") or []
    return all(labels.get(key) == value for key, value in wanted.items()) and all(
        _holds(one, labels) for one in expressions
    )


def _owner(pod: Pod, controller: Controller | None) -> Iterator[str]:
    kind, name, uid = pod.controller
    if not kind:
        yield "no controller owns it, so nothing would bring it back"
    elif kind == "Node":
        yield f"the kubelet of `{name}` made it from a file there, and starts it again by itself"
    elif controller is None and kind != SET:
        yield (
            f"it is of {kind} `{name}`, which need not bring it back under its name; wanted a pod "
            f"of a {SET}, or of an operator that brownout knows"
        )
    elif controller is None or controller.document is None:
        yield f"its {kind} `{name}` does not exist, so nothing would bring it back"
    elif controller.document["metadata"]["uid"] != uid:
        yield f"the {kind} `{name}` is another one than the pod's own"
    elif "deletionTimestamp" in controller.document["metadata"]:
        yield f"its {kind} `{name}` is being deleted"


def _rollout(pod: Pod, controller: Object) -> Iterator[str]:
    """Yield why its StatefulSet is at work, or would bring back something else."""
    meta, spec, status = controller["metadata"], controller["spec"], controller.get("status") or {}
    name = f"its StatefulSet `{meta['name']}`"
    wanted = int(spec.get("replicas", 1))
    if status.get("observedGeneration", 0) < meta.get("generation", 0):
        yield f"{name} was changed, and its controller has not looked at it yet"
    if status.get("replicas", 0) != wanted:
        yield f"{name} has {status.get('replicas', 0)} pods, wanted {wanted}"
    new = status.get("updateRevision", "")
    if new and pod.revision not in ("", new) and pod.revision != _kept(pod, controller):
        yield (
            f"{name} is in the midst of a rollout: the pod has revision {pod.revision}, it would "
            f"come back with {new}"
        )
    elif not _rolled_out(spec, status, wanted):
        renewed = status.get("updatedReplicas", 0)
        yield f"{name} is in the midst of a rollout: {renewed} of its pods are renewed"


def _kept(pod: Pod, controller: Object) -> str:
    """Return the revision that a partitioned rollout leaves this pod at, if it does."""
    spec, status = controller["spec"], controller.get("status") or {}
    ordinal = pod.name.rpartition("-")[2]
    if ordinal.isdigit() and int(ordinal) < _partition(spec):
        return str(status.get("currentRevision", ""))
    return ""


def _rolled_out(spec: Object, status: Object, wanted: int) -> bool:
    """Whether all that a rolling update is to renew is renewed; others need no rollout."""
    if (spec.get("updateStrategy") or {}).get("type", "RollingUpdate") != "RollingUpdate":
        return True
    if status.get("currentRevision") == status.get("updateRevision"):
        return True
    first = int((spec.get("ordinals") or {}).get("start", 0))
    due = max(0, wanted - max(0, _partition(spec) - first))
    return int(status.get("updatedReplicas", 0)) >= due


def _partition(spec: Object) -> int:
    rolling = (spec.get("updateStrategy") or {}).get("rollingUpdate") or {}
    return int(rolling.get("partition") or 0)


def _budgets(pod: Pod, budgets: Sequence[Object]) -> Iterator[str]:
    for budget in budgets:
        if not selects(budget["spec"].get("selector"), pod.labels):
            continue
        status, name = budget.get("status") or {}, budget["metadata"]["name"]
        stale = status.get("observedGeneration", 0) < budget["metadata"].get("generation", 0)
        if stale or int(status.get("disruptionsAllowed", 0)) < 1:
            healthy = f"{status.get('currentHealthy', 0)} of {status.get('expectedPods', 0)}"
            yield (
                f"the PodDisruptionBudget `{name}` allows no disruption now ({healthy} pods are "
                f"healthy, wanted {status.get('desiredHealthy', 0)}); `over_budget: true` in the "
                "inventory lets it be broken all the same"
            )


def _holds(expression: Object, labels: Mapping[str, str]) -> bool:
    key, operator = expression["key"], expression["operator"]
    values: Sequence[str] = expression.get("values") or []
    if operator == "In":
        return labels.get(key) in values
    if operator == "NotIn":
        return labels.get(key) not in values
    return (key in labels) is (operator == "Exists")
