"""What faults leave on a node until they are undone, as the node itself shows it.

A module of this package that acts through a host's shell or network has two functions for it:

    left_on(node, host) -> str     what is there now, in words; empty for nothing
    undo_on(node, host) -> Proof   take it away; safe to repeat

and `SCRIPTS`, the scripts that do it, each a `Program`. Nothing else has to be said of a new one:
it is found here by these names.
"""

from collections.abc import Callable
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from brownout import machine
from brownout.inventory.model import Node
from brownout.machine.host import Host

__all__ = ["modules", "undo_all"]


@cache
def modules() -> tuple[Any, ...]:
    """Return every module that leaves something on a node, by name."""
    names = sorted(each.name for each in iter_modules(machine.__path__) if not each.ispkg)
    loaded = [import_module(f"{machine.__name__}.{name}") for name in names]
    return tuple(module for module in loaded if hasattr(module, "left_on"))


def undo_all(node: Node, host: Host, progress: Callable[[str], None]) -> None:
    """Take away all that faults left on `node`, saying each."""
    for module in modules():
        if words := module.left_on(node, host):
            fault = module.__name__.rpartition(".")[2]
            progress(f"{node.name}: a {fault} is left ({words}): undoing it")
            module.undo_on(node, host)
