"""Which kind a file is, and all that is wrong with it: the work of `brownout check`.

Nothing is touched: no cluster is asked, no load started.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from brownout.errors import BrownoutError, ConfigurationError
from brownout.settings_file import read_text

__all__ = ["KINDS", "check_file", "kind_of"]

#: What tells each kind from the others: a setting that only it has.
MARKS = {
    "experiment": ("method", "steady-state-hypothesis"),
    "workload": ("streams",),
    "inventory": ("nodes", "lab", "environment"),
}
KINDS = (*MARKS, "limits")
_VARIABLE = re.compile(r"\$\{(\w+)\}")


def check_file(path: Path) -> tuple[str, list[str]]:
    """Return what kind of file this is and its problems, each beginning with the file's name."""
    try:
        data = _parse(path)
        kind = kind_of(data)
        if kind is None:
            found = ", ".join(map(str, data)) if isinstance(data, Mapping) else type(data).__name__
            return "unknown", [
                f"{path}: found {found}; wanted an experiment (it has `method`), a workload "
                "(`streams`), an inventory (`nodes` or `lab`) or a list of limits"
            ]
        return kind, _CHECKS[kind](path, data)
    except ConfigurationError as error:
        return "unknown", error.problems


def kind_of(data: Any) -> str | None:
    """Return which kind of file `data` is from; None where it is none of ours."""
    if isinstance(data, list):
        return "limits" if any(isinstance(i, Mapping) and "limit" in i for i in data) else None
    if isinstance(data, Mapping):
        for kind, marks in MARKS.items():
            if any(mark in data for mark in marks):
                return kind
    return None


def _parse(path: Path) -> Any:
    text = read_text(path, "file")
    try:
        return json.loads(text) if path.suffix == ".json" else yaml.safe_load(text)
    except ValueError as error:
        raise ConfigurationError(f"{path}: not valid JSON: {error}") from error
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        at = f":{mark.line + 1}:{mark.column + 1}" if mark else ""
        problem = getattr(error, "problem", error)
        raise ConfigurationError(f"{path}{at}: not valid YAML: {problem}") from error


def _workload(path: Path, _: Any) -> list[str]:
    from brownout.load import workload

    return _problems(lambda: workload.load(path))


def _inventory(path: Path, _: Any) -> list[str]:
    from brownout.cluster import inventory

    return _problems(lambda: inventory.declared(path))


def _limits(path: Path, _: Any) -> list[str]:
    from brownout import slo

    return _problems(lambda: slo.parse(path.read_text(encoding="utf-8"), str(path)))


def _experiment(path: Path, data: Mapping[str, Any]) -> list[str]:
    """What Chaos Toolkit says of it, what our control wants of it, and what the run's plan says."""
    problems = [*_chaos_toolkit(data), *_house_rules(data), *_undeclared(data)]
    if not problems:
        problems += _plan(data)
    return [f"{path}: {problem}" for problem in problems]


def _chaos_toolkit(data: Mapping[str, Any]) -> Iterator[str]:
    """Ask Chaos Toolkit for every part on its own: by itself it ends at the first problem."""
    from chaoslib.activity import ensure_activity_is_valid
    from chaoslib.control import validate_controls
    from chaoslib.exceptions import ChaosException
    from chaoslib.extension import validate_extensions
    from chaoslib.hypothesis import ensure_hypothesis_is_valid

    def said(check: Callable[[Any], Any], part: Any) -> Iterator[str]:
        try:
            check(part)
        except ChaosException as error:
            yield str(error)
        except (AttributeError, KeyError, TypeError) as error:
            yield f"is not formed as Chaos Toolkit wants it ({error})"

    for key in ("title", "description", "method"):
        if data.get(key) is None:
            yield f"{key}: missing"
    for index, activity in enumerate(data.get("method") or []):
        yield from (f"method[{index}]: {p}" for p in said(ensure_activity_is_valid, activity))
    for index, activity in enumerate(data.get("rollbacks") or []):
        yield from (f"rollbacks[{index}]: {p}" for p in said(ensure_activity_is_valid, activity))
    hypothesis = data.get("steady-state-hypothesis") or {}
    for index, probe in enumerate(hypothesis.get("probes") or []):
        alone = {"title": "one probe", "probes": [probe]}
        for problem in said(ensure_hypothesis_is_valid, {**data, "steady-state-hypothesis": alone}):
            yield f"steady-state-hypothesis.probes[{index}]: {problem}"
    yield from said(validate_controls, data)
    yield from said(validate_extensions, data)


def _house_rules(data: Mapping[str, Any]) -> Iterator[str]:
    """What an experiment needs so that a run is measured, judged and put back."""
    modules = [c.get("provider", {}).get("module") for c in data.get("controls") or []]
    if "brownout.control" not in modules:
        yield "controls: lack `brownout.control`, which makes the load and the verdict"
    strategy = data.get("runtime", {}).get("rollbacks", {}).get("strategy")
    if strategy != "always":
        yield f"runtime.rollbacks.strategy: found {strategy!r}, wanted 'always'"
    undone = [a.get("provider", {}).get("func") for a in data.get("rollbacks") or []]
    if "put_back" not in undone:
        yield "rollbacks: lack `brownout.actions.node.put_back`, which undoes what was broken"
    ours = [e for e in data.get("extensions") or [] if e.get("name") == "brownout"]
    if not ours or not ours[0].get("scenario") or not ours[0].get("needs"):
        yield (
            'extensions: lack {"name": "brownout", "scenario": …, "needs": […]}, by which limits '
            "are found and databases are asked whether they can"
        )


def _undeclared(data: Mapping[str, Any]) -> Iterator[str]:
    """Name each `${variable}` that the configuration does not have: it would stay as it is."""
    secrets = (data.get("secrets") or {}).values()
    declared = set(data.get("configuration") or {}).union(*(group for group in secrets))
    parts = {key: value for key, value in data.items() if key != "configuration"}
    for name in dict.fromkeys(_VARIABLE.findall(json.dumps(parts))):
        if name not in declared:
            yield f"configuration: lacks `{name}`, which is used as ${{{name}}}"


def _plan(data: Mapping[str, Any]) -> list[str]:
    """Resolve the run as the control will: cluster, workload, limits, options."""
    from chaoslib.configuration import load_configuration
    from chaoslib.exceptions import ChaosException

    from brownout.session.plan import make_plan

    try:
        configuration = load_configuration(data.get("configuration") or {})
    except ChaosException as error:
        return [f"configuration: {error}"]
    return _problems(lambda: make_plan(data, configuration, {}))


def _problems(step: Callable[[], Any]) -> list[str]:
    """Do one step; return the problems that it found."""
    try:
        step()
    except ConfigurationError as error:
        return error.problems
    except BrownoutError as error:
        return [str(error)]
    return []


_CHECKS: Mapping[str, Callable[[Path, Any], list[str]]] = {
    "experiment": _experiment,
    "workload": _workload,
    "inventory": _inventory,
    "limits": _limits,
}
