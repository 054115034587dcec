"""A Kubernetes for tests: real API server, etcd, controllers, scheduler and kwok on loopback.

Its programs are one binary that `make kubernetes` builds (infra/lab/kubernetes). They end with the
process that started them, whatever becomes of it, and their logs lie in `directory`.
"""

import contextlib
import ipaddress
import json
import os
import random
import shutil
import socket
import ssl
import subprocess
import time
import urllib.error
import urllib.request
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from kubernetes import client, config
from tests.kubernetes_programs import (
    LABEL,
    Paths,
    Program,
    kubeconfig,
    process_node,
    programs,
    scheme,
)

__all__ = ["BINARY", "PARENT", "ControlPlane", "awaited", "binary", "running"]

T = TypeVar("T")

#: Names the binary; without it, the one that `make kubernetes` built.
BINARY = "BROWNOUT_KUBERNETES_LAB"
#: Has the process whose death is to end what was started (infra/lab/kubernetes/leash).
PARENT = "KUBERNETES_LAB_PARENT"
_BUILT = Path(__file__).parents[1] / "build/kubernetes/kubernetes-lab"
_PATIENCE_S = 120.0
#: What becomes of a claim: a directory of this machine, removed with the claim.
STORAGE_CLASS = "local-directory"
_PROVISIONER = "brownout.lab/local-directory"  # infra/lab/kubernetes/provisioner


def binary() -> Path:
    """Return the lab's binary; `FileNotFoundError` in one sentence where there is none."""
    path = Path(os.environ.get(BINARY, _BUILT))
    if not os.access(path, os.X_OK):
        raise FileNotFoundError(f"{path} is no program: build it with `make kubernetes`")
    return path


def awaited(ask: Callable[[], T], what: str, within_s: float = _PATIENCE_S) -> T:
    """Ask until the answer is true, and return it; what the API does not have yet counts as no."""
    deadline = time.monotonic() + within_s
    while True:
        with contextlib.suppress(client.ApiException):
            if answer := ask():
                return answer
        assert time.monotonic() < deadline, f"not within {within_s:.0f} s: {what}"
        time.sleep(0.05)


