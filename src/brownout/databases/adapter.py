"""What a database says of itself, and the few things only it can do: the protocol of every adapter.

An adapter is the control plane: short questions, asked of every member itself. The load does not
go through it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol, runtime_checkable

from brownout.base.errors import ClusterError
from brownout.inventory.database import database
from brownout.inventory.grants import Grant
from brownout.inventory.model import Cluster, Node
from brownout.machine.host import Proof

__all__ = [
    "REFUSES",
    "Adapter",
    "Candidate",
    "Claim",
    "CountingConnections",
    "Electing",
    "FailureDetection",
    "Identified",
    "Idling",
    "Member",
    "Milestone",
    "MilestoneState",
    "Privileged",
    "Promoting",
    "Quiescing",
    "Returning",
    "SteppingDown",
    "Supervised",
    "Support",
    "WaitingForDisk",
    "Wording",
    "adapter_for",
]


#: rejoined: every member serves again; redundant: and has all data; whole: and none is missing.
Milestone = Literal["rejoined", "redundant", "whole"]


@dataclass(frozen=True, slots=True)
class Member:
    """One node as it describes itself: `Member("n1", "127.0.0.1:7000", "primary", "PRIMARY", True,
    0.0)`.

    `role` is `primary`, `secondary`, `other` or `unknown`; `state` is the database's own word.
    `lag_s` is None where it cannot be told.
    """

    node: str
    address: str
    role: str
    state: str
    healthy: bool
    lag_s: float | None = None
    detail: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class MilestoneState:
    """Whether a milestone is reached now, and what that was read from.

    `detail["missing"]` lists in words what is still wanted. `unknown` is that nothing is missing
    but the answers of nodes that gave none in time, and that no other node is known to see as down.
    """

    reached: bool
    detail: Mapping[str, Any] = field(default_factory=dict)
    unknown: bool = False


@dataclass(frozen=True, slots=True)
class Support:
    """Whether a scenario is possible on this cluster; if not, why.

    `known` says whether the database has a say in it; else only the nodes' hosts have.
    """

    ok: bool
    reason: str = ""
    known: bool = True


class Adapter(Protocol):
    """One cluster's database.

    Every method raises `ClusterError` if the database does not answer as needed.
    """

    def ready(self) -> None:
        """Return if the cluster is reachable and of the kind that this adapter knows."""
        ...

    def members(self) -> list[Member]:
        """Return every node of the inventory with what it says of itself."""
        ...

    def targets(self, select: str, seed: int) -> list[Node]:
        """Return the nodes that `select` names: a name, a role or `random`; the same for a seed."""
        ...

    def stable(self, milestone: Milestone) -> MilestoneState:
        """Return whether the milestone is reached at this moment."""
        ...

    def signature(self) -> str:
        """Return a value that changes when a member goes, comes back or changes its role."""
        ...

    def drain(self, node: Node) -> Proof:
        """Have `node` hand its work over to others, in the database's own orderly way."""
        ...

    def undrain(self, node: Node) -> Proof:
        """Let a drained `node` take work again."""
        ...

    def evidence(self, node: Node) -> dict[str, Any]:
        """Return what `node` says of itself now; also when it says nothing."""
        ...

    def supports(self, scenario: str) -> Support:
        """Return whether the cluster can do `scenario`; never a milder one in its place."""
        ...

    def engine(self) -> str:
        """Return what runs, as `stone 6.0.5`."""
        ...

    def load_spec(self) -> dict[str, Any]:
        """Return `driver`, `connection` and `options` for the load generator; it holds secrets."""
        ...

    def data_directories(self, node: Node, begun: bool = False) -> list[Path]:
        """Return where `node` keeps its data, as its own configuration says; checked for a wipe.

        `begun` says that a wipe of it was cut short: what is left need not look like data.
        """
        ...

    def would_lose(self, nodes: Sequence[Node]) -> list[str]:
        """Return in words what would be lost for good if `nodes` lost their data now.

        Nothing, if the other nodes have all of it; a node that does not answer has nothing.
        """
        ...

    def close(self) -> None:
        """Close every connection."""
        ...


@runtime_checkable
class Privileged(Protocol):
    """What an adapter has besides, if its database says what a login may do."""

    def missing_grants(self, grants: Sequence[Grant], namespace: str) -> list[Grant]:
        """Return which of `grants` the login does not have, as the servers say; changes nothing.

        Raises `ClusterError` if no node can be asked. No login is needed where the servers
        have none.
        """
        ...


@runtime_checkable
class Quiescing(Protocol):
    """What an adapter has besides, if its database drains a node in two steps; `undrain` undoes."""

    def quiesce(self, node: Node) -> Proof:
        """Have `node` leave its work to others from the next `recluster` on."""
        ...

    def recluster(self) -> Proof:
        """Have the nodes form their cluster anew; effective when that was accepted."""
        ...


@runtime_checkable
class Idling(Protocol):
    """What an adapter has besides, if a node of its database says how much it serves."""

    def await_idle(
        self, node: Node, timeout_s: float, stopped: Callable[[], bool]
    ) -> dict[str, Any]:
        """Wait until `node` reports that it has no clients; return its report.

        Raises `ClusterError` after `timeout_s`, and `Aborted` once `stopped` says so.
        """
        ...


