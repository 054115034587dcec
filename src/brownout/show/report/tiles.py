"""The figures of the first screen: the measures that a limit or a user cares about most."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from brownout.base.words import duration
from brownout.measure.measures import label
from brownout.show.report.grid import Cell
from brownout.show.report.measured import bound, worded
from brownout.show.report.results import met
from brownout.show.report.words import between, number

__all__ = ["Tile", "tiles"]

Impact = Mapping[str, Any]

SHOWN = (
    "tps_drop",
    "blackout",
    "recovery_time",
    "redundancy_time",
    "lost_operations",
    "lost_writes",
)


@dataclass(frozen=True, slots=True)
class Tile:
    """One figure: `limit` says what it was held against, `met` whether it kept it."""

    measure: str
    name: str
    value: str
    limit: str
    met: Cell | None


def tiles(impact: Impact) -> list[Tile]:
    """Return the tiles of the first screen; of several faults each shows the worst."""
    if not impact.get("faults"):
        return []
    slos = {slo["name"]: slo for slo in impact["slos"] if slo["scope"] == "total"}
    return [_tile(impact, measure, slos.get(measure)) for measure in SHOWN]


def _tile(impact: Impact, measure: str, slo: Mapping[str, Any] | None) -> Tile:
    name = label(measure)
    value = _ledger(impact["ledger"]) if measure == "lost_writes" else _worst(impact, measure)
    if slo is None:
        return Tile(measure, name, value, _aside(impact, measure) or "no limit set", None)
    return Tile(measure, name, value, bound(slo), met(slo["met"]))


def _ledger(ledger: Mapping[str, Any]) -> str:
    known = {"clean": number(ledger["lost"]), "lost": number(ledger["lost"]), "none": "not checked"}
    return known.get(ledger["state"], "not known")


def _worst(impact: Impact, measure: str) -> str:
    """The highest of all faults; one fault in which it never came is worse than any."""
    faults = [fault for fault in impact["faults"] if fault["effective"] is not None]
    values = [fault[measure] for fault in faults]
    if not values:
        return "not known"
    known = [v[-1] if isinstance(v, list) else v for v in values if v is not None]
    highest = max(known) if len(known) == len(values) else None
    ends = (faults[0].get("ranges") or {}).get(measure) if len(faults) == 1 else None
    return between(ends, lambda value: worded(measure, value), highest)


def _aside(impact: Impact, measure: str) -> str:
    """What stands beneath a figure without a limit."""
    fault = impact["faults"][0]
    if measure == "tps_drop" and fault["tps_drop_sham"] is not None:
        return f"noise alone: {worded('tps_drop_sham', fault['tps_drop_sham'])}"
    if measure == "lost_operations" and fault["lost_seconds"] is not None:
        return f"worth {duration(fault['lost_seconds'])} of load"
    return ""
