"""What infra/kubernetes has: the manifests, and the instructions of the Containerfile."""

import re
from pathlib import Path
from typing import Any

from brownout.base.settings_file import load_yaml

__all__ = ["CONTAINERFILE", "HERE", "PODS", "ROOT", "instructions", "kustomization", "manifest",
           "pod"]  # fmt: skip

ROOT = Path(__file__).resolve().parents[3]
HERE = ROOT / "infra" / "kubernetes"
CONTAINERFILE = HERE / "Containerfile"
#: The manifests that make pods.
PODS = ("job.yaml", "cronjob.yaml")


def manifest(name: str) -> dict[str, Any]:
    """Return one manifest."""
    found: dict[str, Any] = load_yaml((HERE / name).read_text())
    return found


def kustomization() -> dict[str, Any]:
    """Return kustomization.yaml."""
    return manifest("kustomization.yaml")


def pod(name: str) -> dict[str, Any]:
    """Return the pod template of job.yaml or cronjob.yaml."""
    spec = manifest(name)["spec"]
    job = spec.get("jobTemplate", {"spec": spec})["spec"]
    found: dict[str, Any] = job["template"]
    return found


def instructions() -> list[tuple[str, str]]:
    """Return every instruction with its arguments, continued lines joined."""
    plain = "\n".join(
        line for line in CONTAINERFILE.read_text().splitlines() if not line.startswith("#")
    )
    joined = re.sub(r"\\\n\s*", "", plain)
    return [(line.split()[0], line.partition(" ")[2]) for line in joined.splitlines() if line]
