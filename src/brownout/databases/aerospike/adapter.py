"""Aerospike as every other part sees it: short questions to each node, all at once."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal

from brownout.base.errors import ClusterError, ConfigurationError, Unsupported
from brownout.databases import apart
from brownout.databases.adapter import Adapter, Member, Milestone, MilestoneState, Support
from brownout.databases.aerospike import objections, quiesce, scenarios, storage, waits
from brownout.databases.aerospike.choice import choose
from brownout.databases.aerospike.grants import refused
from brownout.databases.aerospike.info import pairs
from brownout.databases.aerospike.panel import Panel
from brownout.databases.aerospike.resize import ResizingPart
from brownout.databases.aerospike.view import (
    View,
    judge,
    member_of,
    quiesced,
    signature_of,
    stable_command,
)
from brownout.databases.places import Places
from brownout.inventory.grants import Grant
from brownout.inventory.model import Cluster, Node
from brownout.machine.host import Proof, host_for

__all__ = ["AerospikeAdapter", "of_aerospike"]

_STATE = ("node", "statistics")


class AerospikeAdapter(ResizingPart):
    """One cluster of Aerospike nodes, Community or Enterprise, or of the lab's stand-in."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._panel = Panel(cluster)
        self._places = Places(storage.is_data)

    def __enter__(self) -> "AerospikeAdapter":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End what asks the nodes; no connection stays open between two questions."""
        self._panel.close()

    def ready(self) -> None:
        """Return if a node answers as an Aerospike node; `ClusterError` with each one's reason.

        Raises `ConfigurationError` where the inventory names a namespace that there is not.
        """
        views = self._panel.views(("edition",))
        if all(view.error for view in views):
            reasons = "; ".join(f"{view.node}: {view.error}" for view in views)
            raise ClusterError(f"cluster `{self._cluster.name}` does not answer: {reasons}")
        named = self._cluster.connection.options.get("namespace")
        if named is not None:
            self.namespaces(str(named))

    def members(self) -> list[Member]:
        """Return every node with its role, its state and the cluster that it is in."""
        return [member_of(view) for view in self._panel.views(_STATE)]

    def targets(self, select: str, seed: int) -> list[Node]:
        """Return whom `select` means: a name, a role, `random`, `rack=NAME` or `rack`.

        The primary is the principal, which forms clusters; every node is master of some partitions.
        `rack` is one that the seed draws, with all its healthy nodes.
        """
        return choose(select, seed, self._panel.nodes, self.members)

    def stable(self, milestone: Milestone) -> MilestoneState:
        """Return whether all nodes have one key; but for `rejoined`, with nothing left to migrate.

        For `whole` none of them is quiesced either. Losing every copy of a partition leaves this
        true: only the ledger shows it.
        """
        command = stable_command(len(self._panel.nodes), milestone != "rejoined")
        if milestone == "rejoined":
            return judge(self._panel.views((command,)), command)
        views = self._panel.views((command, *self._panel.numbers()))
        state = judge(views, command)
        idle = quiesced(views) if milestone == "whole" else []
        missing = [*state.detail["missing"], *idle]
        unknown = state.unknown and not idle
        return MilestoneState(not missing, {**state.detail, "missing": missing}, unknown)

    def signature(self) -> str:
        """Return the cluster's key; it changes when the nodes notice a change, and not before."""
        return signature_of(self._panel.views(_STATE))

    def quiesce(self, node: Node) -> Proof:
        """Mark the node; others take its partitions with the next `recluster`."""
        return quiesce.quiesce(self._panel, node)

    def recluster(self) -> Proof:
        """Have the nodes form their cluster anew, with what they are marked for."""
        return quiesce.recluster(self._panel)

    def drain(self, node: Node) -> Proof:
        """Have others take the node's partitions: quiesce, then recluster."""
        self.quiesce(node)
        return self.recluster()

    def undrain(self, node: Node) -> Proof:
        """Give the node its partitions back; they migrate to it."""
        return quiesce.undo(self._panel, node)

    def await_idle(
        self, node: Node, timeout_s: float, stopped: Callable[[], bool]
    ) -> dict[str, Any]:
        """Wait until `node` says that it served nothing in a whole slice; see `waits`."""
        return waits.await_idle(self._panel, node, timeout_s, stopped)

    def evidence(self, node: Node) -> dict[str, Any]:
        """Return what the node says of itself now; if it says nothing, why."""
        return self._panel.look(node, _STATE).evidence()

    def ask(self, *commands: str) -> list[View]:
        """Return every node's own answers to info commands; without one, to those for numbers."""
        return self._panel.views(commands or self._panel.numbers())

    def namespaces(self, wanted: str = "") -> tuple[str, ...]:
        """Return all namespaces, or the `wanted` one; `ConfigurationError` if there is no such."""
        names = self._panel.namespaces()
        if wanted and wanted not in names:
            raise ConfigurationError(
                f"namespace: found {wanted!r}, wanted one of {', '.join(names)}: "
                f"`{self._cluster.name}` has no other",
                "namespaces are made by the nodes' own configuration only",
            )
        return (wanted,) if wanted else names

    def supports(self, scenario: str) -> Support:
        """Return whether `scenario` is possible; what the Community Edition refuses is not."""
        return scenarios.support(self._panel, self._cluster, self.load_namespace, scenario)

    def engine(self) -> str:
        """Return what runs, as `asd 8.1.2.0` or `brownout stand-in 8.1.2.0-…`."""
        name = "brownout stand-in" if "stand-in" in self._panel.answer("edition") else "asd"
        return f"{name} {self._panel.answer('build')}"

    def missing_grants(self, grants: Sequence[Grant], namespace: str) -> list[Grant]:
        """Return which of `grants` our user does not have, as any node says."""
        return [
            grant
            for grant in grants
            for asked in grant.ask
            if any(refused(view.answers.get(asked, "")) for view in self._panel.views((asked,)))
        ]

    def load_spec(self) -> dict[str, Any]:
        """Return how the load generator connects: driver, connection with secrets, options."""
        given = self._cluster.as_the_load.connection
        hosts = given.hosts or [node.address for node in self._cluster.nodes]
        connection: dict[str, Any] = {"uri": f"aerospike://{','.join(hosts)}"}
        if given.auth is not None and given.auth.password is not None:
            connection["username"] = given.auth.username
            connection["password"] = given.auth.password.get_secret_value()
        if given.tls is not None:
            connection["tls"] = given.tls.for_generator()
        options = {"namespace": self.load_namespace(), **given.options}
        return {"driver": "aerospike", "connection": connection, "options": options}

    def would_lose(self, nodes: Sequence[Node]) -> list[str]:
        """Return in words what would be lost if `nodes` lost their data, by how many copies are."""
        gone = {node.name for node in nodes}
        others = [node for node in self._panel.nodes if node.name not in gone]
        try:
            views = self._panel.views_of(others, self._panel.numbers())
        except ClusterError as error:
            return [str(error)]
        return objections.of_loss(views, len(self._panel.nodes), len(gone))

    def disk_calls(self) -> Literal["flush", "write"]:
        """Return that its server opens its storage with O_DSYNC and makes no other flush."""
        return "write"

    def data_directories(self, node: Node, begun: bool = False) -> list[Path]:
        """Return where the node's storage is, files and devices, as its configuration says.

        The living node is asked for each namespace's. What is left of it once a wipe has `begun` is
        part of the same. Raises `Refused` if that is not known, if the living node names other
        places, or if another node of the machine has its there too.
        """
        host = host_for(node)
        files, devices = self._living(node)
        answered = storage.places(files, devices) or None

        def configured() -> list[Path]:
            own, others = storage.stored_on(node, host)
            files.extend(each for each in own if each not in files)
            devices.extend(each for each in others if each not in devices)
            return storage.places(own, others)

        directories = self._places.agreed(node, host, configured, answered, host.footprint())
        if files or devices:  # else it is down, and was looked at while it lived
            storage.check_listed(node, devices)
        if not begun:
            storage.check_contents(node, host, files)
        apart.check(node, directories, self._cluster.every, storage.named)
        return directories

    def _living(self, node: Node) -> tuple[list[Path], list[Path]]:
        """Return the files and devices that the living node names; none if it is down."""
        names = self._panel.look(node, ("namespaces",)).answers.get("namespaces", "")
        asked = [f"get-config:context=namespace;id={name}" for name in names.split(";") if name]
        answers = self._panel.look(node, asked).answers if asked else {}
        return storage.living(pairs(answer) for answer in answers.values())


def of_aerospike(adapter: Adapter) -> AerospikeAdapter:
    """Return the adapter, if it is one of Aerospike; `Unsupported` otherwise."""
    if isinstance(adapter, AerospikeAdapter):
        return adapter
    raise Unsupported(f"this needs an Aerospike cluster, and this is {adapter.engine()}")
