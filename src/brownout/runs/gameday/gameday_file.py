"""Reading a gameday.yaml, and finding all that is wrong with it; nothing is touched.

A file's own shape is checked by its models, what it names by looking: experiments with their
variables, the cluster, the addresses of people. Whether now is the time is for `plan`.
"""

import contextlib
import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from brownout.base.errors import ConfigurationError
from brownout.inventory import inventory
from brownout.inventory.model import Cluster
from brownout.runs import series_file
from brownout.runs.gameday.calendar import HORIZON, calendar_of
from brownout.runs.gameday.notifications import unusable
from brownout.runs.gameday.schedules import next_times
from brownout.runs.gameday.spec import GameDay, Step
from brownout.session import experiment_checks
from brownout.session.options import complete
from brownout.session.stop_conditions import AvailabilityBelow

__all__ = ["problems_of", "read", "variables_of"]


def read(text: str) -> GameDay:
    """Return the game day of a file, or of a shipped one by its name.

    Raises `ConfigurationError` with every problem of the file at once.
    """
    return series_file.read(text, "gamedays", "game day", GameDay, problems_of)


def problems_of(gameday: GameDay) -> list[str]:
    """Name all that is wrong with what a game day's file names."""
    problems = [*unusable(gameday.notify), *_schedule(gameday), *_safeguards(gameday)]
    cluster = None
    try:
        cluster = inventory.declared(gameday.cluster)
    except ConfigurationError as error:
        problems += [f"cluster: {problem}" for problem in error.problems]
    if cluster is not None:
        problems += _calendar(gameday, cluster)
        for index, step in enumerate(gameday.experiments):
            problems += [f"experiments[{index}] ({step.called}): {p}" for p in _step(gameday, step)]
    return problems


def variables_of(gameday: GameDay, step: Step, document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the variables of a step's run: its own, the cluster, and what ends it early."""
    variables = {**step.variables, "cluster": gameday.cluster}
    watched = [
        condition.model_dump(mode="json")
        for condition in gameday.abort_if
        if isinstance(condition, AvailabilityBelow)
    ]
    if watched:
        declared = document.get("configuration") or {}
        configuration = experiment_checks.resolved(document, step.variables)
        own = complete(declared, configuration, step.variables)["abort_if"]
        with contextlib.suppress(ValueError):  # an invalid condition is refused with the step
            own = json.loads(own or "[]") if isinstance(own, str) else own
        variables["abort_if"] = [*(own if isinstance(own, list | tuple) else [own]), *watched]
    return variables


def _step(gameday: GameDay, step: Step) -> Iterator[str]:
    if "cluster" in step.variables:
        yield "variables.cluster: found one of its own, wanted the game day's `cluster`"
        return
    try:
        document = experiment_checks.read_experiment(gameday.find_experiment(step.experiment))
    except ConfigurationError as error:
        yield from error.problems
    else:
        yield from experiment_checks.problems(document, variables_of(gameday, step, document))


def _calendar(gameday: GameDay, cluster: Cluster) -> Iterator[str]:
    now = datetime.now(UTC)
    if gameday.window.ends and gameday.window.ends <= now:
        ended = gameday.window.ends.isoformat()
        yield f"window.ends: found {ended}, which is past, wanted a moment to come"
        return
    if calendar_of(gameday, cluster.guards.allowed_hours).next_opening(now) is None:
        yield (
            f"window, freeze: together with the cluster's allowed hours they leave no moment in "
            f"the next {HORIZON.days} days, wanted at least one"
        )


def _schedule(gameday: GameDay) -> Iterator[str]:
    if gameday.schedule is not None:
        actual = f"schedule.cron: found {gameday.schedule.cron!r}"
        try:
            if gameday.schedule.cron and not next_times(gameday.schedule, datetime.now(UTC), 1):
                yield f"{actual}, which never comes, wanted a day that there is"
        except ValueError as error:
            yield f"{actual}, {error}"


def _safeguards(gameday: GameDay) -> Iterator[str]:
    """Ask Chaos Toolkit for each on its own; addons want a tolerance as well."""
    from chaoslib.activity import ensure_activity_is_valid
    from chaoslib.exceptions import ChaosException
    from chaoslib.hypothesis import ensure_hypothesis_tolerance_is_valid

    for index, probe in enumerate(gameday.safeguards):
        try:
            ensure_activity_is_valid(probe)
            ensure_hypothesis_tolerance_is_valid(probe.get("tolerance"))
        except ChaosException as error:
            yield f"safeguards[{index}]: {error}"
        except (AttributeError, KeyError, TypeError) as error:
            yield f"safeguards[{index}]: is not formed as Chaos Toolkit wants a probe ({error})"
