"""Judging what servers and sentinels said: rejoined, redundant, whole. Pure functions.

Every server is believed about itself only, the sentinels about whom they promoted; each milestone
includes the one before it.

    rejoined    exactly one server is master, and every other one has a link to it and its history
    redundant   and every replica has all but the master's latest writes, most sentinels name that
                master, and none of them sees a server as down
    whole       and every sentinel answers, could agree with others on a failover, and lists
                exactly the nodes of the inventory
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from brownout.databases.adapter import Milestone, MilestoneState
from brownout.databases.milestones import missing_until
from brownout.databases.redis.milestones import MAX_BEHIND
from brownout.databases.redis.sentinel.view import View
from brownout.databases.redis.sentinel.watch import Seen, Watch
from brownout.databases.view import is_silence

__all__ = ["Named", "Sight", "judge", "lost_with", "master_of", "named", "signature_of"]


@dataclass(frozen=True, slots=True)
class Sight:
    """What all said at about the same time.

    `names` has the node at each address, as the sentinels write addresses.
    """

    views: Sequence[View]
    watches: Sequence[Watch]
    names: Mapping[str, str]

    def node_of(self, seen: Seen) -> str:
        """Return the node that a sentinel means; its address where it is not a node of ours."""
        for view in self.views:
            if view.run_id and view.run_id == seen.run_id:
                return view.node
        return self.names.get(seen.at, seen.at)


@dataclass(frozen=True, slots=True)
class Named:
    """The master that most sentinels name: who, since which failover, and how many see it down."""

    node: str
    epoch: int
    down: int


def named(sight: Sight) -> Named | None:
    """Return the master that more than half of all sentinels name; None where they do not agree."""
    voices = [
        (sight.node_of(watch.master), watch) for watch in sight.watches if watch.master is not None
    ]
    counts = Counter(node for node, _ in voices)
    if not counts:
        return None
    node, votes = counts.most_common(1)[0]
    if 2 * votes <= len(sight.watches):
        return None
    its = [watch for name, watch in voices if name == node]
    down = sum(watch.master is not None and watch.master.down for watch in its)
    return Named(node, max(watch.epoch for watch in its), down)


def master_of(sight: Sight) -> View | None:
    """Return the server that is master by its own word; of two, the one that sentinels name."""
    masters = [view for view in sight.views if view.state == "MASTER"]
    if len(masters) > 1:
        chosen = named(sight)
        masters = [view for view in masters if chosen and view.node == chosen.node]
    return masters[0] if masters else None


def judge(milestone: Milestone, sight: Sight) -> MilestoneState:
    """Return whether `milestone` is reached, and what is still missing."""
    missing = missing_until(
        milestone,
        lambda: _not_rejoined(sight),
        lambda: _not_redundant(sight),
        lambda: _not_whole(sight),
    )
    chosen = named(sight)
    detail: dict[str, Any] = {
        "missing": missing,
        "masters": [view.node for view in sight.views if view.state == "MASTER"],
        "named_master": chosen.node if chosen else None,
        "members": {view.node: view.evidence() for view in sight.views},
        "sentinels": {watch.node: watch.evidence() for watch in sight.watches},
    }
    silent = is_silence(
        sight.views, lambda views: _not_rejoined(Sight(views, sight.watches, sight.names))
    )
    return MilestoneState(not missing, detail, silent)


def lost_with(gone: Collection[str], sight: Sight) -> list[str]:
    """Return in words what would be lost if the nodes `gone` lost their data.

    A master that does not answer is still the one that sentinels name until they promote another
    one; only it may have the latest writes, and if it came back empty it would empty the others.
    """
    chosen, master = named(sight), master_of(sight)
    if chosen is None:
        return ["most sentinels do not answer, so that no other node would be promoted"]
    if chosen.node not in gone:
        if master is None or master.node != chosen.node:
            return [f"{chosen.node}, which the sentinels name as master, is not one"]
        return []
    if master is None or master.node != chosen.node:
        return [f"no other node is promoted yet, so that only {chosen.node} may have all writes"]
    copies = [
        view
        for view in sight.views
        if view.node not in gone and _copies(view, master) and _behind(view, master) <= MAX_BEHIND
    ]
    return [] if copies else [f"no other node has all of {master.node}'s data"]


def signature_of(sight: Sight) -> str:
    """Return a line that differs once a change was noticed.

    Of the master that is what sentinels say, who see one as down that has not answered for their
    `down-after-milliseconds`; that a replica's link to it broke is not yet a change. Any other node
    is missed as soon as it does not answer.
    """
    chosen = named(sight)
    leader = f"{chosen.node}@{chosen.epoch}" if chosen else "none"
    if chosen and 2 * chosen.down > len(sight.watches):
        leader += " (down)"
    others = (
        f"{view.node}={'REPLICA' if view.state == 'SYNCING' else view.state}"
        + (f"/{view.history[:8]}" if view.history else "")
        for view in sight.views
        if not chosen or view.node != chosen.node
    )
    return "; ".join((f"master={leader}", *others))


def _copies(view: View, master: View) -> bool:
    return view.state == "REPLICA" and view.history == master.history


def _behind(view: View, master: View) -> int:
    return master.offset - view.offset


def _not_rejoined(sight: Sight) -> list[str]:
    missing = [
        f"{view.node} is {view.state}" + (f" ({view.error})" if view.error else "")
        for view in sight.views
        if not view.serves
    ]
    masters = [view for view in sight.views if view.state == "MASTER"]
    if not masters:
        return [*missing, "no node is master"]
    if len(masters) > 1:
        chosen = named(sight)
        whom = f"the sentinels name {chosen.node}" if chosen else "most sentinels name neither"
        both = " and ".join(view.node for view in masters)
        return [*missing, f"{both} are masters at the same time ({whom})"]
    (master,) = masters
    return missing + [
        f"{view.node} replicates {view.master}, and not {master.node}"
        for view in sight.views
        if view.state == "REPLICA" and view.history != master.history
    ]


def _not_redundant(sight: Sight) -> list[str]:
    missing = []
    chosen, master = named(sight), master_of(sight)
    if chosen is None:
        missing.append("fewer than half of the sentinels name one and the same master")
    elif master is not None and chosen.node != master.node:
        missing.append(f"the sentinels name {chosen.node}, and {master.node} is master")
    if master is not None:
        missing += [
            f"{view.node} is {_behind(view, master)} bytes behind (wanted {MAX_BEHIND})"
            for view in sight.views
            if _copies(view, master) and _behind(view, master) > MAX_BEHIND
        ]
    nodes = {view.node for view in sight.views}
    for watch in sight.watches:
        seen = [watch.master, *watch.replicas] if watch.master else []
        down = [sight.node_of(one) for one in seen if one.down]
        missing += [f"{watch.node} sees {node} as down" for node in down if node in nodes]
    return missing


def _not_whole(sight: Sight) -> list[str]:
    nodes = {view.node for view in sight.views}
    missing: list[str] = []
    for watch in sight.watches:
        if watch.master is None:
            missing.append(f"{watch.node} does not watch: {watch.error}")
            continue
        if watch.objection:
            missing.append(f"{watch.node} could not have a replica promoted: {watch.objection}")
        listed = {sight.node_of(one) for one in (watch.master, *watch.replicas)}
        missing += [f"{watch.node} does not know {node}" for node in sorted(nodes - listed)]
        missing += [
            f"{watch.node} knows {node}, which is not in the inventory"
            for node in sorted(listed - nodes)
        ]
        others = len(sight.watches) - 1
        if len(watch.sentinels) != others:
            missing.append(
                f"{watch.node} knows {len(watch.sentinels)} other sentinels, the inventory {others}"
            )
    return missing
