"""Judging what the nodes said: rejoined, redundant, whole. Pure functions over views.

Each milestone includes the one before it.

    rejoined    every node says that it is healthy itself, and every vbucket has an active copy
    redundant   and every vbucket has as many replicas as the bucket wants, by every node's map
    whole       and every node says so of all nodes of the map, which are those of the inventory;
                of a mock, the inventory has the process that plays them all
"""

from collections.abc import Sequence

from brownout.databases.adapter import Milestone, MilestoneState
from brownout.databases.couchbase.view import View
from brownout.databases.milestones import missing_until

__all__ = ["judge", "signature_of"]


def judge(milestone: Milestone, views: Sequence[View]) -> MilestoneState:
    """Return whether `milestone` is reached by these views, and what is still missing."""
    uncopied = [
        f"{view.uncopied} vbuckets have too few replicas, by the map of {view.node}"
        for view in views
        if view.uncopied
    ]
    missing = missing_until(
        milestone, lambda: _not_rejoined(views), lambda: uncopied, lambda: _not_whole(views)
    )
    detail = {"missing": missing, "members": {view.node: view.evidence() for view in views}}
    return MilestoneState(not missing, detail)


def signature_of(views: Sequence[View]) -> str:
    """Return a line that differs once a node went, came back or vbuckets moved."""
    return "; ".join(
        f"{view.node}={view.state}" + (f"@{view.revision}" if view.bucket else "") for view in views
    )


def _not_rejoined(views: Sequence[View]) -> list[str]:
    away = [
        f"{view.node} is {view.state}" + (f" ({view.error})" if view.error else "")
        for view in views
        if not view.serves
    ]
    return away + [
        f"{view.orphans} vbuckets have no active copy, by the map of {view.node}"
        for view in views
        if view.orphans
    ]


def _not_whole(views: Sequence[View]) -> list[str]:
    ours = {view.address for view in views}
    missing = []
    for view in views:
        for address, state in view.states.items():
            if state != "healthy" and address not in ours:
                missing.append(f"{address} is {state}, by {view.node}")
            elif address not in ours and not view.is_mock:
                missing.append(f"{address} is a node, but not in the inventory, by {view.node}")
    return missing
