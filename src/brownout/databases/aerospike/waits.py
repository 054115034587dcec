"""Waiting for what nodes say."""

import time
from collections.abc import Callable, Mapping
from typing import Any

from brownout.base.errors import Aborted, BrownoutError, ClusterError
from brownout.base.wait import wait_until
from brownout.databases.aerospike import figures
from brownout.databases.aerospike.panel import Panel
from brownout.inventory.model import Node
from brownout.machine.host import Proof

__all__ = ["await_idle", "await_said", "since"]

_POLL_S, _IDLE_POLL_S = 0.05, 0.25


def await_said(holds: Callable[[], bool], otherwise: Callable[[], str], timeout_s: float) -> float:
    """Wait until something is so; return how many seconds ago it was not so yet, at most.

    A node that does not answer is asked again. Raises `ClusterError` with what `otherwise` says
    after `timeout_s`.
    """
    not_yet, why = time.monotonic(), ""

    def look() -> bool:
        nonlocal not_yet, why
        asked, why = time.monotonic(), ""
        try:
            if holds():
                return True
        except BrownoutError as error:
            why = f" ({error})"
        not_yet = asked
        return False

    if wait_until(look, timeout_s, _POLL_S):
        return time.monotonic() - not_yet
    raise ClusterError(f"{otherwise()}, within {timeout_s:g} s{why}")


def await_idle(
    panel: Panel, node: Node, timeout_s: float, stopped: Callable[[], bool]
) -> dict[str, Any]:
    """Wait until `node` says that it served nothing in a whole slice.

    Returns what it said. A node that says nothing is not idle. Raises `ClusterError` with the last
    answer after `timeout_s`, and `Aborted` once `stopped` says so. Give it longer than the two
    slices of ten seconds that a node may need until it tells.
    """
    began = time.monotonic()
    view = wait_until(
        lambda: panel.look(node, ("latencies:",)),
        timeout_s,
        _IDLE_POLL_S,
        so=lambda view: figures.tps(view)["value"] == 0,
        stopped=stopped,
    )
    figure = figures.tps(view)
    if figure["value"] == 0:
        return {"node": view.node, "waited_s": round(time.monotonic() - began, 3), **figure}
    if stopped():
        raise Aborted(f"node `{view.node}` was not idle yet when the run was stopped")
    raise ClusterError(
        f"node `{view.node}` is not idle after {timeout_s:g} s: {_words(figure)}",
        "see that it is quiesced, and that its clients follow the partition map",
    )


def _words(figure: dict[str, Any]) -> str:
    if figure["value"] is None:
        return "; ".join(figure["missing"])
    return f"it serves {figure['value']:g} operations a second"


def since(asked: float, evidence: Mapping[str, Any], *, already: bool = False) -> Proof:
    """Return the proof of an effect that came between `asked` and now."""
    now = time.monotonic()
    return Proof(now, now - asked, evidence, already=already)
