"""What can be done to a cluster as far as its database has a say, as data. Nothing is touched.

A fault of a node's process, files or network needs no entry here: its hosts decide. A database
says what it does itself, what needs another member, and what it cannot do and why.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from brownout.databases.adapter import Support
from brownout.inventory.model import Cluster

__all__ = ["Scenarios", "act_of"]

#: A cluster whose members are down in turn, or a rack at a time.
_IN_TURN = frozenset({"racks", "rolling"})


def act_of(scenario: str) -> str:
    """Return the bare act: `kill` of `node-kill`, `stepdown` of `step_down_primary`."""
    words = scenario.lower().replace("_", "-").split("-")
    return "".join(word for word in words if word not in {"node", "primary"})


@dataclass(frozen=True, slots=True)
class Scenarios:
    """What clusters of one database support; acts are bare words, as `act_of` returns them.

    `own` are the acts that the database does itself, and `on_members` those done to its members by
    their hosts, as `racks`. After `need_another` another member must take over. `impossible` says
    why of what cannot be done. `at_least` are the members that an act needs, and why. A majority,
    in the database's own word, has to stay in the course of `keep_majority`.
    """

    database: str
    own: frozenset[str] = frozenset()
    on_members: frozenset[str] = _IN_TURN
    need_another: frozenset[str] = frozenset()
    impossible: Mapping[str, str] = field(default_factory=dict)
    at_least: Mapping[str, tuple[int, str]] = field(default_factory=dict)
    majority: str = "majority"
    keep_majority: frozenset[str] = _IN_TURN

    def support(self, scenario: str, cluster: Cluster) -> Support:
        """Return whether `cluster` can do `scenario`, as `kill`, `node-kill` or `kill_node`."""
        act, members = act_of(scenario), len(cluster.nodes)
        if act in self.impossible:
            return Support(False, self.impossible[act])
        if act in self.need_another and members < 2:
            return Support(False, "the cluster has one member, so no other one could take over")
        wanted, why = self.at_least.get(act, (0, ""))
        if members < wanted:
            return Support(False, f"{why.format(members=members)}; wanted at least {wanted}")
        if act in self.on_members and (reason := _without_host(cluster)):
            return Support(False, reason)
        if act in self.keep_majority and (lost := self._majority_lost(act, cluster)):
            return Support(False, lost)
        if act in self.own or act in self.on_members:
            return Support(True)
        return Support(False, self.unknown(act), known=False)

    def unknown(self, act: str) -> str:
        """Return that there is no such scenario, with those that the database has itself."""
        names = ", ".join(sorted({*self.own, *self.on_members}))
        return f"{self.database} has no scenario `{act}`; it has {names}"

    def _majority_lost(self, act: str, cluster: Cluster) -> str:
        """Return why too few members would stay in the course of `act`; empty if enough would."""
        members = len(cluster.nodes)
        if act == "rolling" and members < 3:
            return (
                f"while one of {members} members is down the rest is not a {self.majority}; wanted "
                "at least 3"
            )
        if act != "racks":
            return ""
        racks = Counter(node.rack for node in cluster.nodes if node.rack)
        if len(racks) < 2:
            return f"the inventory has its nodes in {len(racks)} racks (`rack`), wanted at least 2"
        rack, size = racks.most_common(1)[0]
        if 2 * (members - size) <= members:
            left = members - size
            return f"without rack {rack} {left} of {members} members stay: not a {self.majority}"
        return ""


def _without_host(cluster: Cluster) -> str:
    """Return why members cannot be stopped and started; empty if every one has a host."""
    bare = [node.name for node in cluster.nodes if node.host is None]
    if not bare:
        return ""
    return f"the inventory does not say what {', '.join(bare)} runs on (`host`)"
