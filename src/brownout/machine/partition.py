"""Cutting one node off from other members, proven and with its undo; how is in `network`."""

from collections.abc import Sequence
from typing import Any

from brownout.base.errors import ConfigurationError, Unsupported
from brownout.machine import deadman, network
from brownout.machine.commands import Completed
from brownout.machine.host import Proof

__all__ = ["NodeNetwork"]


class NodeNetwork:
    """The network namespace that a node of this machine has to itself; empty where it has none."""

    def __init__(self, node: str, namespace: str) -> None:
        self._node, self._namespace = node, namespace

    def why_not(self) -> str:
        """Return why this node cannot be cut off from others; empty if it can."""
        if not self._namespace:
            return (
                f"node `{self._node}` has no network namespace to itself "
                "(`host.network_namespace`), as the nodes of lab-mongodb-partition have"
            )
        return network.why_not()

    def cut(self, addresses: Sequence[str], undo_after_s: float | None) -> Proof:
        """Cut it off from these `host:port`; the switch that undoes it is armed before."""
        self._check()
        wanted = network.reachable(addresses)
        if not wanted:
            raise ConfigurationError(f"node `{self._node}`: there is nobody to cut it off from")
        already = set(wanted) <= set(network.cut_off(self._namespace))
        limit_s = undo_after_s or deadman.DEFAULT_UNDO_AFTER_S
        switch = network.arm(self._namespace, limit_s)
        done = network.cut(self._namespace, wanted)
        undo = {"undo_after_s": limit_s, "undo_pid": switch}
        return _proof(done, {"state": "cut off", "from": wanted, **undo}, already)

    def join(self) -> Proof:
        """Let it reach everybody again, and end the switch."""
        self._check()
        already = not network.cut_off(self._namespace)
        done = network.join(self._namespace)
        network.disarm(self._namespace)
        return _proof(done, {"state": "joined"}, already)

    def cut_off(self) -> list[str]:
        """Return the addresses that it is cut off from now."""
        return network.cut_off(self._namespace) if self._namespace else []

    def would(self, act: str) -> str:
        """Return what `partition` or `join` would change."""
        where = f"in network namespace {self._namespace or '(it has none)'}"
        if act == "join":
            return f"remove every route through {network.VOID} {where}"
        return f"lead the routes to the other members to {network.VOID}, which is nowhere, {where}"

    def _check(self) -> None:
        if reason := self.why_not():
            raise Unsupported(reason)


def _proof(done: Completed, evidence: dict[str, Any], already: bool) -> Proof:
    """Return the proof of what one script did between its beginning and its end."""
    return Proof(done.received, done.received - done.first_sent, evidence, already=already)
