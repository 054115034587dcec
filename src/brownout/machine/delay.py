"""Slowing a node: by the toxiproxy that its lab put in front of it, else by netem."""

import time

from brownout.base import usual
from brownout.base.errors import Unsupported
from brownout.inventory.model import Node, ProcessSpec, ProxySpec
from brownout.machine import netem, toxiproxy
from brownout.machine.host import Host, Proof
from brownout.machine.netem import check_size, in_words

__all__ = ["SCRIPTS", "left_on", "plan", "slow", "undo_on", "why_not"]

#: What may run as a program of its own, by name (`ssh.helpers`).
SCRIPTS = netem.SCRIPTS


def why_not(node: Node, host: Host) -> str:
    """Return why this node cannot be slowed; empty if it can. Nothing is touched."""
    if _proxy(node) is not None:
        return ""
    try:
        return netem.why_not(host.network())
    except Unsupported as error:
        if not isinstance(node.host, ProcessSpec):
            return error.message
        proxied = f"a proxy in front of it (`host.proxy`), as the nodes of {usual.SLOWED} have"
        return f"{error.message}; nor {proxied}"


def slow(
    node: Node, host: Host, latency_ms: int, jitter_ms: int, undo_after_s: float | None = None
) -> Proof:
    """Slow it by so much, whatever it was slowed by before; only netem undoes it by itself."""
    proxy = _proxy(node)
    if proxy is None:
        return netem.slow(host.network(), latency_ms, jitter_ms, undo_after_s)
    check_size(latency_ms, jitter_ms)
    already = toxiproxy.latency(proxy) == {"latency": latency_ms, "jitter": jitter_ms}
    asked = toxiproxy.slow(proxy, latency_ms, jitter_ms)
    done = time.monotonic()
    evidence = {
        "state": "slowed", "by": "toxiproxy", "latency_ms": latency_ms, "jitter_ms": jitter_ms
    }  # fmt: skip
    return Proof(done, done - asked, evidence, already=already)


def undo_on(node: Node, host: Host) -> Proof:
    """Let it be as fast as it is; proven by reading it back."""
    proxy = _proxy(node)
    if proxy is None:
        return netem.clear(host.network())
    already = not toxiproxy.latency(proxy)
    asked = toxiproxy.clear(proxy)
    done = time.monotonic()
    return Proof(done, done - asked, {"state": "not slowed", "by": "toxiproxy"}, already=already)


def left_on(node: Node, host: Host) -> str:
    """Return in words by what it is slowed, as `50 ms ± 5 ms by toxiproxy`; empty for nothing."""
    proxy = _proxy(node)
    if proxy is not None:
        return in_words(toxiproxy.latency(proxy), "toxiproxy")
    try:
        network = host.network()
    except Unsupported:
        return ""
    return netem.delay_now(network) if network.is_ready() else ""


def plan(node: Node, host: Host, verb: str) -> str:
    """Return where latency is added or removed, as `add latency by …`; `verb` says which."""
    proxy = _proxy(node)
    if proxy is not None:
        return f"{verb} latency by the toxiproxy at {proxy.control} in front of it"
    return f"{verb} latency by {netem.interface_in_words(host.network())}"


def _proxy(node: Node) -> ProxySpec | None:
    return node.host.proxy if isinstance(node.host, ProcessSpec) else None
