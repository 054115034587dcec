"""What one sentinel says of the master that it watches, of the replicas, and of the others."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from brownout.base.errors import ClusterError
from brownout.base.settings import host_and_port
from brownout.databases.redis.link import CommandFailed, Link, Reply
from brownout.databases.view import NodeView
from brownout.inventory.model import Node
from brownout.inventory.sentinel import SentinelSpec

__all__ = ["Seen", "Watch", "fields", "node_at", "nodes_of", "watch"]

#: How a sentinel flags who does not answer it, or what does not.
_DOWN = frozenset({"s_down", "o_down"})


@dataclass(frozen=True, slots=True)
class Seen:
    """One server as a sentinel sees it; `run_id` is empty until the server told it."""

    at: str
    run_id: str
    down: bool


@dataclass(frozen=True, slots=True)
class Watch(NodeView):
    """One sentinel's answers; without `master` where it gave none, and `error` says why.

    `epoch` is that of the failover that made its master one. `objection` is why the sentinels that
    it reaches could not agree on a failover now, in its own words.
    """

    ROLES: ClassVar[Mapping[str, str]] = {}

    master: Seen | None = None
    replicas: tuple[Seen, ...] = ()
    sentinels: tuple[str, ...] = ()
    epoch: int = -1
    down_after_s: float = 0.0
    objection: str = ""

    @property
    def state(self) -> str:
        """`WATCHES` or `unreachable`."""
        return "WATCHES" if self.serves else "unreachable"

    @property
    def serves(self) -> bool:
        """Whether it knows a master."""
        return self.master is not None

    def evidence(self) -> dict[str, Any]:
        """Return what matters of it for JSON."""
        if self.master is None:
            return {"state": self.state, "error": self.error}
        down = [seen.at for seen in (self.master, *self.replicas) if seen.down]
        facts: dict[str, Any] = {"state": self.state, "master": self.master.at, "epoch": self.epoch}
        facts |= {"sees_down": down, "replicas": [seen.at for seen in self.replicas]}
        return {**facts, "objection": self.objection} if self.objection else facts


def nodes_of(spec: SentinelSpec) -> list[Node]:
    """Return the sentinels as nodes, so that they can be asked as nodes are."""
    return [node_at(address) for address in spec.addresses]


def node_at(address: str) -> Node:
    """Return the sentinel at `address` as a node; its name has the address in it."""
    host, port = host_and_port(address)
    return Node(name=f"sentinel-{host.replace(':', '.')}-{port}", address=address)


def watch(node: Node, link: Link, master: str) -> Watch:
    """Ask one sentinel about `master`; whatever goes wrong is in the watch's `error`."""
    commands = [("SENTINEL", what, master) for what in ("MASTER", "REPLICAS", "SENTINELS")]
    try:
        own, replicas, others = link.ask_all(commands)
        objection = _objection(link, master)
    except ClusterError as error:
        return Watch.without(node, error)
    facts = fields(own)
    return Watch(
        node.name,
        node.address,
        master=_seen(facts),
        replicas=tuple(_seen(fields(one)) for one in _list(replicas)),
        sentinels=tuple(_at(fields(one)) for one in _list(others)),
        epoch=int(facts.get("config-epoch", "-1")),
        down_after_s=int(facts.get("down-after-milliseconds", "0")) / 1000,
        objection=objection,
    )


def fields(answer: Reply) -> dict[str, str]:
    """Return names and values of an answer that has them by turns."""
    words = [str(word) for word in _list(answer)]
    return dict(zip(words[::2], words[1::2], strict=False))


def _objection(link: Link, master: str) -> str:
    try:
        link.ask("SENTINEL", "CKQUORUM", master)
    except CommandFailed as error:
        if error.reply.startswith("NOQUORUM"):
            return error.reply.removeprefix("NOQUORUM ").strip()
        raise
    return ""


def _list(answer: Reply) -> Sequence[Reply]:
    return answer if isinstance(answer, list) else []


def _seen(facts: Mapping[str, str]) -> Seen:
    flags = frozenset(facts.get("flags", "").split(","))
    return Seen(_at(facts), facts.get("runid", ""), bool(flags & _DOWN))


def _at(facts: Mapping[str, str]) -> str:
    return f"{facts.get('ip', '')}:{facts.get('port', '')}"
