"""Wait until a node serves nobody any more, for as long as the run goes on."""

from collections.abc import Callable
from typing import Any

from brownout.databases.aerospike import AerospikeAdapter, idle
from brownout.databases.aerospike.view import View
from brownout.inventory.model import Node

__all__ = ["await_idle"]


def await_idle(
    adapter: AerospikeAdapter, node: Node, timeout_s: float, stopped: Callable[[], bool]
) -> dict[str, Any]:
    """Wait until `node` says that it served nothing in a whole slice; see `idle.await_idle`."""

    def look() -> View:
        (view,) = [view for view in adapter.ask(idle.COMMAND) if view.node == node.name]
        return view

    return idle.await_idle(look, timeout_s, stopped)
