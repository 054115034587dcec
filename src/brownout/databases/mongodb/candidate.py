"""One member of a replica set, asked by itself whether it is the writable primary."""

import time

from brownout.base.errors import ClusterError
from brownout.databases.adapter import REFUSES, Claim
from brownout.databases.mongodb.access import Access
from brownout.databases.mongodb.link import Link
from brownout.databases.patience import Patience
from brownout.inventory.model import Node

__all__ = ["MongoCandidate"]


class MongoCandidate:
    """Asks one member `hello`, over a connection of its own."""

    def __init__(self, node: Node, access: Access, timeout_s: float) -> None:
        self.node, self.shard = node.name, node.shard
        self._link = Link(node, access, timeout_s)
        # The first answer counts for new connections, which take a member far away some round
        # trips, by TLS and with a password a few more; the fastest for one that stands.
        self._to_connect, self._to_answer = Patience(timeout_s), Patience(timeout_s)
        self._is_measured = False

    def claim(self) -> Claim:
        """Return whether it is the writable primary, by its own account, and by which election.

        Raises `ClusterError` where it does not answer in time.
        """
        began, is_connected = time.monotonic(), self._link.is_connected
        patience_s = (self._to_answer if is_connected else self._to_connect).seconds
        try:
            hello = self._link.order("hello", 1, patience_s)
        except ClusterError as error:
            if isinstance(error.__cause__, ConnectionRefusedError):
                return REFUSES
            raise
        took_s = time.monotonic() - began
        if not self._is_measured:
            self._to_connect.took(took_s)
            self._is_measured = True
        self._to_answer.took(took_s)
        primary = bool(hello.get("isWritablePrimary"))
        return Claim(primary, str(hello.get("electionId", "")) if primary else "")

    def close(self) -> None:
        """Close the connection."""
        self._link.close()
