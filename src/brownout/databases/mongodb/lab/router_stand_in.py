"""The router of a sharded lab: brownout's stand-in for mongos, laid out, started, stopped.

    <lab>/router/router.json   where it listens, and the shards behind it
    <lab>/router/router.log, router.pid

The source of the lab's mongod has no mongos, so this stands in for one, and says so.
"""

import json
from collections.abc import Mapping
from pathlib import Path

from brownout.databases.lab import beside
from brownout.inventory.model import Node
from brownout.machine.host import host_for

__all__ = ["find_router", "lay_out", "start", "stop"]


def find_router() -> Path:
    """Return the program; raises `ClusterError` where it was not built."""
    return beside.built("router-stand-in", "a sharded lab")


def lay_out(directory: Path, address: str, shards: Mapping[str, str]) -> None:
    """Write its configuration: `shards` as config.shards has them, `{"s1": "set/host:port,…"}`."""
    place = directory / "router"
    place.mkdir()
    settings = {"listen": address, "program": str(find_router()), "shards": dict(shards)}
    (place / "router.json").write_text(json.dumps(settings, indent=2) + "\n", encoding="utf-8")


def start(directory: Path) -> None:
    """Start it and return once it listens; safe where it runs."""
    beside.start(_node(directory), lambda: "")


def stop(directory: Path) -> None:
    """End the lab's router, if it has one."""
    if (directory / "router" / "router.json").is_file():
        host_for(_node(directory)).stop("kill")


def _node(directory: Path) -> Node:
    place = directory / "router"
    config = place / "router.json"
    settings = json.loads(config.read_text(encoding="utf-8"))
    command = (settings["program"], "--config", str(config))
    return beside.node_of(place, settings["listen"], command, config)
