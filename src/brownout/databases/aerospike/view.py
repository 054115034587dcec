"""What one node says of itself at one moment, and what follows from all. Pure but for `look`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from brownout.base.errors import ClusterError, NoAnswer
from brownout.databases.adapter import Member, MilestoneState
from brownout.databases.aerospike.access import OPEN, Access
from brownout.databases.aerospike.info import ask, is_error, pairs
from brownout.inventory.model import Node

__all__ = ["View", "judge", "look", "member_of", "quiesced", "signature_of", "stable_command"]

_TOLD = (
    *("cluster_size", "cluster_key", "cluster_principal", "cluster_integrity"),
    *("cluster_is_member", "migrate_partitions_remaining", "objects", "client_connections"),
)


@dataclass(frozen=True, slots=True)
class View:
    """A node's answers by command; `error` instead if it gave none.

    `timed_out` says that it did not answer in time, so that it may be well.
    """

    node: str
    address: str
    answers: Mapping[str, str] = field(default_factory=dict)
    error: str = ""
    timed_out: bool = False

    @property
    def statistics(self) -> dict[str, str]:
        """The numbers of the whole node."""
        return pairs(self.answers.get("statistics", ""))

    @property
    def namespaces(self) -> dict[str, dict[str, str]]:
        """The numbers of each namespace that was asked for."""
        return {
            command.removeprefix("namespace/"): pairs(answer)
            for command, answer in self.answers.items()
            if command.startswith("namespace/")
        }

    def says(self, *names: str) -> set[str]:
        """Return the different values of some numbers over the namespaces; `{"true"}` is in all."""
        return {texts.get(name, "") for texts in self.namespaces.values() for name in names}

    def total(self, *names: str, of: Sequence[str] = ()) -> int | None:
        """Return the sum of numbers over all namespaces, or those `of`; None if one is absent."""
        asked = self.namespaces
        texts = [
            asked[each].get(name, "") for each in of or asked for name in names if each in asked
        ]
        return sum(map(int, texts)) if texts and all(text.isdigit() for text in texts) else None

    def count(self, name: str) -> int | None:
        """Return a number of the whole node; None if it does not say it."""
        text = self.statistics.get(name, "")
        return int(text) if text.isdigit() else None

    @property
    def is_quiesced(self) -> bool:
        """Whether the node leaves its work to others, in every namespace."""
        return self.says("effective_is_quiesced") == {"true"}

    @property
    def key(self) -> str:
        """The key of the cluster that the node believes to be in; empty for an orphan."""
        key = self.statistics.get("cluster_key", "0")
        return "" if key == "0" else key

    @property
    def state(self) -> str:
        """`in cluster`, `orphan` or `silent`."""
        if self.error:
            return "silent"
        return "in cluster" if self.key else "orphan"

    def evidence(self) -> dict[str, Any]:
        """Return what is worth keeping of it, for JSON."""
        if self.error:
            return {"state": self.state, "error": self.error}
        shown = {name: self.statistics[name] for name in _TOLD if name in self.statistics}
        return {"state": self.state, **shown}


def look(node: Node, commands: Sequence[str], timeout_s: float, access: Access = OPEN) -> View:
    """Ask one node; one that does not answer gives a view that says so."""
    try:
        return View(node.name, node.address, ask(node.address, commands, timeout_s, access))
    except ClusterError as error:
        timed_out = isinstance(error, NoAnswer)
        return View(node.name, node.address, error=error.message, timed_out=timed_out)


def member_of(view: View) -> Member:
    """Return the node as a member: the principal of a cluster is its primary."""
    healthy = bool(view.key) and view.statistics.get("cluster_is_member") == "true"
    role = "unknown"
    if healthy:
        principal = view.statistics.get("cluster_principal") == view.answers.get("node")
        role = "primary" if principal else "secondary"
    return Member(view.node, view.address, role, view.state, healthy, 0.0, view.evidence())


def stable_command(size: int, migrations: bool) -> str:
    """Return the command that is answered with a key where the cluster is stable."""
    return f"cluster-stable:size={size};ignore-migrations={'false' if migrations else 'true'}"


def judge(views: Sequence[View], command: str) -> MilestoneState:
    """Return whether every node answers `command` with one and the same key.

    Nodes that were asked for their namespaces must have every partition available too.
    A node that is away is missed by the others, which then answer with an error.
    """
    missing = [_unstable(v, answer) for v in views if is_error(answer := _answer(v, command))]
    keys = sorted({_answer(view, command) for view in views}) if not missing else []
    if len(keys) > 1:
        missing = [f"{view.node} is in cluster {_answer(view, command)}" for view in views]
    missing += [f"{v.node}: {n} partitions are unavailable" for v in views if (n := _lacking(v))]
    answering = [view for view in views if not view.timed_out]
    unknown = len(answering) < len(views) and judge(answering, command).reached
    return MilestoneState(not missing, {"missing": missing, "cluster_keys": keys}, unknown)


def quiesced(views: Sequence[View]) -> list[str]:
    """Return in words which nodes leave their work to others, now or from the next cluster on."""
    return [
        f"{view.node} is quiesced"
        for view in views
        if "true" in view.says("pending_quiesce", "effective_is_quiesced")
    ]


def signature_of(views: Sequence[View]) -> str:
    """Return the keys of the clusters that the nodes are in: a change is a change they have seen.

    A node that is silent or an orphan says nothing about what the others have noticed. Raises
    `ClusterError` where so many are silent that nothing can be told.
    """
    keys = sorted({view.key for view in views if view.key})
    answering = sum(not view.error for view in views)
    if not keys and 2 * answering <= len(views):
        raise ClusterError(f"{len(views) - answering} of {len(views)} nodes do not answer")
    return " ".join(keys)


def _unstable(view: View, answer: str) -> str:
    """`n1: ERROR:7:unstable cluster`, and how much still migrates where that is known."""
    left = view.count("migrate_partitions_remaining")
    moving = f" ({left} partitions still migrate)" if left and view.key else ""
    return f"{view.node}: {view.error or answer}{moving}"


def _lacking(view: View) -> int | None:
    return view.total("unavailable_partitions", "dead_partitions")


def _answer(view: View, command: str) -> str:
    return view.answers.get(command) or "ERROR: no answer"