class ControlPlane:
    """A running Kubernetes. `api` is its administrator's client, `kubeconfig` the file of it."""

    def __init__(self, paths: Paths) -> None:
        self.paths = paths
        self.directory = paths.directory
        self.kubeconfig = paths.of("admin.kubeconfig")
        self._running: dict[str, subprocess.Popen[bytes]] = {}
        self.api = client.ApiClient()

    def start(self) -> None:
        """Start everything and return once it is of use.

        Whatever a thread starts dies with it, so this and `add_process_node` are for the main one.
        """
        scheme(self.paths)
        etcd, api_server, *others = programs(self.paths)
        self._start(etcd)
        self._start(api_server)
        self._await(api_server)
        self.api = config.new_client_from_config(str(self.kubeconfig))
        for program in others:
            self._start(program)
        for program in others:
            if program.url:
                self._await(program)
        self._offer_storage()

    def stop(self) -> None:
        """End every process that this started, and remove what pods kept in their claims."""
        self.api.close()
        for process in reversed(self._running.values()):
            process.kill()
            process.wait()
        shutil.rmtree(self.paths.of("volumes"), ignore_errors=True)

    def kubectl(self, *arguments: str, stdin: str = "") -> str:
        """Run kubectl as administrator and return what it printed."""
        command = [str(binary()), "kubectl", f"--kubeconfig={self.kubeconfig}", *arguments]
        done = subprocess.run(command, input=stdin, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, f"{arguments}: {done.stderr}"
        return done.stdout

    def new_namespace(self, on: str = "kwok") -> str:
        """Make a namespace and return its name; its pods run `on` "kwok" or "process" nodes."""
        name = f"test-{uuid.uuid4().hex[:8]}"
        chooses = {"scheduler.alpha.kubernetes.io/node-selector": f"{LABEL}={on}"}
        core = client.CoreV1Api(self.api)
        core.create_namespace({"metadata": {"name": name, "annotations": chooses}})
        awaited(
            lambda: core.read_namespaced_service_account("default", name),
            f"the service account of namespace {name}",
        )
        return name

    def kubeconfig_as(self, namespace: str, service_account: str) -> Path:
        """Return a kubeconfig with a token of this service account, asked of the API server."""
        wanted: dict[str, Any] = {"spec": {"expirationSeconds": 3600}}
        answer = client.CoreV1Api(self.api).create_namespaced_service_account_token(
            service_account, namespace, wanted
        )
        name = f"{namespace}.{service_account}.kubeconfig"
        return kubeconfig(self.paths, name, {"token": answer.status.token}, namespace)

    def add_kwok_node(self, name: str) -> None:
        """Add a node whose pods are said to run, and have no processes; safe to repeat."""
        taken = {"cpu": "32", "memory": "256Gi", "pods": "110"}
        node = {
            "metadata": {
                "name": name,
                "labels": {LABEL: "kwok", "kubernetes.io/hostname": name},
            },
            "status": {"allocatable": taken, "capacity": taken},
        }
        core = client.CoreV1Api(self.api)
        try:
            core.create_node(node)
        except client.ApiException as error:
            if error.status != 409:
                raise
        self._await_node(name)

    def add_process_node(
        self, name: str, images: Mapping[str, Sequence[str]] | None = None
    ) -> None:
        """Add a node of a real kubelet whose containers are processes of this machine.

        `images` says what an image starts (by its name, without tag) where a manifest has no
        `command`; it counts for the first node of a name. Safe to repeat.
        """
        log = f"node-{name}"
        if log not in self._running:
            commands = {image: {"Command": list(words)} for image, words in (images or {}).items()}
            file = self.paths.of(f"{log}.images.json")
            file.write_text(json.dumps(commands))
            self._start(process_node(self.paths, name, file), log)
        self._await_node(name, lambda: self._check_runs(log))

    def kill_process_node(self, name: str) -> None:
        """Kill a node's kubelet, and with it every process of its pods; the API keeps the node.

        It gets no more pods: the API takes most of a minute to miss it.
        """
        self.kubectl("cordon", name)
        process = self._running.pop(f"node-{name}")
        process.kill()
        process.wait()

    def _await_node(self, name: str, check: Callable[[], None] = lambda: None) -> None:
        def ready() -> bool:
            check()
            node = client.CoreV1Api(self.api).read_node(name)
            conditions = {each.type: each.status for each in node.status.conditions or ()}
            return conditions.get("Ready") == "True" and not node.spec.taints

        awaited(ready, f"node {name} is ready")

    def _start(self, program: Program, name: str = "") -> None:
        name = name or program.name
        environment = {**os.environ, PARENT: str(os.getpid())}
        command = [str(binary()), program.name, *program.arguments]
        with self.paths.of(f"{name}.log").open("ab") as log:
            self._running[name] = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=environment,
                cwd=self.directory,
                start_new_session=True,
            )

    def _await(self, program: Program) -> None:
        deadline = time.monotonic() + _PATIENCE_S
        while not _answers(program.url):
            self._check_runs(program.name)
            assert time.monotonic() < deadline, (
                f"{program.name} is not ready: {self._log(program.name)}"
            )
            time.sleep(0.05)

    def _check_runs(self, name: str) -> None:
        if self._running[name].poll() is not None:
            raise RuntimeError(f"{name} has ended, see {self._log(name)}")

    def _log(self, name: str) -> str:
        """Return where a process's log is, and its last words."""
        log = self.paths.of(f"{name}.log")
        return f"{log}:\n{log.read_text(errors='replace')[-3000:]}"

    def _offer_storage(self) -> None:
        default = {"storageclass.kubernetes.io/is-default-class": "true"}
        offered = {
            "metadata": {"name": STORAGE_CLASS, "annotations": default},
            "provisioner": _PROVISIONER,
            "reclaimPolicy": "Delete",
        }
        client.StorageV1Api(self.api).create_storage_class(offered)


@contextmanager
def running(directory: Path) -> Iterator[ControlPlane]:
    """Run a Kubernetes in `directory` until the block ends."""
    plane = ControlPlane(Paths(directory, _free_network()))
    try:
        plane.start()
        yield plane
    finally:
        plane.stop()


def _free_network() -> ipaddress.IPv4Network:
    """Return a network in 127.0.0.0/8 on whose first address nobody listens at port 443."""
    for second in random.sample(range(65, 127), 62):
        network = ipaddress.IPv4Network(f"127.{second}.0.0/16")
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind((str(network[1]), 443))
            return network
    raise RuntimeError("port 443 is free nowhere on loopback, or only root may listen there")


def _answers(url: str) -> bool:
    trusting = ssl.create_default_context()
    trusting.check_hostname, trusting.verify_mode = False, ssl.CERT_NONE
    try:
        with urllib.request.urlopen(url, timeout=5, context=trusting) as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False
