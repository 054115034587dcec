"""What would be lost with some nodes' data: how many copies there are, and who waits for how many.

Nothing is asked here; `replication` is a row of `system_schema.keyspaces` for each keyspace.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from brownout.databases.cassandra.view import View

__all__ = ["acknowledged_by", "copies_of", "lost_with"]

#: Cassandra's own, which hold no user's data.
_SYSTEM = frozenset(
    {
        *("system", "system_schema", "system_traces", "system_distributed", "system_views"),
        *("system_virtual_schema", "system_cluster_metadata"),
    }
)
_ROLES = "system_auth"
#: Levels of consistency that do not depend on how many copies there are.
_FIXED = {"ONE": 1, "LOCAL_ONE": 1, "ANY": 1, "TWO": 2, "THREE": 3}


def copies_of(replication: Mapping[str, Any]) -> list[int]:
    """Return the copies of a keyspace in each data centre; none where it is not replicated.

    `replication` is as `{"class": "…NetworkTopologyStrategy", "dc1": "3"}`; of a transient `3/1`
    all three count.
    """
    found = []
    for name, value in replication.items():
        number = str(value).partition("/")[0]
        if name != "class" and number.isdecimal():
            found.append(int(number))
    return found


def acknowledged_by(consistency: str, copies: Sequence[int]) -> int:
    """Return how many copies of a write are sure to be there when it is acknowledged."""
    if consistency in _FIXED:
        return min(_FIXED[consistency], sum(copies))
    if consistency == "ALL":
        return sum(copies)
    if consistency == "LOCAL_QUORUM":  # of whichever data centre
        return min(number // 2 + 1 for number in copies)
    if consistency == "EACH_QUORUM":
        return sum(number // 2 + 1 for number in copies)
    return sum(copies) // 2 + 1


def lost_with(
    gone: Collection[str],
    views: Sequence[View],
    keyspaces: Mapping[str, Mapping[str, Any]],
    consistency: str,
    with_login: bool,
) -> list[str]:
    """Return in words what would be lost if the nodes `gone` lost their data.

    A write is lost if all copies of it that were waited for are on nodes that go, or do not serve.
    `consistency` is that of the load; other clients may have waited for fewer.
    """
    away = [view.node for view in views if not view.serves and view.node not in gone]
    fewer = len(gone) + len(away)
    who = _names([*gone, *away])
    lost = []
    for name, replication in sorted(keyspaces.items()):
        copies = copies_of(replication)
        if name in _SYSTEM or (name == _ROLES and not with_login) or not sum(copies):
            continue
        if sum(copies) <= fewer:
            lost.append(f"the keyspace `{name}` has {_copies(sum(copies))}, and {who} may have all")
            continue
        needed = acknowledged_by(consistency, copies)
        if name != _ROLES and needed <= fewer:
            lost.append(
                f"in the keyspace `{name}` a write at {consistency} is acknowledged by "
                f"{_copies(needed)}, and {who} may have all of them"
            )
    names = {view.id: view.node for view in views if view.id}
    for view in views:
        kept = sorted(names[id] for id in view.hints or () if id in names and names[id] not in gone)
        if view.node in gone and kept:
            lost.append(
                f"{view.node} keeps hints for {', '.join(kept)}, which nobody else may have"
            )
    return lost


def _names(nodes: Collection[str]) -> str:
    return " and ".join(sorted(nodes))


def _copies(count: int) -> str:
    return f"{count} cop" + ("ies" if count != 1 else "y")
