"""One node, asked by itself whether it accepts writes."""

import time

from brownout.base.errors import ClusterError
from brownout.databases.access import Access
from brownout.databases.adapter import REFUSES, Claim
from brownout.databases.patience import Patience
from brownout.databases.redis.link import Link
from brownout.databases.redis.view import View, parse_info, parse_nodes
from brownout.inventory.model import Node

__all__ = ["RedisCandidate"]


class RedisCandidate:
    """Asks one node for its role and its state, over a connection of its own."""

    def __init__(self, node: Node, shard: str, access: Access, timeout_s: float) -> None:
        self.node, self.shard = node.name, shard
        self._at = node.address
        self._link = Link(node, access, timeout_s)
        self._patience = Patience(timeout_s)

    def claim(self) -> Claim:
        """Return whether it is a master of slots that serves, by its own account, and its epoch.

        A master serves nothing while it sees slots without a master, its own or others'
        (`cluster-require-full-coverage`). Raises `ClusterError` where it does not answer in time.
        """
        began = time.monotonic()
        commands = (("CLUSTER", "NODES"), ("CLUSTER", "INFO"))
        try:
            listed, state = (
                str(each) for each in self._link.ask_all(commands, self._patience.seconds)
            )
        except ClusterError as error:
            refused = isinstance(error.__cause__, ConnectionRefusedError)
            if refused or getattr(error, "reply", "").startswith("LOADING"):
                return REFUSES if refused else Claim(False)
            raise
        self._patience.took(time.monotonic() - began)
        view = View(self.node, self._at, parse_info(state), parse_nodes(listed))
        primary = view.state == "MASTER"
        return Claim(primary, str(view.epoch) if primary else "")

    def close(self) -> None:
        """Close the connection."""
        self._link.close()
