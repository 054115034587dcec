"""Ending a node's pod, so that it stays stopped, and hearing when its process ends.

The kernel shields the first process of a PID namespace from SIGKILL and SIGSTOP that come from
within it (pid_namespaces(7)). Where the database is that first process, it cannot be paused, and
the only way to kill it through the API is to delete its pod without a grace period; then the
kubelet sends SIGTERM and, two seconds later, SIGKILL. Many servers have shut down in order by then,
which is a milder fault than a kill: so that has to be wanted.
"""

import time
from typing import Any

from brownout.base.errors import HostError, Unsupported, after_effect
from brownout.kubernetes.objects import Objects
from brownout.machine.commands import script
from brownout.machine.host import Proof, StopMode
from brownout.machine.kubernetes import hold
from brownout.machine.kubernetes.bell import hung
from brownout.machine.kubernetes.pod import Pod
from brownout.machine.kubernetes.session import PodRunner
from brownout.machine.kubernetes.spec import KubernetesSpec
from brownout.machine.processes import Process
from brownout.machine.server_directory import FUNCTIONS

__all__ = ["check_killable", "check_pausable", "shielded", "stop"]

_FIRST = 1
#: What a kubelet may need beyond a pod's grace to notice, to end it and to say so.
_KUBELET_S = 60.0
_SIGKILLED = 137

#: `$1` process, `$2` its start, `$3` where others of the node work, or nothing. All by one command:
#: the container, and the script in it, may end with the first of them.
_KILL = f"""{FUNCTIONS}
alive "$1" "$2" || return 0
working=
[ -z "$3" ] || working "$3"
kill -s KILL "$1" $working
"""


def shielded(process: Process) -> bool:
    """Whether the kernel shields it from SIGKILL and SIGSTOP from within its container."""
    return process.pid == _FIRST


def check_pausable(spec: KubernetesSpec, process: Process) -> None:
    """Raise `Unsupported` for a process that the kernel shields from SIGSTOP."""
    if shielded(process):
        raise _cannot(spec, "paused", "SIGSTOP", "")


def check_killable(spec: KubernetesSpec, process: Process) -> None:
    """Raise `Unsupported` for a process that the kernel shields from SIGKILL.

    Where the inventory wants it, it is killed by the deletion of its pod instead.
    """
    if shielded(process) and not spec.kill_by_deletion:
        raise _cannot(
            spec,
            "killed",
            "SIGKILL",
            "; `kill_by_deletion: true` takes the kubelet's SIGTERM for it",
        )


def _cannot(spec: KubernetesSpec, act: str, signal: str, instead: str) -> Unsupported:
    return Unsupported(
        f"pod {spec.namespace}/{spec.pod} cannot be {act}: {spec.program} is the first process "
        f"(PID 1) of container {spec.container}, and the kernel shields that one from {signal}; "
        "nothing is touched",
        "set `shareProcessNamespace: true` in the pod template, or start it by an init (tini)"
        + instead,
    )


def stop(
    objects: Objects, spec: KubernetesSpec, pod: Pod, process: Process, mode: StopMode
) -> Proof:
    """Hold the pod and end it; proven when its process is gone and every container has ended."""
    kill = mode == "kill"
    within = kill and not shielded(process)
    hold.hold(objects, pod)
    with after_effect(), hung(spec, spec.pod, spec.container, process) as bell:
        sent = time.monotonic()
        failed = _kill(spec, process) if within else ""
        hold.delete(objects, pod, 0 if kill else pod.grace_s)
        heard = bell.wait_gone(_KUBELET_S + (0 if kill else pod.grace_s))
    if heard is None:
        raise HostError(
            f"pod {spec.namespace}/{spec.pod}: {spec.program} (process {process.pid}) still runs, "
            f"long after its deletion{f': {failed}' if failed else ''}",
            f"does the kubelet of {pod.node} still answer?",
        )
    last_yes, gone = heard
    ended = hold.await_ended(objects, pod, _KUBELET_S)
    exit_code = ended.containers[spec.container].exit_code
    if not kill and exit_code == _SIGKILLED:
        raise HostError(
            f"pod {spec.namespace}/{spec.pod} did not end within its grace period of "
            f"{pod.grace_s} s: the kubelet killed it, so this was not a clean stop",
            "raise `terminationGracePeriodSeconds` in the pod template",
        )
    seen: dict[str, Any] = {**process.evidence(), "process": "gone", "exit_code": exit_code}
    seen |= {"how": _how(kill, within, pod, exit_code), "took_s": round(gone - sent, 4)}
    return Proof(gone, gone - max(sent, last_yes), ended.evidence(spec.container, **seen))


def _kill(spec: KubernetesSpec, process: Process) -> str:
    """Kill it from within; return what went wrong. Its container may end with the script in it."""
    try:
        PodRunner(spec, spec.pod, spec.container).run(
            script(_KILL, process.pid, process.started, spec.server_directory or ""),
            timeout_s=20.0,
        )
    except HostError as error:
        return str(error)
    return ""


def _how(kill: bool, within: bool, pod: Pod, exit_code: int | None) -> str:
    if within:
        return "SIGKILL by exec, then deleted without grace"
    if kill and exit_code == _SIGKILLED:
        return "deleted without grace: SIGTERM and then SIGKILL by the kubelet"
    if kill:
        return "deleted without grace: it ended on the kubelet's SIGTERM, before SIGKILL came"
    return f"deleted with a grace of {pod.grace_s} s: SIGTERM by the kubelet"
