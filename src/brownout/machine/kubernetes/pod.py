"""What the API says of a pod: who it is, in which state, with what mounted where. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from brownout.kubernetes.objects import Object

__all__ = ["HELD", "Container", "Mount", "Pod", "read"]

#: Our finalizer: a deleted pod with it stays in the API, and its controller makes no other one.
HELD = "brownout.dev/held"


@dataclass(frozen=True, slots=True)
class Mount:
    """One mount of a container: `claim` is that of its volume, empty where it has none."""

    path: PurePosixPath
    volume: str
    claim: str
    writable: bool
    sub_path: str


@dataclass(frozen=True, slots=True)
class Container:
    """One container in its present life: `id` is the runtime's, empty before the first one.

    `state` is `running`, `waiting`, `terminated` or, where the kubelet has not spoken, `unknown`;
    `reason` is the kubelet's word for it, as CrashLoopBackOff.
    """

    name: str
    id: str
    state: str
    reason: str
    restarts: int
    started_at: str
    finished_at: str
    exit_code: int | None
    has_liveness_probe: bool


@dataclass(frozen=True, slots=True)
class Pod:
    """One pod for good: `uid` is its own, another pod of its name has another one."""

    name: str
    namespace: str
    uid: str
    version: str
    node: str
    phase: str
    ready: bool
    deleting: bool
    finalizers: tuple[str, ...]
    controller: tuple[str, str, str]
    controller_api: str
    revision: str
    labels: Mapping[str, str]
    grace_s: int
    claims: tuple[str, ...]
    mounts: Mapping[str, tuple[Mount, ...]]
    containers: Mapping[str, Container]
    spec: Object

    @property
    def held(self) -> bool:
        """Whether it is deleted, and stays in the API for us."""
        return self.deleting and HELD in self.finalizers

    @property
    def ended(self) -> bool:
        """Whether none of its containers runs, or will again."""
        over = all(c.state == "terminated" for c in self.containers.values())
        return self.phase in ("Succeeded", "Failed") or (self.deleting and over)

    def evidence(self, container: str, **seen: Any) -> dict[str, Any]:
        """Return who it is and what was `seen` of it, for JSON."""
        who: dict[str, Any] = {"pod": self.name, "namespace": self.namespace, "uid": self.uid}
        state = self.containers.get(container)
        if state is not None:
            life = {"container_id": state.id, "restarts": state.restarts, "state": state.state}
            who |= {**life, **({"reason": state.reason} if state.reason else {})}
        return {**who, "machine": self.node, "held": self.held, **seen}

    def mount_of(self, container: str, path: PurePosixPath) -> Mount | None:
        """Return the mount that `path` of a container lies on; None for its own layer."""
        over = [one for one in self.mounts.get(container, ()) if path.is_relative_to(one.path)]
        return max(over, key=lambda one: len(one.path.parts), default=None)


def read(document: Object) -> Pod:
    """Return a pod as the API has it."""
    meta, spec, status = document["metadata"], document["spec"], document.get("status") or {}
    owners: Sequence[Object] = meta.get("ownerReferences") or []
    owner: Object = next((one for one in owners if one.get("controller")), {})
    conditions = {c["type"]: c["status"] for c in status.get("conditions") or []}
    volumes = dict(_claims(spec))
    statuses = {one["name"]: one for one in status.get("containerStatuses") or []}
    labels = meta.get("labels") or {}
    return Pod(
        name=str(meta["name"]),
        namespace=str(meta["namespace"]),
        uid=str(meta["uid"]),
        version=str(meta.get("resourceVersion", "")),
        node=str(spec.get("nodeName") or ""),
        phase=str(status.get("phase") or ""),
        ready=conditions.get("Ready") == "True",
        deleting="deletionTimestamp" in meta,
        finalizers=tuple(meta.get("finalizers") or ()),
        controller=(owner.get("kind", ""), owner.get("name", ""), owner.get("uid", "")),
        controller_api=str(owner.get("apiVersion", "")),
        revision=str(labels.get("controller-revision-hash", "")),
        labels=labels,
        grace_s=int(spec.get("terminationGracePeriodSeconds") or 0),
        claims=tuple(volumes.values()),
        mounts={one["name"]: tuple(_mounts(one, volumes)) for one in spec["containers"]},
        containers={
            one["name"]: _container(one, statuses.get(one["name"], {}))
            for one in spec["containers"]
        },
        spec=spec,
    )


def _claims(spec: Object) -> Iterator[tuple[str, str]]:
    for volume in spec.get("volumes") or []:
        if claim := (volume.get("persistentVolumeClaim") or {}).get("claimName"):
            yield str(volume["name"]), str(claim)


def _mounts(container: Object, volumes: Mapping[str, str]) -> Iterator[Mount]:
    mounts: Sequence[Object] = container.get("volumeMounts") or []
    for one in mounts:
        yield Mount(
            path=PurePosixPath(one["mountPath"]),
            volume=str(one["name"]),
            claim=volumes.get(str(one["name"]), ""),
            writable=not one.get("readOnly", False),
            sub_path=str(one.get("subPath") or one.get("subPathExpr") or ""),
        )


def _container(spec: Object, status: Object) -> Container:
    states: Object = status.get("state") or {}
    state = next(iter(states), "unknown")
    detail = states.get(state) or {}
    return Container(
        name=str(spec["name"]),
        id=str(detail.get("containerID") or status.get("containerID") or ""),
        state=state,
        reason=str(detail.get("reason") or ""),
        restarts=int(status.get("restartCount") or 0),
        started_at=str(detail.get("startedAt") or ""),
        finished_at=str(detail.get("finishedAt") or ""),
        exit_code=detail.get("exitCode"),
        has_liveness_probe="livenessProbe" in spec,
    )
