"""An experiment given on a command line, as its plan: read, checked, its variables resolved."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from brownout.base import catalog
from brownout.base.errors import ConfigurationError
from brownout.session.experiment_checks import chaos_toolkit_problems, read_experiment, resolved
from brownout.session.plan import Plan, make_plan

__all__ = ["plan_of"]


def plan_of(experiment: str, given: Sequence[str]) -> tuple[Plan, Mapping[str, Any]]:
    """Return the plan of an experiment with `given` variables, and its document.

    Nothing is touched. Raises `ConfigurationError` with every problem.
    """
    document = _document(experiment)
    variables = dict(_pair(text) for text in given)
    return make_plan(document, resolved(document, variables), variables), document


def _document(text: str) -> dict[str, Any]:
    """The experiment, as Chaos Toolkit reads and checks it."""
    path = catalog.find_experiment(text)
    document = read_experiment(path)
    if problems := list(chaos_toolkit_problems(document)):
        raise ConfigurationError([f"{path}: {problem}" for problem in problems])
    return document


def _pair(text: str) -> tuple[str, Any]:
    """`name=value`, or `name:type=value` with a type of Chaos Toolkit's."""
    key, sign, value = text.partition("=")
    name, _, kind = key.partition(":")
    if not sign or not name:
        raise ConfigurationError(f"found {text!r}, wanted NAME=VALUE")
    readers: Mapping[str, Any] = {"int": int, "float": float, "json": json.loads, "bool": _truth}
    try:
        return name, readers.get(kind, str)(value)
    except ValueError as error:
        raise ConfigurationError(f"variable {name}: {value!r} is not of type {kind}") from error


def _truth(text: str) -> bool:
    return text.strip().lower() in ("1", "true", "yes", "on")
