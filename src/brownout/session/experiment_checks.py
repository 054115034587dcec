"""All that is wrong with an experiment: for Chaos Toolkit, for our control, and for a run of it.

Nothing is touched: no cluster is asked, no load started.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from brownout.base.errors import BrownoutError, ConfigurationError
from brownout.base.settings_file import read_document
from brownout.session.experiment_shape import shape_problems
from brownout.session.options import SETTINGS

__all__ = ["chaos_toolkit_problems", "problems", "problems_of", "read_experiment", "resolved"]

#: What Chaos Toolkit raises for a part of another form than it takes for granted.
_MISSHAPED = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
_VARIABLE = re.compile(r"\$\{(\w+)\}")


def read_experiment(path: Path) -> dict[str, Any]:
    """Return the experiment in a JSON or YAML file, of which only the shape is checked.

    Raises `ConfigurationError` where the file cannot be read, or with each part of another shape.
    """
    document = read_document(path, "experiment")
    if not isinstance(document, dict):
        raise ConfigurationError(
            f"{path}: found {type(document).__name__}, wanted a mapping, as every experiment is"
        )
    if wrong := shape_problems(document):
        raise ConfigurationError([f"{path}: {problem}" for problem in wrong])
    return document


def problems(data: Mapping[str, Any], variables: Mapping[str, Any] | None = None) -> list[str]:
    """Return what is wrong with an experiment that is run with these `--var` variables."""
    if wrong := shape_problems(data):
        return wrong
    every = [*chaos_toolkit_problems(data), *_house_rules(data), *_undeclared(data)]
    return every or _plan(data, variables or {})


def problems_of(step: Callable[[], Any]) -> list[str]:
    """Do one step; return the problems that it found."""
    try:
        step()
    except ConfigurationError as error:
        return error.problems
    except BrownoutError as error:
        return [str(error)]
    return []


def chaos_toolkit_problems(data: Mapping[str, Any]) -> Iterator[str]:
    """Ask Chaos Toolkit for every part on its own: by itself it ends at the first problem."""
    from chaoslib.activity import ensure_activity_is_valid
    from chaoslib.control import validate_controls
    from chaoslib.exceptions import ChaosException
    from chaoslib.extension import validate_extensions
    from chaoslib.hypothesis import ensure_hypothesis_is_valid

    def flaws(check: Callable[[Any], Any], part: Any) -> Iterator[str]:
        try:
            check(part)
        except ChaosException as error:
            yield str(error)
        except _MISSHAPED as error:
            yield f"is not formed as Chaos Toolkit wants it ({error})"

    for key in ("title", "description", "method"):
        if data.get(key) is None:
            yield f"{key}: missing"
    for index, activity in enumerate(data.get("method") or []):
        yield from (f"method[{index}]: {p}" for p in flaws(ensure_activity_is_valid, activity))
    for index, activity in enumerate(data.get("rollbacks") or []):
        yield from (f"rollbacks[{index}]: {p}" for p in flaws(ensure_activity_is_valid, activity))
    hypothesis = data.get("steady-state-hypothesis") or {}
    for index, probe in enumerate(hypothesis.get("probes") or []):
        alone = {"title": "one probe", "probes": [probe]}
        for problem in flaws(
            ensure_hypothesis_is_valid, {**data, "steady-state-hypothesis": alone}
        ):
            yield f"steady-state-hypothesis.probes[{index}]: {problem}"
    yield from flaws(validate_controls, data)
    yield from flaws(validate_extensions, data)
    yield from _missing_controls(data)


def _missing_controls(data: Mapping[str, Any]) -> Iterator[str]:
    """Name each control whose module cannot be imported: Chaos Toolkit would run without it."""
    hypothesis = data.get("steady-state-hypothesis") or {}
    activities = [*(data.get("method") or []), *(data.get("rollbacks") or [])]
    activities += [hypothesis, *(hypothesis.get("probes") or [])]
    holders = [data, *activities]
    for control in (control for holder in holders for control in holder.get("controls") or []):
        provider = control.get("provider") or {}
        module = provider.get("module")
        if provider.get("type") != "python" or not module:
            continue
        try:
            import_module(module)
        except Exception as error:  # whatever the module does as it is imported
            yield (
                f"controls: `{control['name']}`: the module `{module}` cannot be imported: {error}"
            )


def _house_rules(data: Mapping[str, Any]) -> Iterator[str]:
    """What an experiment needs so that a run is measured, judged and put back."""
    from brownout.session.plan import breaks_by_others_alone, extension_problems

    modules = [c.get("provider", {}).get("module") for c in data.get("controls") or []]
    if "brownout.control" not in modules:
        yield "controls: `brownout.control` is missing, which makes the load and the verdict"
    yield from extension_problems(data)
    if breaks_by_others_alone(data):
        return  # what others break is theirs to put back
    strategy = data.get("runtime", {}).get("rollbacks", {}).get("strategy")
    if strategy != "always":
        yield f"runtime.rollbacks.strategy: found {strategy!r}, wanted 'always'"
    undone = [a.get("provider", {}).get("func") for a in data.get("rollbacks") or []]
    if "put_back" not in undone:
        yield "rollbacks: `brownout.actions.node.put_back` is missing, which undoes what was broken"


def _undeclared(data: Mapping[str, Any]) -> Iterator[str]:
    """Name each `${variable}` that the configuration does not have: it would stay as it is."""
    secrets = (data.get("secrets") or {}).values()
    declared = {*SETTINGS, *(data.get("configuration") or {})}.union(*secrets)
    parts = {key: value for key, value in data.items() if key != "configuration"}
    for name in dict.fromkeys(_VARIABLE.findall(json.dumps(parts))):
        if name not in declared:
            yield f"configuration: `{name}` is missing, which is used as ${{{name}}}"


def resolved(data: Mapping[str, Any], variables: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the configuration of an experiment with these `--var` variables; offer its secrets.

    Raises `ConfigurationError` where Chaos Toolkit cannot read it.
    """
    from chaoslib.configuration import load_configuration
    from chaoslib.exceptions import ChaosException
    from chaoslib.secret import load_secrets

    from brownout.base.secret import offer_secrets

    try:
        configuration = load_configuration(data.get("configuration") or {}, dict(variables))
        offer_secrets(load_secrets(data.get("secrets") or {}, configuration))
    except (ChaosException, *_MISSHAPED) as error:
        raise ConfigurationError(f"configuration: {error}") from error
    return dict(configuration)


def _plan(data: Mapping[str, Any], variables: Mapping[str, Any]) -> list[str]:
    """Resolve the run as the control will: cluster, workload, limits, options."""
    from brownout.session.plan import make_plan

    return problems_of(lambda: make_plan(data, resolved(data, variables), variables))
