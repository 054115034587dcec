"""Limiting the memory of a container by its engine, as `docker update --memory` does.

The engine knows a hard limit only (memory.max): what a container may not have is reclaimed or
swapped out, and if that is not enough the kernel kills it. An update cannot remove a limit, so a
container without one is refused.
"""

from typing import Any

from brownout.base.errors import HostError, Refused
from brownout.inventory.model import Node
from brownout.machine.docker import undo
from brownout.machine.docker.container import Container
from brownout.machine.docker.limits import MEANS, Limit, Limits
from brownout.machine.host import Host, Proof

__all__ = ["MEANS", "before", "left_on", "squeeze", "undo_on", "why_not"]

_MIB = 2**20
#: The engine takes no less.
_LEAST = 6 * _MIB


def why_not(node: Node, host: Host) -> str:
    """Return why the engine cannot limit it and put that back; empty if it can."""
    if _LIMIT.of(node)["Memory"]:
        return ""
    return (
        f"node `{node.name}`: its container has no memory limit, and one that is added to a "
        "running container cannot be removed again; give it one (`docker run --memory`)"
    )


def before(node: Node, host: Host) -> dict[str, int]:
    """Return the limit that it has: `{"Memory": 1073741824}`."""
    return _LIMIT.of(node)


def squeeze(node: Node, host: Host, mib: float, share: float, undo_after_s: float | None) -> Proof:
    """Limit it; a process of this machine puts it back after `undo_after_s`."""
    evidence: dict[str, Any] = {
        "state": "squeezed",
        "property": "memory.max: what it may not have is reclaimed; it may be killed",
    }

    def wanted(client: Any, container: Container, earlier: Limits) -> Limits:
        used = _used(client, container)
        size = int(mib * _MIB or share * used)
        if not _LEAST <= size <= earlier["Memory"]:
            raise Refused(
                f"node `{node.name}` is not squeezed to {size / _MIB:.1f} MiB: wanted "
                f"{_LEAST // _MIB} to {earlier['Memory'] / _MIB:.1f} MiB, its own limit"
            )
        evidence.update(mib=round(size / _MIB, 1), used_mib=round(used / _MIB, 1))
        return {"Memory": size}

    proof = _LIMIT.set(node, wanted, {}, undo_after_s)
    return Proof(
        proof.effective_monotonic,
        proof.uncertainty_s,
        {**evidence, **proof.evidence},
        already=proof.already,
    )


def undo_on(node: Node, host: Host, earlier: Any) -> Proof:
    """Give it the limit of the switch, or else the `earlier` one of the record."""
    return _LIMIT.undo_on(node, earlier, "not squeezed")


def left_on(node: Node, host: Host) -> str:
    """Return the limit in words, where a switch of ours waits for the container."""
    there = _LIMIT.left_on(node)
    return f"{there['Memory'] / _MIB:.1f} MiB by {MEANS}" if there else ""


def _used(client: Any, container: Container) -> int:
    usage = client.stats(container.id, stream=False)["memory_stats"].get("usage")
    if usage is None:
        raise HostError(f"the engine does not say what {container.name} uses", "give `mib`")
    return int(usage)


def _back(earlier: Limits) -> dict[str, int]:
    return {"Memory": earlier["Memory"]}


_LIMIT = Limit(undo.MEMORY_MARK, ("Memory",), _back)
