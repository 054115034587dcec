"""Slots that move between masters of a real Redis Cluster, and back."""

from collections.abc import Iterator
from contextlib import ExitStack, closing

import pytest
from tests.waiting import await_whole

from brownout.base.errors import ClusterError, ConfigurationError
from brownout.databases.access import Access
from brownout.databases.redis.adapter import RedisAdapter
from brownout.databases.redis.link import Link
from brownout.infra import lab
from brownout.inventory.model import Cluster, Node

pytestmark = pytest.mark.live

#: One is of bytes that are no text.
TAGGED = [f"{{a}}{n}" for n in range(25)] + [
    "{a}" + b"\xff\x00\xfe".decode(errors="surrogateescape")
]


class Cached:
    """The nodes of a lab, asked one by one."""

    def __init__(self, cluster: Cluster, adapter: RedisAdapter, stack: ExitStack) -> None:
        self.adapter = adapter
        self.links = {n.name: stack.enter_context(closing(Link(n, Access(), 5.0)))
                      for n in cluster.nodes}  # fmt: skip
        self.slot = int(str(next(iter(self.links.values())).ask("CLUSTER", "KEYSLOT", "{a}")))

    def owner(self) -> Node:
        """The master of the slot that all of `TAGGED` lie in."""
        masters = self.adapter.targets("role=master", 1)
        return next(m for m in masters if self.slot in self.slots(m))

    def slots(self, node: Node) -> set[int]:
        found = set[int]()
        for part in self.adapter.setting("slots", node).split(", "):
            first, _, last = part.partition("-")
            found.update(range(int(first), int(last or first) + 1))
        return found

    def at(self, node: Node) -> set[str]:
        """The keys of that slot at a node."""
        keys = self.links[node.name].ask("CLUSTER", "GETKEYSINSLOT", str(self.slot), "100")
        assert isinstance(keys, list)
        return set(map(str, keys))

    def id(self, node: Node) -> str:
        return str(self.links[node.name].ask("CLUSTER", "MYID"))


@pytest.fixture
def cached(lab_redis: Cluster) -> Iterator[Cached]:
    """A lab with some keys in one slot; every slot is where it was when the test ends."""
    with RedisAdapter(lab_redis) as adapter, ExitStack() as stack:
        found = Cached(lab_redis, adapter, stack)
        owner, before = found.owner(), adapter.setting("slots", found.owner())
        link = found.links[owner.name]
        for key in TAGGED:
            link.ask("SET", key, "v")
        yield found
        adapter.adjust("slots", before, owner)
        await_whole(adapter)
        link.ask("DEL", *TAGGED)


def test_slots_move_with_their_keys_and_come_back(cached: Cached) -> None:
    adapter, owner = cached.adapter, cached.owner()
    before, had = adapter.setting("slots", owner), cached.slots(owner)
    fewer = len([slot for slot in had if slot >= cached.slot])
    assert adapter.objections_to_adjust("slots", f"-{fewer}", owner) == []
    proof = adapter.adjust("slots", f"-{fewer}", owner)
    assert (proof.evidence["moved"], proof.already) == (fewer, False)
    assert proof.evidence["keys"] >= len(TAGGED)
    assert cached.slots(owner) == {slot for slot in had if slot < cached.slot}
    taker = cached.owner()
    assert [taker.name] == proof.evidence["to"]
    assert cached.at(taker) == set(TAGGED)
    assert cached.at(owner) == set()
    await_whole(adapter)

    back = adapter.adjust("slots", before, owner)
    assert (back.evidence["moved"], adapter.setting("slots", owner)) == (fewer, before)
    assert cached.at(owner) == set(TAGGED)
    assert adapter.adjust("slots", before, owner).already


def leave_half_way(cached: Cached, told: str) -> tuple[Node, Node]:
    """Leave the slot as a run does that is killed between two of its commands.

    Returns whose slot it was, and who was to have it.
    """
    owner, slot = cached.owner(), str(cached.slot)
    other = next(m for m in cached.adapter.targets("role=master", 1) if m != owner)
    source, target = cached.links[owner.name], cached.links[other.name]
    target.ask("CLUSTER", "SETSLOT", slot, "IMPORTING", cached.id(owner))
    if told != "importing":
        source.ask("CLUSTER", "SETSLOT", slot, "MIGRATING", cached.id(other))
    if told in ("some keys", "new owner"):
        host, _, port = other.address.rpartition(":")
        keys = TAGGED if told == "new owner" else TAGGED[:7]
        source.ask("MIGRATE", host, port, "", "0", "5000", "KEYS", *keys)
    if told == "new owner":
        target.ask("CLUSTER", "SETSLOT", slot, "NODE", cached.id(other))
    return owner, other


@pytest.mark.parametrize(
    ("told", "times"),
    # The old owner hears of the new one by chance between two of our questions.
    [
        ("importing", 1),
        ("migrating", 1),
        ("some keys", 1),
        pytest.param("new owner", 40, marks=pytest.mark.matrix),
    ],
)
def test_a_move_that_was_left_half_way_is_undone_without_losing_a_key(
    told: str, times: int, cached: Cached
) -> None:
    adapter, before = cached.adapter, cached.adapter.setting("slots", cached.owner())
    for _ in range(times):
        owner, other = leave_half_way(cached, told)
        if told != "new owner":
            (objection, *_) = adapter.objections_to_adjust("slots", "-5", owner)
            assert "finish it first" in objection

        adapter.adjust("slots", before, owner)
        assert adapter.setting("slots", owner) == before
        assert cached.at(owner) == set(TAGGED)
        assert cached.at(other) == set()
        await_whole(adapter)


def test_a_lab_that_is_up_again_has_no_move_left_half_way(
    cached: Cached, lab_redis: Cluster
) -> None:
    owner, other = leave_half_way(cached, "some keys")
    lab.up(lab_redis.name)
    await_whole(cached.adapter)
    assert cached.at(owner) | cached.at(other) == set(TAGGED)


def test_what_cannot_be_moved_says_why(cached: Cached, lab_redis: Cluster) -> None:
    adapter, owner = cached.adapter, cached.owner()
    (replica,) = adapter.targets("replica", 1)
    assert "owns no slots" in adapter.objections_to_adjust("slots", "-5", replica)[0]
    for value in ("-16384", "-0", adapter.setting("slots", owner)):
        assert "wanted -1 to -" in adapter.objections_to_adjust("slots", value, owner)[0]
    for value in ("many", "1-b", "16380-16384"):
        with pytest.raises(ConfigurationError, match="slots: found"):
            adapter.objections_to_adjust("slots", value, owner)
    for name, node in (("speed", owner), ("slots", None)):
        with pytest.raises(ConfigurationError):
            adapter.setting(name, node)


def test_a_replica_answers_for_its_master_and_a_refused_step_names_the_node(
    cached: Cached,
) -> None:
    replica = cached.adapter.targets("replica", 1)[0]
    assert cached.adapter.setting("slots", replica)
    with pytest.raises(ClusterError, match=r"slots do not move: node `s\dn\d`"):
        cached.adapter._order(cached.adapter._views()[0], "CLUSTER", "SETSLOT", "1", "NODE", "x")
