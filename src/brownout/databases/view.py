"""What one node says of itself at one moment: what the views of all databases have in common."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self, TypeVar

from brownout.base.errors import ClusterError, NoAnswer
from brownout.inventory.model import Node

__all__ = ["NodeView", "clusters", "is_silence", "reasons"]


@dataclass(frozen=True, slots=True)
class NodeView(ABC):
    """One node's answers; without any, `error` says why.

    `timed_out` says that it did not answer in time, so that it may be well.
    """

    #: Of the states in which it is one.
    ROLES: ClassVar[Mapping[str, str]]

    node: str
    address: str
    error: str = field(default="", kw_only=True)
    timed_out: bool = field(default=False, kw_only=True)

    @classmethod
    def without(cls, node: Node, error: ClusterError) -> Self:
        """Return what is known of one that gave no answer."""
        timed_out = isinstance(error, NoAnswer)
        return cls(node.name, node.address, error=error.message, timed_out=timed_out)

    @property
    @abstractmethod
    def state(self) -> str:
        """Its state in the database's own word; `unreachable` if it does not answer."""

    @property
    def role(self) -> str:
        """`primary`, `secondary`, `other` or, if it does not answer, `unknown`."""
        return self.ROLES.get(self.state, "unknown" if self.state == "unreachable" else "other")

    @property
    def cluster(self) -> str:
        """The id or the name of its cluster by its own account; empty if unknown."""
        return ""

    @property
    def engine(self) -> str:
        """What it runs, with its version; empty if unknown."""
        return ""

    @property
    @abstractmethod
    def serves(self) -> bool:
        """Whether it does what it is there for."""

    @abstractmethod
    def evidence(self) -> dict[str, Any]:
        """Return what matters of it for JSON."""


def clusters(views: Sequence[NodeView]) -> list[str]:
    """Return the clusters that the nodes say they are of: more than one if addresses are wrong."""
    return sorted({view.cluster for view in views} - {""})


V = TypeVar("V", bound=NodeView)


def is_silence(views: Sequence[V], missing: Callable[[Sequence[V]], Iterable[str]]) -> bool:
    """Return whether some nodes gave no answer in time, and of those that did nothing is `missing`.

    Such a look says neither yes nor no: a node that is late to answer may be well.
    """
    heard = [view for view in views if not view.timed_out]
    return len(heard) < len(views) and not any(missing(heard))


def reasons(views: Sequence[NodeView]) -> str:
    """Return why nodes do not answer: each reason once, after the nodes that gave it."""
    by_reason: dict[str, list[str]] = {}
    for view in views:
        if view.error:
            who = f"`{view.node}` ({view.address})"
            reason = view.error.removeprefix("member ").removeprefix("node ")
            by_reason.setdefault(reason.removeprefix(f"{who}: "), []).append(who)
    return "; ".join(f"{', '.join(who)}: {reason}" for reason, who in by_reason.items())
