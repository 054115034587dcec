"""Wait until no member is primary, as after the loss of a majority, or until another one is."""

import time
from collections.abc import Callable, Collection
from contextlib import closing
from typing import Any

from brownout.base.errors import BrownoutError
from brownout.base.wait import wait_until
from brownout.databases.adapter import Adapter, Candidate, Electing
from brownout.inventory.model import Node

__all__ = ["await_no_primary", "await_promotion"]

_POLL_S = 0.1


def await_no_primary(
    adapter: Adapter,
    timeout_s: float,
    must_stop: Callable[[], bool],
    hidden: Collection[str] = (),
) -> dict[str, Any] | None:
    """Return what the members are once one answers and none is primary; None where one stays.

        {"waited_s": 2.1, "members": {"n1": "SECONDARY", "n2": "unreachable"}}

    A set of which no member answers has said nothing about its primary. Members that are `hidden`
    from us by a fault may be primary, so while one of them is silent nothing is known either.
    """
    began = time.monotonic()

    def look() -> dict[str, Any] | None:
        roles = {member.node: (member.role, member.state) for member in adapter.members()}
        stated = {role for role, _ in roles.values()}
        if any(role == "unknown" and node in hidden for node, (role, _) in roles.items()):
            return None
        if "primary" not in stated and stated - {"unknown"}:
            states = {node: state for node, (_, state) in roles.items()}
            return {"waited_s": round(time.monotonic() - began, 3), "members": states}
        return None

    return wait_until(look, timeout_s, _POLL_S, stopped=must_stop)


def await_promotion(
    adapter: Electing, node: Node, timeout_s: float, must_stop: Callable[[], bool]
) -> dict[str, Any] | None:
    """Return which other node of its shard is primary instead of `node`; None where none is.

        {"waited_s": 21.4, "primary": "n2"}

    Each is asked itself, so that nothing is believed of a primary that hangs or that still is one.
    """
    began = time.monotonic()

    def look() -> dict[str, Any] | None:
        for candidate in adapter.candidates():
            with closing(candidate):
                is_other = candidate.node != node.name and candidate.shard == node.shard
                if is_other and _is_primary(candidate):
                    waited_s = round(time.monotonic() - began, 3)
                    return {"waited_s": waited_s, "primary": candidate.node}
        return None

    return wait_until(look, timeout_s, _POLL_S, stopped=must_stop)


def _is_primary(candidate: Candidate) -> bool:
    try:
        return candidate.claim().primary
    except BrownoutError:
        return False
