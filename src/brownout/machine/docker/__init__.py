"""Nodes that are containers of a Docker engine: `docs/docker.md`.

    host ──▶ container, clock, undo ──▶ engine ──▶ the Engine API, by a socket or by TLS
         └─▶ volumes, helper ──▶ a short-lived container with the node's volumes

The engine is asked for everything; nothing of ours is put into the node's own container.
"""

from brownout.machine.docker.host import DockerHost
from brownout.machine.docker.spec import DockerSpec

__all__ = ["DockerHost", "DockerSpec"]
