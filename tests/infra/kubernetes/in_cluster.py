"""The manifests of infra/kubernetes, applied to a real API server for a cluster behind sshd.

What runs as the image is this checkout, under the same init, as the same user, on a read-only root;
what is broken are the nodes of a lab, reached by ssh as if on another machine.
"""

import getpass
import json
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from kubernetes import client
from tests.control_plane import ControlPlane, awaited
from tests.faults.behind_ssh import elsewhere
from tests.infra.kubernetes.manifests import HERE, ROOT, instructions, manifest
from tests.sshd import Sshd

from brownout.databases.lab.ports import reserve_ports
from brownout.inventory import labs
from brownout.inventory.model import Cluster

__all__ = ["IMAGE", "NODE", "InCluster", "image"]

IMAGE = "registry.example.com/brownout"
NODE = "in-cluster"
_KEYS = "/etc/brownout-keys"
_FILES = {"identity_file": "identity", "known_hosts": "known_hosts"}
_SHIPPED = "/opt/brownout/experiments"


def image() -> list[str]:
    """Return what the image starts: its init, with its environment; skip without an init."""
    tini = shutil.which("tini")
    if tini is None:
        pytest.skip("NOT TESTED: there is no tini; apt install tini")
    (given,) = [rest for word, rest in instructions() if word == "ENV"]
    path = f"PATH={Path(sys.executable).parent}:/usr/bin:/bin"
    return ["/usr/bin/env", *given.split()[1:], path, tini, "--"]


