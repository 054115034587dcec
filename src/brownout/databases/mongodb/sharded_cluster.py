"""The adapter of a sharded cluster: a replica set for each shard, and the routers before them.

What is asked of the cluster is asked of every shard; what is done to a node is done by its own
shard's adapter. A target may name a shard: `primary@s1`, `role=secondary@s2`.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

from brownout.base.errors import ClusterError
from brownout.databases.adapter import FailureDetection, Member, Milestone, MilestoneState, Support
from brownout.databases.mongodb import shards, storage
from brownout.databases.mongodb.access import load_spec
from brownout.databases.mongodb.adapter import MongoAdapter
from brownout.databases.mongodb.candidate import MongoCandidate
from brownout.databases.mongodb.choice import TARGETS
from brownout.inventory.atlas import BY_ATLAS
from brownout.inventory.grants import Grant
from brownout.inventory.model import Cluster, Node
from brownout.machine.host import Proof

__all__ = ["ShardedAdapter"]

#: What moves members or settings of one set; of a sharded cluster that is not done here.
_OF_ONE_SET = frozenset(
    {"add", "remove", "racks", "rolling", "votes_and_priority", "votes-and-priority", "oplog_mb"}
)


class ShardedAdapter:
    """One sharded cluster."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster, self._routers = cluster, shards.routers(cluster)
        self._shards = {
            name: MongoAdapter(shards.shard_of(cluster, name)) for name in shards.names(cluster)
        }

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close every connection."""
        for adapter in self._shards.values():
            adapter.close()
        for router in self._routers:
            router.link.close()

    def ready(self) -> None:
        """Return if every shard is, and the routers know these shards and no others.

        Raises `ClusterError` with what is not so.
        """
        for adapter in self._shards.values():
            adapter.ready()
        if problems := self._told_by_routers():
            raise ClusterError(f"cluster `{self._cluster.name}`: {'; '.join(problems)}")

    def members(self) -> list[Member]:
        """Return every node of every shard."""
        return [member for adapter in self._shards.values() for member in adapter.members()]

    def targets(self, select: str, seed: int) -> list[Node]:
        """Return the nodes that `select` means, in all shards or in one, as `primary@s1`."""
        shard = select.partition("@")[2]
        members = self._shards[shard].members() if shard in self._shards else self.members()
        racks = {node.name: node.rack for node in self._cluster.nodes}
        shards = {node.name: node.shard for node in self._cluster.nodes}
        chosen = TARGETS.choose(select, members, seed, racks, shards)
        return [self._cluster.node(name) for name in chosen]

    def role_asked(self, select: str) -> str:
        """Return the role that `select` asks for, in all shards or in one."""
        return TARGETS.role_asked(select)

    def role_words(self) -> dict[str, str]:
        """Return the words of a replica set for the two roles."""
        return TARGETS.role_words()

    def stable(self, milestone: Milestone) -> MilestoneState:
        """Return whether every shard has reached `milestone`; `whole` asks the routers too."""
        states = {name: adapter.stable(milestone) for name, adapter in self._shards.items()}
        missing = [
            f"shard {name}: {words}"
            for name, state in states.items()
            for words in state.detail["missing"]
        ]
        problems = self._told_by_routers() if milestone == "whole" else []
        missing += problems
        detail: dict[str, Any] = {
            "missing": missing,
            "primaries": {name: state.detail["primary"] for name, state in states.items()},
            "members": {
                node: problems for state in states.values() for node, problems in
                state.detail["members"].items()
            },
        }  # fmt: skip
        unknown = not problems and all(state.reached or state.unknown for state in states.values())
        return MilestoneState(not missing, detail, bool(missing) and unknown)

    def signature(self) -> str:
        """Return a line that changes when a member of any shard goes, comes or changes its role."""
        return " | ".join(adapter.signature() for adapter in self._shards.values())

    def drain(self, node: Node) -> Proof:
        """Have the primary of a shard step down; keep a secondary from becoming primary."""
        return self._of(node).drain(node)

    def step_down(self, node: Node, catch_up_s: int) -> Proof:
        """As `drain`; the server waits up to `catch_up_s` until a secondary has all its writes."""
        return self._of(node).step_down(node, catch_up_s)

    def undrain(self, node: Node) -> Proof:
        """Let a member become primary again."""
        return self._of(node).undrain(node)

    def evidence(self, node: Node) -> dict[str, Any]:
        """Return what `node` says of itself now, and of which shard it is."""
        return {"shard": node.shard, **self._of(node).evidence(node)}

    def supports(self, scenario: str) -> Support:
        """Return whether `scenario` is possible in every shard."""
        if scenario in _OF_ONE_SET:
            return Support(False, f"`{scenario}` is not done to a sharded cluster")
        if scenario.replace("-", "_") in BY_ATLAS:
            unseen = "behind routers no driver sees the members, so it is unknown when Atlas begins"
            return Support(False, unseen)
        answers = [adapter.supports(scenario) for adapter in self._shards.values()]
        refusals = [answer for answer in answers if not answer.ok]
        return min(refusals, key=lambda answer: not answer.known, default=Support(True))

    def engine(self) -> str:
        """Return what the members run, as `mongod 6.0.5 in 2 shards`."""
        engines = sorted({adapter.engine() for adapter in self._shards.values()})
        lab = self._cluster.lab
        router = ", behind a stand-in for mongos" if lab is not None and lab.stand_in else ""
        return f"{' and '.join(engines)} in {len(self._shards)} shards{router}"

    def candidates(self) -> list[MongoCandidate]:
        """Return every node of every shard, to ask each by itself."""
        return [each for adapter in self._shards.values() for each in adapter.candidates()]

    def failure_detection(self) -> FailureDetection | None:
        """Return the longest election time-out of a shard; None where one does not tell."""
        of_shards = [adapter.failure_detection() for adapter in self._shards.values()]
        if None in of_shards:
            return None
        return max(filter(None, of_shards), key=lambda each: each.seconds)

    def missing_grants(self, grants: Sequence[Grant], namespace: str) -> list[Grant]:
        """Return which of `grants` our user does not have on some shard."""
        missing = (
            grant
            for adapter in self._shards.values()
            for grant in adapter.missing_grants(grants, namespace)
        )
        return list(dict.fromkeys(missing))

    def load_spec(self) -> dict[str, Any]:
        """Return how the load generator connects: through the routers."""
        return load_spec(self._cluster)

    def would_lose(self, nodes: Sequence[Node]) -> list[str]:
        """Return in words what the shards would lose if `nodes` lost their data."""
        by_shard = {name: [n for n in nodes if n.shard == name] for name in self._shards}
        return [
            f"shard {name}: {words}"
            for name, gone in by_shard.items()
            if gone
            for words in self._shards[name].would_lose(gone)
        ]

    def identity(self, node: Node) -> str:
        """Return the first start that the member remembers."""
        return self._of(node).identity(node)

    def data_directories(self, node: Node, begun: bool = False) -> list[Path]:
        """Return where `node` keeps its data, apart from every node of every shard."""
        directories = self._of(node).data_directories(node, begun)
        storage.check_apart(node, directories, self._cluster.nodes)
        return directories

    def _of(self, node: Node) -> MongoAdapter:
        return self._shards[node.shard]

    def _told_by_routers(self) -> list[str]:
        """Return what the first router that answers says against the inventory."""
        silent = []
        for router in self._routers:
            try:
                return shards.disagreements(self._cluster, router.shards())
            except ClusterError as error:
                silent.append(error.message)
        return [f"no router answers: {'; '.join(silent)}"]
