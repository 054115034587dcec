"""Wait until a node serves nobody any more: the last step before an orderly stop."""

import time
from collections.abc import Callable
from typing import Any

from brownout.cluster.aerospike import AerospikeAdapter, figures
from brownout.cluster.model import Node
from brownout.errors import Aborted, ClusterError

__all__ = ["await_idle"]

_POLL_S = 0.25


def await_idle(
    adapter: AerospikeAdapter, node: Node, timeout_s: float, stopped: Callable[[], bool]
) -> dict[str, Any]:
    """Wait until `node` says that it served nothing in a whole slice; return what it said.

    A node that says nothing is not idle. Raises `ClusterError` with the last answer after
    `timeout_s`, and `Aborted` once `stopped` says so. Give it longer than the two slices of ten
    seconds that a node may need until it tells.
    """
    began = time.monotonic()
    while True:
        figure = _asked(adapter, node)
        if figure["value"] == 0:
            return {"node": node.name, "waited_s": round(time.monotonic() - began, 3), **figure}
        if stopped():
            raise Aborted(f"node `{node.name}` was not idle yet when the run was stopped")
        if time.monotonic() - began > timeout_s:
            raise ClusterError(
                f"node `{node.name}` is not idle after {timeout_s:g} s: {_words(figure)}",
                "see that it is quiesced, and that its clients follow the partition map",
            )
        time.sleep(_POLL_S)


def _asked(adapter: AerospikeAdapter, node: Node) -> dict[str, Any]:
    (view,) = [view for view in adapter.ask("latencies:") if view.node == node.name]
    return figures.tps(view)


def _words(figure: dict[str, Any]) -> str:
    if figure["value"] is None:
        return "; ".join(figure["missing"])
    return f"it serves {figure['value']:g} operations a second"
