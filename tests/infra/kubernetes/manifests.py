"""The manifests of infra/kubernetes, as they stand and as kustomize joins them."""

from pathlib import Path
from typing import Any

from brownout.settings_file import load_yaml

__all__ = ["HERE", "PODS", "ROOT", "kustomization", "manifest", "pod"]

ROOT = Path(__file__).resolve().parents[3]
HERE = ROOT / "infra" / "kubernetes"
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
