"""What one node says of itself and of the others, at one moment."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from brownout.base.errors import ClusterError
from brownout.databases.redis.link import Link
from brownout.databases.view import NodeView
from brownout.inventory.model import Node

__all__ = [
    "ASKED",
    "SLOTS",
    "Entry",
    "RedisView",
    "View",
    "in_words",
    "look",
    "parse_info",
    "parse_nodes",
]

SLOTS = 16384
ASKED = (("INFO", "server"), ("INFO", "replication"), ("INFO", "persistence"))
_ASKED_OF_THE_CLUSTER = (("CLUSTER", "NODES"), ("CLUSTER", "INFO"))


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of `CLUSTER NODES`: `moving` are slots on their way, as `[93->-292f…]`."""

    id: str
    at: str
    bus: int
    flags: frozenset[str]
    master: str
    epoch: int
    slots: frozenset[int]
    moving: tuple[str, ...] = ()

    @property
    def failed(self) -> bool:
        """Whether most masters see it as down (`fail`), or it is not known well enough to be asked.

        That one node alone suspects it (`fail?`) is nothing yet.
        """
        return bool(self.flags & {"fail", "handshake", "noaddr"})


@dataclass(frozen=True, slots=True)
class RedisView(NodeView, ABC):
    """What any Redis says of itself (`INFO`); empty with `error` if it gave no answer."""

    ROLES: ClassVar[Mapping[str, str]] = {"MASTER": "primary", "REPLICA": "secondary"}

    info: Mapping[str, str] = field(default_factory=dict)

    @property
    def serves(self) -> bool:
        """Whether it does what it is there for."""
        return self.state in self.ROLES

    @property
    def linked(self) -> bool:
        """Whether it replicates, and has all data that its master had when it began."""
        return (
            self.info.get("master_link_status") == "up"
            and self.info.get("master_sync_in_progress", "0") == "0"
        )

    @property
    @abstractmethod
    def master(self) -> str:
        """The master that it replicates, as its kind of Redis names one; empty for none."""

    @property
    def offset(self) -> int:
        """How far it is in its master's stream of changes, in bytes; -1 if unknown."""
        name = "slave_repl_offset" if self.master else "master_repl_offset"
        return int(self.info.get(name, "-1"))

    def evidence(self) -> dict[str, Any]:
        """Return its state and role, and why it did not answer, for JSON."""
        error = {"error": self.error} if self.error else {}
        return {"state": self.state, "role": self.role, **error}

    @property
    def engine(self) -> str:
        """What it runs, as `redis 7.0.15`; empty if unknown."""
        if "valkey_version" in self.info:
            return f"valkey {self.info['valkey_version']}"
        return f"redis {self.info['redis_version']}" if "redis_version" in self.info else ""


@dataclass(frozen=True, slots=True)
class View(RedisView):
    """The answers of one node of a cluster."""

    listed: tuple[Entry, ...] = ()

    @property
    def own(self) -> Entry | None:
        """Its own line."""
        return next((entry for entry in self.listed if "myself" in entry.flags), None)

    @property
    def id(self) -> str:
        """Its own id; empty if unknown."""
        return self.own.id if self.own else ""

    @property
    def slots(self) -> frozenset[int]:
        """The slots that it is master of, by its own account."""
        own = self.own
        return own.slots if own is not None and "master" in own.flags else frozenset()

    @property
    def epoch(self) -> int:
        """The configuration epoch of its slots, or of its master's; -1 if unknown."""
        return self.own.epoch if self.own else -1

    @property
    def master(self) -> str:
        """The id of the master that it replicates; empty for none."""
        own = self.own
        return own.master if own is not None and "slave" in own.flags else ""

    @property
    def state(self) -> str:
        """`MASTER`, `REPLICA`, `SYNCING`, `LOADING`, `DOWN`, `EMPTY`, `ALONE` or `unreachable`.

        `SYNCING` is a replica without its master's data or a link to it, `DOWN` a node that serves
        nothing since it sees slots without a master, `EMPTY` a master without slots.
        """
        if not self.info:
            return "unreachable"
        if self.info.get("loading", "0") != "0":
            return "LOADING"
        if self.own is None or len(self.listed) == 1:
            return "ALONE"
        if self.info.get("cluster_state") != "ok":
            return "DOWN"
        if self.master:
            return "REPLICA" if self.linked else "SYNCING"
        return "MASTER" if self.slots else "EMPTY"

    def evidence(self) -> dict[str, Any]:
        """Return what matters of it for JSON."""
        facts = RedisView.evidence(self)
        if self.info:
            facts |= {
                "node_id": self.id,
                "epoch": self.epoch,
                "slots": in_words(self.slots),
                "offset": self.offset,
            }
        if self.master:
            facts["replicates"] = self.master
        return facts


def look(node: Node, link: Link) -> View:
    """Ask one node; whatever goes wrong is in the view's `error`."""
    try:
        answers = [str(answer) for answer in link.ask_all(ASKED)]
        info = parse_info("\n".join(answers))
        if info.get("loading", "0") != "0":  # it answers nothing about the cluster then
            return View(node.name, node.address, info)
        listed, state = (str(answer) for answer in link.ask_all(_ASKED_OF_THE_CLUSTER))
        return View(node.name, node.address, {**info, **parse_info(state)}, parse_nodes(listed))
    except ClusterError as error:
        return View.without(node, error)


def parse_info(text: str) -> dict[str, str]:
    """Return the fields of an answer of `INFO` or `CLUSTER INFO`: `{"role": "master"}`."""
    lines = (line.strip().partition(":") for line in text.splitlines())
    return {name: value for name, is_one, value in lines if is_one and not name.startswith("#")}


def parse_nodes(text: str) -> tuple[Entry, ...]:
    """Return the nodes of an answer of `CLUSTER NODES`.

    Its lines are `id ip:port@bus[,host] flags master ping pong epoch link [slots …]`.
    """
    entries = []
    for line in text.splitlines():
        words = line.split()
        if len(words) < 8:
            continue
        at, _, rest = words[1].partition("@")
        bus = rest.partition(",")[0]
        slots = set[int]()
        moving: list[str] = []
        for word in words[8:]:
            if word.startswith("["):
                moving.append(word)
                continue
            first, _, last = word.partition("-")
            slots.update(range(int(first), int(last or first) + 1))
        entries.append(
            Entry(
                words[0],
                at,
                int(bus or 0),
                frozenset(words[2].split(",")),
                words[3].removeprefix("-"),
                int(words[6]),
                frozenset(slots),
                tuple(moving),
            )
        )
    return tuple(entries)


def in_words(slots: frozenset[int]) -> str:
    """Return slots as ranges: `0-5460, 6000`."""
    ranges: list[list[int]] = []
    for slot in sorted(slots):
        if ranges and slot == ranges[-1][1] + 1:
            ranges[-1][1] = slot
        else:
            ranges.append([slot, slot])
    return ", ".join(f"{a}-{b}" if a != b else str(a) for a, b in ranges)
