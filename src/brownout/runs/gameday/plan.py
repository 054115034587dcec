"""A game day resolved: its steps in their order, each with its plan, and what stands in the way."""

import random
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from brownout.inventory import inventory
from brownout.runs.gameday.calendar import Calendar, calendar_of
from brownout.runs.gameday.gameday_file import variables_of
from brownout.runs.gameday.spec import GameDay, Step
from brownout.session.experiment_checks import read_experiment, resolved
from brownout.session.plan import make_plan
from brownout.session.preview import preview

__all__ = ["ReadyStep", "calendar_for", "in_order", "make"]


@dataclass(frozen=True, slots=True)
class ReadyStep:
    """One step, resolved: its experiment's file and document, and what it is run with."""

    step: Step
    path: Path
    document: Mapping[str, Any]
    variables: dict[str, Any]

    def preview(self) -> tuple[str, bool]:
        """Return its run in words, and whether nothing stands in the way; nothing is touched."""
        plan = make_plan(self.document, resolved(self.document, self.variables), self.variables)
        return preview(plan, self.document)


def in_order(gameday: GameDay) -> tuple[list[Step], int]:
    """Return the steps in the order of the day, and the seed that a random order has."""
    steps = list(gameday.experiments)
    if gameday.order == "as written":
        return steps, 0
    seed = gameday.seed or secrets.randbelow(999_999) + 1
    random.Random(seed).shuffle(steps)
    return steps, seed


def make(gameday: GameDay, step: Step) -> ReadyStep:
    """Resolve a step."""
    path = gameday.find_experiment(step.experiment)
    document = read_experiment(path)
    return ReadyStep(step, path, document, variables_of(gameday, step, document))


def calendar_for(gameday: GameDay) -> Calendar:
    """Return the calendar of a game day on its own cluster."""
    return calendar_of(gameday, inventory.declared(gameday.cluster).guards.allowed_hours)
