"""The next configuration of a set, and why it may not have it. Pure functions over its document.

    add     votes 0, priority 0 ──▶ copies all data ──▶ its vote and its priority
    remove  (steps down) ──▶ out

A member that copies must not vote: it would count for the majority of every write and could
acknowledge none. One member's vote changes at a time, which is all that a set allows.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, TypedDict

from brownout.databases.mongodb.view import View
from brownout.inventory.model import Node

__all__ = [
    "MAX_VOTERS",
    "Document",
    "Say",
    "added",
    "entry_of",
    "first_entry",
    "given_say",
    "of_add",
    "of_copying",
    "of_remove",
    "of_say",
    "removed",
    "say_of",
    "voters",
]

Document = Mapping[str, Any]


class Say(TypedDict):
    """What a member has to say in elections."""

    votes: int
    priority: float


MAX_VOTERS = 7
MAX_MEMBERS = 50
MAX_PRIORITY = 1000
_SAY = "votes 0 or 1 and priority 0 to 1000, as {'votes': 1, 'priority': 1}"


def entry_of(config: Document, node: Node) -> Document | None:
    """Return the entry of `node`, recognized by its address; None if it is not a member."""
    members: list[Document] = config["members"]
    return next((member for member in members if member["host"] == node.address), None)


def first_entry(number: int, node: Node) -> dict[str, Any]:
    """Return the entry of a member with all that MongoDB gives by default, and its rack as tag."""
    tags = {"tags": {"rack": node.rack}} if node.rack else {}
    return {"_id": number, "host": node.address, **tags}


def say_of(entry: Document) -> Say:
    """Return what a member has to say: `{"votes": 1, "priority": 2}`; 1 where it does not say."""
    priority = float(entry.get("priority", 1))
    whole = int(priority) if priority.is_integer() else priority
    return {"votes": int(entry.get("votes", 1)), "priority": whole}


def voters(config: Document) -> list[str]:
    """Return the addresses of the members that vote."""
    return [member["host"] for member in config["members"] if say_of(member)["votes"]]


def added(config: Document, node: Node, before: Document | None = None) -> Document | None:
    """Return `config` with `node` in it, without a say; None if it is there already.

    `before` is the entry that it had when it was removed.
    """
    if entry_of(config, node) is not None:
        return None
    number = max((int(member["_id"]) for member in config["members"]), default=-1) + 1
    entry = {**(before or {}), **first_entry(number, node), "votes": 0, "priority": 0}
    return _next(config, [*config["members"], entry])


def given_say(config: Document, node: Node, votes: int, priority: float) -> Document | None:
    """Return `config` with that say for `node`; None if it has it already or is not a member."""
    entry, say = entry_of(config, node), Say(votes=votes, priority=priority)
    if entry is None or say_of(entry) == say:
        return None
    changed = {**entry, **say}
    return _next(config, [changed if m is entry else m for m in config["members"]])


def removed(config: Document, node: Node) -> Document | None:
    """Return `config` without `node`; None if it is not a member."""
    entry = entry_of(config, node)
    if entry is None:
        return None
    return _next(config, [member for member in config["members"] if member is not entry])


def of_add(config: Document, node: Node) -> list[str]:
    """Object to adding `node`."""
    if entry_of(config, node) is not None:
        return [f"node `{node.name}`: found a member of the set, wanted a node outside it"]
    if len(config["members"]) >= MAX_MEMBERS:
        return [f"the set: found {MAX_MEMBERS} members, which is as many as it can have"]
    return []


def of_copying(views: Sequence[View]) -> list[str]:
    """Object to any change of the members while one of them copies all data."""
    copying = [view.node for view in views if view.syncs_initially]
    if not copying:
        return []
    return [f"the set: found {', '.join(copying)} copying all data, wanted no initial sync"]


def of_remove(config: Document, node: Node, healthy: Collection[str]) -> list[str]:
    """Object to removing `node`; `healthy` are the addresses of the members that serve."""
    entry, after = entry_of(config, node), removed(config, node)
    if entry is None or after is None:
        return [f"node `{node.name}`: found no member of the set, wanted one"]
    if entry.get("arbiterOnly"):
        return [f"node `{node.name}`: found an arbiter, which holds no data, wanted a member"]
    if voters(config) == [node.address]:
        return [f"node `{node.name}`: found the last voter, and no set is without one"]
    copies = [member for member in after["members"] if not member.get("arbiterOnly")]
    if len(copies) < 2:
        return [f"without `{node.name}`: found {len(copies)} copy of the data, wanted at least 2"]
    return _unsound(after, f"without `{node.name}`", healthy)


def of_say(config: Document, node: Node, value: Any, healthy: Collection[str]) -> list[str]:
    """Object to `value`, as `{"votes": 1, "priority": 0}`, for `node`."""
    where = f"votes_and_priority of `{node.name}`"
    if not _is_say(value):
        return [f"{where}: found {value!r}, wanted {_SAY}"]
    if value["priority"] > 0 and not value["votes"]:
        return [f"{where}: found {value!r}; who may become primary needs a vote: wanted votes 1"]
    entry = entry_of(config, node)
    if entry is None:
        return [f"{where}: found no member of the set"]
    if not value["votes"] and voters(config) == [node.address]:
        return [f"{where}: found the last voter, and no set is without one"]
    after = given_say(config, node, value["votes"], value["priority"])
    if after is None:
        return []
    if len(voters(after)) > MAX_VOTERS:
        return [f"{where}: found {MAX_VOTERS} other voters, which is as many as a set can have"]
    return _unsound(after, f"{where} {value!r}", healthy)


def _is_say(value: Any) -> bool:
    if not isinstance(value, Mapping) or set(value) != {"votes", "priority"}:
        return False
    votes, priority = value["votes"], value["priority"]
    if any(isinstance(n, bool) or not isinstance(n, int | float) for n in (votes, priority)):
        return False
    return votes in (0, 1) and 0 <= priority <= MAX_PRIORITY


def _unsound(after: Document, then: str, healthy: Collection[str]) -> list[str]:
    """Object where a set could elect no primary after a change; `then` says which."""
    voting = voters(after)
    alive = [address for address in voting if address in healthy]
    if 2 * len(alive) <= len(voting):
        return [f"{then}: found {len(alive)} of {len(voting)} voters in service, wanted a majority"]
    fit = [m for m in after["members"] if say_of(m)["priority"] > 0 and m["host"] in healthy]
    return [] if fit else [f"{then}: found no member in service that may become primary"]


def _next(config: Document, members: list[Any]) -> Document:
    return {**config, "version": int(config["version"]) + 1, "members": members}
