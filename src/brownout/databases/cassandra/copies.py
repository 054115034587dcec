"""What would be lost with some nodes' data, by the number of copies and the consistency of writes.

Pure functions; `replication` is that column of `system_schema.keyspaces`.
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
    """Return the number of copies of a keyspace in each data centre; empty if it is local.

    `replication` is like `{"class": "…NetworkTopologyStrategy", "dc1": "3"}`. Transient copies
    count: `3/1` is 3.
    """
    counts = []
    for name, value in replication.items():
        number = str(value).partition("/")[0]
        if name != "class" and number.isdecimal():
            counts.append(int(number))
    return counts


def acknowledged_by(consistency: str, copies: Sequence[int]) -> int:
    """Return how many copies of a write certainly exist when it is acknowledged."""
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

    An acknowledged write may be lost if no more copies were waited for than there are nodes in
    `gone` or not serving. `consistency` is that of the load; other clients may wait for fewer.
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
                f"{view.node} keeps hints for {', '.join(kept)}, which no other node may have"
            )
    return lost


def _names(nodes: Collection[str]) -> str:
    return " and ".join(sorted(nodes))


def _copies(count: int) -> str:
    return f"{count} cop" + ("ies" if count != 1 else "y")
