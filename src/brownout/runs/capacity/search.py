"""Which rate is tried next, and what the answers so far amount to. Pure.

Geometric up until a rate does not hold (or down until one does), bisection until the highest that
holds and the lowest that does not are within `precision`, then a long run to confirm. Everything
follows from the answers so far, so an interrupted search continues from what was kept.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

__all__ = ["Answer", "Bound", "Finding", "Kind", "Probe", "Search", "Settings", "Verdict"]

#: `limited`: the load generator, not the database, was the limit; or nothing could be judged.
Verdict = Literal["holds", "breach", "limited"]
Kind = Literal["step", "confirm"]
Bound = Literal["exact", "at least", "none"]

#: Below this share of the first rate nothing is looked for any more.
_LEAST = 1 / 1024


@dataclass(frozen=True, slots=True)
class Settings:
    """How to search: rates in operations a second.

    A step that does not hold is made `again` times more before it counts, so that one hiccup of
    the machine does not halve the answer. `ceiling` is never exceeded; None means no ceiling.
    """

    start: float
    factor: float = 2.0
    precision: float = 0.02
    ceiling: float | None = None
    again: int = 1
    most_steps: int = 60


@dataclass(frozen=True, slots=True)
class Probe:
    """What to try: a rate, for a `step` or for the long `confirm`."""

    rate: float
    kind: Kind


@dataclass(frozen=True, slots=True)
class Answer:
    """What a probe came to."""

    rate: float
    kind: Kind
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class Finding:
    """What is known. `rate` is the highest that held; None where none did.

    `bound` says how sure it is: `exact` within the precision; `at least`, since nothing above
    was found wanting; `none`. `confirmed` says that a long run held it. `above` is the lowest
    rate that did not hold, `odd` the rates that held although a lower one did not.
    """

    rate: float | None
    bound: Bound
    confirmed: bool
    above: float | None
    why: str
    odd: tuple[float, ...] = ()


@dataclass(slots=True)
class Search:
    """One search. Ask `next`, try it, tell by `take`; until `next` says None."""

    settings: Settings
    answers: list[Answer] = field(default_factory=list)

    def take(self, probe: Probe, verdict: Verdict) -> None:
        """Take what `probe` came to."""
        self.answers.append(Answer(probe.rate, probe.kind, verdict))

    def next(self) -> Probe | None:
        """Return what to try next; None where all is known that can be."""
        if len(self.answers) >= self.settings.most_steps:
            return None
        if self.answers:
            last = self.answers[-1]
            if self._state(last.rate, last.kind) is None:
                return Probe(last.rate, last.kind)
        low, high = self._bracket()
        if low is None:
            return self._downwards(high)
        if high is not None and high > low * (1 + self.settings.precision):
            return Probe(_middle(low, high), "step")
        if high is None and not self._at_ceiling(low):
            return Probe(self._capped(low * self.settings.factor), "step")
        confirmed = self._state(low, "confirm") == "holds"
        return None if confirmed else Probe(low, "confirm")

    def finding(self) -> Finding:
        """Return what the answers so far amount to; also of a search that was cut short."""
        low, high = self._bracket()
        confirmed = [rate for rate in self._rates("confirm") if self._is_confirmed(rate, high)]
        odd = tuple(r for r in self._rates("step") if high and r > high and self._holds(r))
        if low is None:
            why = "no rate held" if high else "nothing was measured"
            return Finding(None, "none", False, high, why, odd)
        rate = max(confirmed, default=low)
        bound, why = self._bound(rate, high)
        return Finding(rate, bound, rate in confirmed, high, why, odd)

    def _bound(self, rate: float, high: float | None) -> tuple[Bound, str]:
        if high is None:
            if self._at_ceiling(rate):
                return "at least", f"it is the most that was to be tried, {rate:,.0f}/s"
            return "at least", "the search ended before a rate did not hold"
        if self._word(high) == "limited":
            return "at least", f"{high:,.0f}/s could not be judged: the database is not the limit"
        if high > rate * (1 + self.settings.precision) * (1 + 1e-9):
            return "at least", f"the search ended between {rate:,.0f}/s and {high:,.0f}/s"
        return "exact", f"{high:,.0f}/s does not hold"

    def _downwards(self, high: float | None) -> Probe | None:
        """The first rate, or a lower one as long as none has held."""
        if high is None:
            return Probe(self._capped(self.settings.start), "step")
        lower = round(high / self.settings.factor, 2)
        return Probe(lower, "step") if lower >= self.settings.start * _LEAST else None

    def _bracket(self) -> tuple[float | None, float | None]:
        """Return the highest rate that holds below the lowest that does not, and that one."""
        rates = sorted({answer.rate for answer in self.answers})
        high = min((rate for rate in rates if self._word(rate) in ("breach", "limited")),
                   default=None)  # fmt: skip
        held = [r for r in rates if self._word(r) == "holds" and (high is None or r < high)]
        return max(held, default=None), high

    def _word(self, rate: float) -> Verdict | None:
        """What is known of a rate: the long run outweighs the steps."""
        confirmed = self._state(rate, "confirm")
        return confirmed or self._state(rate, "step")

    def _state(self, rate: float, kind: Kind) -> Verdict | None:
        """Return what the tries of one kind at one rate decide; None where another is wanted.

        One that holds decides. So does a long run that does not hold: it is not made again.
        """
        verdicts = [a.verdict for a in self.answers if a.rate == rate and a.kind == kind]
        if "holds" in verdicts:
            return "holds"
        wanted = 1 if kind == "confirm" and "breach" in verdicts else 1 + self.settings.again
        decided: Sequence[Verdict] = ("breach", "limited")
        return next((verdict for verdict in decided if verdicts.count(verdict) >= wanted), None)

    def _is_confirmed(self, rate: float, high: float | None) -> bool:
        return self._state(rate, "confirm") == "holds" and (high is None or rate < high)

    def _holds(self, rate: float) -> bool:
        return self._word(rate) == "holds"

    def _rates(self, kind: Kind) -> list[float]:
        return sorted({answer.rate for answer in self.answers if answer.kind == kind})

    def _capped(self, rate: float) -> float:
        ceiling = self.settings.ceiling
        return rate if ceiling is None else min(rate, ceiling)

    def _at_ceiling(self, rate: float) -> bool:
        ceiling = self.settings.ceiling
        return ceiling is not None and rate >= ceiling * (1 - 1e-9)


def _middle(low: float, high: float) -> float:
    """Return the geometric mean, to the hundredth: equal ratios are equally likely."""
    return round(math.sqrt(low * high), 2)
