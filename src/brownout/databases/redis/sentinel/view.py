"""What one server says of itself, at one moment."""

from dataclasses import dataclass
from typing import Any

from brownout.base.errors import ClusterError
from brownout.databases.redis.link import Link
from brownout.databases.redis.view import ASKED, RedisView, parse_info
from brownout.inventory.model import Node

__all__ = ["View", "look"]


@dataclass(frozen=True, slots=True)
class View(RedisView):
    """The answers of one server; empty with `error` if it had none."""

    @property
    def state(self) -> str:
        """`MASTER`, `REPLICA`, `SYNCING`, `LOADING`, `CLUSTER`, `SENTINEL` or `unreachable`.

        `SYNCING` is a replica without its master's data or a link to it; `CLUSTER` is a node of a
        Redis Cluster, and `SENTINEL` no server of data at all.
        """
        if not self.info:
            return "unreachable"
        if self.info.get("loading", "0") != "0":
            return "LOADING"
        if (mode := self.info.get("redis_mode", "standalone")) != "standalone":
            return mode.upper()
        if self.info.get("role") == "master":
            return "MASTER"
        return "REPLICA" if self.linked else "SYNCING"

    @property
    def run_id(self) -> str:
        """The id of its process, by which sentinels know it as well; empty if unknown."""
        return self.info.get("run_id", "")

    @property
    def history(self) -> str:
        """The id of its stream of changes: a replica's is its master's, a promotion makes one."""
        return self.info.get("master_replid", "")

    @property
    def master(self) -> str:
        """Of a replica: its master's address as it knows it; else empty."""
        if "master_host" not in self.info:
            return ""
        return f"{self.info['master_host']}:{self.info.get('master_port', '')}"

    def evidence(self) -> dict[str, Any]:
        """Return what matters of it for JSON."""
        facts = RedisView.evidence(self)
        if self.info:
            facts |= {"history": self.history, "offset": self.offset}
        if self.master:
            facts["replicates"] = self.master
        return facts


def look(node: Node, link: Link) -> View:
    """Ask one server; whatever goes wrong is in the view's `error`."""
    try:
        answers = [str(answer) for answer in link.ask_all(ASKED)]
    except ClusterError as error:
        return View.without(node, error)
    return View(node.name, node.address, parse_info("\n".join(answers)))
