"""What a resize is to send: all of the cluster's specification, with another size in it. Pure.

Atlas takes `replicationSpecs` as a whole, so what is not to change goes back as it came. Each of
them is a shard; a replica set has one.
"""

import copy
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from brownout.base.errors import ConfigurationError

__all__ = ["SHARED", "Size", "layout", "resized", "restoring", "same", "sizes"]

Specs = Sequence[Mapping[str, Any]]
#: Tiers that several customers share: Atlas changes nothing about them by these calls.
SHARED = ("M0", "M2", "M5", "FLEX")
#: Base nodes of a shard have one tier; the storage is the same for every kind of node.
_BASE = ("electableSpecs", "readOnlySpecs")
_EVERY = (*_BASE, "analyticsSpecs")
_READ_ONLY = ("zoneId",)
#: How many members of a shard can be elected.
_ELECTABLE = (3, 5, 7)


@dataclass(frozen=True, slots=True)
class Size:
    """What is wanted; what is left at its default stays as it is.

    `nodes` are the electable ones of each shard, over all regions.
    """

    tier: str = ""
    disk_gb: float | None = None
    nodes: int = 0
    shards: int = 0

    def words(self) -> str:
        """Return it for people: `M40 with 80 GB, 5 nodes`."""
        parts = [_words(self.tier or "the same tier", self.disk_gb)]
        parts += [f"{self.nodes} nodes"] if self.nodes else []
        parts += [f"{self.shards} shards"] if self.shards else []
        return ", ".join(parts)


def sizes(specs: Specs) -> list[tuple[str, float | None]]:
    """Return each tier and storage (GB, None where Atlas tells none) of the nodes that hold data.

    One for a cluster of one size: `[("M30", 40.0)]`. Where Atlas tells what is in effect besides
    what was asked for, that counts.
    """
    all_sizes = []
    for node in _nodes(specs, _BASE, effective=True):
        if not node.get("nodeCount"):
            continue
        disk = node.get("diskSizeGB")
        size = (str(node.get("instanceSize", "")), None if disk is None else float(disk))
        if size not in all_sizes:
            all_sizes.append(size)
    return all_sizes


def layout(specs: Specs) -> list[list[tuple[str, int]]]:
    """Return how many electable nodes each shard has in each region: `[[("US_EAST_1", 3)]]`."""
    return [
        [(str(region.get("regionName", "")), _count(region)) for region in _regions(spec)]
        for spec in specs
    ]


def same(specs: Specs, change: Mapping[str, Any]) -> bool:
    """Say whether a cluster of `specs` is as `change`, made by `resized`, wants it."""
    wanted: Specs = change["replicationSpecs"]
    return sizes(specs) == sizes(wanted) and layout(specs) == layout(wanted)


def resized(
    specs: Specs, size: Size, cluster_type: str = "REPLICASET", confirm_sharding: bool = False
) -> dict[str, Any]:
    """Return the change that gives a cluster of `specs` another `size`.

    Raises `ConfigurationError` with everything that stands in the way: a shared cluster, a size
    that it has already, sharding that was not confirmed.
    """
    problems = [*_of_shared(specs, size.tier), *_of_numbers(size)]
    problems += _of_sharding(size.shards, cluster_type, confirm_sharding)
    wanted = _without_read_only(specs)
    for node in _nodes(wanted, _BASE):
        node.update({"instanceSize": size.tier} if size.tier else {})
    for node in _nodes(wanted, _EVERY):
        node.update({} if size.disk_gb is None else {"diskSizeGB": size.disk_gb})
    for number, spec in enumerate(wanted if size.nodes in _ELECTABLE else (), 1):
        problems += _give_nodes(spec, size.nodes, number)
    change: dict[str, Any] = {"replicationSpecs": _of_so_many(wanted, size.shards)}
    if size.shards > 1 and cluster_type == "REPLICASET":
        change["clusterType"] = "SHARDED"
    if not problems and same(specs, change):
        words = ", ".join(_words(*size) for size in sizes(specs))
        problems.append(f"resize: the cluster has {words} already, wanted another size")
    if problems:
        raise ConfigurationError(problems)
    return change