class InCluster:
    """One namespace with all of infra/kubernetes in it, and its volume at `volume`."""

    def __init__(
        self, plane: ControlPlane, cluster: Cluster, sshd: Sshd, where: Path,
        environment: Mapping[str, str], secrets: Mapping[str, str],
    ) -> None:  # fmt: skip
        self.plane, self.where = plane, where
        (self.port,) = reserve_ports(1, where)
        self.namespace = plane.new_namespace(on="process")
        self.volume = where / "volume"
        self.volume.mkdir()
        self._make_volume()
        self._settings(cluster, sshd, environment)
        core = client.CoreV1Api(plane.api)
        core.create_namespaced_secret(
            self.namespace, {"metadata": {"name": "brownout"}, "stringData": dict(secrets)}
        )
        keys = {name: (sshd.directory / name).read_text() for name in _FILES.values()}
        core.create_namespaced_secret(
            self.namespace, {"metadata": {"name": "brownout-keys"}, "stringData": keys}
        )

    def kubectl(self, *arguments: str, stdin: str = "") -> str:
        """Run kubectl in the namespace."""
        return self.plane.kubectl("--namespace", self.namespace, *arguments, stdin=stdin)

    def apply(self) -> None:
        """Apply the kustomization, with settings of ours."""
        self.kubectl("apply", "--kustomize", str(self.where / "overlay"))

    def create_job(self, *arguments: str) -> str:
        """Create job.yaml with the experiment's arguments replaced; return the Job's name."""
        job = manifest("job.yaml")
        template = job["spec"]["template"]
        template["metadata"]["annotations"]["prometheus.io/port"] = str(self.port)
        spec = template["spec"]
        with_checkout(spec)
        args = spec["containers"][0]["args"]
        spec["containers"][0]["args"] = [*args[:-2], *arguments]
        made = self.kubectl("create", "--filename=-", "--output=name", stdin=json.dumps(job))
        return made.strip().partition("/")[2]

    def await_job(self, name: str) -> str:
        """Wait until a Job has ended; return `Complete` or `Failed`."""
        batch = client.BatchV1Api(self.plane.api)

        def ended() -> str:
            conditions = batch.read_namespaced_job(name, self.namespace).status.conditions or ()
            found = [c.type for c in conditions if c.status == "True"]
            return next((each for each in found if each in ("Complete", "Failed")), "")

        return awaited(ended, f"job {name} has ended")

    def pod_of(self, job: str) -> Any:
        """Return a Job's pod once there is one."""
        core = client.CoreV1Api(self.plane.api)

        def first() -> Any:
            chosen = f"job-name={job}"
            return core.list_namespaced_pod(self.namespace, label_selector=chosen).items

        return awaited(first, f"job {job} has a pod")[0]

    def runs(self) -> list[Path]:
        """Return the runs on the volume, the latest last."""
        return sorted(path.parent for path in self.volume.glob("runs/*/run.json"))

    def events(self) -> str:
        """Return what the latest run has written down so far."""
        found = sorted(self.volume.glob("runs/*/events.ndjson"))
        return found[-1].read_text() if found else ""

    def _make_volume(self) -> None:
        """A volume whose group the kubelet sets, as it does for those of a cloud."""
        chosen = {"key": "kubernetes.io/hostname", "operator": "In", "values": [NODE]}
        volume = {
            "metadata": {"name": self.namespace},
            "spec": {
                "capacity": {"storage": "10Gi"},
                "accessModes": ["ReadWriteOnce"],
                "storageClassName": "local-directory",
                "persistentVolumeReclaimPolicy": "Retain",
                "claimRef": {"namespace": self.namespace, "name": "brownout"},
                "local": {"path": str(self.volume)},
                "nodeAffinity": {
                    "required": {"nodeSelectorTerms": [{"matchExpressions": [chosen]}]}
                },
            },
        }
        client.CoreV1Api(self.plane.api).create_persistent_volume(volume)

    def _settings(self, cluster: Cluster, sshd: Sshd, environment: Mapping[str, str]) -> None:
        """Make a kustomization on top of ours, as anybody would who uses it."""
        overlay = self.where / "overlay"
        shutil.copytree(HERE, self.where / "base", ignore=shutil.ignore_patterns("rbac"))
        overlay.mkdir()
        running = yaml.safe_load((labs.directory(cluster.name) / "inventory.yaml").read_text())
        del running["lab"]
        keys = {name: f"{_KEYS}/{file}" for name, file in _FILES.items()}
        login = sshd.login(user=getpass.getuser(), **keys)
        nodes = [elsewhere(node, login) for node in running["nodes"]]
        observe = {"listen": f"0.0.0.0:{self.port}"}
        shop = {**running, "name": "shop", "nodes": nodes, "observe": observe, "spares": []}
        day = {"cluster": "shop", "experiments": ["stepdown"], "cool_down": {"at_least_s": 1}}
        (overlay / "shop.yaml").write_text(yaml.safe_dump(shop))
        (overlay / "gameday.yaml").write_text(yaml.safe_dump(day))
        container: dict[str, Any] = {"metadata": {"name": "brownout-gameday"}}
        template = manifest("cronjob.yaml")["spec"]["jobTemplate"]["spec"]["template"]
        with_checkout(template["spec"])
        every_minute = {"schedule": "* * * * *", "startingDeadlineSeconds": 300}
        spec = {**every_minute, "jobTemplate": {"spec": {"template": template}}}
        patch = {"apiVersion": "batch/v1", "kind": "CronJob", **container, "spec": spec}
        (overlay / "cronjob.yaml").write_text(yaml.safe_dump(patch))
        (overlay / "kustomization.yaml").write_text(
            yaml.safe_dump(
                {
                    "resources": ["../base"],
                    "generatorOptions": {"disableNameSuffixHash": True},
                    "configMapGenerator": [
                        {"name": "brownout-settings", "behavior": "replace",
                         "files": ["shop.yaml", "gameday.yaml"]},
                        {"name": "brownout-environment", "behavior": "merge",
                         "literals": [f"{name}={value}" for name, value in environment.items()]},
                    ],
                    "patches": [{"path": "cronjob.yaml"}],
                }
            )
        )  # fmt: skip


def with_checkout(spec: dict[str, Any]) -> None:
    """Let a pod see this checkout, which stands in for the image's own files."""
    places = {"checkout": (ROOT, str(ROOT)), "shipped": (ROOT / "experiments", _SHIPPED)}
    for name, (source, target) in places.items():
        spec["volumes"].append({"name": name, "hostPath": {"path": str(source)}})
        for container in [*spec["initContainers"], *spec["containers"]]:
            mounts = container["volumeMounts"]
            if name not in {mount["name"] for mount in mounts}:  # YAML's alias: one list for all
                mounts.append({"name": name, "mountPath": target, "readOnly": True})
