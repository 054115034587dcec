"""Limiting the CPU of a container by its engine, as `docker update --cpus` does."""

from typing import Any

from brownout.inventory.model import Node
from brownout.machine.docker import undo
from brownout.machine.docker.limits import MEANS, Limit, Limits
from brownout.machine.host import Host, Proof

__all__ = ["MEANS", "before", "left_on", "limit", "undo_on", "why_not"]

_PERIOD_US = 100_000
#: How the engine takes "no quota" in an update; 0 would mean "as it is".
_NONE = -1


def why_not(node: Node, host: Host) -> str:
    """Return why the engine cannot limit it; it can always."""
    return ""


def before(node: Node, host: Host) -> dict[str, int]:
    """Return the limit that it has: `{"NanoCpus": 0, "CpuQuota": 0, "CpuPeriod": 0}`."""
    return _LIMIT.of(node)


def limit(node: Node, host: Host, cpus: float, undo_after_s: float | None) -> Proof:
    """Limit it; a process of this machine puts it back after `undo_after_s`."""
    evidence = {"state": "throttled", "cpus": cpus}
    return _LIMIT.set(
        node, lambda client, container, earlier: _wanted(earlier, cpus), evidence, undo_after_s
    )


def undo_on(node: Node, host: Host, earlier: Any) -> Proof:
    """Give it the limit of the switch, or else the `earlier` one of the record."""
    return _LIMIT.undo_on(node, earlier, "not throttled")


def left_on(node: Node, host: Host) -> str:
    """Return the limit in words, where a switch of ours waits for the container."""
    there = _LIMIT.left_on(node)
    if there is None:
        return ""
    cpus = there["NanoCpus"] / 1e9 or there["CpuQuota"] / (there["CpuPeriod"] or _PERIOD_US)
    return f"{cpus:g} CPUs by {MEANS}" if cpus > 0 else ""


def _wanted(earlier: Limits, cpus: float) -> dict[str, int]:
    """Return what to set: the engine does not take a quota where it has been given NanoCpus."""
    if earlier["NanoCpus"]:
        return {"NanoCpus": round(cpus * 1e9)}
    return {"CpuQuota": round(cpus * _PERIOD_US), "CpuPeriod": _PERIOD_US}


def _back(earlier: Limits) -> dict[str, int]:
    """Return what sets the `earlier` limit again."""
    if earlier["NanoCpus"]:
        return {"NanoCpus": earlier["NanoCpus"]}
    quota = earlier["CpuQuota"] if earlier["CpuQuota"] > 0 else _NONE
    return {"CpuQuota": quota, "CpuPeriod": earlier["CpuPeriod"] or _PERIOD_US}


_LIMIT = Limit(undo.CPU_MARK, ("NanoCpus", "CpuQuota", "CpuPeriod"), _back)
