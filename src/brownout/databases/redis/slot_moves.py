"""Slots that move from one master to another while the cluster serves.

    new owner: IMPORTING ──▶ old owner: MIGRATING ──▶ its keys, in lots, by MIGRATE
    ──▶ both, then every other master: the slot is the new owner's

Source: the Redis Cluster specification, "Live reconfiguration". A slot that was left half-way, as
by a run that died, is finished first; it then moves back like any other.
"""

import time
from collections.abc import Sequence
from typing import Any

from brownout.base.errors import ClusterError, ConfigurationError
from brownout.base.wait import wait_until
from brownout.databases.access import Access
from brownout.databases.redis.link import CommandFailed
from brownout.databases.redis.members import RedisMembers
from brownout.databases.redis.milestones import masters_of, overruled
from brownout.databases.redis.view import SLOTS, View, in_words
from brownout.inventory.model import Node
from brownout.machine.host import Proof

__all__ = ["Resharding"]

_SLOTS = "slots"
#: Keys moved by one command: it blocks both nodes, so it is kept short.
_LOT = 10
#: A key of some hundred megabytes takes seconds.
_MIGRATE_S = 10.0
#: Masters learn of a slot's new owner within milliseconds; after a lost link it takes seconds.
_HEARD_WITHIN_S = 10.0


class Resharding(RedisMembers[View]):
    """What `brownout.databases.resize.Adjustable` asks: `slots`, those that a master owns.

    The value is ranges, as `0-5460, 6000`, or how many fewer than now, as `-500`. The master with
    the fewest slots takes what another gives away. A replica stands for its master.
    """

    _access: Access

    def is_felt(self, name: str) -> bool:
        """Return whether changing the setting alone is felt: data move."""
        return name == _SLOTS

    def objections_to_adjust(self, name: str, value: Any, node: Node | None) -> list[str]:
        """Return in words why the slots of `node` cannot become these now."""
        whose, views = _whose(name, node), self._views()
        masters = masters_of(views)
        owner = next((view for view in masters if view.node == whose.name), None)
        if owner is None:
            return [f"node `{whose.name}` owns no slots, wanted a master"]
        if len(masters) < 2:
            return ["there is no other master that could take slots"]
        moving = [f"{v.node} moves the slot {m}" for v in views if v.own for m in v.own.moving]
        if moving:
            return [f"{each}; finish it first (`redis-cli --cluster fix`)" for each in moving]
        wanted = _wanted(value, owner.slots)
        if not wanted or wanted == owner.slots:
            most = len(owner.slots) - 1
            return [f"slots of `{whose.name}`: found {value!r}, wanted -1 to -{most}, or ranges"]
        return []

    def setting(self, name: str, node: Node | None) -> str:
        """Return the slots that `node` owns now, as ranges."""
        return in_words(_owner(_whose(name, node), self._views()).slots)

    def adjust(self, name: str, value: Any, node: Node | None) -> Proof:
        """Move slots until `node` owns these; safe to repeat.

        Effective when the first one began to move. `keys` in the evidence counts what was moved.
        """
        whose = _whose(name, node)
        began = time.monotonic()
        keys = self.finish_moves()
        views = self._agreed_views()
        owner = _owner(whose, views)
        wanted, masters = _wanted(value, owner.slots), masters_of(views)
        moves = _moves(owner, wanted, masters)
        for slot, source, target in moves:
            keys += self._move(slot, source, target, masters)
        after = _owner(whose, self._views())
        if after.slots != wanted:
            raise ClusterError(
                f"slots of `{after.node}`: found {in_words(after.slots)} after they were to be "
                f"{in_words(wanted)}"
            )
        evidence: dict[str, Any] = {
            **{"before": in_words(owner.slots), "after": in_words(after.slots)},
            **{"moved": len(moves), "keys": keys, "took_s": round(time.monotonic() - began, 3)},
            "to": sorted({target.node for _, _, target in moves}),
        }
        return Proof(began, 0.0, evidence, already=not moves and not keys)

    def finish_moves(self) -> int:
        """Finish what moves were left half-way; return how many keys that took.

        Raises `ClusterError` where the masters do not agree on who owns which slot.
        """
        masters = [v for v in self._agreed_views() if v.own and v.role == "primary"]
        by_id = {view.id: view for view in masters}
        left: dict[int, tuple[View, View]] = {}
        for view in masters:
            for slot, leaves, other in map(_parsed, view.own.moving if view.own else ()):
                if other in by_id:
                    left[slot] = (view, by_id[other]) if leaves else (by_id[other], view)
                else:  # its source or target is not a master any more
                    self._order(view, "CLUSTER", "SETSLOT", str(slot), "STABLE")
        return sum(self._move(slot, *ends, masters) for slot, ends in sorted(left.items()))

    def _agreed_views(self) -> list[View]:
        """Return what the nodes say once every master knows which slots another one has taken.

        Until then it depends on timing whether the old owner of a slot accepts orders about it.
        """
        views = wait_until(self._views, _HEARD_WITHIN_S, 0.02, so=lambda seen: not overruled(seen))
        if stale := overruled(views):
            raise ClusterError(
                f"after {_HEARD_WITHIN_S:.0f} s these masters still claim slots that another one "
                f"owns: {', '.join(view.node for view in stale)}",
                "see that the nodes reach each other's cluster bus",
            )
        return views

    def _move(self, slot: int, source: View, target: View, masters: Sequence[View]) -> int:
        number = str(slot)
        if slot not in target.slots:
            self._order(target, "CLUSTER", "SETSLOT", number, "IMPORTING", source.id)
        if slot in source.slots:
            self._order(source, "CLUSTER", "SETSLOT", number, "MIGRATING", target.id)
        keys = self._move_keys(number, source, target)
        others = [view for view in masters if view.id not in (source.id, target.id)]
        for view in (target, source, *others):
            self._order(view, "CLUSTER", "SETSLOT", number, "NODE", target.id)
        return keys

    def _move_keys(self, slot: str, source: View, target: View) -> int:
        assert target.own is not None  # it is a master with slots
        host, _, port = target.own.at.rpartition(":")
        login = _login(self._access)
        within = str(round(_MIGRATE_S * 1000))
        moved = 0
        while lot := self._order(source, "CLUSTER", "GETKEYSINSLOT", slot, str(_LOT)):
            assert isinstance(lot, list)
            keys = [str(key) for key in lot]
            self._order(
                source, "MIGRATE", host, port, "", "0", within, "REPLACE", *login, "KEYS", *keys
            )
            moved += len(keys)
        return moved

    def _order(self, view: View, *words: str) -> Any:
        try:
            return self._links[view.node].ask(*words, timeout_s=_MIGRATE_S)
        except CommandFailed as error:
            hint = error.hint or "`brownout heal` moves the slots back"
            raise ClusterError(f"slots do not move: {error.message}", hint) from error


