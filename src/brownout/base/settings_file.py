"""Reading a settings file: YAML with the place of every syntax error, and dotted overrides."""

import json
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import yaml

from brownout.base.errors import ConfigurationError

__all__ = [
    "apply_overrides",
    "load_yaml",
    "parse_documents",
    "parse_overrides",
    "parse_yaml",
    "read_document",
    "read_text",
]

#: More values than this are refused: aliases of aliases make billions of a few lines.
_MOST_VALUES = 100_000
#: What PyYAML lets out for scalars like `2024-99-99` or `!!bool maybe`, and for deep nesting.
_LEAKED = (ValueError, TypeError, LookupError, AttributeError, OverflowError, RecursionError)
#: libyaml reads nested values by recursion and crashes the process where they nest too deep. A text
#: within these limits cannot.
_LONGEST_LINE, _MOST_BRACKETS, _LONGEST_TEXT = 2_000, 1_000, 200_000


class _Once:
    """A setting written twice is an error instead of a silent choice."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen = set()
        for key_node, _ in node.value:
            key = (key_node.tag, str(key_node.value))
            if key in seen:
                raise yaml.constructor.ConstructorError(
                    None, None, f"setting {key[1]!r} is defined twice", key_node.start_mark
                )
            seen.add(key)
        mapping: dict[Any, Any] = super().construct_mapping(node, deep)  # type: ignore[misc]
        return mapping


class _Loader(_Once, yaml.SafeLoader):
    """Safe YAML, read by PyYAML itself."""


class _QuickLoader(_Once, getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """Safe YAML, read by libyaml where PyYAML was built with it: eight times as fast."""


def read_text(path: Path, what: str) -> str:
    """Return the text of a file, or say which file of which kind could not be read and why."""
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise ConfigurationError(f"{what} `{path}`: not UTF-8 text") from error
    except (OSError, ValueError) as error:  # a ValueError is of the path: it holds a NUL
        reason = getattr(error, "strerror", None) or str(error)
        raise ConfigurationError(f"{what} `{path}`: {reason}") from error


def load_yaml(text: str) -> Any:
    """Return what YAML holds; raises only `yaml.YAMLError` for invalid YAML."""
    return _bounded(text, yaml.load)


def _bounded(text: str, load: Callable[[str, type[yaml.SafeLoader]], Any]) -> Any:
    try:
        data = _quickly(text, load)
    except _LEAKED as error:
        raise yaml.YAMLError(f"a value that cannot be: {error}") from error
    waiting, seen = [data], 0
    while waiting:
        value = waiting.pop()
        seen += 1
        if seen > _MOST_VALUES:
            raise yaml.YAMLError(f"more than {_MOST_VALUES:,} values, counting aliases in full")
        if isinstance(value, dict | list):
            waiting.extend(value.values() if isinstance(value, dict) else value)
    return data


def _quickly(text: str, load: Callable[[str, type[yaml.SafeLoader]], Any]) -> Any:
    """Read `text` by libyaml; PyYAML reads what might nest too deep, and explains what is wrong."""
    flat = (
        len(text) <= _LONGEST_TEXT
        and text.count("[") + text.count("{") <= _MOST_BRACKETS
        and max(map(len, text.splitlines()), default=0) <= _LONGEST_LINE
    )
    if flat:
        with suppress(yaml.YAMLError, *_LEAKED):
            return load(text, _QuickLoader)
    return load(text, _Loader)


def read_document(path: Path, what: str) -> Any:
    """Return what a file holds: JSON where its name ends in `.json`, YAML otherwise.

    `what` is the kind of file in messages. Raises `ConfigurationError` with the place.
    """
    text = read_text(path, what)
    if path.suffix != ".json":
        return _located(text, str(path), yaml.load)
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ConfigurationError(f"{path}: not valid JSON: {error}") from error


def parse_yaml(text: str, source: str) -> dict[str, Any]:
    """Parse `text` to a mapping; a syntax error names `source`, line and column."""
    data = _located(text, source, yaml.load)
    if not isinstance(data, dict):
        kind = "an empty file" if data is None else f"a {type(data).__name__}"
        raise ConfigurationError(f"{source}: found {kind}; wanted a mapping of settings")
    return {str(key): value for key, value in data.items()}


def parse_documents(text: str, source: str) -> list[Any]:
    """Return the documents of a YAML stream but the empty ones; a syntax error has its place."""
    documents = _located(text, source, lambda text, loader: [*yaml.load_all(text, loader)])
    return [each for each in documents if each is not None]


def _located(text: str, source: str, load: Callable[[str, type[yaml.SafeLoader]], Any]) -> Any:
    try:
        return _bounded(text, load)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        at = f":{mark.line + 1}:{mark.column + 1}" if mark else ""
        raise ConfigurationError(f"{source}{at}: not valid YAML: {error.problem}") from error
    except yaml.YAMLError as error:
        raise ConfigurationError(f"{source}: not valid YAML: {error}") from error


def parse_overrides(text: str) -> dict[str, Any]:
    """Read `streams.0.rate=400,options.stone.pool_size=1`; values are YAML.

    Raises `ConfigurationError` with every part that is not `path=value`.
    """
    overrides, problems = {}, []
    for part in re.split(r",(?=\s*[\w-]+(?:\.[\w-]+)*=)", text.strip()) if text.strip() else []:
        path, equals, value = part.partition("=")
        if not equals or not path.strip():
            problems.append(f"override `{part}`: wanted path=value, as in streams.0.rate=400")
            continue
        try:
            overrides[path.strip()] = load_yaml(value)
        except yaml.YAMLError:
            problems.append(f"override `{part}`: the value is not valid YAML")
    if problems:
        raise ConfigurationError(problems)
    return overrides


def apply_overrides(data: Mapping[str, Any], overrides: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy of `data` with each dotted path set; null takes a setting away.

    A list item goes by its index or its `name`: `streams.0.rate`, `streams.app.rate`. Missing
    mappings are made; whether the setting exists is for the validation to say. Raises
    `ConfigurationError` with every path that leads nowhere.
    """
    result: dict[str, Any] = _copy(data)
    problems = []
    for path, value in overrides.items():
        try:
            _set(result, path.split("."), value)
        except LookupError as error:
            problems.append(f"override `{path}`: {error.args[0]}")
    if problems:
        raise ConfigurationError(problems)
    return result


def _copy(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _copy(item) for key, item in value.items()}
    return [_copy(item) for item in value] if isinstance(value, list) else value


def _set(here: Any, parts: list[str], value: Any) -> None:
    head, rest = parts[0], parts[1:]
    if isinstance(here, list):
        index = _index(here, head)
        if rest:
            _set(here[index], rest, value)
        else:
            here[index] = value
    elif isinstance(here, dict):
        if rest:
            if here.get(head) is None:
                here[head] = {}
            _set(here[head], rest, value)
        elif value is None:
            here.pop(head, None)
        else:
            here[head] = value
    else:
        raise LookupError(f"`{head}` has no place: what stands there is a single value")


def _index(items: list[Any], head: str) -> int:
    if head.isdecimal() and int(head) < len(items):
        return int(head)
    names = [str(item.get("name", "")) for item in items if isinstance(item, dict)]
    if head in names:
        return names.index(head)
    raise LookupError(
        f"no item `{head}`; wanted an index below {len(items)} or one of {', '.join(names)}"
    )
