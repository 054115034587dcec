"""An experiment given on a command line, as its plan: read, checked, its variables resolved."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from brownout.base.errors import ConfigurationError
from brownout.session.plan import Plan

__all__ = ["plan_of"]


def plan_of(experiment: str, given: Sequence[str]) -> tuple[Plan, Mapping[str, Any]]:
    """Return the plan of an experiment with `given` variables, and its document.

    Nothing is touched. Raises `ConfigurationError` with every problem.
    """
    from chaoslib.configuration import load_configuration
    from chaoslib.secret import load_secrets

    from brownout.base.secret import offer_secrets
    from brownout.session.plan import make_plan

    document = _document(experiment)
    variables = dict(_pair(text) for text in given)
    configuration = load_configuration(document.get("configuration", {}), dict(variables))
    offer_secrets(load_secrets(document.get("secrets", {}), configuration))
    return make_plan(document, configuration, variables), document


def _document(text: str) -> dict[str, Any]:
    """The experiment, as Chaos Toolkit reads and checks it."""
    from chaoslib.exceptions import ChaosException
    from chaoslib.experiment import ensure_experiment_is_valid

    from brownout.base import catalog
    from brownout.session.experiment_checks import read_experiment

    path = catalog.find_experiment(text)
    document = read_experiment(path)
    try:
        ensure_experiment_is_valid(document)
    except ChaosException as error:
        raise ConfigurationError(f"{path}: {error}") from error
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
