"""Why a resize, an outage, a pause or maintenance may not be asked for now. Pure.

What Atlas would refuse is refused before it is asked, and what it would do with other effects than
those that are meant. The times are those of its documentation.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from brownout.atlas.answers import AtlasCluster, AtlasEvent, MaintenanceWindow, Outage
from brownout.atlas.preconditions import of_state
from brownout.atlas.sizes import Size, sizes

__all__ = ["RECENT", "State", "of_change", "of_maintenance", "of_outage", "of_pause", "of_resize"]
__all__ += ["regions"]

#: Atlas wants so much time between two simulations, and from a resume to the next pause.
BETWEEN_OUTAGES, RUNS_AT_LEAST = timedelta(minutes=5), timedelta(minutes=60)
#: How far back events matter.
RECENT = RUNS_AT_LEAST
#: Atlas does not list the names of its events; these words are in those that are meant.
_OUTAGE_WORDS, _RESUME_WORDS = ("OUTAGE",), ("RESUME", "UNPAUSE")


@dataclass(frozen=True, slots=True)
class State:
    """What Atlas says of a cluster now; `events` are those of the last hour."""

    cluster: AtlasCluster
    pending: bool
    outage: Outage | None
    events: Sequence[AtlasEvent] = ()


def of_change(state: State) -> list[str]:
    """Return why no change may be requested: shared tier, paused, changing, in an outage."""
    return of_state(state.cluster, state.pending, state.outage)


def of_resize(state: State, size: Size) -> list[str]:
    """Return why the cluster cannot have another `size` now.

    What scales itself may ignore another size, or take it back at once.
    """
    kinds = {"compute": bool(size.tier), "diskGB": size.disk_gb is not None}
    scaled = [
        f"Atlas scales {'its tier' if kind == 'compute' else 'its storage'} by itself in "
        f"{region.get('regionName')} (`autoScaling.{kind}.enabled`), and may take another size back"
        for spec in state.cluster.replication_specs
        for region in spec["regionConfigs"]
        for kind, wanted in kinds.items()
        if wanted and _scales(region, kind)
    ]
    return [*of_change(state), *scaled]


def of_outage(state: State, cut: Sequence[str], allow_majority: bool, now: datetime) -> list[str]:
    """Return why the regions `cut` cannot be cut off now."""
    existing = regions(state.cluster)
    problems = of_change(state)
    problems += [
        f"the cluster is not in the region {name}; it is in {', '.join(existing)}"
        for name in cut
        if name not in existing
    ]
    for shard in state.cluster.replication_specs if not allow_majority else ():
        counts = {name: nodes for name, (_, nodes) in _regions_of([shard]).items()}
        lost, every = sum(counts.get(name, 0) for name in cut), sum(counts.values())
        if 2 * lost >= every:
            problems.append(
                f"without {', '.join(cut)} {every - lost} of {every} members stay: no majority, so "
                "no primary (`allow_majority: true` if you mean it)"
            )
    ago = _latest(state.events, _OUTAGE_WORDS, now)
    if ago is not None and ago < BETWEEN_OUTAGES and state.outage is None:
        problems.append(f"an outage ended {_ago(ago)}, Atlas wants 5 min between two")
    return problems


def of_pause(state: State, now: datetime) -> list[str]:
    """Return why the cluster cannot be paused now."""
    problems = of_change(state)
    tiers = {tier for tier, _ in sizes(state.cluster.replication_specs)}
    problems += [f"{tier} has its data on NVMe, which Atlas does not pause"
                 for tier in sorted(tiers) if tier.endswith("NVME")]  # fmt: skip
    ago = _latest(state.events, _RESUME_WORDS, now)
    if ago is not None and ago < RUNS_AT_LEAST:
        problems.append(f"it was resumed {_ago(ago)}, Atlas wants it to run 60 min first")
    return problems


def of_maintenance(state: State, window: MaintenanceWindow) -> list[str]:
    """Return why maintenance cannot be begun at once."""
    problems = of_change(state)
    if not window.day_of_week:
        problems.append("the project has no maintenance window, which Atlas wants set first")
    if window.start_asap:
        problems.append("maintenance was told to begin at once already")
    return problems


def regions(cluster: AtlasCluster) -> dict[str, tuple[str, int]]:
    """Return each region with its provider and electable nodes: `{"US_EAST_1": ("AWS", 3)}`."""
    return _regions_of(cluster.replication_specs)


def _regions_of(specs: Sequence[Mapping[str, Any]]) -> dict[str, tuple[str, int]]:
    by_region: dict[str, tuple[str, int]] = {}
    for spec in specs:
        for region in spec["regionConfigs"]:
            name, nodes = region.get("regionName", ""), region.get("electableSpecs") or {}
            before = by_region.get(name, ("", 0))[1]
            count = int(nodes.get("nodeCount") or 0)
            by_region[name] = (region.get("providerName", ""), before + count)
    return by_region


def _scales(region: Mapping[str, Any], kind: str) -> bool:
    return bool(((region.get("autoScaling") or {}).get(kind) or {}).get("enabled"))


def _latest(events: Sequence[AtlasEvent], words: Sequence[str], now: datetime) -> timedelta | None:
    """Return how long ago the latest event was whose name has one of `words`."""
    named = [e.created for e in events if any(word in e.event_type_name for word in words)]
    return now - max(named) if named else None


def _ago(ago: timedelta) -> str:
    return f"{ago.total_seconds():.0f} s ago"
