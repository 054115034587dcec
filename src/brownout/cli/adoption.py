"""Have brownout measure an experiment of other people's actions: the work of `brownout adopt`.

Its steps, hypothesis and rollbacks stay as they are. What is added: the control, the cluster, the
limits, and which steps break and which undo that.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from brownout.base import usual
from brownout.base.compact_json import compact
from brownout.base.errors import ConfigurationError
from brownout.session.experiment_checks import problems, read_experiment
from brownout.session.external import provided_by

__all__ = ["Adopted", "adopt", "write"]

#: What a step does, by the first of these words in its function, its command or its name.
_WORDS = {
    "mend": "start restore resume recover heal undo revert rollback uncordon enable unpause "
    "unfreeze thaw reset reattach untaint rejoin repair",
    "harmless": "wait sleep log notify get describe list check assert annotate publish record read "
    "count query print echo",
}
_KINDS = {word: kind for kind, words in _WORDS.items() for word in words.split(" ")}
#: To start or create one of these breaks something, to stop or delete one undoes that.
_FAULTS = {"toxic", "toxics", "chaos", "chaosengine", "engine", "experiment", "fault", "rule"}
_BEGINS = {"start", "create", "run", "apply", "inject"}
_ENDS = {"stop", "delete", "remove", "clear", "cancel"}
_NOT_LETTERS = re.compile(r"[^a-z0-9]+")


@dataclass(frozen=True, slots=True)
class Adopted:
    """The experiment as brownout runs it, and what each of its steps was taken for.

    `problems` keep it from running on this machine, as a package of actions that is missing.
    """

    experiment: dict[str, Any]
    breaks: tuple[str, ...]
    mends: tuple[str, ...]
    harmless: tuple[str, ...]
    steps: Mapping[str, str]
    problems: Sequence[str]


def adopt(
    file: Path,
    breaks: Sequence[str] = (),
    mends: Sequence[str] = (),
    cluster: str = "",
    limits: Mapping[str, Any] | None = None,
    effect_within_s: float | None = None,
) -> Adopted:
    """Return the experiment in `file` with what brownout needs to measure it.

    `breaks` and `mends` are names of steps; without any, each step is taken for what its name
    says. Raises `ConfigurationError` where the file is not an experiment, is adopted already, or
    has no step that breaks anything.
    """
    experiment = read_experiment(file)
    modules = [
        (control.get("provider") or {}).get("module")
        for control in experiment.get("controls") or []
        if isinstance(control, Mapping)
    ]
    if "brownout.control" in modules:
        raise ConfigurationError(
            f"{file}: has the control `brownout.control` already",
            "change `breaks` and `mends` in its extension `brownout`, or run it",
        )
    method, rollbacks = (_actions(experiment, part) for part in ("method", "rollbacks"))
    if breaks or mends:
        _check_names({**method, **rollbacks}, [*breaks, *mends], file)
        harmless = [name for name in method if name not in (*breaks, *mends)]
    else:
        kinds = _kinds(method)
        breaks = [name for name, kind in kinds.items() if kind == "break"]
        mends = [name for name, kind in kinds.items() if kind == "mend"]
        if not mends:
            mends = [name for name, step in rollbacks.items() if _kind(step) != "harmless"]
        harmless = [name for name, kind in kinds.items() if kind == "harmless"]
    if not breaks:
        steps = ", ".join(f"`{name}`" for name in method) or "none"
        raise ConfigurationError(
            f"{file}: no step of the method breaks anything, as far as its name tells",
            f"name it with `--break`; the actions of the method are {steps}",
        )
    adopted = _with_brownout(
        experiment, _scenario(file), breaks, mends, harmless, cluster, limits, effect_within_s
    )
    providers = {name: provided_by(step) for name, step in {**method, **rollbacks}.items()}
    return Adopted(
        adopted, tuple(breaks), tuple(mends), tuple(harmless), providers, problems(adopted)
    )


def write(adopted: Adopted, path: Path) -> None:
    """Write the experiment as JSON, or as YAML where the name says so; never over a file."""
    if path.suffix in (".yaml", ".yml"):
        import yaml

        text = yaml.safe_dump(adopted.experiment, sort_keys=False, allow_unicode=True)
    else:
        text = compact(adopted.experiment)
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError as error:
        raise ConfigurationError(f"{path}: is there already", "give `-o` another name") from error
    except OSError as error:
        raise ConfigurationError(f"{path}: cannot be written: {error.strerror}") from error


def _with_brownout(
    experiment: Mapping[str, Any],
    scenario: str,
    breaks: Sequence[str],
    mends: Sequence[str],
    harmless: Sequence[str],
    cluster: str,
    limits: Mapping[str, Any] | None,
    effect_within_s: float | None,
) -> dict[str, Any]:
    adopted: dict[str, Any] = json.loads(json.dumps(experiment, default=str))
    configuration = dict(adopted.get("configuration") or {})
    where = {"type": "env", "key": "BROWNOUT_CLUSTER", "default": cluster or usual.CLUSTER}
    configuration.setdefault("cluster", where)
    configuration.setdefault("limits", dict(limits or {"lost_writes": 0}))
    extension = {
        "name": "brownout",
        "scenario": scenario,
        "needs": [],
        "breaks": list(breaks),
        **({"mends": list(mends)} if mends else {}),
        **({"harmless": list(harmless)} if harmless else {}),
        **({"effect_within_s": effect_within_s} if effect_within_s is not None else {}),
    }
    control = {
        "name": "brownout",
        "provider": {"type": "python", "module": "brownout.control"},
    }
    ours = {
        "configuration": configuration,
        "extensions": [*(adopted.get("extensions") or []), extension],
        "controls": [*(adopted.get("controls") or []), control],
    }
    head = ("version", "title", "description")
    rest = {key: part for key, part in adopted.items() if key not in (*head, *ours)}
    return {**{key: adopted[key] for key in head if key in adopted}, **ours, **rest}


def _scenario(file: Path) -> str:
    """Return the file's name as a scenario's: small letters, digits and -."""
    return _NOT_LETTERS.sub("-", file.stem.lower()).strip("-")[:60] or "adopted"


def _actions(experiment: Mapping[str, Any], part: str) -> dict[str, Mapping[str, Any]]:
    steps = experiment.get(part) or []
    return {
        str(step.get("name")): step
        for step in (steps if isinstance(steps, list) else [])
        if isinstance(step, Mapping) and step.get("type") == "action"
    }


def _check_names(steps: Mapping[str, Any], names: Sequence[str], file: Path) -> None:
    """Raise `ConfigurationError` with every name that no action has."""
    unknown = []
    for name in names:
        if name not in steps:
            alike = get_close_matches(name, steps, 1)
            meant = f"; did you mean `{alike[0]}`?" if alike else ""
            unknown.append(f"{file}: has no action `{name}`{meant}")
    if unknown:
        raise ConfigurationError(unknown, f"its actions are {', '.join(steps) or 'none'}")


def _kinds(method: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """Return what each step is; a mend comes only after a break."""
    kinds: dict[str, str] = {}
    for name, step in method.items():
        kind = _kind(step)
        kinds[name] = "harmless" if kind == "mend" and "break" not in kinds.values() else kind
    return kinds


def _kind(step: Mapping[str, Any]) -> str:
    """Return what a step is by its words: `break`, `mend` or `harmless`."""
    provider = step.get("provider") or {}
    if provider.get("type") == "python":
        own = str(provider.get("func", ""))
    elif provider.get("type") == "http":
        own = str(provider.get("method", "GET"))
    else:
        arguments = provider.get("arguments", "")
        rest = list(arguments.values()) if isinstance(arguments, Mapping) else arguments
        own = f"{Path(str(provider.get('path', ''))).name} {rest}"
    words = [word for word in _NOT_LETTERS.split(own.lower()) if word]
    words += [word for word in _NOT_LETTERS.split(str(step.get("name", "")).lower()) if word]
    for word in words:
        if word in _BEGINS | _ENDS and _FAULTS & set(words):
            return "break" if word in _BEGINS else "mend"
        if word in _ENDS:
            return "break"
        if word in _KINDS:
            return _KINDS[word]
    return "break"
