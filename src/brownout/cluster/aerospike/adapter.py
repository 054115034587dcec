"""Aerospike as every other part sees it: short questions to each node, all at once."""

import random
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from brownout.cluster import wipe
from brownout.cluster.adapter import Member, Milestone, MilestoneState, Support
from brownout.cluster.aerospike import storage
from brownout.cluster.aerospike.info import ask, is_error, pairs
from brownout.cluster.aerospike.view import (
    View,
    judge,
    look,
    member_of,
    signature_of,
    stable_command,
)
from brownout.cluster.host import Proof, host_for
from brownout.cluster.model import Cluster, Node
from brownout.errors import ClusterError, ConfigurationError, Refused

__all__ = ["AerospikeAdapter"]

_STATE = ("node", "statistics")
_QUIESCE_TIMEOUT_S = 15.0
_POLL_S = 0.05
_ACTS = frozenset({"kill", "pause", "reboot", "resume", "start", "stop", "wipe"})
_ENTERPRISE = frozenset({"drain", "undrain"})


class AerospikeAdapter:
    """One cluster of Aerospike nodes, Community or Enterprise, or of the lab's stand-in."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._pool = ThreadPoolExecutor(max(1, len(cluster.nodes)))

    def __enter__(self) -> "AerospikeAdapter":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End what asks the nodes; no connection stays open between two questions."""
        self._pool.shutdown(wait=False)

    def ready(self) -> None:
        """Return if a node answers as an Aerospike node; `ClusterError` with each one's reason."""
        views = self._views(("edition",))
        if all(view.error for view in views):
            reasons = "; ".join(f"{view.node}: {view.error}" for view in views)
            raise ClusterError(f"cluster `{self._cluster.name}` does not answer: {reasons}")

    def members(self) -> list[Member]:
        """Return every node with its role, its state and the cluster that it is in."""
        return [member_of(view) for view in self._views(_STATE)]

    def targets(self, select: str, seed: int) -> list[Node]:
        """Return the node that `select` means: a name, `random`, or `primary` and `secondary`.

        The primary is the principal, which forms clusters; every node is master of some partitions.
        """
        names = [node.name for node in self._cluster.nodes]
        if select in names:
            return [self._cluster.node(select)]
        if select not in ("primary", "secondary", "random"):
            raise ConfigurationError(
                f"target: found {select!r}, wanted a node ({', '.join(names)}), primary, "
                "secondary or random"
            )
        fitting = [m.node for m in self.members() if m.healthy and select in (m.role, "random")]
        if not fitting:
            raise ClusterError(f"no node of `{self._cluster.name}` is {select} now")
        return [self._cluster.node(random.Random(seed).choice(fitting))]

    def stable(self, milestone: Milestone) -> MilestoneState:
        """Return whether all nodes have one key; but for `rejoined`, with nothing left to migrate.

        Losing every copy of a partition leaves this true: only the ledger shows it.
        """
        command = stable_command(len(self._cluster.nodes), milestone != "rejoined")
        return judge(self._views((command,)), command)

    def signature(self) -> str:
        """Return the cluster's key; it changes when the nodes notice a change, and not before."""
        return signature_of(self._views(_STATE))

    def drain(self, node: Node) -> Proof:
        """Have others take the node's partitions: quiesce, then recluster; proven by its own word.

        Clients learn of it within their next look at the partition map, usually a second.
        """
        return self._order(node, "quiesce:", "true")

    def undrain(self, node: Node) -> Proof:
        """Give the node its partitions back; they migrate to it."""
        return self._order(node, "quiesce-undo:", "false")

    def evidence(self, node: Node) -> dict[str, Any]:
        """Return what the node says of itself now; if it says nothing, why."""
        return look(node, _STATE, self._cluster.connection.timeout_s).evidence()

    def supports(self, scenario: str) -> Support:
        """Return whether `scenario` is possible; what the Community Edition refuses is not."""
        words = scenario.lower().replace("_", "-").split("-")
        act = "".join(word for word in words if word != "node")
        if act not in _ACTS | _ENTERPRISE:
            known = ", ".join(sorted(_ACTS | _ENTERPRISE))
            return Support(False, f"Aerospike has no scenario `{scenario}`; it has {known}")
        unreachable = [node.name for node in self._cluster.nodes if node.host is None]
        if act in _ACTS and unreachable:
            named = ", ".join(unreachable)
            return Support(False, f"the inventory does not say what {named} runs on (`host`)")
        if act in _ENTERPRISE and "Community" in self._told("edition"):
            return Support(False, "the Community Edition cannot quiesce a node: Enterprise only")
        return Support(True)

    def engine(self) -> str:
        """Return what runs, as `asd 8.1.2.0` or `brownout stand-in 8.1.2.0-…`."""
        name = "brownout stand-in" if "stand-in" in self._told("edition") else "asd"
        return f"{name} {self._told('build')}"

    def load_spec(self) -> dict[str, Any]:
        """Return how the load generator connects: driver, connection, options."""
        hosts = [node.address for node in self._cluster.nodes]
        options = {"namespace": self._told("namespaces").split(";")[0]}
        return {
            "driver": "aerospike",
            "connection": {"uri": f"aerospike://{','.join(hosts)}"},
            "options": {**options, **self._cluster.connection.options},
        }

    def data_directories(self, node: Node) -> list[Path]:
        """Return where the node's storage files are, as its own aerospike.conf names them.

        Raises `Refused` if that is not known, or if another node of the machine has its there too.
        """
        host = host_for(node)
        own = storage.directories(node, host)
        for other in self._cluster.nodes:
            if other.name == node.name or other.host is None:
                continue
            neighbour = host_for(other)
            if neighbour.machine != host.machine:
                continue
            for path in storage.directories(other, neighbour):
                if wipe.same_or_nested(own, path):
                    raise Refused(f"node `{node.name}`: `{path}` is node `{other.name}`'s too")
        return own

    def _views(self, commands: Sequence[str]) -> list[View]:
        return self._each(lambda node: look(node, commands, self._cluster.connection.timeout_s))

    def _each(self, question: Callable[[Node], View]) -> list[View]:
        return list(self._pool.map(question, self._cluster.nodes))

    def _told(self, command: str) -> str:
        """Return the first answer that any node gives."""
        for view in self._views((command,)):
            if view.answers.get(command):
                return view.answers[command]
        raise ClusterError(f"no node of `{self._cluster.name}` answers")

    def _order(self, node: Node, command: str, wanted: str) -> Proof:
        asked = time.monotonic()
        timeout_s = self._cluster.connection.timeout_s
        said = ask(node.address, [command], timeout_s)[command]
        if is_error(said):
            raise ClusterError(f"node `{node.name}` answers {command} with {said}")
        answers = self._each(lambda each: look(each, ("recluster:",), timeout_s))
        while self._is_quiesced(node) != wanted:
            if time.monotonic() - asked > _QUIESCE_TIMEOUT_S:
                raise ClusterError(
                    f"node `{node.name}` is not effective_is_quiesced={wanted} "
                    f"{_QUIESCE_TIMEOUT_S:g} s after {command} and recluster:"
                )
            time.sleep(_POLL_S)
        done = time.monotonic()
        recluster = {view.node: view.answers.get("recluster:", view.error) for view in answers}
        return Proof(done, done - asked, {"quiesced": wanted == "true", "recluster": recluster})

    def _is_quiesced(self, node: Node) -> str:
        timeout_s = self._cluster.connection.timeout_s
        namespace = self._told("namespaces").split(";")[0]
        command = f"namespace/{namespace}"
        numbers = pairs(ask(node.address, [command], timeout_s)[command])
        return numbers.get("effective_is_quiesced", "")
