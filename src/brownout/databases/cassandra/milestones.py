"""Judging what the nodes said: rejoined, redundant, whole. Pure functions over views.

Every node is believed about itself only; each milestone includes the one before it.

    rejoined    every node serves, and hears of every other one what that one says of itself
    redundant   and no node keeps writes for another one that missed them (hints), and all have the
                same schema
    whole       and the cluster has exactly the nodes of the inventory

A node that misses a write for which no other one keeps a hint has it only after a repair, of which
no node tells.
"""

from collections.abc import Collection, Sequence
from typing import Any

from brownout.base.errors import ConfigurationError
from brownout.databases.adapter import Milestone, MilestoneState
from brownout.databases.cassandra.view import View

__all__ = ["MAX_UNHEARD", "judge", "signature_of", "silent"]

#: How many heartbeats, of about a second each, may be on their way from one node to another.
#: Answers of two nodes lie some time apart, and news takes a few rounds of gossip.
MAX_UNHEARD = 10


def judge(milestone: Milestone, views: Sequence[View]) -> MilestoneState:
    """Return whether `milestone` is reached by these views, and what is still missing."""
    if milestone not in ("rejoined", "redundant", "whole"):
        wanted = "rejoined, redundant or whole"
        raise ConfigurationError(f"milestone: found {milestone!r}, wanted {wanted}")
    missing = list(_not_rejoined(views))
    if milestone in ("redundant", "whole"):
        missing += _not_redundant(views)
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


def silent(views: Sequence[View], besides: Collection[str]) -> list[str]:
    """Return the nodes that do not serve, and are none of `besides`."""
    return [view.node for view in views if not view.serves and view.node not in besides]


def _not_rejoined(views: Sequence[View]) -> list[str]:
    missing = [
        f"{view.node} is {view.state}" + (f" ({view.error})" if view.error else "")
        for view in views
        if not view.serves
    ]
    return missing + [
        f"{hearer.node} has not heard of {speaker.node} since it {what}"
        for hearer in views
        if hearer.heard is not None
        for speaker in views
        if speaker.id and speaker is not hearer and (what := _unheard(hearer, speaker))
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
    names = {view.cluster_name for view in views if view.cluster_name}
    return missing + [f"the nodes are of {len(names)} clusters"] * (len(names) > 1)
