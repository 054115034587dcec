"""What an adapter has besides, if its database can be resized while it serves.

    add      host.start ──▶ join                 whole again: every node that is `expect`ed is there
    remove   leave ──▶ host.stop ──▶ forget      `leave` moves its work away where that can be done
    adjust   setting ──▶ adjust                  and back to what `setting` said before

Every act is safe to repeat: a run that died in the middle of one is healed by doing its opposite.
"""

from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

from brownout.inventory.model import Node
from brownout.machine.host import Proof
from brownout.run.balance import Holding

__all__ = ["Adjustable", "Resizing"]


@runtime_checkable
class Resizing(Protocol):
    """Members that come and go. Raises `ClusterError` as `Adapter` does."""

    def expect(self, nodes: Sequence[Node]) -> None:
        """Take these nodes for the cluster from now on; the inventory's `nodes` until then.

        `members`, `targets`, `stable` and `signature` are about them.
        """
        ...

    def objections_to_join(self, node: Node) -> list[str]:
        """Return in words why `node` cannot be added now: it is a member, or the cluster moves."""
        ...

    def objections_to_leave(self, node: Node) -> list[str]:
        """Return in words why `node` cannot be removed now: too few copies or votes would stay."""
        ...

    def join(self, node: Node) -> Proof:
        """Make `node`, whose process runs, a member; effective when the others took it in."""
        ...

    def admit(self, node: Node) -> Proof:
        """Give a member that was added, and has its data, its full say, as a vote.

        `already` where this database has no such step.
        """
        ...

    def leave(self, node: Node) -> Proof:
        """Have `node` hand over all that it does while it still runs.

        `already` where this database or edition has no such step, it is not a member, or its
        process is gone; a dead member of a replica set is taken out all the same.
        """
        ...

    def forget(self, node: Node) -> Proof:
        """Have the others forget `node`, whose process is gone, so that it does not come back."""
        ...

    def holdings(self) -> dict[str, Holding]:
        """Return what each expected node that answers holds."""
        ...


@runtime_checkable
class Adjustable(Protocol):
    """Settings that can be changed while the database serves; `supports(name)` says which.

    Those of all nodes, as `replication_factor` (a number) and `migration_speed`
    (`{"migrate_threads": 4, …}`), and those of one, as `oplog_mb` and `votes_and_priority`
    (`{"votes": 1, "priority": 0}`).
    """

    def is_felt(self, name: str) -> bool:
        """Return whether changing the setting moves data or leadership, so that users may feel it.

        Another setting is felt only through what follows it.
        """
        ...

    def objections_to_adjust(self, name: str, value: Any, node: Node | None) -> list[str]:
        """Return in words why the setting cannot have this value now."""
        ...

    def setting(self, name: str, node: Node | None) -> Any:
        """Return what the setting is now, ready for JSON and for `adjust`."""
        ...

    def adjust(self, name: str, value: Any, node: Node | None) -> Proof:
        """Give the setting this value, everywhere that it has to be given; proven by reading it."""
        ...
