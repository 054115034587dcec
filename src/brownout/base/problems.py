"""From what pydantic finds wrong in an inventory to one line each: place, found, wanted.

A value is repeated only where it cannot be a secret: never under a setting that may hold one, and
never for an unknown setting, which may be a misspelt one of those.
"""

import difflib
from collections.abc import Iterator, Mapping
from typing import Any, get_args

from pydantic import BaseModel, ValidationError

__all__ = ["from_validation"]

_MAY_HOLD_A_SECRET = frozenset(
    {
        "api_key",
        "auth",
        "base_url",
        "key_passphrase",
        "password",
        "service_account",
        "token",
        "uri",
        "url",
    }
)
_MARKS = ("function-before", "function-after", "union", "is-instance", "SecretStr", "str")


def from_validation(
    error: ValidationError, model: type[BaseModel], prefix: tuple[str | int, ...] = ()
) -> list[str]:
    """Return every problem of data for `model`, which stands at `prefix` in the file."""
    found = []
    for item in error.errors(include_url=False):
        place = tuple(part for part in item["loc"] if not str(part).startswith(_MARKS))
        line = f"{_path((*prefix, *place))}: {_text(item, place, model)}"
        if line not in found:
            found.append(line)
    return found


def _path(place: tuple[str | int, ...]) -> str:
    path = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in place)
    return path.lstrip(".") or "the file"


def _text(item: Mapping[str, Any], place: tuple[str | int, ...], model: type[BaseModel]) -> str:
    kind, message = item["type"], str(item["msg"])
    if kind == "missing":
        return "found nothing, wanted a value"
    if kind == "extra_forbidden":
        return _unknown(str(place[-1]), _settings_at(place, model))
    if kind == "value_error":
        message = message.removeprefix("Value error, ")
        if message.startswith("wanted") and _may_be_shown(place):
            return f"found {_show(item['input'])}, {message}"
        return message
    wanted = message.removeprefix("Input should be ").removeprefix("a valid ")
    if kind == "string_pattern_mismatch":
        wanted = "letters, digits, `.`, `_` and `-`"
    shown = _show(item["input"]) if _may_be_shown(place) else "a value (not shown)"
    return f"found {shown}, wanted {wanted}"


def _may_be_shown(place: tuple[str | int, ...]) -> bool:
    return not _MAY_HOLD_A_SECRET.intersection(map(str, place))


def _show(value: Any) -> str:
    if isinstance(value, Mapping):
        return "a mapping"
    if isinstance(value, list | tuple):
        return "a list" if value else "an empty list"
    return "nothing" if value is None else repr(value)[:80]


def _unknown(name: str, known: list[str]) -> str:
    near = difflib.get_close_matches(name, known, n=1)
    hint = f"; did you mean `{near[0]}`?" if near else ""
    return f"unknown setting, wanted one of {', '.join(known)}{hint}"


def _settings_at(place: tuple[str | int, ...], model: type[BaseModel]) -> list[str]:
    """Return the settings that exist where the last part of `place`, an unknown one, stands."""
    here = model
    for part in place[:-1]:
        field = here.model_fields.get(str(part))
        if field is not None:
            here = next(_models(field.annotation), here)
    return list(here.model_fields)


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from _models(part)
