"""What a resize is to send: all of the cluster's specification, with another size in it. Pure.

Atlas takes `replicationSpecs` as a whole, so what is not to change goes back as it came.
"""

import copy
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from brownout.errors import ConfigurationError

__all__ = ["resized", "sizes"]

Specs = Sequence[Mapping[str, Any]]
#: Base nodes of a shard have one tier; the storage is the same for every kind of node.
_BASE = ("electableSpecs", "readOnlySpecs")
_EVERY = (*_BASE, "analyticsSpecs")
_READ_ONLY = ("zoneId",)
_SHARED = ("M0", "M2", "M5", "FLEX")


def sizes(specs: Specs) -> list[tuple[str, float | None]]:
    """Return each tier and storage (GB, None where Atlas tells none) of the nodes that hold data.

    One for a cluster of one size: `[("M30", 40.0)]`.
    """
    found = []
    for node in _nodes(specs, _BASE):
        if not node.get("nodeCount"):
            continue
        disk = node.get("diskSizeGB")
        size = (str(node.get("instanceSize", "")), None if disk is None else float(disk))
        if size not in found:
            found.append(size)
    return found


def resized(specs: Specs, tier: str = "", disk_gb: float | None = None) -> dict[str, Any]:
    """Return the change that gives every base node `tier`, and every node `disk_gb`.

    Raises `ConfigurationError` for a shared cluster and where nothing would change.
    """
    before = sizes(specs)
    shared = [name for name, _ in before if name in _SHARED]
    if shared or tier in _SHARED:
        raise ConfigurationError(
            f"resize: found the tier {(shared or [tier])[0]}, wanted M10 or larger: a shared "
            "cluster cannot be resized"
        )
    if disk_gb is not None and disk_gb <= 0:
        raise ConfigurationError(f"disk_gb: found {disk_gb:g}, wanted more than 0")
    wanted = _without_read_only(specs)
    for node in _nodes(wanted, _BASE):
        node.update({"instanceSize": tier} if tier else {})
    for node in _nodes(wanted, _EVERY):
        node.update({} if disk_gb is None else {"diskSizeGB": disk_gb})
    if sizes(wanted) == before:
        words = ", ".join(_words(*size) for size in before)
        raise ConfigurationError(f"resize: the cluster has {words} already, wanted another size")
    return {"replicationSpecs": wanted}


def _words(tier: str, disk_gb: float | None) -> str:
    return tier if disk_gb is None else f"{tier} with {disk_gb:g} GB"


def _without_read_only(specs: Specs) -> list[dict[str, Any]]:
    """Return a copy of `specs` without what Atlas only tells."""
    kept = [{key: spec[key] for key in spec if key not in _READ_ONLY} for spec in specs]
    wanted = copy.deepcopy(kept)
    for spec in wanted:
        spec["regionConfigs"] = [
            {key: value for key, value in region.items() if not key.startswith("effective")}
            for region in spec.get("regionConfigs", [])
        ]
    return wanted


def _nodes(specs: Specs, kinds: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Yield what each region says of such nodes, also where it has none of them now."""
    for spec in specs:
        for region in spec.get("regionConfigs", []):
            for kind in kinds:
                if region.get(kind):
                    yield region[kind]
