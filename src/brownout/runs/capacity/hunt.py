"""A search that is carried out: what is next, make it, keep it, say it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from brownout.runs.capacity.search import Finding, Probe, Search, Settings
from brownout.runs.capacity.step import Phase, Step, Steps

__all__ = ["Hunt", "resumed"]


@dataclass(frozen=True, slots=True)
class Hunt:
    """Searches in one phase, from the steps that are kept already. `say` gets each new step."""

    phase: Phase
    settings: Settings
    steps: Steps
    make: Callable[[Probe, int], Step]
    say: Callable[[Step], None]
    trying: Callable[[Probe], None] = lambda _: None

    def run(self) -> Finding:
        """Search to the end; raises what a step raises, with all steps before it kept."""
        search, number = self._resumed(), len(self.steps.read())
        while (probe := search.next()) is not None:
            number += 1
            self.trying(probe)
            step = self.make(probe, number)
            self.steps.add(step)
            self.say(step)
            search.take(probe, step.verdict)
        return search.finding()

    def finding(self) -> Finding:
        """Return what is known from the kept steps."""
        return self._resumed().finding()

    def _resumed(self) -> Search:
        return resumed(self.settings, self.steps.read(), self.phase)


def resumed(settings: Settings, steps: Sequence[Step], phase: Phase) -> Search:
    """Return the search of one phase as it was after `steps`."""
    search = Search(settings)
    for step in steps:
        if step.phase == phase:
            search.take(step.probe, step.verdict)
    return search
