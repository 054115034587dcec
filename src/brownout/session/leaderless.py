"""Wait until no member is primary: what is left of a set that lost its majority steps down."""

import time
from collections.abc import Callable
from typing import Any

from brownout.base.waiting import wait_until
from brownout.databases.adapter import Adapter

__all__ = ["await_no_primary"]

_POLL_S = 0.1


def await_no_primary(
    adapter: Adapter, timeout_s: float, must_stop: Callable[[], bool]
) -> dict[str, Any] | None:
    """Return what the members are once one answers and none is primary; None where one stays.

        {"waited_s": 2.1, "members": {"n1": "SECONDARY", "n2": "unreachable"}}

    A set of which no member answers has said nothing about its primary.
    """
    began = time.monotonic()

    def look() -> dict[str, Any] | None:
        roles = {member.node: (member.role, member.state) for member in adapter.members()}
        told = {role for role, _ in roles.values()}
        if "primary" not in told and told - {"unknown"}:
            states = {node: state for node, (_, state) in roles.items()}
            return {"waited_s": round(time.monotonic() - began, 3), "members": states}
        return None

    return wait_until(look, timeout_s, _POLL_S, stopped=must_stop)