@runtime_checkable
class CountingConnections(Protocol):
    """What an adapter has besides, if a node of its database says how many connections it has."""

    def connections(self, node: Node) -> int:
        """Return how many there are now, ours and others'; raises `ClusterError`."""
        ...


@runtime_checkable
class TellingTime(Protocol):
    """What an adapter has besides, if a node of its database tells the time by its own clock."""

    def time_of(self, node: Node) -> float:
        """Return the time by its clock now, in seconds since 1970; raises `ClusterError`."""
        ...


@runtime_checkable
class SteppingDown(Protocol):
    """What an adapter has besides, if its database has a primary that hands over in order."""

    def step_down(self, node: Node, catch_up_s: int) -> Proof:
        """Have the primary hand over, once another member has caught up, in `catch_up_s` at most.

        The evidence says `caught_up_s`, for how long it let another one catch up.
        """
        ...


@runtime_checkable
class Promoting(Protocol):
    """What an adapter has besides, if nothing elects another primary, and people promote one."""

    def heir(self) -> Node:
        """Return the node that is to be promoted; `ClusterError` while a primary serves."""
        ...

    def promote(self, node: Node) -> Proof:
        """Make it the primary; proven when it accepts writes by its own account."""
        ...


@runtime_checkable
class Supervised(Protocol):
    """What an adapter has besides, if each server has a supervisor that may die alone."""

    def objections_to_orphan(self, node: Node, of_a_replica: bool) -> list[str]:
        """Return in words why the supervisor of `node` may not be killed now.

        For example where no other node could be promoted. A node that is not the primary may lose
        its supervisor only if `of_a_replica`.
        """
        ...


@runtime_checkable
class Returning(Protocol):
    """What an adapter has besides, if a node that comes back without its data needs the others.

    `emptied` says that the run emptied it. Both are safe to repeat, and return what they did, ready
    for JSON; nothing if nothing had to be done.
    """

    def before_start(self, node: Node, emptied: bool) -> Mapping[str, Any]:
        """Make the others ready for `node`; `ClusterError` if it may not be started."""
        ...

    def after_start(self, node: Node, emptied: bool) -> Mapping[str, Any]:
        """Introduce `node` to the others; `ClusterError` if it does not get to know them."""
        ...


@runtime_checkable
class Identified(Protocol):
    """What an adapter has besides, if a node keeps something with its data that is its alone.

    A node that lost its data cannot have the same again, whatever it copied from the others.
    """

    def identity(self, node: Node) -> str:
        """Return it, in words, as the node says now; `ClusterError` where it does not."""
        ...


@runtime_checkable
class WaitingForDisk(Protocol):
    """What an adapter has besides, if its server waits for its disk by other calls than flushes."""

    def disk_calls(self) -> Literal["flush", "write"]:
        """Return by which calls it waits: `write` where each write waits by itself (O_DSYNC)."""
        ...


@runtime_checkable
class Wording(Protocol):
    """What an adapter has besides, if its database has words of its own for the two roles."""

    def role_asked(self, select: str) -> str:
        """Return the role that a target asks for, `primary` or `secondary`; empty for none."""
        ...

    def role_words(self) -> Mapping[str, str]:
        """Return the database's own word for `primary` and for `secondary`."""
        ...


@dataclass(frozen=True, slots=True)
class Claim:
    """Whether a node says that it accepts writes now, and the election that made it primary.

    `is_own_word` is False where it says nothing itself: it refuses connections, as a node does that
    was just killed.
    """

    primary: bool
    election: str = ""
    is_own_word: bool = True


#: Of a node that refuses connections.
REFUSES = Claim(False, is_own_word=False)


class Candidate(Protocol):
    """One node that may become the primary of its shard, with a connection of its own."""

    @property
    def node(self) -> str:
        """The node's name."""
        ...

    @property
    def shard(self) -> str:
        """Its shard; empty where the cluster has none."""
        ...

    def claim(self) -> Claim:
        """Ask it, which must be light and over within 0.25 s or so.

        A node that refuses connections has answered: it accepts no writes. Raises `ClusterError`
        where it gives no answer in time.
        """
        ...

    def close(self) -> None:
        """Close the connection."""
        ...


@dataclass(frozen=True, slots=True)
class FailureDetection:
    """The database's own setting by which a silent primary counts as gone, and its seconds:
    `FailureDetection("settings.electionTimeoutMillis", 10.0)`."""

    setting: str
    seconds: float


@runtime_checkable
class Electing(Protocol):
    """What an adapter has besides, if the nodes of its database elect one that accepts writes."""

    def candidates(self) -> Sequence[Candidate]:
        """Return every node that may become primary, spares too; the caller closes each."""
        ...

    def failure_detection(self) -> FailureDetection | None:
        """Return after how long without a sign of life the nodes elect another primary.

        None where neither a node nor its configuration says so.
        """
        ...


def adapter_for(cluster: Cluster) -> Adapter:
    """Return the adapter of the cluster's database; the caller closes it.

    Raises `ConfigurationError` for an unknown database and `ClusterError` for a lab that is down.
    """
    of = database(cluster.database)
    made_by = of.referred(of.adapter)
    if not cluster.nodes:
        raise ClusterError(f"the lab `{cluster.name}` is down", f"brownout lab up {cluster.name}")
    adapter: Adapter = made_by(cluster)
    return adapter
