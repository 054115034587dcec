"""Judging what the nodes said: rejoined, redundant, whole. Pure functions over views.

Every node is believed about itself only; each milestone includes the one before it.

    rejoined    every node serves, and hears of every other one what that one says of itself
    redundant   and no node keeps writes for another one that missed them (hints), none will turn
                out to, and all have the same schema
    whole       and the cluster has exactly the nodes of the inventory

Which writes a node missed the others know only when they have waited for its answer, and tell only
once that is on their disks: for so long after a node was away nobody knows whether it lacks any.

A node that misses a write for which no other one keeps a hint has it only after a repair, of which
no node tells.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from brownout.base.errors import ConfigurationError
from brownout.databases.adapter import Milestone, MilestoneState
from brownout.databases.cassandra.view import View
from brownout.databases.view import clusters

__all__ = ["MAX_UNHEARD", "away", "judge", "signature_of"]

#: How many heartbeats, of about a second each, may be on their way from one node to another.
#: Answers of two nodes lie some time apart, and news takes a few rounds of gossip.
MAX_UNHEARD = 10


def judge(
    milestone: Milestone, views: Sequence[View], unsettled: Mapping[str, float]
) -> MilestoneState:
    """Return whether `milestone` is reached by these views, and what is still missing.

    `unsettled` has the nodes that were away lately, and for how many seconds from now on what they
    missed may still turn out.
    """
    if milestone not in ("rejoined", "redundant", "whole"):
        wanted = "rejoined, redundant or whole"
        raise ConfigurationError(f"milestone: found {milestone!r}, wanted {wanted}")
    missing = list(_not_rejoined(views))
    if milestone in ("redundant", "whole"):
        missing += _not_redundant(views)
        missing += [f"{node} was away: what it missed is known in {left:.0f} s"
                    for node, left in sorted(unsettled.items())]  # fmt: skip
    if milestone == "whole":
        missing += _not_whole(views)
    detail: dict[str, Any] = {
        "missing": missing,
        "members": {view.node: view.evidence() for view in views},
    }
    return MilestoneState(not missing, detail)


def signature_of(views: Sequence[View]) -> str:
    """Return a line that differs once a node went, came back or changed its state."""
    return "; ".join(
        f"{view.node}={view.state}" + (f"@{view.generation}/{view.id}" if view.local else "")
        for view in views
    )


def away(views: Sequence[View]) -> set[str]:
    """Return the nodes that do not serve, or of which another one that does has not heard."""
    return {view.node for view in views if not view.serves} | {
        speaker.node for hearer, speaker in _pairs(views) if _unheard(hearer, speaker)
    }


def _not_rejoined(views: Sequence[View]) -> list[str]:
    missing = [
        f"{view.node} is {view.state}" + (f" ({view.error})" if view.error else "")
        for view in views
        if not view.serves
    ]
    return missing + [
        f"{hearer.node} has not heard of {speaker.node} since it {what}"
        for hearer, speaker in _pairs(views)
        if (what := _unheard(hearer, speaker))
    ]


def _pairs(views: Sequence[View]) -> list[tuple[View, View]]:
    """Return each node that says what it heard, with each other one that it should hear."""
    return [
        (hearer, speaker)
        for hearer in views
        if hearer.heard is not None
        for speaker in views
        if speaker.id and speaker is not hearer
    ]


def _unheard(hearer: View, speaker: View) -> str:
    """Return since when `hearer` has not heard of `speaker`; empty if it is up to date."""
    said, heard = (speaker.heard or {}).get(speaker.id), (hearer.heard or {}).get(speaker.id)
    if said is None:
        return ""
    if heard is None or heard.generation < said.generation:
        return "started"
    behind = said.heartbeat - heard.heartbeat
    if heard.generation == said.generation and behind > MAX_UNHEARD:
        return f"beat {behind} times"
    return "" if heard.status == said.status else f"became {said.status}"


def _not_redundant(views: Sequence[View]) -> list[str]:
    names = {view.id: view.node for view in views if view.id}
    missing = [
        f"{view.node} keeps hints for {names[id]}"
        for view in views
        for id in sorted(view.hints or ())
        if id in names
    ]
    schemas = {view.schema for view in views if view.schema}
    return missing + [f"the nodes have {len(schemas)} schemas"] * (len(schemas) > 1)


def _not_whole(views: Sequence[View]) -> list[str]:
    ours = {view.id: view.node for view in views if view.id}
    missing = [
        f"{view.node} does not know {node}"
        for view in views
        if view.local
        for id, node in ours.items()
        if id not in view.peers and id != view.id
    ]
    strangers = {id for view in views for id in view.peers} - set(ours)
    if len(ours) == len(views):
        missing += [f"the node {id} is in the cluster, but not in the inventory"
                    for id in sorted(strangers)]  # fmt: skip
    if len(found := clusters(views)) > 1:
        missing.append(f"the nodes are of {len(found)} clusters")
    return missing
