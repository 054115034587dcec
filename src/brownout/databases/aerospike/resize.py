"""What an Aerospike cluster can do while it serves: members come and go, settings change.

The part of the adapter that `brownout.databases.resize` asks for.
"""

import time
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

from brownout.base.errors import ConfigurationError, Refused
from brownout.databases.adapter import Milestone, MilestoneState
from brownout.databases.aerospike import (
    factor,
    join,
    leave,
    objections,
    quiesce,
    speed,
    storage,
)
from brownout.databases.aerospike.mesh import endpoint_of
from brownout.databases.aerospike.panel import Panel
from brownout.databases.aerospike.view import View
from brownout.inventory.model import Cluster, Node
from brownout.machine.host import Proof, host_for
from brownout.run.balance import Holding

__all__ = ["ResizingPart", "holding_of"]

_SETTINGS = ("replication_factor", "migration_speed")
#: By version and storage: since 7.0, devices before it, memory before it.
_BYTES = ("data_used_bytes", "device_used_bytes", "memory_used_bytes")


class ResizingPart(ABC):
    """Members that come and go, and the settings that can be changed on the fly."""

    _cluster: Cluster
    _panel: Panel

    @abstractmethod
    def stable(self, milestone: Milestone) -> MilestoneState:
        """Return whether a milestone is reached; the adapter's own."""

    def load_namespace(self) -> str:
        """Return the namespace under load: the inventory's, or the first that there is."""
        named = self._cluster.connection.options.get("namespace")
        return str(named) if named else self._panel.namespaces()[0]

    def expect(self, nodes: Sequence[Node]) -> None:
        """Take these nodes for the cluster: they are asked, and it is whole with all of them."""
        self._panel.nodes = tuple(nodes)

    def objections_to_join(self, node: Node) -> list[str]:
        """Return in words why `node` cannot be added now."""
        view = self._panel.look(node, ("statistics",))
        objected = objections.of_membership(node.name, view, self._keys(node), wanted=False)
        if objected:
            return objected
        text = _readable(node)
        other = objections.of_other_factor(text, self._factors()) if text is not None else []
        return [*objections.unsettled(self.stable("whole")), *other]

    def objections_to_leave(self, node: Node) -> list[str]:
        """Return in words why `node` cannot be removed now."""
        view = self._panel.look(node, ("statistics",))
        objected = objections.of_membership(node.name, view, self._keys(node), wanted=True)
        if objected:
            return objected
        unsettled = objections.unsettled(self.stable("whole"))
        remaining = sum(other.name != node.name for other in self._panel.nodes)
        return [*unsettled, *objections.of_remaining(self._factors(), remaining), *_unknown(node)]

    def join(self, node: Node) -> Proof:
        """Have `node`, whose process runs, taken in; effective when all are in one cluster.

        One that never left, since what quiesced it died in the middle, is given its work back.
        """
        proof = join.join(self._panel, node)
        marks = self._panel.view(node, self._panel.numbers()).says(*quiesce.MARKS)
        if "true" not in marks:
            return proof
        others = self._panel.nodes
        self._panel.nodes = tuple({n.name: n for n in (*others, node)}.values())
        try:
            return quiesce.undo(self._panel, node)
        finally:
            self._panel.nodes = others

    def admit(self, node: Node) -> Proof:
        """Return at once: a member of an Aerospike cluster has its full say when it has joined."""
        return Proof(time.monotonic(), 0.0, {"step": "none: every member is equal"}, already=True)

    def leave(self, node: Node) -> Proof:
        """Have others take the node's partitions: quiesced, and idle; Enterprise only."""
        return leave.leave(self._panel, node)

    def forget(self, node: Node) -> Proof:
        """Have the others forget `node`, whose process is gone: no seed and no alumnus of it."""
        return leave.forget(self._panel, node)

    def holdings(self) -> dict[str, Holding]:
        """Return what each expected node that answers holds; `to_move` counts partitions."""
        views = self._panel.views(self._panel.numbers())
        by_node = {view.node: holding_of(view) for view in views}
        return {name: holding for name, holding in by_node.items() if holding is not None}

    def is_felt(self, name: str) -> bool:
        """Return whether changing the setting alone is felt: copies are made or dropped."""
        return name == "replication_factor"

    def objections_to_adjust(self, name: str, value: Any, node: Node | None) -> list[str]:
        """Return in words why the setting cannot have this value now."""
        if name == "migration_speed":
            return speed.objections(value)
        if name != "replication_factor":
            return [f"setting: found {name!r}, wanted one of {', '.join(_SETTINGS)}"]
        command = f"namespace/{self.load_namespace()}"
        settings = View("", "", {command: self._panel.answer(command)})
        strong = bool(objections.strongly_consistent(settings))
        objected = objections.of_factor(value, len(self._panel.nodes), strong)
        return [*objected, *objections.unsettled(self.stable("whole"))]

    def setting(self, name: str, node: Node | None) -> Any:
        """Return the replication factor, or the migration speed by node, as `adjust` takes it."""
        namespace = self.load_namespace()
        if _setting(name) == "migration_speed":
            return speed.speed(self._panel, namespace, node)
        return factor.factor(self._panel, namespace)

    def adjust(self, name: str, value: Any, node: Node | None) -> Proof:
        """Give the setting this value on every node, or the speed on `node`; read back."""
        namespace = self.load_namespace()
        if _setting(name) == "migration_speed":
            return speed.set_speed(self._panel, namespace, value, node)
        return factor.set_factor(self._panel, namespace, int(value))

    def _keys(self, node: Node) -> list[str]:
        """Return the keys of the clusters that the nodes but `node` are in."""
        others = [other for other in self._panel.nodes if other.name != node.name]
        views = self._panel.views_of(others, ("statistics",))
        return [view.key for view in views if view.key]

    def _factors(self) -> dict[str, int]:
        """Return the replication factor of each namespace, by the first node that says it."""
        factors: dict[str, int] = {}
        for view in self._panel.views(self._panel.numbers()):
            for namespace in view.namespaces:
                value = objections.factor_in(view, namespace)
                if value is not None:
                    factors.setdefault(namespace, value)
        return factors


def _setting(name: str) -> str:
    if name not in _SETTINGS:
        raise ConfigurationError(f"setting: found {name!r}, wanted one of {', '.join(_SETTINGS)}")
    return name


def _readable(node: Node) -> str | None:
    """Return the node's own configuration; None where it cannot be read."""
    try:
        return storage.configuration(node, host_for(node))
    except Refused:
        return None


def _unknown(node: Node) -> list[str]:
    """Object to a node that the others could not be told to forget."""
    try:
        endpoint_of(node)
    except Refused as error:
        return [f"{error.message}; wanted it, for the others to forget the node"]
    return []


def holding_of(view: View) -> Holding | None:
    """Return what a node holds in all namespaces; None if it does not say.

    It tells nothing of what is to be moved while it is in no cluster.
    """
    records = view.total("objects")
    used = [_bytes(numbers) for numbers in view.namespaces.values()]
    if records is None or None in used:
        return None
    moving = view.total("migrate_tx_partitions_remaining", "migrate_rx_partitions_remaining")
    received = view.total("migrate_record_receives")
    return Holding(records, sum(filter(None, used)), moving if view.key else None, received)


def _bytes(numbers: Mapping[str, str]) -> int | None:
    counts = [numbers[name] for name in _BYTES if numbers.get(name, "").isdigit()]
    return int(counts[0]) if counts else None
