"""Limits and validity to one word: pass, fail, inconclusive or aborted, decided in a fixed order.

fail          acknowledged writes are lost, whatever else is wrong; a limit is broken; a
              milestone was awaited for its whole limit and not reached
inconclusive  a condition of validity is not met; a limit is open, or none is set
aborted       a person or a stop condition ended the run
pass          none of these: no data is never a pass

A limit is met if the worst case keeps it, broken if even the best case breaks it, and open
otherwise. The cases differ by what the generator missed and by what nobody looked on for long
enough to see.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from brownout.judge.slo import Limit, worst
from brownout.judge.validity import STARVED, Condition, Facts, conditions, starved
from brownout.measure.baseline import OF_THROUGHPUT
from brownout.measure.measures import AT_LEAST, find
from brownout.measure.reading import NEVER, plain
from brownout.run.ledger import Ledger

__all__ = ["Judged", "Verdict", "judge"]

Document = Mapping[str, Any]
#: A limit on a blackout says nothing below the time in which so many operations are offered.
_LEAST_OPERATIONS = 5
#: The milestones that a database owes; that it noticed the fault is no promise of its.
_OWED = {
    "rejoined": "did not have all its members back",
    "redundant": "was not redundant again",
}


@dataclass(frozen=True, slots=True)
class Judged:
    """A limit and what was measured; `met` is None where it is open.

    `best` and `worst` are what it may have been at best and at worst, the same where nothing is
    open about it. None is never, or not known.
    """

    name: str
    scope: str
    value: float | None
    best: float | None
    worst: float | None
    limit: float
    direction: str
    limit_from: str
    met: bool | None
    detail: str
    why: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """The word, the sentences that led to it, and all that was looked at.

    `remarks` are what has to be said of it besides, whatever the word.
    """

    word: str
    reasons: tuple[str, ...]
    validity: tuple[Condition, ...]
    slos: tuple[Judged, ...]
    remarks: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Return the verdict as the fields of impact.json."""
        return {
            "verdict": self.word,
            "reasons": list(self.reasons),
            "remarks": list(self.remarks),
            "validity": [asdict(condition) for condition in self.validity],
            "slos": [asdict(judged) for judged in self.slos],
        }


def judge(faults: Sequence[Document], limits: Sequence[Limit], facts: Facts) -> Verdict:
    """Judge a run by the `faults` of its impact document, its limits and what else is known."""
    judged = tuple(_judge(limit, faults, facts) for limit in limits)
    validity = (*conditions(facts), _slos_evaluated(judged, facts))
    failures = [
        *_lost_writes(facts.ledger),
        *(sentence for fault in faults for sentence in _missed_milestones(fault, judged)),
        *(_sentence(each) for each in judged if each.met is False),
    ]
    # A generator that was starved comes first, since it is our own failure.
    remark = starved(facts)
    remarks = () if remark is None else (remark,)
    if failures:
        return Verdict("fail", tuple(failures), validity, judged, remarks)
    unmet = sorted((c for c in validity if c.ok is False), key=lambda c: c.name != STARVED)
    reasons = [f"{c.name}: {c.detail}" for c in unmet]
    aborted = [] if facts.abort is None else [f"aborted: {facts.abort}"]
    if unmet:
        named = remarks if unmet[0].name != STARVED else ()
        return Verdict("inconclusive", (*reasons, *aborted), validity, judged, named)
    if aborted:
        return Verdict("aborted", tuple(aborted), validity, judged, remarks)
    return Verdict("pass", (), validity, judged, remarks)


def _lost_writes(ledger: Ledger) -> list[str]:
    return [f"lost_writes: {ledger.detail}"] if ledger.state == "lost" else []


