"""Which rack each node is on, by the inventory and by the servers themselves. Pure."""

from collections.abc import Mapping, Sequence

from brownout.databases.aerospike.info import is_error
from brownout.databases.aerospike.view import View
from brownout.inventory.model import Node

__all__ = ["command", "problem", "rack_ids"]


def command(namespace: str) -> str:
    """Return what asks a node for the racks of a namespace."""
    return f"racks:namespace={namespace}"


def rack_ids(answer: str) -> dict[str, str]:
    """Return the rack of each node id, of `rack_1=A3,A1:rack_2=A4,A2`."""
    by_node: dict[str, str] = {}
    for part in answer.split(":"):
        name, _, ids = part.partition("=")
        if name.startswith("rack_"):
            by_node |= {id: name.removeprefix("rack_") for id in ids.split(",") if id}
    return by_node


def problem(nodes: Sequence[Node], views: Sequence[View], namespace: str) -> str:
    """Say why no rack can be lost without losing data; empty where one can.

    `views` were asked for `node`, for `racks:` and for the namespace.
    """
    answers = {view.node: view.answers.get(command(namespace), "") for view in views}
    refused = sorted({answer for answer in answers.values() if answer.startswith("ERROR:25")})
    if refused:
        return f"the Community Edition has no racks: it answers `racks:` with {refused[0]}"
    silent = [name for name, answer in answers.items() if not answer or is_error(answer)]
    if silent:
        return f"{', '.join(silent)} does not say which rack it is on"
    ids = {view.node: _own_id(view, namespace) for view in views}
    return _disagreement(nodes, ids) or _copies(views, ids, namespace)


def _own_id(view: View, namespace: str) -> str:
    ids = rack_ids(view.answers[command(namespace)])
    return ids.get(view.answers.get("node", ""), "")


def _disagreement(nodes: Sequence[Node], ids: Mapping[str, str]) -> str:
    """Say where the inventory's racks are not those of the servers, whatever they are called."""
    pairs = {(node.rack, ids.get(node.name, "")) for node in nodes}
    named, own_ids = {rack for rack, _ in pairs}, {id for _, id in pairs}
    if "" in named:
        bare = ", ".join(node.name for node in nodes if not node.rack)
        return f"the inventory gives {bare} no `rack`"
    if len(pairs) == len(named) == len(own_ids):
        return ""
    words = ", ".join(f"{n.name} on {n.rack} and rack-id {ids.get(n.name) or '?'}" for n in nodes)
    return f"the inventory's racks are not those of the servers: {words}"


def _copies(views: Sequence[View], ids: Mapping[str, str], namespace: str) -> str:
    """Say why not every rack but one holds every record."""
    racks = set(ids.values())
    if len(racks) < 2 or "0" in racks:
        return f"found {len(racks)} rack, wanted 2 or more, each with a rack-id of its own"
    factors = [view.namespaces.get(namespace, {}).get("replication-factor", "") for view in views]
    if any(not text.isdigit() or int(text) < 2 for text in factors):
        return f"replication factor: found {factors[0] or 'none'}, wanted 2 or more"
    return ""
