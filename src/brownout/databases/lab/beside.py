"""A process that a lab has besides its members: started until it is of use, and ended."""

import operator
import os
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path

from brownout.base.errors import ClusterError, HostError
from brownout.base.wait import wait_until
from brownout.inventory.model import Node, ProcessSpec
from brownout.machine.host import host_for
from brownout.machine.launch import last_words

__all__ = ["built", "node_of", "start"]

_STARTS_WITHIN_S = 60.0
_POLL_S = 0.05


def built(name: str, needed_by: str) -> Path:
    """Return a program that a checkout builds for labs; `ClusterError` where it is not."""
    program = Path(str(files("brownout") / "bin" / name))
    if os.access(program, os.X_OK):
        return program
    raise ClusterError(
        f"{needed_by} needs {name}, which no wheel of brownout has: `{program}` is not an "
        "executable file",
        "use a checkout of brownout, where `make setup` builds it",
    )


def node_of(place: Path, address: str, command: tuple[str, ...], config_file: Path) -> Node:
    """Return the process as a node, so that a host can do with it what it does with members."""
    name = place.name
    host = ProcessSpec(
        config_file=config_file,
        pid_file=place / f"{name}.pid",
        log_file=place / f"{name}.log",
        working_directory=place,
        command=command,
    )
    return Node(name=name, address=address, host=host)


def start(node: Node, look: Callable[[], str]) -> None:
    """Start it and return once `look` finds nothing missing; safe where it runs."""
    host_for(node).start()
    missing = wait_until(
        look,
        _STARTS_WITHIN_S,
        _POLL_S,
        so=operator.not_,
        stopped=lambda: not host_for(node).running().running,
    )
    if missing:
        words = last_words(node.host) if isinstance(node.host, ProcessSpec) else ""
        raise HostError(f"the lab's {node.name} is of no use: {missing}{words}")
