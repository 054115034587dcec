"""Nodes that are pods of a StatefulSet: `docs/kubernetes.md`.

    host ──▶ holding, storage ──▶ objections, claims   (pure: what the API's objects mean)
         ├─▶ locating, bell ────▶ session ──▶ exec in the container
         └─▶ pod, objects ──────▶ the API server

The API server is asked for everything; nothing of ours is put into the node's own pod but a
finalizer, while it is held stopped.
"""

from brownout.machine.kubernetes.host import KubernetesHost
from brownout.machine.kubernetes.spec import KubernetesSpec

__all__ = ["KubernetesHost", "KubernetesSpec"]
