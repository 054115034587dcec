"""One member, asked by itself whether it leads."""

import time

from brownout.base.errors import ClusterError
from brownout.databases.access import Access
from brownout.databases.adapter import REFUSES, Claim
from brownout.databases.etcd.link import Link
from brownout.databases.etcd.view import LEADER, View
from brownout.databases.patience import Patience
from brownout.inventory.model import Node

__all__ = ["EtcdCandidate"]


class EtcdCandidate:
    """Asks one member for its status, over a connection of its own."""

    def __init__(self, node: Node, access: Access, timeout_s: float) -> None:
        self.node, self.shard = node.name, node.shard
        self._at = node.address
        self._link = Link(node, access, timeout_s)
        self._patience = Patience(timeout_s)

    def claim(self) -> Claim:
        """Return whether it leads, by its own account, and in which term.

        Raises `ClusterError` where it does not answer in time.
        """
        began = time.monotonic()
        try:
            status = self._link.ask("maintenance/status", self._patience.seconds)
        except ClusterError as error:
            if isinstance(error.__cause__, ConnectionRefusedError):
                return REFUSES
            raise
        self._patience.took(time.monotonic() - began)
        view = View(self.node, self._at, status)
        leads = view.state == LEADER
        return Claim(leads, str(view.term) if leads else "")

    def close(self) -> None:
        """Close the connection."""
        self._link.close()
