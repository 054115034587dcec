"""Whether the nodes of one machine keep their data apart, in directories or on devices."""

from collections.abc import Callable, Sequence
from pathlib import Path

from brownout.base.errors import Refused
from brownout.inventory.model import Node
from brownout.machine.directories import same_or_nested
from brownout.machine.host import Host, host_for

__all__ = ["check"]


def check(
    node: Node,
    directories: Sequence[Path],
    nodes: Sequence[Node],
    theirs: Callable[[Node, Host], Sequence[Path]],
) -> None:
    """Refuse `directories` as the data of `node` if another node keeps its data in or around them.

    `theirs` returns where another one of `nodes` keeps its. Raises `Refused`.
    """
    machine = host_for(node).machine
    for other in nodes:
        if other.name == node.name or other.host is None:
            continue
        neighbour = host_for(other)
        if neighbour.machine != machine:
            continue
        for path in theirs(other, neighbour):
            if same_or_nested(directories, path):
                own = ", ".join(f"`{each}`" for each in directories)
                raise Refused(
                    f"node `{node.name}`: its data in {own} and `{path}` of node `{other.name}` "
                    "are the same or lie in each other"
                )
