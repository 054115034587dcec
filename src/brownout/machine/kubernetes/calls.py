"""The calls that an act would be, in words, for a plan. Pure."""

from collections.abc import Sequence
from pathlib import Path

from brownout.kubernetes.objects import in_namespace
from brownout.machine.directories import in_words
from brownout.machine.kubernetes.location import Located
from brownout.machine.kubernetes.pod import HELD
from brownout.machine.kubernetes.spec import KubernetesSpec
from brownout.machine.kubernetes.stop import shielded

__all__ = ["NO_MACHINE", "of"]

NO_MACHINE = "a pod has no machine of its own to restart, and its node's is not ours"
#: What the API gives a pod that does not say it.
_GRACE_S = 30


def of(act: str, spec: KubernetesSpec, located: Located, directories: Sequence[Path]) -> str:
    """Return what `act` would ask the API server for; `directories` are a wipe's."""
    path = in_namespace(spec.namespace, "pods", spec.pod)
    pid = located.process.pid if located.process else "none yet"
    within = f"exec in container {spec.container} of {path}"
    hold, release = f"PATCH {path} (finalizer {HELD})", f"PATCH {path} (without {HELD})"
    grace_s = located.pod.grace_s if located.pod else _GRACE_S
    by_deletion = located.process is not None and shielded(located.process)
    killed = "" if by_deletion else f"{within}: SIGKILL to process {pid}; "
    claims = "".join(
        f"; DELETE {in_namespace(spec.namespace, 'persistentvolumeclaims', claim)}"
        for claim in spec.claims
    )
    emptied = in_words(directories)
    return {
        "stop": f"{hold}; DELETE {path} (gracePeriodSeconds {grace_s})",
        "kill": f"{hold}; {killed}DELETE {path} (gracePeriodSeconds 0)",
        "pause": f"{within}: SIGSTOP to process {pid}",
        "resume": f"{within}: SIGCONT to process {pid}",
        "start": f"{release}; its controller makes a new pod",
        "wipe": f"POST a helper pod with the claims of {path}: empty {emptied}{claims}",
        "reboot": f"skipped: {NO_MACHINE}",
    }[act]
