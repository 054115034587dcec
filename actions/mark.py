"""Mark what breaks or repairs the cluster outside the experiment's steps.

For what an operator, a script or another system does at a moment that only the experiment knows.
brownout measures the fault from there on as one of its own, and puts nothing back.
"""

from typing import Any

from chaoslib.types import Configuration, Secrets

from brownout.session.activity import activity
from brownout.session.current import current

__all__ = ["mark_break", "mark_mend"]


@activity(told="notes that something outside this experiment breaks the cluster")
def mark_break(
    name: str, by: str = "", configuration: Configuration = None, secrets: Secrets = None
) -> dict[str, Any]:
    """Note that `name` breaks the cluster at this moment, done `by` a person or a tool.

    Returns `{"name": "failover-by-hand", "by": "the operator", "t": 31.204}`, `t` in seconds
    since the load began. It takes effect when the cluster's members change, or else at once.
    """
    return current().mark("break", name, by)


@activity(told="notes that something outside this experiment repairs the cluster")
def mark_mend(
    name: str, by: str = "", configuration: Configuration = None, secrets: Secrets = None
) -> dict[str, Any]:
    """Note that `name` repairs the cluster at this moment, done `by` a person or a tool.

    Returns what `mark_break` returns.
    """
    return current().mark("mend", name, by)
