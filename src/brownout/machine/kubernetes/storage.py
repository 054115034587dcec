"""Wiping a held pod's storage: directories of its own volume claims, and the claims themselves.

Directories are emptied by a helper. A claim that the inventory names is then deleted, too: the
API keeps it as long as the held pod, and that cannot be taken back; with the pod it goes, and the
controller makes another claim for the next pod. An operator that makes its pods itself gives a new
instance data only with a new claim, so there the inventory has to name the claims.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import PurePosixPath

from brownout.base.errors import HostError, Refused
from brownout.kubernetes.objects import Objects, in_namespace
from brownout.machine import storage
from brownout.machine.commands import Runner
from brownout.machine.host import Proof
from brownout.machine.kubernetes import claims, hold
from brownout.machine.kubernetes import pod as pods
from brownout.machine.kubernetes.claims import Claim
from brownout.machine.kubernetes.controllers import Controller
from brownout.machine.kubernetes.helper import HELPER, helper
from brownout.machine.kubernetes.pod import Pod
from brownout.machine.kubernetes.spec import KubernetesSpec
from brownout.machine.storage import Rules

__all__ = ["check", "check_running", "claim_of", "deleting", "wipe"]

_VOLUMES = "/api/v1/persistentvolumes"


def check(
    objects: Objects,
    spec: KubernetesSpec,
    pod: Pod,
    controller: Controller | None,
    targets: Sequence[PurePosixPath],
) -> dict[str, Claim | None]:
    """Return the claims that `targets` lie on if they may be wiped, as far as the API knows.

    Raises `Refused` with every reason otherwise; nothing is touched.
    """
    others = _others(objects, pod)
    mounts = [pod.mount_of(spec.container, target) for target in targets]
    names = sorted({mount.claim for mount in mounts if mount is not None and mount.claim})
    by_operator = controller is not None and controller.operator is not None
    used = (
        {name: claim_of(objects, spec.namespace, name) for name in names}
        if spec.claims or by_operator
        else {}
    )
    document = controller.document if controller is not None else None
    own = claims.of_operator(pod, used) if by_operator else claims.of_templates(pod, document)
    reasons = [
        f"`{target}`: {reason}"
        for target in targets
        for reason in claims.refusals(target, pod, spec.container, own, others)
    ]
    if by_operator and not spec.claims:
        reasons.append(
            f"its operator fills only a new claim: give the node `claims: [{', '.join(names)}]`"
        )
    elif spec.claims:
        reasons += claims.replacement_refusals(spec.claims, used)
    if reasons:
        raise Refused(
            f"pod {spec.namespace}/{spec.pod} is not wiped: {'; '.join(reasons)}",
        )
    return used


def check_running(runner: Runner, spec: KubernetesSpec, targets: Sequence[PurePosixPath]) -> None:
    """Raise `Refused` with what is in the way inside the pod's container, which runs.

    Who is seen to use them there is the pod itself; nothing is touched.
    """
    storage.check(runner, targets, _rules(spec), own=None)


def wipe(
    objects: Objects,
    spec: KubernetesSpec,
    pod: Pod,
    controller: Controller | None,
    targets: Sequence[PurePosixPath],
    began: Callable[[], None],
    finishing: bool,
) -> Proof:
    """Empty `targets` of a held pod, all of them checked before the first is touched.

    Raises `Refused` with what is against one of them; then nothing was touched.
    """
    used = check(objects, spec, pod, controller, targets)
    with helper(objects, spec, pod) as runner:
        checked = storage.check(runner, targets, replace(_rules(spec), finishing=finishing))
        began()
        emptied = storage.empty(runner, checked, spec.wipe_timeout_s)
    hold.await_ended(objects, pod, 0.0)  # nothing of it came back meanwhile
    replaced = [_replace(objects, spec, claim) for claim in used.values() if claim is not None]
    evidence = {**emptied.evidence, **({"claims": replaced} if replaced else {})}
    already = emptied.already and all(claim and claim.deleting for claim in used.values())
    return replace(emptied, evidence=evidence, already=already)


def _rules(spec: KubernetesSpec) -> Rules:
    keep = (PurePosixPath(spec.config_file),) if spec.config_file else ()
    return Rules(keep, mount_point=True, timeout_s=spec.wipe_timeout_s)


def claim_of(objects: Objects, namespace: str, name: str) -> Claim | None:
    """Return a claim with its volume; None if there is none."""
    document = objects.find(in_namespace(namespace, "persistentvolumeclaims", name))
    if document is None:
        return None
    volume = document["spec"].get("volumeName")
    return claims.read(document, objects.find(f"{_VOLUMES}/{volume}") if volume else None)


def deleting(objects: Objects, spec: KubernetesSpec) -> dict[str, str]:
    """Return the uid of each of the inventory's claims that a wipe has deleted and is still there.

    A claim that is gone already has an empty one: whichever comes is another one.
    """
    by_name = {name: claim_of(objects, spec.namespace, name) for name in spec.claims}
    gone = {name: "" for name, claim in by_name.items() if claim is None}
    return gone | {
        name: one.uid for name, one in by_name.items() if one is not None and one.deleting
    }


def _replace(objects: Objects, spec: KubernetesSpec, claim: Claim) -> dict[str, object]:
    """Delete a claim; proven when the API has marked it, which cannot be taken back."""
    path = in_namespace(spec.namespace, "persistentvolumeclaims", claim.name)
    if not claim.deleting:
        objects.delete(path, claim.uid)
    left = claim_of(objects, spec.namespace, claim.name)
    if left is not None and left.uid == claim.uid and not left.deleting:
        raise HostError(f"the claim {spec.namespace}/{claim.name} is still there, not deleted")
    state = "deleted, goes with the held pod" if left is not None else "gone"
    return claim.evidence(state=state)


def _others(objects: Objects, pod: Pod) -> list[Pod]:
    """Return the other pods of the namespace, without our own helpers for this one."""
    listed = objects.listed(in_namespace(pod.namespace, "pods"))
    read = [pods.read(one) for one in listed]
    return [one for one in read if one.uid != pod.uid and one.labels.get(HELPER) != pod.uid]
