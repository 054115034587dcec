"""What faults leave on a node until they are undone, as the node itself shows it.

A module of this package that acts through a host's shell or network has two functions for it:

    left_on(node, host) -> str     what is there now, in words; empty for nothing
    undo_on(node, host) -> Proof   take it away; safe to repeat

and `SCRIPTS`, the scripts that do it, each a `Program`. Nothing else has to be said of a new one:
it is found here by these names. `BLOCKS = True` says that a process may wait for it in the kernel,
where not even SIGKILL ends it: then every host undoes it before it ends the node's process.
"""

from collections.abc import Callable
from contextlib import suppress
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from brownout import machine
from brownout.base.errors import Unsupported
from brownout.inventory.model import Node
from brownout.machine.host import Host

__all__ = ["modules", "release", "undo_all"]


@cache
def modules() -> tuple[Any, ...]:
    """Return every module that leaves something on a node, by name."""
    names = sorted(each.name for each in iter_modules(machine.__path__) if not each.ispkg)
    loaded = [import_module(f"{machine.__name__}.{name}") for name in names]
    return tuple(module for module in loaded if hasattr(module, "left_on"))


def release(node: Node, host: Host) -> dict[str, list[str]]:
    """Undo what the node's process may wait for in the kernel, so that it can be ended.

    Every host calls it before it ends or restarts anything. Return what was there, as evidence:

        {"released": ["stall: writes to /data wait"]}
    """
    released = []
    for module in modules():
        if not getattr(module, "BLOCKS", False):
            continue
        with suppress(Unsupported):  # then no script could have left it there
            if words := module.left_on(node, host):
                module.undo_on(node, host)
                released.append(f"{module.__name__.rpartition('.')[2]}: {words}")
    return {"released": released} if released else {}


def undo_all(node: Node, host: Host, progress: Callable[[str], None]) -> None:
    """Take away all that faults left on `node`, saying each."""
    for module in modules():
        if words := module.left_on(node, host):
            fault = module.__name__.rpartition(".")[2]
            progress(f"{node.name}: a {fault} is left ({words}): undoing it")
            module.undo_on(node, host)
