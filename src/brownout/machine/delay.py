"""Slowing one node of this machine by what its lab gave it: `netem` or `toxiproxy`."""

import time

from brownout.base import usual
from brownout.inventory.model import ProcessSpec
from brownout.machine import deadman, network, toxiproxy
from brownout.machine.host import Proof
from brownout.machine.netem import Netem, check_size, in_words

__all__ = ["NodeDelay"]

#: The one that a lab's network gives each node.
_INTERFACE = "eth0"


class NodeDelay:
    """What stands between a node of this machine and others; nothing where it has neither."""

    def __init__(self, node: str, spec: ProcessSpec) -> None:
        self._proxy = spec.proxy
        self._netem = _netem(node, spec.network_namespace)

    def why_not(self) -> str:
        """Return why this node cannot be slowed; empty if it can."""
        return "" if self._proxy is not None else self._netem.why_not()

    def slow(self, latency_ms: int, jitter_ms: int, undo_after_s: float | None = None) -> Proof:
        """Slow it by so much, whatever it was slowed by before; only netem undoes it by itself."""
        if self._proxy is None:
            return self._netem.slow(latency_ms, jitter_ms, undo_after_s)
        check_size(latency_ms, jitter_ms)
        already = toxiproxy.latency(self._proxy) == {"latency": latency_ms, "jitter": jitter_ms}
        asked = toxiproxy.slow(self._proxy, latency_ms, jitter_ms)
        done = time.monotonic()
        evidence = {
            "state": "slowed", "by": "toxiproxy", "latency_ms": latency_ms, "jitter_ms": jitter_ms
        }  # fmt: skip
        return Proof(done, done - asked, evidence, already=already)

    def clear(self) -> Proof:
        """Let it be as fast as it is."""
        if self._proxy is None:
            return self._netem.clear()
        already = not toxiproxy.latency(self._proxy)
        asked = toxiproxy.clear(self._proxy)
        done = time.monotonic()
        evidence = {"state": "not slowed", "by": "toxiproxy"}
        return Proof(done, done - asked, evidence, already=already)

    def found(self) -> str:
        """Return in words by what it is slowed now, as `50 ms ± 5 ms by toxiproxy`; or nothing."""
        if self._proxy is None:
            return self._netem.found()
        return in_words(toxiproxy.latency(self._proxy), "toxiproxy")

    def would(self, act: str) -> str:
        """Return what `delay` or `undelay` would change."""
        if self._proxy is None:
            return self._netem.would(act)
        where = f"the toxiproxy at {self._proxy.control} in front of it"
        return f"take the latency from {where}" if act == "undelay" else f"add latency by {where}"


def _netem(node: str, namespace: str) -> Netem:
    """Return the way out of a node's own network namespace; else why it has none."""
    known = ""
    if not namespace:
        known = (
            f"node `{node}` has neither a proxy in front of it (`host.proxy`) nor a network "
            f"namespace to itself, as the nodes of {usual.SLOWED} have"
        )
    elif not (network.NAMESPACES / namespace).exists():
        known = (
            f"node `{node}`: there is no network namespace `{namespace}`: take its lab down and "
            "bring it up again"
        )
    else:
        known = network.why_not()
    limit_s = deadman.DEFAULT_UNDO_AFTER_S
    return Netem(node, network.runner_in(namespace), limit_s, interface=_INTERFACE, known=known)
