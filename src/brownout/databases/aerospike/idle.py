"""Waiting until a node serves nobody any more: the last step before an orderly stop."""

import time
from collections.abc import Callable
from typing import Any

from brownout.base.errors import Aborted, ClusterError
from brownout.databases.aerospike import figures
from brownout.databases.aerospike.view import View

__all__ = ["COMMAND", "await_idle"]

#: What a node is asked for.
COMMAND = "latencies:"
_POLL_S = 0.25


def await_idle(
    look: Callable[[], View], timeout_s: float, stopped: Callable[[], bool]
) -> dict[str, Any]:
    """Wait until the node that `look` asks says that it served nothing in a whole slice.

    Returns what it said. A node that says nothing is not idle. Raises `ClusterError` with the last
    answer after `timeout_s`, and `Aborted` once `stopped` says so. Give it longer than the two
    slices of ten seconds that a node may need until it tells.
    """
    began = time.monotonic()
    while True:
        view = look()
        figure = figures.tps(view)
        if figure["value"] == 0:
            return {"node": view.node, "waited_s": round(time.monotonic() - began, 3), **figure}
        if stopped():
            raise Aborted(f"node `{view.node}` was not idle yet when the run was stopped")
        if time.monotonic() - began > timeout_s:
            raise ClusterError(
                f"node `{view.node}` is not idle after {timeout_s:g} s: {_words(figure)}",
                "see that it is quiesced, and that its clients follow the partition map",
            )
        time.sleep(_POLL_S)


def _words(figure: dict[str, Any]) -> str:
    if figure["value"] is None:
        return "; ".join(figure["missing"])
    return f"it serves {figure['value']:g} operations a second"
