"""Settings of a member that change while the set serves.

votes_and_priority   {"votes": 1, "priority": 0}, by replSetReconfig
oplog_mb             1024, by replSetResizeOplog; a smaller one frees no disk by itself
"""

import time
from collections.abc import Mapping
from contextlib import nullcontext
from functools import partial
from typing import Any

from brownout.base.errors import ClusterError, ConfigurationError, after_effect, ordering
from brownout.databases.mongodb import membership
from brownout.databases.mongodb.drain import Draining
from brownout.databases.mongodb.view import PRIMARY, look
from brownout.inventory.model import Node
from brownout.machine.host import Proof

__all__ = ["ADJUSTABLE", "SetAdjusting"]

ADJUSTABLE = ("votes_and_priority", "oplog_mb")
#: What the server accepts: 990 MB to 1 PB.
_OPLOG_MB = (990, 2**30)
_MB = 2**20
#: Dropping what no longer fits takes a while.
_RESIZE_S = 60.0


class SetAdjusting(Draining):
    """What `brownout.databases.resize.Adjustable` asks of a replica set."""

    def is_felt(self, name: str) -> bool:
        """Return whether changing the setting alone is felt: who may be primary changes."""
        return name == "votes_and_priority"

    def objections_to_adjust(self, name: str, value: Any, node: Node | None) -> list[str]:
        """Return in words why the setting cannot have this value now."""
        whose = _whose(name, node)
        if name == "oplog_mb":
            return _of_oplog(whose, value, self._oplog_mb(whose))
        healthy = {view.address for view in self._views() if view.serves}
        return membership.of_say(self._configuration.read(), whose, value, healthy)

    def setting(self, name: str, node: Node | None) -> Any:
        """Return what the setting of `node` is now."""
        whose = _whose(name, node)
        if name == "oplog_mb":
            return self._oplog_mb(whose)
        entry = membership.entry_of(self._configuration.read(), whose)
        if entry is None:
            raise ClusterError(f"node `{whose.name}` is not a member of the set")
        return dict(membership.say_of(entry))

    def adjust(self, name: str, value: Any, node: Node | None) -> Proof:
        """Give the setting of `node` this value; safe to repeat."""
        whose = _whose(name, node)
        if name == "oplog_mb":
            return self._resize_oplog(whose, float(value))
        return self._give_say(whose, value)

    def _give_say(self, node: Node, value: Mapping[str, Any]) -> Proof:
        """Give `node` its say; a primary that is to have no priority steps down first.

        `election` in the evidence says whether another member becomes primary because of it.
        """
        was_primary = look(node, self._links[node.name]).state == PRIMARY
        before = self.setting("votes_and_priority", node)
        stepped = None if value["priority"] else self._hand_over(node)
        step = partial(membership.given_say, node=node, **value)
        with nullcontext() if stepped is None else after_effect():
            changed = self._configuration.change(step)
        evidence: dict[str, Any] = {
            **{"before": before, "after": self.setting("votes_and_priority", node)},
            **{"config_version": int(changed.config["version"]), "was_primary": was_primary},
            "election": was_primary and value["priority"] < _highest_other(changed.config, node),
        }
        if stepped is None:
            return Proof(changed.at, changed.took_s, evidence, already=changed.already)
        evidence["stepped_down"] = dict(stepped.evidence)
        return Proof(stepped.effective_monotonic, stepped.uncertainty_s, evidence)

    def _resize_oplog(self, node: Node, megabytes: float) -> Proof:
        before = self._oplog_mb(node)
        asked = time.monotonic()
        if before != megabytes:
            with ordering(f"oplog_mb of `{node.name}` stays as it is"):
                self._links[node.name].order("replSetResizeOplog", 1, _RESIZE_S, size=megabytes)
        done, after = time.monotonic(), self._oplog_mb(node)
        if after != megabytes:
            raise ClusterError(
                f"oplog_mb of `{node.name}`: found {after:g} after it was set to {megabytes:g}"
            )
        evidence = {"before_mb": before, "after_mb": after}
        return Proof(done, done - asked, evidence, already=before == megabytes)

    def _oplog_mb(self, node: Node) -> float:
        """Return how large the oplog may become, as the member itself says."""
        link = self._links[node.name]
        size = link.ask("collStats", "oplog.rs", database="local")["maxSize"] / _MB
        return int(size) if size == int(size) else size


def _whose(name: str, node: Node | None) -> Node:
    if name not in ADJUSTABLE:
        names = " or ".join(ADJUSTABLE)
        raise ConfigurationError(f"setting: found {name!r}, wanted {names}")
    if node is None:
        raise ConfigurationError(f"{name}: found no node, wanted the one whose setting it is")
    return node


def _of_oplog(node: Node, value: Any, now_mb: float) -> list[str]:
    """Object to a size that the server does not take, now or when it is put back."""
    low, high = _OPLOG_MB
    where = f"oplog_mb of `{node.name}`"
    if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
        return [f"{where}: found {value!r}, wanted {low} to {high}: the server takes no other"]
    if now_mb < low:
        return [
            f"{where}: found {now_mb:g} now, to which it could not be put back: the server takes "
            f"nothing below {low}"
        ]
    return []


def _highest_other(config: membership.Document, node: Node) -> float:
    others = [m for m in config["members"] if m["host"] != node.address]
    return max((membership.say_of(member)["priority"] for member in others), default=0)
