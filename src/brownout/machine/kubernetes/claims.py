"""Whether a pod's volume claims may lose what is on them. Pure: judged from the API's objects."""

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from brownout.kubernetes.objects import Object
from brownout.machine.kubernetes.pod import Pod

__all__ = ["Claim", "of_operator", "of_templates", "read", "refusals"]
__all__ += ["replacement_refusals", "uses"]


@dataclass(frozen=True, slots=True)
class Claim:
    """One volume claim for good, with its volume's name and what becomes of that afterwards.

    `controller` is the uid of what controls it, empty where nothing does.
    """

    name: str
    uid: str
    phase: str
    volume: str
    deleting: bool
    controller: str
    reclaim_policy: str
    volume_claim: str

    def evidence(self, **seen: Any) -> dict[str, Any]:
        """Return who it is and what was `seen` of it, for JSON."""
        who = {"claim": self.name, "uid": self.uid, "volume": self.volume}
        return {**who, "reclaim_policy": self.reclaim_policy, **seen}


def read(claim: Object, volume: Object | None) -> Claim:
    """Return a claim as the API has it, with its volume, if that is there."""
    spec = (volume or {}).get("spec") or {}
    owners: Sequence[Object] = claim["metadata"].get("ownerReferences") or []
    return Claim(
        name=str(claim["metadata"]["name"]),
        uid=str(claim["metadata"]["uid"]),
        phase=str((claim.get("status") or {}).get("phase") or ""),
        volume=str(claim["spec"].get("volumeName") or ""),
        deleting="deletionTimestamp" in claim["metadata"],
        controller=next((str(one["uid"]) for one in owners if one.get("controller")), ""),
        reclaim_policy=str(spec.get("persistentVolumeReclaimPolicy") or ""),
        volume_claim=str((spec.get("claimRef") or {}).get("uid") or ""),
    )


def uses(pod: Pod, claim: str) -> bool:
    """Whether a pod has the claim among its volumes and has not ended for good."""
    return claim in pod.claims and pod.phase not in ("Succeeded", "Failed")


def refusals(
    directory: PurePosixPath,
    pod: Pod,
    container: str,
    own: Set[str],
    others: Sequence[Pod],
) -> Iterator[str]:
    """Yield every reason why a directory of the pod must not be emptied.

    `own` are the claims that its controller made for it alone, `others` the other pods of its
    namespace.
    """
    mount = pod.mount_of(container, directory)
    if mount is None or not mount.claim:
        yield "it lies on no volume claim of the pod"
        return
    if not mount.writable:
        yield f"its claim `{mount.claim}` is mounted read-only"
    if mount.claim not in own:
        yield f"its claim `{mount.claim}` was not made for it by its {pod.controller[0] or 'owner'}"
    for inner in pod.mounts[container]:
        if inner is not mount and inner.path.is_relative_to(directory):
            yield f"something else is mounted in it at `{inner.path}`"
    for other in others:
        if uses(other, mount.claim):
            yield f"its claim `{mount.claim}` is used by pod `{other.name}` too"


def replacement_refusals(named: Sequence[str], used: Mapping[str, Claim | None]) -> Iterator[str]:
    """Yield every reason why claims must not be replaced.

    `named` are the inventory's, `used` those that the data directories lie on, None for one that
    does not exist.
    """
    for name in sorted(set(named) - set(used)):
        yield f"the inventory names the claim `{name}`, on which no data directory lies"
    for name, claim in used.items():
        if name not in named:
            yield f"the claim `{name}` is not among the inventory's `claims`, and others are"
        elif claim is None:
            yield f"the claim `{name}` does not exist"
        elif not claim.deleting:
            yield from _replaceable(claim)


def _replaceable(claim: Claim) -> Iterator[str]:
    if claim.phase != "Bound" or not claim.volume:
        yield f"the claim `{claim.name}` is {claim.phase or 'in no phase'}, wanted Bound"
    elif claim.volume_claim != claim.uid:
        yield f"the volume `{claim.volume}` does not say that it is of the claim `{claim.name}`"
    elif claim.reclaim_policy not in ("Delete", "Retain"):
        policy = claim.reclaim_policy or "none"
        yield (
            f"what becomes of the volume `{claim.volume}` is not known: its reclaim policy is "
            f"{policy}, wanted Delete or Retain"
        )


def of_templates(pod: Pod, stateful_set: Object | None) -> set[str]:
    """Return how the StatefulSet's templates name this pod's claims: `data-db-0`."""
    spec: Object = stateful_set["spec"] if stateful_set is not None else {}
    templates: Sequence[Object] = spec.get("volumeClaimTemplates") or []
    return {f"{one['metadata']['name']}-{pod.name}" for one in templates}


def of_operator(pod: Pod, used: Mapping[str, Claim | None]) -> set[str]:
    """Return those of the claims that the pod's own controller, a resource, controls as well."""
    uid = pod.controller[2]
    return {name for name, claim in used.items() if claim and uid and claim.controller == uid}