def _missed_milestones(fault: Document, judged: Sequence[Judged]) -> list[str]:
    """Name each milestone of the database that was awaited for its whole limit in vain.

    How long we wait by ourselves is no limit where one is set that is longer: that one is open.
    """
    longer = {_waits_for(each.name) for each in judged if each.met is None}
    missed = {}
    for found in fault["milestones"]:
        name, limit = found["name"], found["limit_s"]
        if found["first_yes"] is None and limit is not None and name in _OWED.keys() - longer:
            missed[name] = f"{fault['name']}: the cluster {_OWED[name]} within {limit:g} s"
    return list(missed.values())


def _waits_for(measure: str) -> str:
    found = find(measure)
    return found.waits_for if found else ""


def _slos_evaluated(judged: Sequence[Judged], facts: Facts) -> Condition:
    name = "slos_evaluated"
    if not judged:
        return Condition(name, None if facts.abort else False, "no limit is set to judge by")
    open_ones = [f"{_title(each)}: {each.detail}" for each in judged if each.met is None]
    if open_ones:
        return Condition(name, None if facts.abort else False, "; ".join(open_ones))
    return Condition(name, True, f"{len(judged)} limits judged")


def _judge(limit: Limit, faults: Sequence[Document], facts: Facts) -> Judged:
    found, met, detail = _evaluate(limit, faults, facts)
    value, best, least = found
    return Judged(
        limit.measure, limit.scope, value, _finite(best), _finite(least), limit.limit,
        limit.direction, limit.limit_from, met, detail, limit.why,
    )  # fmt: skip


def _finite(value: float | None) -> float | None:
    return None if value == NEVER else value


#: What a measure was, and what it may have been at best and at worst; NEVER is beyond every number.
Found = tuple[float | None, float | None, float | None]
_UNKNOWN: Found = (None, None, None)


def _evaluate(
    limit: Limit, faults: Sequence[Document], facts: Facts
) -> tuple[Found, bool | None, str]:
    """Return the worst of all faults, whether it is within the limit, and why that is open."""
    if limit.measure == "lost_writes":
        lost = facts.ledger.lost_writes
        return _compared(limit, (lost, lost, lost), "", facts) if lost is not None else (
            _UNKNOWN, None, facts.ledger.detail
        )  # fmt: skip
    measured = [fault for fault in faults if fault["effective"] is not None]
    if not measured:
        return _UNKNOWN, None, "no fault took effect"
    each = [_found(fault, limit) for fault in measured]
    for found, fault in zip(each, measured, strict=True):
        if found[2] is None:
            return _UNKNOWN, None, _unknown(fault, limit, facts)
    found = _worst_of(limit, each)
    blind = _too_fine(limit, measured)
    if blind:
        return found, None, blind
    seen = min(fault["until"] - fault["effective"] for fault in measured)
    return _compared(limit, found, f"not within the {seen:.1f} s that were observed", facts)


def _found(fault: Document, limit: Limit) -> Found:
    """Return what was measured of one fault, at best and at worst; unknown is None throughout."""
    part = _scoped(fault, limit.scope) or {}
    value = plain(fault, limit.measure, limit.scope)
    if limit.measure in part.get("ranges", {}):
        best, least = part["ranges"][limit.measure]
        return value, NEVER if best is None else best, NEVER if least is None else least
    if value is not None:
        return value, value, value
    if _longer_than_the_deadline(part, limit.measure):
        return None, NEVER, NEVER
    awaited = _waits_for(limit.measure)
    waited = awaited == "service" or any(
        m["name"] == awaited and m["first_yes"] is None for m in fault["milestones"]
    )
    return (None, fault["until"] - fault["effective"], NEVER) if waited else _UNKNOWN


def _worst_of(limit: Limit, each: Sequence[Found]) -> Found:
    """Return the worst of several faults; what never came is worse than any number."""
    values, best, least = zip(*each, strict=True)
    value = None if None in values else worst(limit.measure, values)
    return value, worst(limit.measure, best), worst(limit.measure, least)


