"""The gate's decision: pass, fail or inconclusive, with every sentence that led to it. Pure.

fail          a run failed by its own limits; a measure is worse than allowed, beyond chance
inconclusive  a run could not be judged; data is missing; a measure may be worse than may be
pass          none of these: each estimate is within what is allowed, and what is critical is
              ruled out

Several measures are several chances to fail by chance. Holm's correction keeps all of them
together at `ALPHA`: so often an unchanged system fails.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from brownout.measure.impact import NEVER, Judged, worst_of
from brownout.measure.measures import AT_LEAST, is_at_least, split
from brownout.runs.gate.baseline import Baseline, Compared
from brownout.runs.gate.power import repeats_needed
from brownout.runs.gate.ranks import Shift, holm, null_below, shift
from brownout.runs.run_set import LEAST, FinishedRun, median

__all__ = ["ALPHA", "Comparison", "Decision", "Held", "compare", "decide"]

ALPHA = 0.05
PASS, FAIL, OPEN, LEFT_OUT = "pass", "fail", "inconclusive", "left out"


@dataclass(frozen=True, slots=True)
class Held:
    """A limit over all runs: the worst value, and in how many runs it was met, not met, open."""

    name: str
    scope: str
    limit: float
    direction: str
    value: float | None
    met: int
    unmet: int
    open: int

    @property
    def word(self) -> str:
        """What the limit comes to over all runs."""
        return FAIL if self.unmet else OPEN if self.open else PASS


@dataclass(frozen=True, slots=True)
class Comparison:
    """One measure against the baseline; values in its own unit, `shift` turned to worse.

    `before` and `after` hold a value a repeat. `p` is corrected for how many measures are compared.
    `needed` is how many repeats of either side would decide it, None where none is known.
    """

    measure: str
    word: str
    detail: str
    allowed: float
    critical: float
    before: tuple[float, ...] = ()
    after: tuple[float, ...] = ()
    shift: Shift | None = None
    p: float | None = None
    needed: int | None = None

    @property
    def medians(self) -> tuple[float | None, float | None] | None:
        """The medians before and after; None where there was nothing to compare."""
        return (median(self.before), median(self.after)) if self.shift else None


@dataclass(frozen=True, slots=True)
class Decision:
    """The word, its reasons, and all that was looked at; `left_out` names runs that were spared."""

    word: str
    reasons: tuple[str, ...]
    limits: tuple[Held, ...]
    comparisons: tuple[Comparison, ...]
    left_out: tuple[str, ...] = ()

    @property
    def needed(self) -> int | None:
        """How many repeats would decide every measure that is open."""
        wanted = [c.needed for c in self.comparisons if c.word == OPEN]
        counts = [n for n in wanted if n is not None]
        return max(counts) if counts and len(counts) == len(wanted) else None


def decide(
    runs: Sequence[FinishedRun],
    baseline: Baseline | None,
    spare: int | None = None,
    least: int = 0,
) -> Decision:
    """Judge runs by their own limits and against a baseline; `spare` of them may be unjudged.

    Without a number, inconclusive runs are left out as long as at least as many were judged. With
    fewer than `least` that were judged, the decision stays open.
    """
    unjudged = [run for run in runs if not run.is_judged]
    judged = len(runs) - len(unjudged)
    spared = _spared(runs, unjudged, spare)
    counted = [run for run in runs if run not in spared]
    limits = _held(counted)
    comparisons = _compared([r for r in counted if r not in unjudged], baseline)
    failures = [
        *(f"{r.run_id}: {why}" for r in counted if r.verdict == FAIL for why in _why(r)),
        *(f"{c.measure}: {c.detail}" for c in comparisons if c.word == FAIL),
    ]
    opens = [
        *(f"{r.run_id} is {r.verdict}: {_why(r)[0]}" for r in unjudged if r not in spared),
        *([] if counted else ["no run is left to be judged"]),
        *([f"{judged} runs were judged, wanted at least {least}"] if judged < least else []),
        *(
            dict.fromkeys(
                f"{words}, and no baseline says that this is wanted"
                for r in counted
                for words in r.dropped
            )
            if baseline is None
            else ()
        ),
        *(f"{c.measure}: {c.detail}" for c in comparisons if c.word == OPEN),
    ]
    word = FAIL if failures else OPEN if opens else PASS
    names = tuple(run.run_id for run in spared)
    return Decision(word, (*failures, *opens), limits, comparisons, names)


def _spared(
    runs: Sequence[FinishedRun], unjudged: Sequence[FinishedRun], spare: int | None
) -> Sequence[FinishedRun]:
    """Return the runs that are left out: none of them, if they are too many.

    What ended an aborted run may have been the system's doing, and so may a limit that was broken
    in an inconclusive one: only a number spares those.
    """
    if spare is not None:
        return unjudged if len(unjudged) <= spare else []
    left_out = [
        run
        for run in unjudged
        if run.verdict == OPEN
        and not run.impact.was_aborted
        and all(slo.met is not False for slo in run.impact.slos)
    ]
    return left_out if len(left_out) <= len(runs) - len(unjudged) else []


def compare(
    samples: Sequence[tuple[Compared, Sequence[float], Sequence[float]]],
) -> list[Comparison]:
    """Compare measures that have data on both sides: each with its values before and after."""
    looked = [_first_look(before, after, compared) for compared, before, after in samples]
    return _corrected(looked)


def _compared(runs: Sequence[FinishedRun], baseline: Baseline | None) -> tuple[Comparison, ...]:
    if baseline is None:
        return ()
    looked = [_look(runs, baseline, compared) for compared in baseline.measures]
    return tuple(map(_with_need, _corrected(looked)))


def _look(runs: Sequence[FinishedRun], baseline: Baseline, compared: Compared) -> Comparison:
    values = {run.run_id: run.value(compared.measure) for run in runs}
    numbers = [value for value in values.values() if value is not None]
    missing = [name for name, value in values.items() if value is None]
    nothing = Comparison(compared.measure, OPEN, "", compared.allowed, compared.critical)
    if missing and compared.must_have_data:
        return replace(nothing, detail=f"there is no data in {', '.join(missing)}")
    if missing and len(numbers) < LEAST:
        return replace(nothing, word=LEFT_OUT, detail=f"no data in {len(missing)} runs")
    if len(numbers) < LEAST:
        more = LEAST - len(numbers)
        detail = (
            f"{len(numbers)} repeats were judged, wanted {LEAST}: make {more} more, as "
            f"`brownout repeat … -n {more}` does, and gate them together with these"
        )
        return replace(nothing, detail=detail, needed=LEAST)
    pinned = [value for value in baseline.values(compared.measure) if value is not None]
    return _first_look(pinned, numbers, compared)


def _first_look(before: Sequence[float], after: Sequence[float], compared: Compared) -> Comparison:
    sign = _sign(compared.measure)
    difference = shift([sign * v for v in before], [sign * v for v in after])
    return Comparison(
        compared.measure, OPEN, "", compared.allowed, compared.critical,
        tuple(before), tuple(after), difference, difference.p,
    )  # fmt: skip


def _with_need(each: Comparison) -> Comparison:
    """Say of an open comparison how many repeats would decide it."""
    if each.word != OPEN or each.shift is None:
        return each
    sign = _sign(each.measure)
    before, after = ([sign * v for v in side] for side in (each.before, each.after))
    return replace(each, needed=repeats_needed(before, after, each.allowed, each.critical))


def _sign(measure: str) -> float:
    """What turns values so that more is worse."""
    return -1.0 if is_at_least(split(measure)[1]) else 1.0


def _corrected(looked: Sequence[Comparison]) -> list[Comparison]:
    """Give each comparison its word, with p by Holm's step-down over all that have one."""
    tested = [each for each in looked if each.shift is not None]
    chances = holm([each.p or 0.0 for each in tested])
    corrected = {each.measure: p for each, p in zip(tested, chances, strict=True)}
    return [
        _worded(replace(each, p=corrected[each.measure]), len(tested)) if each.shift else each
        for each in looked
    ]


