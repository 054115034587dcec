"""The network of a pod, changed from a privileged pod on the same machine.

A database's container has neither the tools nor the rights to change its own network. So a pod of
our own runs beside it, of the image that the inventory names (`network_image`), which sees the
machine's processes and enters the network of the one that is the node's:

    brownout ──exec──▶ our pod (hostPID, privileged) ──nsenter──▶ the network of the node's pod

It is made with the first script and removed once the network is as it was, with the last of several
faults. Where we die before that, it stays until its deadline, since the switch that undoes the
fault runs in it; the API removes it with the node's pod.
"""

from secrets import token_hex

from brownout.base.errors import HostError, Unsupported
from brownout.kubernetes.objects import Object, Objects, in_namespace
from brownout.machine import deadman
from brownout.machine.commands import Completed, answer, script
from brownout.machine.kubernetes.helper import await_running
from brownout.machine.kubernetes.location import find_pod, locate, objects_of
from brownout.machine.kubernetes.pod import Pod
from brownout.machine.kubernetes.session import PodRunner
from brownout.machine.kubernetes.spec import KubernetesSpec
from brownout.machine.network import Network

__all__ = ["PRIVILEGED", "NetworkRunner", "manifest", "network"]

#: The label of our privileged pods; its value is the uid of the pod that they are for.
PRIVILEGED = "brownout.dev/network"
_CONTAINER = "network"
#: Longer than any switch that an inventory may ask for, and than the run around it.
_SPARE_S = 3600.0
#: What the image has to have besides a shell, and the Debian packages that have it.
_TOOLS = "nsenter nft tc ip getent setsid"
_PACKAGES = "util-linux, nftables, iproute2, libc-bin"
#: `$1` process. The network that it is in, as the kernel numbers it.
_WHICH = 'echo "network $(stat -L -c %i "/proc/$1/ns/net")"\n'
#: `$1` network. A process of the machine that is in it, the network of the machine (that of its
#: first process, or of its kernel's), and our own.
_WHO = f"""
for tool in {_TOOLS}; do command -v $tool >/dev/null || echo "missing $tool"; done
for first in 1 2; do
  machine=$(stat -L -c %i /proc/$first/ns/net 2>/dev/null) && break
done
echo "machine ${{machine:-unknown}}"
echo "own $(stat -L -c %i /proc/self/ns/net)"
for entry in /proc/[0-9]*; do
  [ "$(stat -L -c %i "$entry/ns/net" 2>/dev/null)" = "$1" ] || continue
  echo "pid ${{entry#/proc/}}"
  return 0
done
"""


def network(objects: Objects, spec: KubernetesSpec, node: str) -> Network:
    """Return the network of the node's pod; nothing is made before a script runs in it.

    Raises `Unsupported` where the inventory names no image, or the pod uses its machine's network.
    """
    if not spec.network_image:
        raise Unsupported(
            f"node `{node}`: set `host.network_image` in the inventory: an image with "
            f"{_TOOLS.replace(' ', ', ')} (Debian: {_PACKAGES}), for a privileged pod beside it"
        )
    located = locate(objects, spec)
    if located.pod is not None and located.pod.spec.get("hostNetwork"):
        raise Unsupported(
            f"node `{node}` has no network to itself: pod {spec.namespace}/{spec.pod} uses that of "
            "its machine (hostNetwork)"
        )
    runner = NetworkRunner(spec)
    return Network(node, runner, spec.undo_after_s, is_ready=runner.is_ready, leave=runner.leave)


