"""Faults of Chaos Mesh: `PodChaos`, `NetworkChaos` and their like, by their own status.

status.experiment.containerRecords[]   one a target: id, phase, events[]
    events[]                           operation Apply or Recover, type Succeeded or Failed
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from pydantic import ValidationError

from brownout.base.errors import ConfigurationError, NoAnswer
from brownout.base.extras import how_to_install
from brownout.base.problems import from_validation
from brownout.faults.others.account import Account, Moment, moment_of

__all__ = ["GROUP", "ChaosMesh", "account_of"]

GROUP = "/apis/chaos-mesh.org/v1alpha1"
#: What these do is over at once; Chaos Mesh recovers nothing.
_AT_ONCE = ("pod-kill", "container-kill")
#: `metav1.Time` has no fractions of a second.
_RESOLUTION_S = 1.0

Document = Mapping[str, Any]


class ChaosMesh:
    """One object of Chaos Mesh; `kind` as `PodChaos`. Methods raise `HostError`.

    It is removed only after its targets have recovered: Chaos Mesh keeps a finalizer on it.
    """

    def __init__(
        self, kind: str, name: str, namespace: str, kubeconfig: str = "", context: str = ""
    ) -> None:
        try:
            from brownout.kubernetes.access import Access, connect
            from brownout.kubernetes.objects import Objects, in_namespace
            from brownout.kubernetes.problems import Away
        except ModuleNotFoundError as error:
            raise ConfigurationError(
                f"Chaos Mesh needs the package `{error.name}`, which is not installed",
                how_to_install("kubernetes"),
            ) from error
        if not kind.lower().endswith("chaos"):
            raise ConfigurationError(
                f"kind: found {kind!r}, wanted a kind of Chaos Mesh, as PodChaos or NetworkChaos"
            )
        settings = {"kubeconfig": kubeconfig, "context": context, "namespace": namespace}
        given = {key: text for key, text in settings.items() if text}
        try:
            access = Access.model_validate(given)
        except ValidationError as error:
            raise ConfigurationError(from_validation(error, Access)) from error
        self._client = connect(access)
        role = "get on this kind of chaos-mesh.org"
        self._objects = Objects(self._client, 0.0, role)
        # Chaos Mesh names the plural of its kinds as the kind itself.
        self._path = in_namespace(access.namespace, kind.lower(), name, group=GROUP)
        self._away = Away
        self.words = f"{kind} {access.namespace}/{name}"

    def look(self) -> Account | None:
        """Return what its object says; None before it is there."""
        try:
            document = self._objects.find(self._path)
        except self._away as error:
            raise NoAnswer(error.message, error.hint) from error
        return None if document is None else account_of(document)

    def close(self) -> None:
        """Give back its connections."""
        self._client.close()


def account_of(document: Document) -> Account:
    """Read an object of Chaos Mesh; it has ended when every target that it hit has recovered.

    One that is paused recovers its targets, too, and hits them again when it is resumed:

        Apply ──▶ Recover: paused ──▶ Apply: resumed ──▶ Recover: ended
    """
    status = document.get("status") or {}
    records = (status.get("experiment") or {}).get("containerRecords") or []
    applied = [(r, at) for r in records if (at := _first(r, "Apply")) is not None]
    recovered = [at for r, _ in applied if (at := _recovered(r)) is not None]
    began = _earliest([at for _, at in applied])
    is_paused = _state(status) == "Paused"
    is_over = bool(applied) and len(recovered) == len(applied) and not is_paused
    ended = _latest(recovered) if is_over else None
    breaches = ["it was paused"] if is_paused or any(map(_was_paused, records)) else []
    if (document.get("spec") or {}).get("action") in _AT_ONCE:
        ended = _latest([at for _, at in applied])
    elif is_over and len(applied) < len(records):
        never = [str(r.get("id")) for r in records if _first(r, "Apply") is None]
        breaches.append(f"it never hit {', '.join(never)}")
    return Account(
        state=_state(status),
        began=began,
        ended=ended,
        targets=tuple(str(r.get("id")) for r, _ in applied),
        complaint="; ".join(dict.fromkeys(_failures(records))),
        breach="; ".join(breaches),
    )


def _first(record: Document, operation: str) -> Moment | None:
    """Return when an operation on a target first succeeded."""
    return _earliest([at for done, at in _succeeded(record) if done == operation])


def _recovered(record: Document) -> Moment | None:
    """Return when a target recovered; None while it is hit, for the first time or again."""
    done = _succeeded(record)
    if not done or done[-1][0] != "Recover" or str(record.get("phase")).startswith("Injected"):
        return None
    return done[-1][1]


def _was_paused(record: Document) -> bool:
    """Whether a target recovered and was hit again."""
    done = [operation for operation, _ in _succeeded(record)]
    return ("Recover", "Apply") in pairwise(done) or int(record.get("injectedCount") or 0) > 1


def _succeeded(record: Document) -> list[tuple[str, Moment]]:
    """Return each operation on a target that succeeded, and when; Chaos Mesh appends the latest."""
    return [
        (str(event.get("operation")), moment)
        for event in record.get("events") or []
        if event.get("type") == "Succeeded"
        and (moment := moment_of(event.get("timestamp"), _RESOLUTION_S)) is not None
    ]


def _failures(records: Sequence[Document]) -> Iterator[str]:
    for record in records:
        for event in record.get("events") or []:
            if event.get("type") == "Failed":
                yield f"{record.get('id')}: {event.get('message') or event.get('operation')}"


def _state(status: Document) -> str:
    """`AllInjected`, `Selected`, …: the last of its conditions that holds."""
    order = ("Selected", "AllInjected", "AllRecovered", "Paused")
    holding = {c.get("type") for c in status.get("conditions") or [] if c.get("status") == "True"}
    return next((name for name in reversed(order) if name in holding), "not selected yet")


def _earliest(moments: Sequence[Moment]) -> Moment | None:
    return min(moments, key=lambda moment: moment.first, default=None)


def _latest(moments: Sequence[Moment]) -> Moment | None:
    return max(moments, key=lambda moment: moment.last, default=None)
