"""A lab of Stone: one process on this machine."""

import json
from pathlib import Path

from brownout.base.binary import find_loadgen
from brownout.databases.lab.engine import Progress
from brownout.databases.lab.milestones import await_milestone
from brownout.databases.lab.ports import reserve_ports
from brownout.inventory.model import Cluster, Node, ProcessSpec
from brownout_stone import StoneLab
from brownout_stone.adapter import StoneAdapter

__all__ = ["await_whole", "form", "lay_out"]


def lay_out(cluster: Cluster, spec: StoneLab, directory: Path) -> Cluster:
    """Write the node's directory; return the cluster with it. Starts nothing."""
    (port,) = reserve_ports(1, directory)
    home, address = directory / "n1", f"127.0.0.1:{port}"
    home.mkdir()
    script = {"lanes": 1, "latency_ms": spec.latency_ms, "seed": 1, "effects": []}
    (home / "script.json").write_text(json.dumps(script), encoding="utf-8")
    host = ProcessSpec(
        config_file=home / "script.json",
        pid_file=home / "stone.pid",
        log_file=home / "stone.log",
        working_directory=home,
        command=(str(find_loadgen()), "serve", str(home / "script.json"), "--listen", address),
    )
    node = Node(name="n1", address=address, host=host)
    made = spec.model_copy(update={"stand_in": True})  # what its figures are must be said
    return cluster.model_copy(update={"nodes": (node,), "lab": made})


def form(cluster: Cluster, spec: StoneLab, progress: Progress) -> None:
    """Wait until it answers."""
    await_whole(cluster, progress)


def await_whole(cluster: Cluster, progress: Progress) -> None:
    """Wait until it answers."""
    progress("waiting for the node")
    await_milestone(StoneAdapter(cluster), "whole", 30.0)
