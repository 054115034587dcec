"""Which process is the node's: the pod by the API, the process by its program in the container."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from brownout.base.errors import ConfigurationError, HostError
from brownout.base.wait import wait_until
from brownout.kubernetes.access import connect
from brownout.kubernetes.objects import Objects, in_namespace
from brownout.machine.commands import answer, script
from brownout.machine.kubernetes import pod as pods
from brownout.machine.kubernetes.pod import Pod
from brownout.machine.kubernetes.session import PodRunner
from brownout.machine.kubernetes.spec import KubernetesSpec
from brownout.machine.processes import DESCRIBE, FUNCTIONS, Process, described

__all__ = ["Located", "find_pod", "locate", "objects_of"]

#: The API's word for a container that ended lags behind for about so long.
_LAG_S = 10.0
_POLL_S = 0.1

_LOCATE = f"""{FUNCTIONS}
{DESCRIBE}
for entry in /proc/[0-9]*; do describe "${{entry#/proc/}}"; done 2>/dev/null
clock
"""


@dataclass(frozen=True, slots=True)
class Located:
    """The node's pod, if there is one now, and the database's process in it, if it runs."""

    pod: Pod | None
    process: Process | None = None


@contextmanager
def objects_of(spec: KubernetesSpec) -> Iterator[Objects]:
    """Yield the objects of the API server that has the node's pod, by a connection of our own."""
    client = connect(spec)
    try:
        yield Objects(client)
    finally:
        client.close()


def find_pod(objects: Objects, spec: KubernetesSpec) -> Pod | None:
    """Return the pod that has the node's name now; it may be another one than before.

    Raises `ConfigurationError` if it has no such container.
    """
    document = objects.find(in_namespace(spec.namespace, "pods", spec.pod))
    if document is None:
        return None
    pod = pods.read(document)
    if spec.container not in pod.containers:
        names = ", ".join(pod.containers)
        raise ConfigurationError(
            f"pod {spec.namespace}/{spec.pod} has no container `{spec.container}`; it has {names}",
            "correct `container` in the inventory",
        )
    return pod


def locate(objects: Objects, spec: KubernetesSpec) -> Located:
    """Look for the node's process.

    Raises `HostError` where a container that the API calls running cannot be entered, or where
    several processes could be the node's.
    """
    runner = PodRunner(spec, spec.pod, spec.container)

    def look() -> Located | HostError:
        pod = find_pod(objects, spec)
        if pod is None or pod.containers[spec.container].state != "running":
            return Located(pod)
        try:
            return Located(pod, _process(spec, runner))
        except HostError as error:
            return error  # it may have ended just now

    located = wait_until(look, _LAG_S, _POLL_S, so=lambda it: isinstance(it, Located))
    if isinstance(located, HostError):
        raise located
    return located


def _roots(processes: Sequence[Process]) -> list[Process]:
    """Return those that none of the others started: a server's own children have its name."""
    pids = {one.pid for one in processes}
    return [one for one in processes if one.parent not in pids]


def _process(spec: KubernetesSpec, runner: PodRunner) -> Process | None:
    done = runner.run(script(_LOCATE))
    reply = answer(done, f"looking for {spec.program}", runner.where)
    processes = _roots([one for one in described(reply, done) if one.runs(spec.program)])
    if len(processes) > 1:
        listed = ", ".join(str(one.pid) for one in processes)
        raise HostError(
            f"{runner.where} has several processes of {spec.program} ({listed}), wanted one"
        )
    return processes[0] if processes else None
