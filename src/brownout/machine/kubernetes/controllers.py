"""What brings a pod back: its StatefulSet, or an operator's resource that makes pods itself."""

from dataclasses import dataclass

from brownout.inventory.database import Operator, databases
from brownout.kubernetes.objects import Object, Objects, in_namespace
from brownout.machine.kubernetes import pod as pods
from brownout.machine.kubernetes.pod import Pod

__all__ = ["SET", "Controller", "controller_of", "operator_of"]

SET = "StatefulSet"


@dataclass(frozen=True, slots=True)
class Controller:
    """What controls a pod, as the API has it now; `document` is None where it does not exist.

    `operator` is None for a StatefulSet. `others_held` says that brownout holds other pods of it.
    """

    document: Object | None
    operator: Operator | None = None
    others_held: bool = False


def operator_of(pod: Pod) -> Operator | None:
    """Return the operator whose resource controls the pod without a StatefulSet; None if none."""
    kind, group = pod.controller[0], pod.controller_api.partition("/")[0]
    for database in databases().values():
        for operator in database.operators:
            if kind and operator.owns_pods == kind and f"/{group}/" in f"{operator.group}/":
                return operator
    return None


def controller_of(objects: Objects, pod: Pod) -> Controller | None:
    """Return what controls the pod; None for what is not known to bring it back under its name."""
    kind, name, uid = pod.controller
    if kind == SET:
        return Controller(objects.find(in_namespace(pod.namespace, "statefulsets", name)))
    operator = operator_of(pod)
    if operator is None:
        return None
    path = in_namespace(pod.namespace, operator.path, name, group=operator.group)
    every = [pods.read(one) for one in objects.listed(in_namespace(pod.namespace, "pods"))]
    held = any(one.held for one in every if one.controller[2] == uid and one.uid != pod.uid)
    return Controller(objects.find(path), operator, held)
