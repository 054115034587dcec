"""What breaks the promise, not counting times: only what cannot be noise. Pure.

CockroachDB switched its random perturbations off since limits on latency could not be triaged
(cockroach 133450 and 142148). So no time is judged here.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from brownout.measure.impact import Impact
from brownout.measure.measures import label
from brownout.session.experiment_process import Outcome

__all__ = [
    "LIMITS",
    "MILESTONE_LIMIT_S",
    "OF_ORACLE",
    "ORACLES",
    "Violation",
    "is_judged",
    "violations",
    "words_of",
]

#: Those that are measures of the ledger; what they find is called as the measure is.
_COUNTED = (
    "lost_writes", "diverged_copies", "stale_reads", "dirty_reads", "nonlinearizable_registers",
)  # fmt: skip
#: What each of the others finds, for people.
_OTHERS: Mapping[str, str] = {
    "garbled_answers": "answers that failed their checksum",
    "never_redundant": "the cluster is not redundant again",
    "never_served": "the load is not served again",
    "undo_failed": "something could not be put back",
}
ORACLES = (*_COUNTED, *_OTHERS)
#: Limits of an experiment that was explored; none of them is a time.
LIMITS: Mapping[str, float] = {"lost_writes": 0, "diverged_copies": 0}
#: What an explored run waits for a milestone.
MILESTONE_LIMIT_S = 60
#: What the experiment of a finding is limited by besides, so that it fails on what was found.
OF_ORACLE: Mapping[str, Mapping[str, float]] = {
    "never_redundant": {"redundancy_time": MILESTONE_LIMIT_S},
    "never_served": {"client_recovered_time": MILESTONE_LIMIT_S},
}


@dataclass(frozen=True, slots=True)
class Violation:
    """An oracle, by its name, and what it saw, in words with the figure."""

    oracle: str
    words: str


def words_of(oracle: str) -> str:
    """Return what an oracle finds, for people: `acknowledged writes lost`."""
    return _OTHERS.get(oracle) or label(oracle)


def is_judged(outcome: Outcome) -> bool:
    """Whether the ledger was read back: without that a run says nothing about the promise."""
    return outcome.impact is not None and outcome.impact.ledger.lost_writes is not None


def violations(outcome: Outcome) -> list[Violation]:
    """Return what a run broke of the promise; one that was ended early broke no wait."""
    broken = list(_of_run(outcome.impact)) if outcome.impact is not None else []
    if outcome.unmended:
        broken.append(Violation("undo_failed", outcome.unmended))
    return broken


def _of_run(impact: Impact) -> Iterator[Violation]:
    for measure in _COUNTED:
        if count := impact.value(measure):
            yield Violation(measure, f"{count:,.0f} {words_of(measure)}")
    if garbled := impact.ledger.garbled_answers:
        yield Violation("garbled_answers", f"{garbled:,} {words_of('garbled_answers')}")
    if impact.was_aborted or not impact.effective_faults:
        return
    last = impact.effective_faults[-1]
    if last.missed("redundant"):
        yield Violation("never_redundant", words_of("never_redundant"))
    if last.never("client_recovered_time"):
        yield Violation("never_served", words_of("never_served"))
