"""One member of a replica set, asked by itself whether it is the writable primary."""

import time

from brownout.base.errors import ClusterError
from brownout.databases.adapter import Claim
from brownout.databases.mongodb.access import Access
from brownout.databases.mongodb.link import Link
from brownout.inventory.model import Node

__all__ = ["MongoCandidate"]

#: So long an answer is waited for at least, and three times as long as an earlier one took: the
#: first for a new connection, which takes a member far away some round trips, by TLS and with a
#: password a few more; the fastest for one that stands.
PATIENCE_S = 0.25


class MongoCandidate:
    """Asks one member `hello`, over a connection of its own."""

    def __init__(self, node: Node, access: Access, timeout_s: float) -> None:
        self.node, self.shard = node.name, node.shard
        self._link = Link(node, access, timeout_s)
        self._to_connect_s: float | None = None  # None until measured: the link's own time-out
        self._to_answer_s = self._timeout_s = timeout_s

    def claim(self) -> Claim:
        """Return whether it is the writable primary, by its own account, and by which election.

        Raises `ClusterError` where it does not answer in time.
        """
        began, is_connected = time.monotonic(), self._link.is_connected
        patience_s = self._to_answer_s if is_connected else self._to_connect_s or self._timeout_s
        try:
            hello = self._link.order("hello", 1, patience_s)
        except ClusterError as error:
            if isinstance(error.__cause__, ConnectionRefusedError):
                return Claim(False)
            raise
        enough_s = min(self._timeout_s, max(PATIENCE_S, 3 * (time.monotonic() - began)))
        self._to_connect_s = self._to_connect_s or enough_s
        self._to_answer_s = min(self._to_answer_s, enough_s)
        primary = bool(hello.get("isWritablePrimary"))
        return Claim(primary, str(hello.get("electionId", "")) if primary else "")

    def close(self) -> None:
        """Close the connection."""
        self._link.close()