def _compared(
    limit: Limit, found: Found, never: str, facts: Facts
) -> tuple[Found, bool | None, str]:
    """Say whether the worst case keeps the limit, or even the best case breaks it."""
    value, best, least = found
    if least is not None and _keeps(limit, least):
        return found, True, ""
    if best is not None and not _keeps(limit, best):
        if best == NEVER:
            return found, False, "longer than the deadline"
        return found, False, never if value is None else ""
    if value is None and not facts.missed:
        return found, None, never
    spread = _spread(limit.measure, best, least)
    return found, None, f"{spread}: the load generator missed what decides"


def _keeps(limit: Limit, value: float) -> bool:
    return value >= limit.limit if limit.direction == AT_LEAST else value <= limit.limit


def _too_fine(limit: Limit, faults: Sequence[Document]) -> str:
    """Say why a limit is finer than what can be seen; empty where it is not."""
    parts = [_scoped(fault, limit.scope) or {} for fault in faults]
    noise = max(part.get("theta") or 0.0 for part in parts)
    if limit.measure == "tps_drop" and limit.limit < noise:
        return f"the limit {limit.limit:.1%} is below the noise of {noise:.1%}"
    apart = max(part.get("blackout_resolution_s") or 0.0 for part in parts)
    blackout = limit.measure in ("blackout", "longest_blackout")
    if blackout and limit.limit < _LEAST_OPERATIONS * apart - 1e-9:
        return (
            f"the limit of {limit.limit:g} s is shorter than the {_LEAST_OPERATIONS * apart:.2g} s "
            f"in which {_LEAST_OPERATIONS} operations are offered"
        )
    return ""


def _scoped(fault: Document, scope: str) -> Document | None:
    return fault if scope == "total" else fault["scopes"].get(scope)


def _longer_than_the_deadline(part: Document, measure: str) -> bool:
    if not measure.startswith("latency_all."):
        return False
    return bool(part.get("latency_all", {}).get(measure.split(".")[1], {}).get("n"))


def _unknown(fault: Document, limit: Limit, facts: Facts) -> str:
    """Say why nothing is known of a measure."""
    unsteady = [
        f"{test.name}: {test.detail}"
        for test in facts.baseline.tests
        if test.name in OF_THROUGHPUT and not test.ok
    ]
    measure = find(limit.measure)
    if measure is not None and measure.of_throughput and unsteady:
        return f"not measured: throughput was not steady before the fault ({'; '.join(unsteady)})"
    if _waits_for(limit.measure) in _OWED:
        return "nobody looked for it"
    return "there is no data"


def _title(judged: Judged) -> str:
    return judged.name if judged.scope == "total" else f"{judged.name} ({judged.scope})"


def _sentence(judged: Judged) -> str:
    """Return `recovery_time: 12.3 s, at most 10 s allowed (steady-state/slo/…)`."""
    bound = "at least" if judged.direction == AT_LEAST else "at most"
    found = judged.detail or _worded(judged.name, judged.value or 0.0)
    if judged.value is not None and judged.best != judged.worst:
        found = _spread(judged.name, judged.best, judged.worst)
    limit = _worded(judged.name, judged.limit)
    return f"{_title(judged)}: {found}; {bound} {limit} wanted ({judged.limit_from})"


def _spread(measure: str, best: float | None, least: float | None) -> str:
    """Return `2.3 s at best, 8.6 s at worst`."""
    ends = [
        "never" if value is None or value == NEVER else _worded(measure, value)
        for value in (best, least)
    ]
    return f"{ends[0]} at best, {ends[1]} at worst"


def _worded(measure: str, value: float) -> str:
    """Return a value with its unit: `12.3 s`, `99.12 %`, `4.2 ms`, `1,523 operations`."""
    found = find(measure)
    unit = found.unit if found else ""
    if unit == "ratio":
        return f"{100 * value:.4g} %"
    if unit == "us":
        return f"{value / 1000:,.4g} ms"
    return f"{value:,.4g} {unit}" if unit == "s" else f"{value:,.0f} {unit}".strip()
