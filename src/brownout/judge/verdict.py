"""Limits and validity to one word: pass, fail, inconclusive or aborted, decided in a fixed order.

fail          acknowledged writes are lost, whatever else is wrong but another run on the
              cluster; or, where the fault that was meant was made under a steady load, a limit is
              broken, a milestone was awaited for its whole limit and not reached, or a probe of
              the hypothesis was not within its tolerance
inconclusive  a condition of validity is not met; a limit is open, or none is set
aborted       a person or a stop condition ended the run
pass          none of these: no data is never a pass

A limit is met if the worst case keeps it, broken if even the best case breaks it, and open
otherwise. The cases differ by what the generator missed and by what the run was too short to see.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from brownout.judge.slo import Limit
from brownout.judge.validity import (
    FOUNDATIONS,
    STARVED,
    Facts,
    conditions,
    hypothesis_asked,
    hypothesis_unmet,
    late_in,
    never_held,
    starved,
    steps_declared,
)
from brownout.measure.baseline import OF_THROUGHPUT
from brownout.measure.impact import NEVER, Condition, Fault, Judged, worst_of
from brownout.measure.measures import AT_LEAST, find
from brownout.run.contract import CLUSTER, breaches
from brownout.run.ledger import Ledger

__all__ = ["Verdict", "judge", "not_judged"]

#: A limit on a blackout says nothing below the time in which so many operations are offered.
_LEAST_OPERATIONS = 5
#: The measures of the ledger that fail a run whatever else is wrong with it.
_PROMISES = (
    "lost_writes", "diverged_copies", "stale_reads", "dirty_reads", "nonlinearizable_registers",
)  # fmt: skip
#: The milestones that a database promises; noticing the fault is not one of them.
_PROMISED = {
    "rejoined": "did not have all its members back",
    "redundant": "was not redundant again",
}


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


def judge(faults: Sequence[Fault], limits: Sequence[Limit], facts: Facts) -> Verdict:
    """Judge a run by its faults, its limits and what else is known."""
    judged = tuple(_judge(limit, faults, facts) for limit in limits)
    declared = steps_declared(faults, facts)
    checks = conditions(facts) if declared is None else [*conditions(facts), declared]
    limits_are_met = bool(judged) and all(each.met for each in judged)
    checks += hypothesis_asked(facts, limits_are_met)
    validity = (*checks, _slos_evaluated(judged, facts))
    unmet_limits = [each for each in judged if each.met is False]
    lost = [
        *_lost_writes(facts.ledger),
        *_garbled(facts.ledger),
        *_diverged(facts.ledger),
        *_misread(facts.ledger),
        *_nonlinearizable(facts.ledger),
        *(_sentence(each, faults) for each in unmet_limits if each.name in _PROMISES),
    ]
    broken = [
        *(sentence for fault in faults for sentence in _missed_milestones(fault, judged)),
        *(f"load_held: {sentence}" for sentence in never_held(facts)),
        *(f"hypothesis: {sentence}" for sentence in hypothesis_unmet(facts)),
        *(_sentence(each, faults) for each in unmet_limits if each.name not in _PROMISES),
    ]
    # A generator that was starved comes first, since it is our own failure.
    late = starved(facts)
    remarks = tuple(words for words in (late, late_in(faults, facts)) if words is not None)
    aborted = [] if facts.abort is None else [f"aborted: {facts.abort}"]
    doubts = [c.name for c in validity if c.ok is False and c.name in FOUNDATIONS]
    if broken and doubts:
        remarks += tuple(f"not counted ({', '.join(doubts)}): {each}" for each in broken)
        broken = []
    if lost and any(breach.clause == CLUSTER for breach in breaches(facts.events)):
        # The other run writes the same keys.
        remarks += tuple(f"not counted (another run had the cluster): {each}" for each in lost)
        lost = []
    if lost or broken:
        return Verdict("fail", (*lost, *broken, *aborted), validity, judged, remarks)
    unmet = sorted((c for c in validity if c.ok is False), key=lambda c: c.name != STARVED)
    reasons = [f"{c.name}: {c.detail}" for c in unmet]
    if unmet:
        if unmet[0].name == STARVED:  # its reason says the same
            remarks = tuple(each for each in remarks if each != late)
        return Verdict("inconclusive", (*reasons, *aborted), validity, judged, remarks)
    if aborted:
        return Verdict("aborted", tuple(aborted), validity, judged, remarks)
    return Verdict("pass", (), validity, judged, remarks)


def not_judged(dropped: Limit) -> str:
    """Return `errors: --var limits dropped its limit (at most 100)`."""
    bound = "at least" if dropped.direction == AT_LEAST else "at most"
    limit = _worded(dropped.measure, dropped.limit)
    name = _title(dropped.measure, dropped.scope)
    return f"{name}: {dropped.limit_from} dropped its limit ({bound} {limit})"


def _lost_writes(ledger: Ledger) -> list[str]:
    return [f"lost_writes: {ledger.detail}"] if ledger.state == "lost" else []


def _diverged(ledger: Ledger) -> list[str]:
    """Say which copies differ, whether there is a limit or not: the next failover loses them."""
    if ledger.copies is None or not ledger.copies.diverged:
        return []
    return [f"diverged_copies: {ledger.copies.words}"]


def _misread(ledger: Ledger) -> list[str]:
    """Say where reads did not have their guarantee, whether there is a limit or not."""
    lanes = () if ledger.reads is None else ledger.reads.against
    return [
        f"{'stale_reads' if lane.stale_against else 'dirty_reads'}: {lane.words}" for lane in lanes
    ]


def _nonlinearizable(ledger: Ledger) -> list[str]:
    """Say which registers were not linearizable, whether there is a limit or not."""
    if ledger.histories is None or not ledger.histories.nonlinearizable:
        return []
    return [f"nonlinearizable_registers: {ledger.histories.words}"]


def _garbled(ledger: Ledger) -> list[str]:
    """Count the answers that failed their checksum: a user got them, whatever was read later."""
    if not ledger.garbled_answers or ledger.state == "lost":
        return []
    answers = f"integrity: {ledger.garbled_answers:,} answers failed their checksum during the run"
    return [f"{answers}; {'not every' if ledger.unread else 'every'} key was read intact since"]


def _missed_milestones(fault: Fault, judged: Sequence[Judged]) -> list[str]:
    """Name each milestone of the database that was not reached within its whole limit.

    Our own waiting time does not count where a longer limit is set: that limit is left open.
    """
    longer = {_waits_for(each.name) for each in judged if each.met is None}
    missed = {}
    for milestone in fault.milestones:
        name, limit = milestone.name, milestone.limit_s
        if milestone.first_yes is None and limit is not None and name in _PROMISED.keys() - longer:
            missed[name] = f"{fault.name}: the cluster {_PROMISED[name]} within {limit:g} s"
    return list(missed.values())


def _waits_for(measure: str) -> str:
    definition = find(measure)
    return definition.waits_for if definition else ""


def _slos_evaluated(judged: Sequence[Judged], facts: Facts) -> Condition:
    name = "slos_evaluated"
    if not judged:
        return Condition(name, None if facts.abort else False, "no limit is set to judge by")
    open_ones = [
        f"{_title(each.name, each.scope)}: {each.detail}" for each in judged if each.met is None
    ]
    if open_ones:
        return Condition(name, None if facts.abort else False, "; ".join(open_ones))
    return Condition(name, True, f"{len(judged)} limits judged")


def _judge(limit: Limit, faults: Sequence[Fault], facts: Facts) -> Judged:
    bounds, met, detail = _evaluate(limit, faults, facts)
    value, best, worst = bounds
    return Judged(
        limit.measure, limit.scope, value, _finite(best), _finite(worst), limit.limit,
        limit.direction, limit.limit_from, met, detail, limit.why, _by_fault(limit, faults, facts),
    )  # fmt: skip


def _by_fault(limit: Limit, faults: Sequence[Fault], facts: Facts) -> tuple[bool | None, ...]:
    """Return whether each of several faults met a limit by itself; empty for what is of the run."""
    measure = find(limit.measure)
    if len(faults) < 2 or (measure is not None and measure.of_ledger):
        return ()
    return tuple(_evaluate(limit, [fault], facts)[1] for fault in faults)


def _finite(value: float | None) -> float | None:
    return None if value == NEVER else value


#: What a measure was, and what it may have been at best and at worst; NEVER is beyond every number.
Bounds = tuple[float | None, float | None, float | None]
_UNKNOWN: Bounds = (None, None, None)


def _evaluate(
    limit: Limit, faults: Sequence[Fault], facts: Facts
) -> tuple[Bounds, bool | None, str]:
    """Return the worst of all faults, whether it is within the limit, and why that is open."""
    measure = find(limit.measure)
    if measure is not None and measure.of_ledger:
        return _of_ledger(limit, facts.ledger)
    measured = [(fault, t) for fault in faults if (t := fault.effective) is not None]
    if not measured:
        return _UNKNOWN, None, "no fault took effect"
    each = [_bounds_of(fault, t, limit) for fault, t in measured]
    for bounds, (fault, _) in zip(each, measured, strict=True):
        if bounds[2] is None:
            return _UNKNOWN, None, _unknown(fault, limit, facts)
    bounds = _worst_of(limit, each)
    blind = _too_fine(limit, [fault for fault, _ in measured], facts)
    if blind:
        return bounds, None, blind
    seen = min(fault.until - t for fault, t in measured)
    return _compared(limit, bounds, seen, facts)


def _of_ledger(limit: Limit, ledger: Ledger) -> tuple[Bounds, bool | None, str]:
    """Compare what the ledger says of the whole run; unknown outcomes leave a limit open."""
    bounds = ledger.bounds(limit.measure)
    if bounds is None:
        has_counts = ledger.lost_writes is not None
        return _UNKNOWN, None, "the generator did not tell" if has_counts else ledger.detail
    minimum, maximum = bounds
    kept = {_keeps(limit, minimum), _keeps(limit, maximum)}
    if len(kept) == 1:
        return (minimum, minimum, maximum), kept.pop(), ""
    definition = find(limit.measure)
    unit = "writes" if definition is None else definition.unit.name
    return (minimum, minimum, maximum), None, f"{maximum - minimum:,} {unit} are in doubt"


def _bounds_of(fault: Fault, effective: float, limit: Limit) -> Bounds:
    """Return what was measured of one fault, at best and at worst; unknown is None throughout."""
    value = fault.number(limit.measure, limit.scope)
    ends = fault.range(limit.measure, limit.scope)
    if ends is not None:
        best, worst = (NEVER if end is None else end for end in ends)
        return value, best, worst
    if value is not None:
        return value, value, value
    if not fault.never(limit.measure, limit.scope):
        return _UNKNOWN
    if not _waits_for(limit.measure):  # longer than the deadline
        return None, NEVER, NEVER
    return None, fault.until - effective, NEVER


def _worst_of(limit: Limit, each: Sequence[Bounds]) -> Bounds:
    """Return the worst of several faults; what never came is worse than any number."""
    values, best, worst = zip(*each, strict=True)
    name = limit.measure
    return worst_of(name, values), worst_of(name, best), worst_of(name, worst)


def _compared(
    limit: Limit, bounds: Bounds, seen: float, facts: Facts
) -> tuple[Bounds, bool | None, str]:
    """Say whether the worst case keeps the limit, or even the best case breaks it.

    The load was observed for `seen` seconds after the effect.
    """
    value, best, worst = bounds
    measure = find(limit.measure)
    by_looks = measure is not None and measure.by_looks
    observed = min(seen, best) if by_looks and best is not None else seen
    never = f"not within the {observed:.1f} s that were observed"
    if worst is not None and _keeps(limit, worst):
        return bounds, True, ""
    if best is not None and not _keeps(limit, best):
        if best == NEVER:
            return bounds, False, "longer than the deadline"
        return bounds, False, never if value is None else ""
    if value is None and not facts.missed and not (by_looks and limit.limit < seen):
        return bounds, None, never
    spread = _spread(limit.measure, best, worst)
    if by_looks:
        return bounds, None, f"{spread}: no look shows what decides"
    ours = facts.missed or facts.late_seconds
    why = f"the load generator {'missed' if facts.missed else 'was late for'} what decides"
    return bounds, None, f"{spread}: {why if ours else 'when it took effect decides'}"


def _keeps(limit: Limit, value: float) -> bool:
    return value >= limit.limit if limit.direction == AT_LEAST else value <= limit.limit


def _too_fine(limit: Limit, faults: Sequence[Fault], facts: Facts) -> str:
    """Say why a limit is finer than what can be seen; empty where it is not."""
    parts = [part for fault in faults if (part := fault.scopes.get(limit.scope)) is not None]
    noise = max((part.drops.theta for part in parts), default=0.0)
    if limit.measure == "tps_drop" and limit.limit < noise:
        return f"the limit {limit.limit:.1%} is below the noise of {noise:.1%}"
    apart = max((part.course.blackout_resolution_s or 0.0 for part in parts), default=0.0)
    blackout = limit.measure in ("blackout", "longest_blackout")
    if blackout and limit.limit < _LEAST_OPERATIONS * apart - 1e-9:
        return (
            f"the limit of {limit.limit:g} s is shorter than the {_LEAST_OPERATIONS * apart:.2g} s "
            f"in which {_LEAST_OPERATIONS} operations are offered"
        )
    shortest = facts.resolutions.get((limit.measure, limit.scope), 0.0)
    if limit.limit < shortest - 1e-9:
        return (
            f"the limit of {limit.limit:g} s is shorter than the {shortest:.3g} s that an outage "
            "has to last to be seen at this rate"
        )
    return ""


def _unknown(fault: Fault, limit: Limit, facts: Facts) -> str:
    """Say why nothing is known of a measure."""
    unsteady = [
        f"{test.name}: {test.detail}"
        for test in facts.baseline.tests
        if test.name in OF_THROUGHPUT and not test.ok
    ]
    measure = find(limit.measure)
    if measure is not None and measure.of_throughput and unsteady:
        return f"not measured: throughput was not steady before the fault ({'; '.join(unsteady)})"
    if _waits_for(limit.measure) in _PROMISED:
        return "not observed in this run"
    if measure is not None and measure.missing:
        return f"not measured: {measure.missing}"
    return "there is no data"


def _title(measure: str, scope: str) -> str:
    return measure if scope == "total" else f"{measure} ({scope})"


def _sentence(judged: Judged, faults: Sequence[Fault]) -> str:
    """Return `recovery_time: 12.3 s, at most 10 s allowed (steady-state/slo/…)`.

    Of several faults it says which broke the limit: `in fault 2 of 3 (kill_node n1 at 41.0 s)`.
    """
    bound = "at least" if judged.direction == AT_LEAST else "at most"
    words = judged.detail or _worded(judged.name, judged.value or 0.0)
    if judged.value is not None and judged.best != judged.worst:
        words = _spread(judged.name, judged.best, judged.worst)
    limit = _worded(judged.name, judged.limit)
    title = _title(judged.name, judged.scope)
    where = ", ".join(
        f"fault {number} of {len(faults)} ({fault.title})"
        for number, (fault, met) in enumerate(zip(faults, judged.by_fault, strict=False), 1)
        if met is False
    )
    where = f" in {where}" if where else ""
    return f"{title}: {words}{where}; {bound} {limit} wanted ({judged.limit_from})"


def _spread(measure: str, best: float | None, worst: float | None) -> str:
    """Return `2.3 s at best, 8.6 s at worst`."""
    ends = [
        "never" if value is None or value == NEVER else _worded(measure, value)
        for value in (best, worst)
    ]
    return f"{ends[0]} at best, {ends[1]} at worst"


def _worded(measure: str, value: float) -> str:
    """Return a value with its unit: `12.3 s`, `99.12 %`, `4.2 ms`, `1,523 operations`."""
    definition = find(measure)
    return definition.unit.beside_its_limit(value) if definition else f"{value:,.0f}"