class NetworkRunner:
    """Runs scripts in the network of the node's pod."""

    def __init__(self, spec: KubernetesSpec) -> None:
        self._spec = spec

    @property
    def where(self) -> str:
        """Whose network, for messages."""
        return f"the network of pod {self._spec.namespace}/{self._spec.pod}"

    def run(self, text: str, timeout_s: float = 30.0) -> Completed:
        """Run a script there and wait for its end."""
        with objects_of(self._spec) as objects:
            located = locate(objects, self._spec)
            if located.pod is None or located.process is None:
                raise HostError(f"{self.where} is not there: {self._spec.program} does not run")
            inside = PodRunner(self._spec, self._spec.pod, self._spec.container)
            asked = inside.run(script(_WHICH, located.process.pid))
            number = answer(asked, "asking for its network", self.where).get("network")
            beside = PodRunner(self._spec, self._pod(objects, located.pod), _CONTAINER)
        pid = self._process_in(beside, number)
        enter = ["nsenter", f"--target={pid}", "--net", "--", "/bin/sh", "-s"]
        return beside.run(text, timeout_s, enter)

    def is_ready(self) -> bool:
        """Return whether a pod of ours is there already."""
        with objects_of(self._spec) as objects:
            pod = find_pod(objects, self._spec)
            return pod is not None and bool(self._serving(objects, pod))

    def leave(self) -> None:
        """Remove our pods beside the node's, but for those in which another fault's switch runs."""
        with objects_of(self._spec) as objects:
            located = locate(objects, self._spec)
            if located.pod is not None:
                for name, uid in self._serving(objects, located.pod):
                    if not deadman.armed(PodRunner(self._spec, name, _CONTAINER), "mnt"):
                        path = in_namespace(self._spec.namespace, "pods", name)
                        objects.delete(path, uid, 0)

    def _process_in(self, beside: PodRunner, number: str) -> str:
        reply = answer(beside.run(script(_WHO, number)), "looking for the network", beside.where)
        if missing := reply.all("missing"):
            raise Unsupported(
                f"{', '.join(missing)} not found in {beside.where} (Debian: {_PACKAGES})",
                "name another image in `host.network_image`",
            )
        if reply.get("machine") == "unknown":
            raise Unsupported(
                f"{beside.where} cannot tell the network of the machine from that of the pod",
                "does the namespace allow a privileged pod with hostPID?",
            )
        if number in (reply.get("machine"), reply.get("own")):
            raise Unsupported(f"{self.where} is that of its machine, so it is not touched")
        pid = reply.get("pid")
        if not pid:
            raise HostError(f"{beside.where} does not see the processes of the node's pod")
        return pid

    def _pod(self, objects: Objects, pod: Pod) -> str:
        """Return the name of our pod beside `pod`; it is made where there is none."""
        for name, _ in self._serving(objects, pod):
            return name
        name = f"{pod.name[:40].rstrip('-.')}-brownout-net-{token_hex(3)}"
        deadline_s = self._spec.undo_after_s + _SPARE_S
        objects.create(
            in_namespace(pod.namespace, "pods"),
            manifest(pod, name, self._spec.network_image, deadline_s),
        )
        await_running(objects, in_namespace(pod.namespace, "pods", name), _CONTAINER)
        return name

    def _serving(self, objects: Objects, pod: Pod) -> list[tuple[str, str]]:
        """Return the name and uid of each pod of ours beside `pod` that still serves."""
        path = in_namespace(pod.namespace, "pods")
        listed = objects.listed(path, labelSelector=f"{PRIVILEGED}={pod.uid}")
        return [
            (str(each["metadata"]["name"]), str(each["metadata"]["uid"]))
            for each in listed
            if each.get("status", {}).get("phase") == "Running"
            and "deletionTimestamp" not in each["metadata"]
        ]


def manifest(pod: Pod, name: str, image: str, ends_after_s: float) -> Object:
    """Return our privileged pod on the machine of `pod`. Pure."""
    owner = {"apiVersion": "v1", "kind": "Pod", "name": pod.name, "uid": pod.uid}
    copied = ("imagePullSecrets", "tolerations")
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "labels": {PRIVILEGED: pod.uid}, "ownerReferences": [owner]},
        "spec": {
            **{key: pod.spec[key] for key in copied if key in pod.spec},
            "nodeName": pod.node,
            "hostPID": True,
            "restartPolicy": "Never",
            "activeDeadlineSeconds": int(ends_after_s),
            "automountServiceAccountToken": False,
            "enableServiceLinks": False,
            "terminationGracePeriodSeconds": 0,
            "containers": [
                {
                    "name": _CONTAINER,
                    "image": image,
                    "command": ["/bin/sh", "-c", f"exec sleep {ends_after_s:.0f}"],
                    "securityContext": {"privileged": True, "runAsUser": 0},
                }
            ],
        },
    }
