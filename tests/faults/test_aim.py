"""Whom a run breaks: what its target means now, until the first break settles it."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.waiting import await_whole

from brownout.databases.adapter import Adapter, Member
from brownout.databases.aerospike.choice import choose as choose_on_aerospike
from brownout.databases.cassandra.choice import TARGETS as CASSANDRA
from brownout.databases.choice import Targets
from brownout.databases.etcd.choice import TARGETS as ETCD
from brownout.databases.mongodb.choice import TARGETS as MONGODB
from brownout.databases.postgresql.choice import TARGETS as POSTGRESQL
from brownout.databases.redis.choice import TARGETS as REDIS
from brownout.faults.aim import Aim, RoleMoved
from brownout.faults.faults import Faults
from brownout.inventory.connection import Connection
from brownout.inventory.model import Cluster, Guards, Node
from brownout.machine.host import host_for
from brownout.run.contract import breaches
from brownout.run.events import EventLog, read_events
from brownout.session.targets import aim_at

NODES = tuple(Node(name=f"n{number}", address=f"db{number}:1") for number in (1, 2, 3))
CLUSTER = Cluster(
    name="c", database="mongodb", environment="test", nodes=NODES, connection=Connection()
)


def members(primary: str) -> list[Member]:
    roles = {node.name: "primary" if node.name == primary else "secondary" for node in NODES}
    return [Member(n.name, n.address, roles[n.name], roles[n.name], True) for n in NODES]


@dataclass
class Moving:
    """What the target needs of an adapter of a cluster whose primary moves."""

    words: Targets
    primary: str = "n1"

    def members(self) -> list[Member]:
        return members(self.primary)

    def role_words(self) -> dict[str, str]:
        return {}

    def role_asked(self, select: str) -> str:
        return self.words.role_asked(select)

    def targets(self, select: str, seed: int) -> list[Node]:
        names = self.words.choose(select, self.members(), seed, {})
        return [CLUSTER.node(name) for name in names]


class MovingAerospike(Moving):
    """The same, of a database whose adapter has no words of its own."""

    def targets(self, select: str, seed: int) -> list[Node]:
        return choose_on_aerospike(select, seed, NODES, self.members)


def aim(adapter: Moving, select: str) -> Aim:
    return aim_at(select, CLUSTER, adapter, 1)  # type: ignore[arg-type]


def names(nodes: tuple[Node, ...]) -> list[str]:
    return [node.name for node in nodes]


@pytest.mark.parametrize(
    ("kind", "words", "select"),
    [
        (Moving, MONGODB, "primary"), (Moving, ETCD, "leader"), (Moving, REDIS, "master"),
        (Moving, POSTGRESQL, "leader"), (Moving, POSTGRESQL, "role=primary"),
        (Moving, CASSANDRA, "primary"), (MovingAerospike, Targets(), "primary"),
    ],
)  # fmt: skip
def test_a_role_means_who_has_it_now_on_every_database(
    kind: Callable[[Targets], Moving], words: Targets, select: str
) -> None:
    adapter = kind(words)
    chosen = aim(adapter, select)
    assert names(chosen.planned) == ["n1"]
    adapter.primary = "n2"
    assert names(chosen.nodes()) == ["n2"]
    assert [chosen.role_of(name) for name in ("n1", "n2")] == ["", "primary"]


def test_the_node_of_the_first_break_is_meant_from_then_on_whatever_it_is() -> None:
    adapter = Moving(MONGODB)
    chosen = aim(adapter, "primary")
    chosen.settle("n3")  # somebody's second target
    chosen.settle("n1")
    adapter.primary = "n2"
    assert names(chosen.nodes()) == ["n1"]
    assert chosen.role_of("n1") == ""


def test_of_several_nodes_each_has_its_role_until_it_is_broken_itself() -> None:
    adapter = Moving(MONGODB)
    chosen = aim(adapter, "role=secondary")
    chosen.settle("n2")
    assert names(chosen.nodes()) == ["n2", "n3"]
    assert [chosen.role_of(name) for name in ("n2", "n3")] == ["", "secondary"]


@pytest.mark.parametrize("select", ["n2", "random"])
def test_a_name_and_a_draw_stay_what_they_are(select: str) -> None:
    adapter = Moving(MONGODB)
    chosen = aim(adapter, select)
    planned = names(chosen.planned)
    adapter.primary = "n3"
    assert names(chosen.nodes()) == planned
    assert chosen.role_of(planned[0]) == ""


@pytest.mark.parametrize(
    ("words", "select", "role"),
    [
        (MONGODB, "primary@s1", "primary"), (REDIS, "role=replica", "secondary"),
        (POSTGRESQL, "standby", "secondary"), (ETCD, "follower", "secondary"),
        (MONGODB, "rack", ""), (MONGODB, "rack=r1", ""), (MONGODB, "random", ""),
    ],
)  # fmt: skip
def test_a_target_asks_for_a_role_or_for_none(words: Targets, select: str, role: str) -> None:
    assert words.role_asked(select) == role


@pytest.fixture
def cluster(lab_etcd: Cluster) -> Cluster:
    return lab_etcd


def _aiming(faults: Faults, log: Path, node: Node, role: str) -> Faults:
    events = EventLog(log)
    return Faults(
        faults.cluster, faults.adapter, events, lambda t: t, aim=Aim(lambda: [node], role)
    )


def test_a_node_that_lost_the_role_that_was_asked_for_is_not_touched(
    faults: Faults, adapter: Adapter, log: Path
) -> None:
    (follower,) = adapter.targets("follower", 1)
    with pytest.raises(RoleMoved, match=f"node `{follower.name}` is secondary at pause_node"):
        _aiming(faults, log, follower, "primary").run("pause_node", follower)
    assert not log.exists() or read_events(log) == []
    assert not host_for(follower).running().paused


def test_the_role_at_the_break_is_in_its_evidence(
    faults: Faults, adapter: Adapter, log: Path
) -> None:
    (leader,) = adapter.targets("leader", 1)
    aiming = _aiming(faults, log, leader, "primary")
    aiming.run("pause_node", leader)
    aiming.run("resume_node", leader)
    paused, _ = read_events(log)
    assert (paused.evidence["role"], paused.evidence["role_asked"]) == ("primary", "primary")


def test_a_role_that_moved_once_the_fault_had_begun_breaks_its_contract(
    cluster: Cluster, adapter: Adapter, log: Path
) -> None:
    two = cluster.model_copy(update={"guards": Guards(max_nodes_down=2)})
    (leader,) = adapter.targets("leader", 1)
    nodes = [*adapter.targets("follower", 1), leader]
    faults = Faults(two, adapter, EventLog(log), lambda t: t, aim=Aim(lambda: nodes, "secondary"))
    try:
        faults.run_together("pause_node", nodes)
    finally:
        assert faults.put_back() == []
        await_whole(adapter)
    (breach,) = breaches(read_events(log))
    assert (breach.clause, breach.node, breach.allowed) == ("role", leader.name, False)
    assert breach.detail == f"node `{leader.name}` is primary at pause_node, wanted a secondary"


@pytest.mark.parametrize(("claims", "broken"), [(None, []), (True, []), (False, ["role"])])
def test_a_primary_that_stepped_down_before_the_break_took_effect_breaks_the_contract(
    faults: Faults, adapter: Adapter, log: Path, claims: bool | None, broken: list[str]
) -> None:
    (leader,) = adapter.targets("leader", 1)
    aiming = _aiming(faults, log, leader, "primary")
    aiming.claimed_primary = lambda _node, since, until: claims if since < until else None
    aiming.run("pause_node", leader)
    aiming.run("resume_node", leader)
    assert [breach.clause for breach in breaches(read_events(log))] == broken
