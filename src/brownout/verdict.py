"""Limits and validity to one word: pass, fail, inconclusive or aborted, decided in a fixed order.

fail          acknowledged writes are lost, whatever else is wrong; a milestone was not
              reached within its limit; a limit is not met
inconclusive  a condition of validity is not met; a limit could not be judged
aborted       a person or a stop condition ended the run
pass          none of these: no data is never a pass
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from brownout.impact.names import AT_LEAST, find
from brownout.impact.reading import plain
from brownout.run.ledger import Ledger
from brownout.slo import Limit, worst
from brownout.validity import Condition, Facts, conditions

__all__ = ["Judged", "Verdict", "judge"]

Document = Mapping[str, Any]
#: Measures that are None because what they wait for never came, not because nothing is known.
_WAITING = ("recovery_time", "settled_time")
_MILESTONES = {"rejoin_time": "rejoined", "redundancy_time": "redundant"}
#: The milestones that a database owes; that it noticed the fault is no promise of its.
_OWED = {
    "rejoined": "did not have all its members back",
    "redundant": "was not redundant again",
}


@dataclass(frozen=True, slots=True)
class Judged:
    """A limit and what was measured; `met` is None where it could not be judged."""

    name: str
    scope: str
    value: float | None
    limit: float
    direction: str
    limit_from: str
    met: bool | None
    detail: str
    why: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """The word, the sentences that led to it, and all that was looked at."""

    word: str
    reasons: tuple[str, ...]
    validity: tuple[Condition, ...]
    slos: tuple[Judged, ...]

    def as_dict(self) -> dict[str, Any]:
        """Return the verdict as the fields of impact.json."""
        return {
            "verdict": self.word,
            "reasons": list(self.reasons),
            "validity": [asdict(condition) for condition in self.validity],
            "slos": [asdict(judged) for judged in self.slos],
        }


def judge(faults: Sequence[Document], limits: Sequence[Limit], facts: Facts) -> Verdict:
    """Judge a run by the `faults` of its impact document, its limits and what else is known."""
    judged = tuple(_judge(limit, faults, facts) for limit in limits)
    validity = (*conditions(facts), _slos_evaluated(judged, facts))
    failures = [
        *_lost_writes(facts.ledger),
        *(sentence for fault in faults for sentence in _missed_milestones(fault)),
        *(_sentence(each) for each in judged if each.met is False),
    ]
    if failures:
        return Verdict("fail", tuple(failures), validity, judged)
    unmet = [f"{c.name}: {c.detail}" for c in validity if c.ok is False]
    aborted = [] if facts.abort is None else [f"aborted: {facts.abort}"]
    if unmet:
        return Verdict("inconclusive", (*unmet, *aborted), validity, judged)
    if aborted:
        return Verdict("aborted", tuple(aborted), validity, judged)
    return Verdict("pass", (), validity, judged)


def _lost_writes(ledger: Ledger) -> list[str]:
    return [f"lost_writes: {ledger.detail}"] if ledger.state == "lost" else []


def _missed_milestones(fault: Document) -> list[str]:
    """Name each milestone of the database that was not reached within its limit."""
    missed = {}
    for found in fault["milestones"]:
        # One that was revoked was not awaited for its whole limit: then there would be a limit.
        if found["name"] in _OWED and found["first_yes"] is None and not found.get("revoked"):
            limit = found["limit_s"]
            within = f"within {limit:g} s" if limit is not None else "before the run ended"
            missed[found["name"]] = f"{fault['name']}: the cluster {_OWED[found['name']]} {within}"
    return list(missed.values())


def _slos_evaluated(judged: Sequence[Judged], facts: Facts) -> Condition:
    name = "slos_evaluated"
    open_ones = [f"{_title(each)}: {each.detail}" for each in judged if each.met is None]
    if open_ones:
        return Condition(name, None if facts.abort else False, "; ".join(open_ones))
    return Condition(name, True, f"{len(judged)} limits judged" if judged else "no limit is set")


def _judge(limit: Limit, faults: Sequence[Document], facts: Facts) -> Judged:
    value, met, detail = _evaluate(limit, faults, facts)
    return Judged(
        limit.measure, limit.scope, value, limit.limit, limit.direction, limit.limit_from,
        met, detail, limit.why,
    )  # fmt: skip


def _evaluate(
    limit: Limit, faults: Sequence[Document], facts: Facts
) -> tuple[float | None, bool | None, str]:
    """Return the worst value over all faults, whether it is within the limit, and why not known."""
    if limit.measure == "lost_writes":
        lost = facts.ledger.lost_writes
        return _compared(limit, lost) if lost is not None else (None, None, facts.ledger.detail)
    measured = [fault for fault in faults if fault["effective"] is not None]
    if not measured:
        return None, None, "no fault took effect"
    values: list[float] = []
    for fault in measured:
        value = plain(fault, limit.measure, limit.scope)
        if value is None:
            met, detail = _absent(fault, limit, facts)
            return None, met, detail
        values.append(value)
    value = worst(limit.measure, values)
    noise = max((_scoped(fault, limit.scope) or {}).get("theta") or 0.0 for fault in measured)
    if limit.measure == "tps_drop" and limit.limit < noise:
        return value, None, f"the limit {limit.limit:.1%} is below the noise of {noise:.1%}"
    return _compared(limit, value)


def _compared(limit: Limit, value: float) -> tuple[float, bool, str]:
    met = value >= limit.limit if limit.direction == AT_LEAST else value <= limit.limit
    return value, met, ""


def _scoped(fault: Document, scope: str) -> Document | None:
    return fault if scope == "total" else fault["scopes"].get(scope)


def _absent(fault: Document, limit: Limit, facts: Facts) -> tuple[bool | None, str]:
    """Say of a measure without a value whether that is as bad as can be, or just not known."""
    base = limit.measure.removesuffix("_after_start")
    if base in _WAITING:
        return _never(fault, limit, facts, facts.settings.hold_s)
    if base in _MILESTONES:
        looked = any(m["name"] == _MILESTONES[base] for m in fault["milestones"])
        return _never(fault, limit, facts, 0.0) if looked else (None, "nobody looked for it")
    if limit.measure.startswith("latency_all."):
        phase = (_scoped(fault, limit.scope) or {})["latency_all"][limit.measure.split(".")[1]]
        if phase["n"]:
            return False, "longer than the deadline"
    return None, "there is no data"


def _never(fault: Document, limit: Limit, facts: Facts, hold_s: float) -> tuple[bool | None, str]:
    """What never came is beyond every limit, unless the run was cut short before the limit."""
    seen = fault["until"] - fault["effective"]
    if facts.cut_short and seen < limit.limit + hold_s:
        return None, f"{facts.cut_short}; {seen:.1f} s after the fault were observed"
    return False, f"not within the {seen:.1f} s that were observed"


def _title(judged: Judged) -> str:
    return judged.name if judged.scope == "total" else f"{judged.name} ({judged.scope})"


def _sentence(judged: Judged) -> str:
    """Return `recovery_time: 12.3 s, at most 10 s allowed (steady-state/slo/…)`."""
    bound = "at least" if judged.direction == AT_LEAST else "at most"
    found = judged.detail if judged.value is None else _worded(judged.name, judged.value)
    limit = _worded(judged.name, judged.limit)
    return f"{_title(judged)}: {found}; {bound} {limit} wanted ({judged.limit_from})"


def _worded(measure: str, value: float) -> str:
    """Return a value with its unit: `12.3 s`, `99.12 %`, `4.2 ms`, `1,523 operations`."""
    found = find(measure)
    unit = found.unit if found else ""
    if unit == "ratio":
        return f"{100 * value:.4g} %"
    if unit == "us":
        return f"{value / 1000:,.4g} ms"
    return f"{value:,.4g} {unit}" if unit == "s" else f"{value:,.0f} {unit}".strip()
