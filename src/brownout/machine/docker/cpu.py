"""Limiting the CPU of a container by its engine, as `docker update --cpus` does."""

import time
from typing import Any

from brownout.base.errors import HostError
from brownout.inventory.model import Node
from brownout.machine.docker import undo
from brownout.machine.docker.container import checked
from brownout.machine.docker.engine import connected
from brownout.machine.docker.spec import DockerSpec
from brownout.machine.host import Host, Proof

__all__ = ["MEANS", "before", "left_on", "limit", "undo_on", "why_not"]

MEANS = "docker update"
_PERIOD_US = 100_000
#: How the engine takes "no quota" in an update; 0 would mean "as it is".
_NONE = -1


def why_not(node: Node, host: Host) -> str:
    """Return why the engine cannot limit it; it can always."""
    return ""


def before(node: Node, host: Host) -> dict[str, int]:
    """Return the limit that it has: `{"NanoCpus": 0, "CpuQuota": 0, "CpuPeriod": 0}`."""
    spec = _spec(node)
    with connected(spec) as client:
        return _limits(client, checked(client, node.name, spec.container).id)


def limit(node: Node, host: Host, cpus: float, undo_after_s: float | None) -> Proof:
    """Limit it; a process of this machine puts it back after `undo_after_s`."""
    spec = _spec(node)
    limit_s = undo_after_s or spec.undo_after_s
    with connected(spec) as client:
        container = checked(client, node.name, spec.container)
        if not container.running:
            raise HostError(f"node `{node.name}` is not limited: it is not running", "start it")
        earlier = _limits(client, container.id)
        switches = undo.armed(container, undo.CPU_MARK)
        earlier_value = undo.value_of(switches[0]) if switches else _back(earlier)
        wanted = _wanted(earlier, cpus)
        already = bool(switches) and all(earlier[key] == wanted[key] for key in wanted)
        switch = undo.arm(spec, container, limit_s, undo.CPU_MARK, earlier_value)
        sent = time.monotonic()
        undo.update(client, container.id, wanted)
        seen = time.monotonic()
        there = _limits(client, container.id)
        if switch not in [each.pid for each in undo.armed(container, undo.CPU_MARK)]:
            undo.update(
                client, container.id, earlier_value
            )  # its switch ran out before, and is gone
            raise HostError(
                f"node `{node.name}` had its CPU back before it was seen to be limited",
                "raise `undo_after_s`",
            )
    if any(there[key] != value for key, value in wanted.items()):
        raise HostError(f"node `{node.name}`: found {there}, wanted {wanted}")
    evidence = {"state": "throttled", "by": MEANS, "cpus": cpus, "before": earlier}
    evidence |= {"undo_after_s": limit_s, "undo_pid": switch}
    return Proof(seen, seen - sent, evidence, already=already)


def undo_on(node: Node, host: Host, earlier: Any) -> Proof:
    """Give it the limit of the switch, or else the `earlier` one of the record."""
    spec = _spec(node)
    with connected(spec) as client:
        container = checked(client, node.name, spec.container)
        switches = undo.armed(container, undo.CPU_MARK)
        wanted = undo.value_of(switches[0]) if switches else _back(earlier) if earlier else None
        there = _limits(client, container.id)
        already = wanted is None or all(there[k] == max(v, 0) for k, v in wanted.items())
        sent = time.monotonic()
        if wanted is not None and not already:
            undo.update(client, container.id, wanted)
        seen = time.monotonic()
        left = _limits(client, container.id)
    undo.cancel(container, undo.CPU_MARK)
    return Proof(seen, seen - sent, {"state": "not throttled", "limits": left}, already=already)


def left_on(node: Node, host: Host) -> str:
    """Return the limit in words, where a switch of ours waits for the container."""
    spec = _spec(node)
    with connected(spec) as client:
        container = checked(client, node.name, spec.container)
        if not undo.armed(container, undo.CPU_MARK):
            return ""
        there = _limits(client, container.id)
    cpus = there["NanoCpus"] / 1e9 or there["CpuQuota"] / (there["CpuPeriod"] or _PERIOD_US)
    return f"{cpus:g} CPUs by {MEANS}" if cpus > 0 else ""


def _spec(node: Node) -> DockerSpec:
    assert isinstance(node.host, DockerSpec)
    return node.host


def _limits(client: Any, container: str) -> dict[str, int]:
    config = client.inspect_container(container).get("HostConfig") or {}
    return {key: int(config.get(key) or 0) for key in ("NanoCpus", "CpuQuota", "CpuPeriod")}


def _wanted(earlier: dict[str, int], cpus: float) -> dict[str, int]:
    """Return what to set: the engine does not take a quota where it has been given NanoCpus."""
    if earlier["NanoCpus"]:
        return {"NanoCpus": round(cpus * 1e9)}
    return {"CpuQuota": round(cpus * _PERIOD_US), "CpuPeriod": _PERIOD_US}


def _back(earlier: dict[str, int]) -> dict[str, int]:
    """Return what sets the `earlier` limit again."""
    if earlier["NanoCpus"]:
        return {"NanoCpus": earlier["NanoCpus"]}
    quota = earlier["CpuQuota"] if earlier["CpuQuota"] > 0 else _NONE
    return {"CpuQuota": quota, "CpuPeriod": earlier["CpuPeriod"] or _PERIOD_US}
