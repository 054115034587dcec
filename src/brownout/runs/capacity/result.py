"""The result of a search as it is kept (`capacity.json`): rates, ratio, what they cost."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from brownout.runs.capacity.judgement import Promise, Terms, percentile_name
from brownout.runs.capacity.search import Finding, Settings
from brownout.runs.capacity.step import Step
from brownout.runs.capacity.whole_steps import Lengths

__all__ = ["SCHEMA_VERSION", "Asked", "document", "exit_code"]

SCHEMA_VERSION = 1


@dataclass(frozen=True, slots=True)
class Asked:
    """What was searched for, as it is written down before the first step."""

    workload: str
    rate: float
    cluster: str
    engine: str
    nodes: int
    seed: int
    promises: tuple[Promise, ...]
    terms: Terms
    settings: Settings
    lengths: Lengths
    fault: str = ""
    allowance_s: float = 0.0
    currency: str = ""
    monthly: float | None = None
    stand_in: bool = False


def document(
    asked: Asked, whole: Finding, faulted: Finding | None, steps: Sequence[Step], ended: str
) -> dict[str, Any]:
    """Return the whole result; `ended` says why the search is not complete, "" where it is."""
    return {
        "schema_version": SCHEMA_VERSION,
        "ended": ended,
        "stand_in": asked.stand_in,
        "workload": {"name": asked.workload, "rate": asked.rate},
        "cluster": {"name": asked.cluster, "engine": asked.engine, "nodes": asked.nodes},
        "seed": asked.seed,
        "sla": [{**asdict(p), "percentile": percentile_name(p.ratio)} for p in asked.promises],
        "terms": asdict(asked.terms),
        "search": asdict(asked.settings),
        "lengths": asdict(asked.lengths),
        "capacity": asdict(whole),
        "fault": asked.fault or None,
        "allowance_s": asked.allowance_s if asked.fault else None,
        "resilient": asdict(faulted) if faulted else None,
        "ratio": ratio(whole, faulted),
        "price": _price(asked, whole, faulted),
        "steps": [asdict(step) for step in steps],
    }


def ratio(whole: Finding, faulted: Finding | None) -> dict[str, Any] | None:
    """Return what is left of the capacity while a node is gone, and how sure that is.

    `exact`; `at most` where the capacity of the whole cluster is only known to be at least so
    much; `at least` where the other one is; None where neither bounds it.
    """
    if faulted is None or not whole.rate or not faulted.rate:
        return None
    # With a fault no more is tried than what holds without one: where that is all, it is known.
    capped = whole.bound == "exact" and faulted.rate >= whole.rate * (1 - 1e-9)
    sure = faulted.bound == "exact" or capped
    if whole.bound == "exact" and sure:
        bound = "exact"
    elif sure:
        bound = "at most"
    elif whole.bound == "exact":
        bound = "at least"
    else:
        return None
    return {"value": faulted.rate / whole.rate, "bound": bound}


def exit_code(whole: Finding, faulted: Finding | None) -> int:
    """Return 0 where every rate is known and confirmed, 1 where none holds, else 2."""
    verdicts = [whole, *([faulted] if faulted else [])]
    if any(each.rate is None and each.above is not None for each in verdicts):
        return 1
    sure = whole.bound == "exact" and all(each.confirmed for each in verdicts)
    if faulted is not None:
        left = ratio(whole, faulted)
        sure = sure and left is not None and left["bound"] == "exact"
    return 0 if sure else 2


def _price(asked: Asked, whole: Finding, faulted: Finding | None) -> dict[str, Any] | None:
    """Return operations a second for each unit of money a month; None without a price."""
    if asked.monthly is None:
        return None
    rates = {"tps_per_month": whole, "resilient_tps_per_month": faulted}
    return {
        "currency": asked.currency,
        "monthly": asked.monthly,
        **{name: rate.rate / asked.monthly if rate and rate.rate else None
           for name, rate in rates.items()},
    }  # fmt: skip
