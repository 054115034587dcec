"""From what is wrong with a setting to one line a person can act on.

A problem is a place and a text: `streams[0].mix.reed: unknown operation; wanted one of …`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, get_args

from pydantic import BaseModel, ValidationError

from brownout.load.workload_fields import OPERATIONS, PERCENTILES, SCOPES

__all__ = ["Place", "Problem", "from_validation"]

#: Names and indices from the file's root, e.g. `("streams", 0, "mix", "reed")`.
Place = tuple[str | int, ...]

_BOUNDS = {
    "greater_than": ("more than", "gt"),
    "greater_than_equal": ("at least", "ge"),
    "less_than": ("less than", "lt"),
    "less_than_equal": ("at most", "le"),
}
_KINDS = {
    "int_type": "a whole number",
    "float_type": "a number",
    "string_type": "text",
    "bool_type": "true or false",
    "dict_type": "a mapping",
    "model_type": "a mapping",
    "model_attributes_type": "a mapping",
    "tuple_type": "a list",
    "finite_number": "a finite number",
}
_DISTRIBUTIONS = ("uniform", "zipf", "gaussian", "hot-set")


@dataclass(frozen=True, slots=True)
class Problem:
    """Something wrong at a place of the file."""

    place: Place
    text: str

    def __str__(self) -> str:
        path = ""
        for part in self.place:
            path += f"[{part}]" if isinstance(part, int) else f".{part}"
        return f"{path.lstrip('.')}: {self.text}" if path else self.text


def from_validation(error: ValidationError, model: type[BaseModel]) -> list[Problem]:
    """Return the problems that pydantic found in data for `model`."""
    found = []
    for item in error.errors(include_url=False):
        place = tuple(_without_marks(item["loc"]))
        found.append(Problem(place, _text(item, place, model)))
    return found


def _without_marks(loc: tuple[str | int, ...]) -> Iterator[str | int]:
    """Leave out what pydantic adds to a location: the chosen distribution, `[key]`."""
    previous: str | int = ""
    for part in loc:
        if part != "[key]" and not (previous == "keys" and part in _DISTRIBUTIONS):
            yield part
        previous = part


def _text(item: Mapping[str, Any], place: Place, model: type[BaseModel]) -> str:
    kind, context, value = item["type"], item.get("ctx", {}), item["input"]
    if kind == "missing":
        return "missing; wanted a value"
    if kind == "extra_forbidden":
        return f"unknown setting; wanted one of {', '.join(_settings(item['loc'], model))}"
    if kind == "literal_error":
        if place[-2:-1] == ("mix",):
            return f"unknown operation; wanted one of {', '.join(OPERATIONS)}"
        if place[:1] == ("sla",):
            known = SCOPES if len(place) == 3 else PERCENTILES
            return f"unknown; wanted one of {', '.join(known)}"
        return f"found {_show(value)}; wanted {context['expected'].replace(chr(39), '')}"
    if kind in {"union_tag_invalid", "union_tag_not_found"}:
        found = _show(context["tag"]) if "tag" in context else "no distribution"
        return f"found {found}; wanted distribution: {', '.join(_DISTRIBUTIONS)}"
    if kind in _BOUNDS:
        words, key = _BOUNDS[kind]
        return f"found {_show(value)}; wanted {words} {_number(context[key])}"
    if kind == "too_short":
        return "empty; wanted at least one"
    if kind == "string_pattern_mismatch":
        return f"found {_show(value)}; wanted a name that matches {context['pattern']}"
    return f"found {_show(value)}; {_wanted(kind, item['msg'])}"


def _wanted(kind: str, message: str) -> str:
    return f"wanted {_KINDS[kind]}" if kind in _KINDS else message


def _number(value: float) -> str:
    return f"{int(value):,}" if float(value).is_integer() else f"{value:g}"


def _show(value: Any) -> str:
    """Show a value of the file as the file would write it, cut to a line."""
    if value is None:
        return "nothing"
    if isinstance(value, dict | list):
        return "a mapping" if isinstance(value, dict) else "a list"
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return repr(text[:60]) if isinstance(value, str) else text


def _settings(loc: tuple[str | int, ...], model: type[BaseModel]) -> list[str]:
    """Return the settings that exist where `loc`, an unknown one, stands."""
    here = model
    for part, after in pairwise(loc):
        if isinstance(part, str) and part in here.model_fields:
            choices = list(_models(here.model_fields[part].annotation))
            tagged = [m for m in choices if _distribution(m) == after]
            here = (tagged or choices)[0]
    return list(here.model_fields)


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from _models(part)


def _distribution(model: type[BaseModel]) -> str:
    field = model.model_fields.get("distribution")
    return str(get_args(field.annotation)[0]) if field else ""
