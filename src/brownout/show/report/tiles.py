"""The figures of the first screen: the measures that a limit or a user cares about most."""

from dataclasses import dataclass
from functools import partial

from brownout.base.words import duration
from brownout.measure.impact import Impact, Judged, worst_of
from brownout.measure.measures import find, label
from brownout.run.ledger import Ledger
from brownout.show.report.grid import Cell
from brownout.show.report.results import met
from brownout.show.report.values import bound, worded
from brownout.show.report.words import between, number

__all__ = ["Tile", "tiles"]

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
    """One figure, its limit, and whether it was met; `apart` is reads and writes if they differ."""

    measure: str
    name: str
    value: str
    limit: str
    met: Cell | None
    apart: str = ""


def tiles(impact: Impact) -> list[Tile]:
    """Return the tiles of the first screen; of several faults each shows the worst."""
    if not impact.faults:
        return []
    chosen = [_from_the_return(impact, measure) for measure in SHOWN]
    return [_tile(impact, measure, impact.limit(measure)) for measure in chosen]


def _from_the_return(impact: Impact, measure: str) -> str:
    """The same wait since a node's return, where that is what is limited."""
    since = f"{measure}_after_start"
    return since if impact.limit(since) and not impact.limit(measure) else measure


def _tile(impact: Impact, measure: str, slo: Judged | None) -> Tile:
    name = label(measure)
    value = _ledger(impact.ledger) if measure == "lost_writes" else _worst(impact, measure)
    apart = _apart(impact, measure)
    if slo is None:
        return Tile(measure, name, value, _aside(impact, measure) or "no limit set", None, apart)
    return Tile(measure, name, value, bound(slo), met(slo.met), apart)


def _apart(impact: Impact, measure: str) -> str:
    """`reads 1.4 s, writes 2.1 s` of a single fault that hit the two differently.

    Of an outage in several stretches also the longest, which the figure shows.
    """
    measure_of = find(measure)
    if measure_of is None or not measure_of.per_scope or len(impact.faults) != 1:
        return ""
    (fault,) = impact.faults
    values = {
        words: worded(measure, fault.figure(measure, scope))
        for scope, words in (("read", "reads"), ("write", "writes"))
        if scope in fault.scopes
    }
    differ = len(set(values.values())) > 1
    parts = [f"{words} {value}" for words, value in values.items() if differ]
    total, longest = (fault.number(name) for name in ("blackout", "longest_blackout"))
    if measure == "blackout" and total is not None and longest is not None and longest < total:
        parts.append(f"at most {worded('longest_blackout', longest)} at a time")
    return ", ".join(parts)


def _ledger(ledger: Ledger) -> str:
    words = {"clean": number(ledger.lost), "lost": number(ledger.lost), "none": "not checked"}
    return words.get(ledger.state, "not known")


def _worst(impact: Impact, measure: str) -> str:
    """The highest of all faults; one fault in which it never came is worse than any."""
    faults = impact.effective_faults
    if not faults:
        return "not known"
    worst = worst_of(measure, [fault.number(measure) for fault in faults])
    ends = faults[0].range(measure) if len(faults) == 1 else None
    return between(ends, partial(worded, measure), worst)


def _aside(impact: Impact, measure: str) -> str:
    """What stands beneath a figure without a limit."""
    fault = impact.faults[0]
    sham, seconds = fault.number("tps_drop_sham"), fault.number("lost_seconds")
    if measure == "tps_drop" and sham is not None:
        return f"noise alone: {worded('tps_drop_sham', sham)}"
    if measure == "lost_operations" and seconds is not None:
        return f"worth {duration(seconds)} of load"
    return ""
