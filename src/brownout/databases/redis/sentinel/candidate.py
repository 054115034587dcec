"""One server, asked by itself whether it accepts writes."""

import time
from contextlib import suppress

from brownout.base.errors import ClusterError
from brownout.databases.access import Access
from brownout.databases.adapter import REFUSES, Claim
from brownout.databases.patience import Patience
from brownout.databases.redis.link import Link
from brownout.databases.redis.sentinel.view import View
from brownout.databases.redis.view import parse_info
from brownout.inventory.model import Node

__all__ = ["SentinelCandidate"]

_WANTED = ("CONFIG", "GET", "min-replicas-to-write")


class SentinelCandidate:
    """Asks one server for its role, over a connection of its own."""

    shard = ""

    def __init__(self, node: Node, access: Access, timeout_s: float) -> None:
        self.node = node.name
        self._at = node.address
        self._link = Link(node, access, timeout_s, rights="+info")
        self._patience = Patience(timeout_s)
        self._wanted: int | None = None

    def claim(self) -> Claim:
        """Return whether it is a master that takes writes by its own account, and its history.

        One whose replicas are fewer than its `min-replicas-to-write` takes none; where it may not
        be asked for that setting, it counts as one that takes them. Raises `ClusterError` where it
        does not answer in time.
        """
        began = time.monotonic()
        commands = (("INFO", "replication"), ("INFO", "persistence"))
        try:
            answers = self._link.ask_all(commands, self._patience.seconds)
        except ClusterError as error:
            refused = isinstance(error.__cause__, ConnectionRefusedError)
            if refused or getattr(error, "reply", "").startswith("LOADING"):
                self._wanted = None  # it may come back with another configuration
                return REFUSES if refused else Claim(False)
            raise
        self._patience.took(time.monotonic() - began)
        view = View(self.node, self._at, parse_info("\n".join(map(str, answers))))
        primary = view.state == "MASTER" and self._has_replicas(view)
        return Claim(primary, view.history if primary else "")

    def close(self) -> None:
        """Close the connection."""
        self._link.close()

    def _has_replicas(self, view: View) -> bool:
        if self._wanted is None:
            self._wanted = 0
            with suppress(ClusterError):
                match self._link.ask(*_WANTED):
                    case [_, wanted]:
                        self._wanted = int(str(wanted))
        return int(view.info.get("min_slaves_good_slaves", "0")) >= self._wanted
