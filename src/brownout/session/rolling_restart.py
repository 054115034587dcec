"""Every node in turn, each only after the one before is whole again."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from brownout.base.errors import Aborted, ClusterError
from brownout.base.wait import wait_until
from brownout.databases.adapter import Member
from brownout.inventory.model import Node

if TYPE_CHECKING:
    from brownout.session.session import Session

__all__ = ["in_turn", "restart_each"]

#: A node that is quiesced says that it is idle after two slices of ten seconds.
_IDLE_WITHIN_S = 60.0
_STEP_S = 0.1


def in_turn(members: Sequence[Member]) -> list[str]:
    """Return the names of the nodes as they are to be restarted: a primary after all others."""
    return [m.node for m in sorted(members, key=lambda member: member.role == "primary")]


def restart_each(
    session: "Session", quiesced: bool, down_s: float, timeout_s: float
) -> dict[str, Any]:
    """Restart every node; return `{"nodes": [{"node": "n2", "stopped": …, "redundant": …}, …]}`.

    Raises `ClusterError` where redundancy is not back in time, and `Aborted` when the run is.
    """
    done = []
    for number, name in enumerate(in_turn(session.adapter.members()), start=1):
        session.status.say(f"restart {number}: {name}")
        done.append(_restart(session, session.node(name), quiesced, down_s, timeout_s))
    return {"nodes": done, "quiesced": quiesced}


def _restart(
    session: "Session", node: Node, quiesced: bool, down_s: float, timeout_s: float
) -> dict[str, Any]:
    faults = session.faults
    if quiesced:
        faults.run("quiesce_node", node)
        faults.run("recluster")
        session.await_idle(node, _IDLE_WITHIN_S)
    stopped = faults.run("stop_node", node)
    _stay_down(session, node, down_s)
    faults.run("start_node", node)
    if quiesced:
        faults.run("unquiesce_node", node)
    _await_redundancy(session, node, timeout_s)
    session.hold()
    # It may be lost again meanwhile: a node that was away can turn out to have missed more.
    redundant = _await_redundancy(session, node, timeout_s)
    return {"node": node.name, "stopped": stopped["effective"], "redundant": redundant}


def _await_redundancy(session: "Session", node: Node, timeout_s: float) -> dict[str, Any]:
    redundant = session.await_milestone("redundant", timeout_s)
    if redundant is None:
        raise ClusterError(
            f"redundancy is not back within {timeout_s:.0f} s of the restart of `{node.name}`; "
            "no other node is touched",
            "look at the nodes' own logs, or raise `timeout_s`",
        )
    return redundant


def _stay_down(session: "Session", node: Node, seconds: float) -> None:
    if wait_until(session.interruption.must_stop, seconds, _STEP_S):
        raise Aborted(f"the run was stopped while `{node.name}` was down")