def restoring(specs: Specs, change: Mapping[str, Any]) -> dict[str, Any]:
    """Return what puts a cluster of `specs` back after `change`; one that was sharded stays so."""
    kept = {key: value for key, value in change.items() if key != "replicationSpecs"}
    return {"replicationSpecs": _without_read_only(specs), **kept}


def _of_shared(specs: Specs, tier: str) -> list[str]:
    shared = [name for name, _ in sizes(specs) if name in SHARED]
    if not shared and tier not in SHARED:
        return []
    return [
        f"resize: found the tier {(shared or [tier])[0]}, wanted M10 or larger: a shared "
        "cluster cannot be resized"
    ]


def _of_numbers(size: Size) -> list[str]:
    problems = []
    if size.disk_gb is not None and size.disk_gb <= 0:
        problems.append(f"disk_gb: found {size.disk_gb:g}, wanted more than 0")
    if size.nodes and size.nodes not in _ELECTABLE:
        problems.append(f"nodes: found {size.nodes}, wanted 3, 5 or 7 for each shard")
    if size.shards < 0:
        problems.append(f"shards: found {size.shards}, wanted 1 or more")
    return problems


def _of_sharding(shards: int, cluster_type: str, confirmed: bool) -> list[str]:
    if shards > 0 and cluster_type == "GEOSHARDED":
        return ["shards: the cluster is sharded by zones, which this does not change"]
    if shards > 1 and cluster_type == "REPLICASET" and not confirmed:
        return [
            f"shards: found {shards} for a replica set; a sharded cluster never becomes a replica "
            "set again: give `confirm_sharding: true` if you mean it"
        ]
    return []


def _give_nodes(spec: dict[str, Any], nodes: int, number: int) -> list[str]:
    """Let the region of the highest priority have what a shard is to have more, or less."""
    regions = [region for region in _regions(spec) if region.get("electableSpecs")]
    if not regions:
        return [f"nodes: shard {number} has no electable node in any region"]
    first = max(regions, key=lambda region: region.get("priority", 0))
    count = _count(first) + nodes - sum(map(_count, regions))
    if count < 1:
        return [
            f"nodes: found {nodes}; shard {number} would have none in {first.get('regionName')}, "
            "its region of the highest priority"
        ]
    first["electableSpecs"]["nodeCount"] = count
    return []


def _of_so_many(specs: list[dict[str, Any]], shards: int) -> list[dict[str, Any]]:
    """Return `specs` with that many shards, 0 for as many as there are; a new one is as the last.

    What has no `id` is new to Atlas.
    """
    if shards <= len(specs):
        return specs[: shards or None]
    like = {key: value for key, value in specs[-1].items() if key != "id"}
    return [*specs, *(copy.deepcopy(like) for _ in range(shards - len(specs)))]


def _words(tier: str, disk_gb: float | None) -> str:
    return tier if disk_gb is None else f"{tier} with {disk_gb:g} GB"


def _without_read_only(specs: Specs) -> list[dict[str, Any]]:
    """Return a copy of `specs` without what Atlas only tells."""
    kept = [{key: spec[key] for key in spec if key not in _READ_ONLY} for spec in specs]
    wanted = copy.deepcopy(kept)
    for spec in wanted:
        spec["regionConfigs"] = [
            {key: value for key, value in region.items() if not key.startswith("effective")}
            for region in _regions(spec)
        ]
    return wanted


def _nodes(specs: Specs, kinds: Sequence[str], effective: bool = False) -> Iterator[dict[str, Any]]:
    """Yield what each region says of such nodes, also where it has none of them now."""
    for spec in specs:
        for region in _regions(spec):
            for kind in kinds:
                effective_specs = (
                    region.get(f"effective{kind[0].upper()}{kind[1:]}") if effective else None
                )
                if effective_specs or region.get(kind):
                    yield effective_specs or region[kind]


def _regions(spec: Mapping[str, Any]) -> list[dict[str, Any]]:
    return list(spec.get("regionConfigs", []))


def _count(region: Mapping[str, Any]) -> int:
    return int((region.get("electableSpecs") or {}).get("nodeCount") or 0)
