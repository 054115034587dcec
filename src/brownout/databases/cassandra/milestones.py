"""Whether the nodes' answers reach a milestone. Pure functions over views.

A node is believed about itself only. Each milestone includes the one before it.

    rejoined    every node serves, and has heard the latest news of every other node
    redundant   and no node keeps hints for another one, or may have some that are not visible yet,
                and all nodes have the same schema
    whole       and the cluster has exactly the nodes of the inventory

A coordinator learns that a replica missed a write when it stops waiting for its answer, and reports
the hint once it is on disk. Until then it is unknown whether a node that was away misses writes.

If no node keeps a hint for a missed write, only a repair brings it. No node reports such writes.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from brownout.databases.adapter import Milestone, MilestoneState
from brownout.databases.cassandra.view import View
from brownout.databases.milestones import missing_until
from brownout.databases.view import clusters, is_silence

__all__ = ["MAX_UNHEARD", "away", "judge", "signature_of"]

#: By how many heartbeats, of about a second each, a node may be behind in what it has heard.
#: Two nodes answer at different moments, and news takes a few rounds of gossip.
MAX_UNHEARD = 10


def judge(
    milestone: Milestone, views: Sequence[View], unsettled: Mapping[str, float]
) -> MilestoneState:
    """Return whether these views reach `milestone`, and what is still missing.

    `unsettled` are nodes that were away lately; the value is for how many more seconds hints for
    them may become visible.
    """
    away = [
        f"{node} was away: what it missed is known in {left:.0f} s"
        for node, left in sorted(unsettled.items())
    ]
    missing = missing_until(
        milestone,
        lambda: _not_rejoined(views),
        lambda: [*_not_redundant(views), *away],
        lambda: _not_whole(views),
    )
    detail: dict[str, Any] = {
        "missing": missing,
        "members": {view.node: view.evidence() for view in views},
    }
    return MilestoneState(not missing, detail, is_silence(views, _not_rejoined))


def signature_of(views: Sequence[View]) -> str:
    """Return a line that changes when a node leaves, comes back or changes its state."""
    return "; ".join(
        f"{view.node}={view.state}" + (f"@{view.generation}/{view.id}" if view.local else "")
        for view in views
    )


def away(views: Sequence[View]) -> set[str]:
    """Return the nodes that do not serve, or whose latest news another node has not heard."""
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
    """Return each node that reports what it heard, paired with each node it should hear of."""
    return [
        (hearer, speaker)
        for hearer in views
        if hearer.heard is not None
        for speaker in views
        if speaker.id and speaker is not hearer
    ]


def _unheard(hearer: View, speaker: View) -> str:
    """Return what of `speaker` the `hearer` has not heard, as `started`; empty if up to date."""
    own, heard = (speaker.heard or {}).get(speaker.id), (hearer.heard or {}).get(speaker.id)
    if own is None:
        return ""
    if heard is None or heard.generation < own.generation:
        return "started"
    behind = own.heartbeat - heard.heartbeat
    if heard.generation == own.generation and behind > MAX_UNHEARD:
        return f"beat {behind} times"
    return "" if heard.status == own.status else f"became {own.status}"


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
    if len(names := clusters(views)) > 1:
        missing.append(f"the nodes are of {len(names)} clusters")
    return missing