def _worded(each: Comparison, count: int) -> Comparison:
    difference = each.shift
    if difference is None or each.p is None:
        return each
    if difference.estimate > each.allowed and each.p <= ALPHA:
        critical = ", and than what is critical" if difference.estimate > each.critical else ""
        return replace(each, word=FAIL, detail=f"worse than allowed{critical}")
    if difference.estimate > each.allowed:
        detail = "worse than allowed, but that may be chance"
        if count * float(null_below(len(each.before), len(each.after))[0]) > ALPHA:
            detail = f"{detail}: so few repeats cannot show it for {count} measures"
        return replace(each, detail=detail)
    if difference.high is not None and difference.high <= each.critical:
        return replace(each, word=PASS, detail="no worse than allowed")
    return replace(each, detail="what is critical cannot be ruled out")


def _held(runs: Sequence[FinishedRun]) -> tuple[Held, ...]:
    """The limits of all runs, each with what became of it."""
    by_limit: dict[tuple[Any, ...], list[Judged]] = {}
    for run in runs:
        for slo in run.impact.slos:
            key = (slo.name, slo.scope, slo.limit, slo.direction)
            by_limit.setdefault(key, []).append(slo)
    return tuple(_over_runs(slos) for slos in by_limit.values())


def _over_runs(slos: Sequence[Judged]) -> Held:
    one = slos[0]
    met, unmet, opens = (sum(slo.met is each for slo in slos) for each in (True, False, None))
    return Held(
        one.name, one.scope, one.limit, one.direction, _worst(one.name, slos), met, unmet, opens
    )  # fmt: skip


def _worst(measure: str, slos: Sequence[Judged]) -> float | None:
    """The worst value; one that is not there although its limit is unmet was beyond every limit."""
    if any(slo.value is None and slo.met is False for slo in slos):
        return -NEVER if slos[0].direction == AT_LEAST else NEVER
    return worst_of(measure, [slo.value for slo in slos if slo.value is not None])


def _why(run: FinishedRun) -> list[str]:
    return list(run.impact.reasons) or ["no reason is recorded"]
