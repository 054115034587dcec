"""Why a cluster cannot be resized now, each in words with what was found and wanted. Pure."""

from collections.abc import Mapping, Sequence

from brownout.databases.adapter import MilestoneState
from brownout.databases.aerospike.conf import namespace_setting
from brownout.databases.aerospike.view import View

__all__ = [
    "factor_in",
    "of_factor",
    "of_loss",
    "of_membership",
    "of_other_factor",
    "of_remaining",
    "strongly_consistent",
    "unsettled",
]

#: What a node has whose configuration does not say.
_DEFAULT_FACTOR = "2"


def unsettled(state: MilestoneState) -> list[str]:
    """Object to a cluster that is degraded, or that migrates."""
    if state.reached:
        return []
    missing = "; ".join(state.detail["missing"])
    return [f"the cluster: found {missing}; wanted every node there and nothing left to migrate"]


def of_membership(name: str, view: View, keys: Sequence[str], wanted: bool) -> list[str]:
    """Object to a node that is a member and must not be one, or the other way about.

    `view` is the node's own, `keys` are those of the members.
    """
    is_member = bool(view.key) and view.key in keys
    if is_member == wanted:
        return []
    if wanted:
        return [f"node `{name}`: found it {view.state}, wanted a member of the cluster"]
    return [f"node `{name}`: found it in the cluster already, wanted a node outside it"]


def of_remaining(factors: Mapping[str, int], remaining: int) -> list[str]:
    """Object where fewer nodes would remain than a namespace is to have copies."""
    return [
        f"replication factor of `{namespace}`: found {factor}, wanted at most {remaining}: so many "
        "nodes would remain"
        for namespace, factor in factors.items()
        if factor > remaining
    ]


def of_other_factor(text: str, factors: Mapping[str, int]) -> list[str]:
    """Object to a node that would start with another factor: then no cluster forms any more."""
    configured = {ns: namespace_setting(text, ns, "replication-factor") for ns in factors}
    return [
        f"its configuration: replication-factor of `{namespace}`: found {own or _DEFAULT_FACTOR}, "
        f"wanted {factors[namespace]} as in the cluster: nodes of different factors form none"
        for namespace, own in configured.items()
        if (own or _DEFAULT_FACTOR) != str(factors[namespace])
    ]


def of_factor(value: object, size: int, strong: bool) -> list[str]:
    """Object to a replication factor that the cluster cannot have."""
    if strong:
        return ["replication factor: a namespace of strong consistency keeps the one it has"]
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        return [f"replication factor: found {value!r}, wanted a number of copies from 1"]
    if value > size:
        return [f"replication factor: found {value}, wanted at most {size}, the cluster's size"]
    return []


def of_loss(views: Sequence[View], size: int, gone: int) -> list[str]:
    """Object to `gone` of `size` nodes losing their data, by the `views` of all the others.

    While the others are without them, the copies in effect are fewer than before: then those
    count that the namespace is set to.
    """
    reasons = [f"{view.node} does not answer ({view.error})" for view in views if view.error]
    answers = [view for view in views if not view.error]
    if not answers:
        return [*reasons, "no other node has a copy"]
    for namespace in answers[0].namespaces:
        copies = min(_copies(view, namespace, size) for view in answers)
        if copies <= gone:
            reasons.append(f"namespace `{namespace}`: {copies} of {gone + 1} copies wanted")
    for view in answers:
        if unavailable := view.total("unavailable_partitions", "dead_partitions"):
            reasons.append(f"{view.node}: {unavailable} partitions are unavailable")
    return reasons


def _copies(view: View, namespace: str, size: int) -> int:
    """Return how many copies a node keeps of each record; none where it does not say."""
    numbers = view.namespaces.get(namespace, {})
    name = "effective_replication_factor"
    if view.statistics.get("cluster_size") != str(size) or name not in numbers:
        name = "replication-factor"
    text = numbers.get(name, "")
    return min(int(text), size) if text.isdigit() else 0


def strongly_consistent(view: View) -> list[str]:
    """Return the namespaces of strong consistency, by a node that was asked for its namespaces."""
    numbers = view.namespaces.items()
    return [name for name, settings in numbers if settings.get("strong-consistency") == "true"]


def factor_in(view: View, namespace: str) -> int | None:
    """Return the factor that a node is set to; None if it does not say."""
    text = view.namespaces.get(namespace, {}).get("replication-factor", "")
    return int(text) if text.isdigit() else None
