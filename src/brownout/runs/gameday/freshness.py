"""How old the last pass of each experiment is, and whether it is stale. Pure, but for `passes`.

A pass says how the system was then. What has changed since, it does not know.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from brownout.runs.gameday.record import Record, StepRecord
from brownout.runs.gameday.spec import GameDay

__all__ = ["Freshness", "freshness", "known_duration", "stale_words"]


@dataclass(frozen=True, slots=True)
class Freshness:
    """One step: when it last passed, and what came of it last, with where that run lies."""

    name: str
    passed: datetime | None
    stale: bool
    last: str
    run: str


def freshness(gameday: GameDay, past: Sequence[Record], now: datetime) -> list[Freshness]:
    """Return how fresh each step's pass is, from the records of earlier days, the latest last."""
    return [
        _of(step.called, list(_earlier(past, gameday.cluster, step.experiment, step.variables)),
            now, gameday.freshness)
        for step in gameday.experiments
    ]  # fmt: skip


def known_duration(gameday: GameDay, name: str, past: Sequence[Record]) -> timedelta | None:
    """Return how long a step is going to take: as it says, else as its last run took."""
    step = next(each for each in gameday.experiments if each.called == name)
    if step.takes is not None:
        return step.takes
    runs = [
        earlier
        for earlier in _earlier(past, gameday.cluster, step.experiment, step.variables)
        if earlier.done
    ]
    if not runs:
        return None
    return datetime.fromisoformat(runs[-1].ended) - datetime.fromisoformat(runs[-1].began)


def stale_words(latest: Freshness, now: datetime) -> str:
    """`passed 12 days ago`, `STALE: passed 40 days ago`, `STALE: never passed`."""
    if latest.passed is None:
        return "STALE: never passed"
    days = (now - latest.passed).days
    ago = f"passed {days} days ago" if days != 1 else "passed 1 day ago"
    ago = "passed today" if days == 0 else ago
    return f"STALE: {ago}" if latest.stale else ago


def _earlier(
    past: Iterable[Record], inventory: str, experiment: str, variables: dict[str, Any]
) -> Iterable[StepRecord]:
    """Yield each time that this experiment with these variables was run on that cluster."""
    for record in past:
        for step in record.steps:
            same = (record.inventory, step.experiment) == (inventory, experiment)
            if same and step.variables == variables and step.status == "over":
                yield step


def _of(name: str, earlier: Sequence[StepRecord], now: datetime, limit: timedelta) -> Freshness:
    passes = [step for step in earlier if step.verdict == "pass"]
    passed = datetime.fromisoformat(passes[-1].ended) if passes else None
    last = earlier[-1] if earlier else None
    stale = passed is None or now - passed > limit
    return Freshness(name, passed, stale, last.verdict if last else "", last.run if last else "")