def _whose(name: str, node: Node | None) -> Node:
    if name != _SLOTS:
        raise ConfigurationError(f"setting: found {name!r}, wanted {_SLOTS}")
    if node is None:
        raise ConfigurationError(f"{name}: found no node, wanted the one whose slots they are")
    return node


def _owner(node: Node, views: Sequence[View]) -> View:
    """Return the master that `node` is, or that it replicates."""
    own = next(view for view in views if view.node == node.name)
    owners = [v for v in masters_of(views) if v.id and v.id in (own.id, own.master)]
    if not owners:
        raise ClusterError(own.error or f"node `{node.name}` is {own.state}, wanted a master")
    return owners[0]


def _wanted(value: Any, now: frozenset[int]) -> frozenset[int]:
    """Return the slots that a value means: ranges, or so many fewer than `now`, the highest."""
    text = str(value).strip()
    try:
        if text.startswith("-"):
            return frozenset(sorted(now)[: int(text)])
        slots = set[int]()
        for part in text.split(","):
            first, _, last = part.strip().partition("-")
            slots.update(range(int(first), int(last or first) + 1))
    except ValueError as error:
        raise ConfigurationError(f"slots: found {value!r}, wanted `-500` or `0-5460`") from error
    if not slots <= set(range(SLOTS)):
        raise ConfigurationError(f"slots: found {value!r}, wanted slots of 0 to {SLOTS - 1}")
    return frozenset(slots)


def _moves(
    owner: View, wanted: frozenset[int], masters: Sequence[View]
) -> list[tuple[int, View, View]]:
    """Return every slot that has to move, its owner, and who takes it."""
    others = [view for view in masters if view.id != owner.id]
    taker = min(others, key=lambda view: (len(view.slots), view.node))
    away = [(slot, owner, taker) for slot in sorted(owner.slots - wanted)]
    back = [(slot, view, owner) for view in others for slot in sorted(view.slots & wanted)]
    return away + back


def _parsed(word: str) -> tuple[int, bool, str]:
    """Return slot, whether it leaves, and the other's id, of `[93->-292f…]` or `[93-<-292f…]`."""
    inside = word.strip("[]")
    leaves = "->-" in inside
    slot, _, other = inside.partition("->-" if leaves else "-<-")
    return int(slot), leaves, other


def _login(access: Access) -> tuple[str, ...]:
    if not access.password:
        return ()
    if access.username:
        return ("AUTH2", access.username, access.password)
    return ("AUTH", access.password)
