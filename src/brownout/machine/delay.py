"""Slowing one node, proven and with its undo, by what its lab gave it: `netem` or `toxiproxy`."""

import time
from typing import Any

from brownout.base.errors import ConfigurationError, Unsupported
from brownout.inventory.model import ProcessSpec
from brownout.machine import netem, toxiproxy
from brownout.machine.host import Proof

__all__ = ["NodeDelay"]


class NodeDelay:
    """What stands between a node of this machine and others; nothing where it has neither."""

    def __init__(self, node: str, spec: ProcessSpec) -> None:
        self._node, self._proxy, self._namespace = node, spec.proxy, spec.network_namespace

    def why_not(self) -> str:
        """Return why this node cannot be slowed; empty if it can."""
        if self._proxy is not None:
            return ""
        if not self._namespace:
            return (
                f"node `{self._node}` has neither a proxy in front of it (`host.proxy`) nor a "
                "network namespace to itself, as the nodes of lab-mongodb-slow have"
            )
        return netem.why_not()

    def slow(self, latency_ms: int, jitter_ms: int) -> Proof:
        """Slow it by so much, whatever it was slowed by before."""
        if reason := self.why_not():
            raise Unsupported(reason)
        _check(latency_ms, jitter_ms)
        wanted = {"latency": latency_ms, "jitter": jitter_ms}
        already = self._found() == wanted
        evidence = {"state": "slowed", "by": self._by, **_with_unit(wanted)}
        if self._proxy is not None:
            return _proof(toxiproxy.slow(self._proxy, latency_ms, jitter_ms), evidence, already)
        done = netem.slow(self._namespace, latency_ms, jitter_ms)
        return _proof(done.first_sent, evidence, already)

    def clear(self) -> Proof:
        """Let it be as fast as it is."""
        already = not self._found()
        evidence = {"state": "not slowed", "by": self._by}
        if self._proxy is not None:
            return _proof(toxiproxy.clear(self._proxy), evidence, already)
        if already:
            return _proof(time.monotonic(), evidence, already)
        return _proof(netem.clear(self._namespace).first_sent, evidence, already)

    def found(self) -> str:
        """Return in words by what it is slowed now, as `50 ms ± 5 ms by toxiproxy`; or nothing."""
        found = self._found()
        spread = f" ± {found['jitter']} ms" if found.get("jitter") else ""
        return f"{found['latency']} ms{spread} by {self._by}" if found else ""

    def would(self, act: str) -> str:
        """Return what `delay` or `undelay` would change."""
        where = (
            f"the toxiproxy at {self._proxy.control} in front of it"
            if self._proxy is not None
            else f"netem on {netem.INTERFACE} in network namespace {self._namespace or '(none)'}"
        )
        return f"take the latency from {where}" if act == "undelay" else f"add latency by {where}"

    @property
    def _by(self) -> str:
        return "toxiproxy" if self._proxy is not None else "netem"

    def _found(self) -> dict[str, int]:
        if self._proxy is not None:
            return toxiproxy.latency(self._proxy)
        return netem.latency(self._namespace) if self._namespace else {}


def _check(latency_ms: int, jitter_ms: int) -> None:
    problems = []
    if not 1 <= latency_ms <= 60_000:
        problems.append(f"latency_ms: found {latency_ms}, wanted 1 to 60000")
    if not 0 <= jitter_ms <= latency_ms:
        problems.append(f"jitter_ms: found {jitter_ms}, wanted 0 to latency_ms")
    if problems:
        raise ConfigurationError(problems)


def _with_unit(found: dict[str, int]) -> dict[str, Any]:
    return {f"{name}_ms": value for name, value in found.items()}


def _proof(asked: float, evidence: dict[str, Any], already: bool) -> Proof:
    """Return the proof of what was done between `asked` and now."""
    done = time.monotonic()
    return Proof(done, done - asked, evidence, already=already)
