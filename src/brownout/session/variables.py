"""The variables of an experiment: what each has to be, and its value as that.

Chaos Toolkit hands on what `--var` and the environment say as text, also where a pause or an
argument wants a number. So each variable is converted once, before anything is touched.
"""

import math
import re
from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any, get_type_hints

from brownout.base.numbers import plain_number

__all__ = [
    "ABOVE_ZERO",
    "DAYS",
    "NUMBER",
    "OBJECTIVE",
    "SECONDS",
    "TRUTH",
    "WHOLE",
    "convert",
    "typed",
]

# What a variable may have to be, in the words of the message.
NUMBER = "a number"
WHOLE = "a whole number"
SECONDS = "seconds, 0 or more"
ABOVE_ZERO = "seconds above 0"
TRUTH = "true or false"
OBJECTIVE = "a ratio above 0 and below 1, as 0.9995"
DAYS = "days above 0"

#: The smallest number above 0.
_LEAST = math.ulp(0)
_VARIABLE = re.compile(r"\$\{(\w+)\}")


def typed(
    experiment: Mapping[str, Any],
    configuration: Mapping[str, Any],
    own: Mapping[str, str],
    problems: list[str],
) -> dict[str, Any]:
    """Return the `configuration`, as Chaos Toolkit resolved it, with every value converted.

    A variable has to be what it is used as: by the control (`own`), as a pause, as an argument
    with a type; and a number or a truth value where its default is one. What cannot be converted
    is left out and appended to `problems`, one sentence each.
    """
    declared = experiment.get("configuration") or {}
    parts = [experiment.get(key) for key in ("steady-state-hypothesis", "method", "rollbacks")]
    values = dict(configuration)
    for name, kind in [*own.items(), *_uses(parts), *_defaults(declared)]:
        if name not in values or isinstance(values[name], Mapping):
            continue  # a secret, or what a probe finds when the run begins
        value = values[name]
        if value == "" and isinstance(declared.get(name), Mapping):
            value = declared[name].get("default")  # an empty environment variable counts as unset
        try:
            values[name] = convert(kind, value)
        except (ValueError, OverflowError):
            problems.append(f"configuration.{name}: found {values.pop(name)!r}, wanted {kind}")
    return values


def convert(kind: str, value: Any) -> Any:
    """Return `value`, or the text that it is written as, as what `kind` says.

    A number that is written without a fraction stays whole. Raises `ValueError` or
    `OverflowError` if it is not a number.
    """
    if kind == TRUTH:
        if str(value).strip().lower() not in ("true", "false"):
            raise ValueError(value)
        return str(value).strip().lower() == "true"
    number = _number(value)
    if kind == WHOLE:
        if number != int(number):
            raise ValueError(value)
        return int(number)
    least = {SECONDS: 0, ABOVE_ZERO: _LEAST, DAYS: _LEAST, OBJECTIVE: _LEAST}.get(kind, -math.inf)
    too_high = kind == OBJECTIVE and number >= 1
    if not math.isfinite(number) or number < least or too_high:
        raise ValueError(value)
    return number


def _number(value: Any) -> int | float:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value
    if not isinstance(value, str):
        raise ValueError(value)
    return plain_number(value)


def _uses(part: Any) -> Iterator[tuple[str, str]]:
    """Yield each variable in a part of an experiment with what it has to be there."""
    if isinstance(part, list):
        for each in part:
            yield from _uses(each)
    if not isinstance(part, Mapping):
        return
    for key, value in part.items():
        if key == "pauses" and isinstance(value, Mapping):
            yield from ((name, SECONDS) for pause in value.values() for name in _names(pause))
        elif key == "arguments" and part.get("type") == "python" and isinstance(value, Mapping):
            yield from _arguments(part, value)
        else:
            yield from _uses(value)


def _arguments(
    provider: Mapping[str, Any], arguments: Mapping[str, Any]
) -> Iterator[tuple[str, str]]:
    """Yield each variable that is an argument of a function that says its type."""
    try:
        types = get_type_hints(getattr(import_module(provider["module"]), provider["func"]))
    except Exception:  # Chaos Toolkit itself reports what is wrong with a foreign function
        return
    ours = str(provider["module"]).startswith("brownout.")
    for parameter, argument in arguments.items():
        kind = {int: WHOLE, float: NUMBER, bool: TRUTH}.get(types.get(parameter, str))
        # An offset may be behind; any other time is a duration.
        duration = parameter.endswith("_s") and not parameter.startswith("offset")
        if kind == NUMBER and ours and duration:
            kind = SECONDS
        if kind is not None:
            yield from ((name, kind) for name in _names(argument))


def _names(value: Any) -> list[str]:
    """The variable that a value is, where it is one and nothing else."""
    match = _VARIABLE.fullmatch(value) if isinstance(value, str) else None
    return [match[1]] if match else []


def _defaults(declared: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for name, entry in declared.items():
        default = entry.get("default") if isinstance(entry, Mapping) else entry
        if isinstance(default, bool):
            yield name, TRUTH
        elif isinstance(default, int | float):
            yield name, NUMBER
