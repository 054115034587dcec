"""From what pydantic finds wrong in a file to one line each: place, found, wanted.

    streams[0].mix.reed: found 'reed', wanted read, update or insert

A value is repeated only where it cannot be a secret: never under a setting that may hold one, and
never for an unknown setting, which may be a misspelt one of those.
"""

import difflib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args

from pydantic import BaseModel, ValidationError

from brownout.base.settings import NAME_PATTERN

__all__ = ["Place", "Problem", "from_validation", "problems_in", "problems_of"]

#: Names and indices from the file's root, e.g. `("streams", 0, "mix", "reed")`.
Place = tuple[str | int, ...]

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
#: What pydantic puts into a place besides settings and indices.
_MARK = re.compile(
    r"\[key\]|(function-[a-z]+|union|is-instance|lax-or-strict|tagged-union|nullable|"
    r"list|tuple|dict|constrained-[a-z]+)(\[.*\])?|SecretStr|str|int|float|bool"
)
_BOUNDS = {
    "greater_than": ("more than", "gt"),
    "greater_than_equal": ("at least", "ge"),
    "less_than": ("less than", "lt"),
    "less_than_equal": ("at most", "le"),
}
_KINDS = {
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "float_parsing": "a number",
    "finite_number": "a finite number",
    "string_type": "text",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "dict_type": "a mapping",
    "mapping_type": "a mapping",
    "model_type": "a mapping",
    "model_attributes_type": "a mapping",
    "tuple_type": "a list",
    "list_type": "a list",
}


@dataclass(frozen=True, slots=True)
class Problem:
    """Something wrong at a place of the file."""

    place: Place
    text: str

    def __str__(self) -> str:
        path = "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in self.place)
        return f"{path.lstrip('.')}: {self.text}" if path else self.text


def from_validation(
    error: ValidationError, model: type[BaseModel], prefix: Place = (), *, values: bool = True
) -> list[str]:
    """Return every problem of data for `model`, which stands at `prefix`, as a line each.

    No value is in them unless `values`.
    """
    problems = problems_in(error, model, prefix, values=values)
    return list(
        dict.fromkeys(str(each) if each.place else f"the file: {each.text}" for each in problems)
    )


def problems_in(
    error: ValidationError, model: type[BaseModel], prefix: Place = (), *, values: bool = True
) -> list[Problem]:
    """Return every problem of data for `model`, which stands at `prefix` in the file."""
    return list(problems_of(error.errors(include_url=False), model, prefix, values=values))


def problems_of(
    errors: Iterable[Mapping[str, Any]],
    model: type[BaseModel],
    prefix: Place = (),
    *,
    values: bool = True,
) -> Iterator[Problem]:
    """Yield what `ValidationError.errors` says of data for `model`, in our words."""
    for item in errors:
        if item["type"] == "too_short" and len(item["input"]) >= item["ctx"]["min_length"]:
            continue  # pydantic did not count what is wrong itself
        place, models = _walk(item["loc"], model)
        yield Problem((*prefix, *place), _text(item, place, models, values))


def _walk(loc: Place, model: type[BaseModel]) -> tuple[Place, list[type[BaseModel]]]:
    """Return a place without pydantic's own marks, and what its last part is a setting of."""
    place: list[str | int] = []
    inside = here = [model]
    for part in loc:
        field = next((m.model_fields[part] for m in here if part in m.model_fields), None)
        chosen = [m for m in here if part == m.__name__ or part in _tags(m)]
        if field is not None:
            inside, here = here, list(_models(field.annotation))
        elif len(here) > 1 and chosen:
            inside = here = chosen
            continue
        elif isinstance(part, str) and _MARK.fullmatch(part):
            continue
        else:  # an index, a key, or a setting that there is not
            inside = here
        place.append(part)
    return tuple(place), inside


def _text(
    item: Mapping[str, Any], place: Place, models: Sequence[type[BaseModel]], values: bool
) -> str:
    kind, message = item["type"], str(item["msg"]).removeprefix("Value error, ")
    if kind == "missing":
        return "found nothing, wanted a value"
    if kind == "extra_forbidden":
        return _unknown(str(place[-1]), list(dict.fromkeys(n for m in models for n in _names(m))))
    if kind == "contradiction" or (kind == "value_error" and not message.startswith("wanted")):
        return message
    wanted = _wanted(item, message)
    if not values:
        return f"wanted {wanted}"
    value = item["ctx"]["tag"] if kind == "union_tag_invalid" else item["input"]
    shown = _show(value) if _may_be_shown(place) else "a value (not shown)"
    if kind == "value_error" and not _may_be_shown(place):
        return message
    return f"found {shown}, wanted {wanted}"


def _wanted(item: Mapping[str, Any], message: str) -> str:
    kind, context = item["type"], item.get("ctx", {})
    if kind in _BOUNDS:
        words, key = _BOUNDS[kind]
        return f"{words} {_number(context[key])}"
    if kind in _KINDS:
        return _KINDS[kind]
    if kind == "literal_error":
        return str(context["expected"]).replace("'", "")
    if kind == "union_tag_invalid":
        tags = str(context["expected_tags"]).replace("'", "")
        return f"{str(context['discriminator']).strip(chr(39))}: {tags}"
    if kind == "union_tag_not_found":
        return f"a mapping with {str(context['discriminator']).strip(chr(39))}"
    if kind == "too_short":
        least = int(context["min_length"])
        return "at least one" if least == 1 else f"at least {least}"
    if kind == "string_pattern_mismatch":
        if context["pattern"] == NAME_PATTERN:
            return "letters, digits, `.`, `_` and `-`"
        return f"text that matches {context['pattern']}"
    text = message.removeprefix("wanted ").removeprefix("Input should be ")
    return text.removeprefix("a valid ")


def _number(value: Any) -> str:
    if isinstance(value, int | float):
        return f"{int(value):,}" if float(value).is_integer() else f"{value:g}"
    return str(value)


def _may_be_shown(place: Place) -> bool:
    return not _MAY_HOLD_A_SECRET.intersection(map(str, place))


def _show(value: Any) -> str:
    """Show a value as the file would write it, cut to a line."""
    if isinstance(value, Mapping):
        return "a mapping" if value else "an empty mapping"
    if isinstance(value, list | tuple):
        return "a list" if value else "an empty list"
    if value is None or isinstance(value, bool):
        return "nothing" if value is None else str(value).lower()
    return repr(value)[:80]


def _unknown(name: str, names: list[str]) -> str:
    near = difflib.get_close_matches(name, names, n=1)
    hint = f"; did you mean `{near[0]}`?" if near else ""
    return f"unknown setting, wanted one of {', '.join(names)}{hint}"


def _names(model: type[BaseModel]) -> list[str]:
    return list(model.model_fields)


def _tags(model: type[BaseModel]) -> list[Any]:
    """Return the texts that a model's `Literal` settings without a default tell it by."""
    fields = model.model_fields.values()
    return [tag for field in fields if field.is_required() for tag in get_args(field.annotation)]


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from _models(part)
