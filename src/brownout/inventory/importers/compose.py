"""The services of a Compose file, as `docker compose` would start them.

Read as the Compose specification has it: anchors, `x-` parts, `extends`, `include`, an override
file beside it, `${VARIABLES}` with defaults, `.env` and `env_file`, profiles, replicas. What a file
leaves to the engine (an address, a port drawn at random) is a note.
"""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from brownout.base.errors import ConfigurationError
from brownout.base.settings_file import read_text
from brownout.base.variables import variables_in, words
from brownout.inventory.importers.containers import Contained
from brownout.inventory.importers.images import Container

__all__ = ["file_in", "services"]

_OVERRIDES = {
    "compose.yaml": ("compose.override.yaml", "compose.override.yml"),
    "compose.yml": ("compose.override.yml", "compose.override.yaml"),
    "docker-compose.yml": ("docker-compose.override.yml", "docker-compose.override.yaml"),
    "docker-compose.yaml": ("docker-compose.override.yaml", "docker-compose.override.yml"),
}
#: `$$`, `${NAME}` with `:-`, `-`, `:?`, `?`, `:+` or `+` and a word, or `$NAME`.
_VARIABLE = re.compile(
    r"\$(?:(\$)|\{([A-Za-z_]\w*)(?:(:?[-?+])((?:[^{}]|\{[^{}]*\})*))?\}|([A-Za-z_]\w*))"
)
_SHORT_PORT = re.compile(
    r"(?:(?:\[(?P<six>[0-9A-Fa-f:]+)\]|(?P<host>\d+\.\d+\.\d+\.\d+)):)?"
    r"(?:(?P<published>\d+(?:-\d+)?)?:)?(?P<target>\d+(?:-\d+)?)(?:/(?P<protocol>\w+))?"
)
_ANY = ("", "0.0.0.0", "::")
_JOINED = ("ports", "volumes", "expose", "profiles", "env_file")
_DEEPEST, _MOST_VALUES = 8, 100_000
#: What PyYAML lets out for odd scalars, and for deep nesting.
_LEAKED = (ValueError, TypeError, LookupError, AttributeError, RecursionError)


@dataclass(frozen=True, slots=True)
class _Override:
    """What Compose puts in the place of what it extends, and joins with nothing (`!override`)."""

    value: Any


class _Loader(yaml.SafeLoader):
    """Reads Compose's own tags, `!override` and `!reset`."""


def _tagged(loader: _Loader, tag: str, node: yaml.Node) -> _Override:
    if tag == "reset":
        return _Override(None)
    if isinstance(node, yaml.MappingNode):
        return _Override(loader.construct_mapping(node, deep=True))
    if isinstance(node, yaml.SequenceNode):
        return _Override(loader.construct_sequence(node, deep=True))
    return _Override(loader.construct_scalar(node) if isinstance(node, yaml.ScalarNode) else None)


_Loader.add_multi_constructor("!", _tagged)


class _File:
    """One Compose file with what fills its variables; `notes` say which had no value."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.notes: list[str] = []
        self._own = {**_dot_env(path.parent), **os.environ}
        self._values = 0

    def read(self) -> dict[str, Any]:
        """Return what the file says, variables filled in. Raises `ConfigurationError`."""
        text = read_text(self.path, "file")
        try:
            data = self._filled(yaml.load(text, _Loader))
        except (yaml.YAMLError, *_LEAKED) as error:
            reason = " ".join(str(error).split())[:200]
            raise ConfigurationError(f"{self.path}: not valid YAML: {reason}") from error
        if not isinstance(data, dict) or not isinstance(data.get("services", {}), dict):
            raise ConfigurationError(f"{self.path}: found no `services`, wanted a Compose file")
        return data

    def variable(self, name: str) -> str | None:
        """Return what the shell or `.env` has."""
        return self._own.get(name)

    def _filled(self, value: Any) -> Any:
        self._values += 1
        if self._values > _MOST_VALUES:
            raise ValueError("it has too many values")
        if isinstance(value, str):
            return _VARIABLE.sub(self._value, value)
        if isinstance(value, _Override):
            return _Override(self._filled(value.value))
        if isinstance(value, Mapping):
            return {str(key): self._filled(each) for key, each in value.items()}
        return [self._filled(each) for each in value] if isinstance(value, list) else value

    def _value(self, match: re.Match[str]) -> str:
        dollar, braced, operator, word, bare = match.groups()
        if dollar:
            return "$"
        name, own = braced or bare, self._own.get(braced or bare)
        operator = operator or ""
        is_there = bool(own) if operator.startswith(":") else own is not None
        if operator.endswith("+"):
            return _VARIABLE.sub(self._value, word) if is_there else ""
        if is_there:
            return str(own)
        if operator.endswith("-"):
            return _VARIABLE.sub(self._value, word)
        self.notes.append(f"`{name}` has no value here, and is read as empty")
        return ""


def file_in(path: Path) -> Path:
    """Return the Compose file of a folder; the path itself if it is not a folder."""
    if not path.is_dir():
        return path
    files = [path / name for name in _OVERRIDES if (path / name).is_file()]
    if not files:
        raise ConfigurationError(f"{path}: has none of {', '.join(_OVERRIDES)}")
    return files[0]


def services(
    file: Path, profiles: Sequence[str] = ()
) -> tuple[str, list[Contained], tuple[str, ...]]:
    """Return the project's name, the containers of its services, and what there is to note.

    Services of other profiles than those wanted (`*` for all) are left out and noted. Raises
    `ConfigurationError` where a file cannot be read.
    """
    data, notes = _whole(file)
    project = _project(file, data)
    wanted = {*profiles, *os.environ.get("COMPOSE_PROFILES", "").split(",")}
    containers, left = list[Contained](), list[str]()
    for name, service in data.get("services", {}).items():
        own = _texts(service.get("profiles"))
        if own and "*" not in wanted and not wanted & {*own}:
            left.append(f"{name} (profile {', '.join(own)})")
            continue
        containers += _containers(project, name, service)
    if left:
        notes.append(f"Left out: {', '.join(left)}; --profile takes them in.")
    return project, containers, tuple(dict.fromkeys(notes))


def _project(file: Path, data: Mapping[str, Any]) -> str:
    """Return the project's name, which the containers' names begin with."""
    name = "COMPOSE_PROJECT_NAME"
    named = os.environ.get(name) or _dot_env(file.parent).get(name) or data.get("name")
    project = str(named or file.absolute().parent.name).lower()
    return re.sub(r"[^a-z0-9_-]", "", project).lstrip("_-") or "default"


def _dot_env(directory: Path) -> dict[str, str]:
    path = directory / ".env"
    return variables_in(read_text(path, "file")) if path.is_file() else {}


def _whole(file: Path, depth: int = 0) -> tuple[dict[str, Any], list[str]]:
    """Return a file with its overrides, what it includes and what its services extend."""
    if depth > _DEEPEST:
        raise ConfigurationError(f"{file}: it includes itself")
    own = _File(file)
    data = own.read()
    notes = [*own.notes]
    for path in _included(data.pop("include", None)):
        theirs, more = _whole(file.parent / path, depth + 1)
        data, notes = _merged(theirs, data), [*notes, *more]
    beside = [file.with_name(name) for name in _OVERRIDES.get(file.name, ())]
    override = next((path for path in beside if path.is_file()), None)
    if override is not None and depth == 0:
        above = _File(override)
        data = _merged(data, above.read())
        notes += [*above.notes, f"Read with {override.name}, as Compose does."]
    every = data.get("services")
    every = every if isinstance(every, Mapping) else {}
    data["services"] = {
        name: _extended(service, every, file, own)
        for name, service in every.items()
        if isinstance(service, Mapping)
    }
    return data, notes


def _included(value: Any) -> Iterator[str]:
    for one in value if isinstance(value, list) else [value] if value else []:
        yield from _texts(one.get("path") if isinstance(one, Mapping) else one)


def _extended(
    service: Mapping[str, Any], every: Mapping[str, Any], file: Path, of: _File, depth: int = 0
) -> dict[str, Any]:
    """Return a service with what it extends below it, and with its variables from files."""
    base = service.get("extends")
    below: dict[str, Any] = {}
    if base and depth < _DEEPEST:
        named = base if isinstance(base, Mapping) else {"service": base}
        other = file.parent / str(named["file"]) if named.get("file") else file
        theirs = every if other == file else _File(other).read().get("services") or {}
        if not isinstance(theirs.get(str(named.get("service"))), Mapping):
            raise ConfigurationError(f"{other}: has no service `{named.get('service')}` to extend")
        parent = theirs[str(named["service"])]
        below = _extended(parent, theirs, other, of, depth + 1)
        below.pop("container_name", None)
    own = {key: value for key, value in service.items() if key != "extends"}
    own["environment"] = _variables(own, file.parent, of)
    return _merged(below, own)


def _variables(service: Mapping[str, Any], at: Path, of: _File) -> dict[str, str]:
    """Return the environment of a service; a variable without a value is that of the shell."""
    variables: dict[str, str] = {}
    listed = service.get("env_file")
    for one in listed if isinstance(listed, list) else [listed] if listed else []:
        named = one if isinstance(one, Mapping) else {"path": one}
        path = at / str(named.get("path"))
        if path.is_file():
            variables |= variables_in(read_text(path, "file"))
        elif named.get("required", True) is not False:
            raise ConfigurationError(f"env_file `{path}`: No such file or directory")
    for name, value in _pairs(service.get("environment")):
        variables[name] = (of.variable(name) or "") if value is None else value
    return variables


def _pairs(value: Any) -> Iterator[tuple[str, str | None]]:
    """Yield the pairs of a mapping, or of a list of `NAME=VALUE`."""
    if isinstance(value, Mapping):
        for name, one in value.items():
            yield str(name), None if one is None else _text(one)
        return
    for one in _texts(value):
        name, has_value, text = one.partition("=")
        yield name, text if has_value else None


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _texts(value: Any) -> list[str]:
    """Return a text, or a list of them, as a list."""
    if value is None:
        return []
    return [_text(one) for one in value] if isinstance(value, list) else [_text(value)]


def _merged(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Return both as Compose merges them: mappings by key, ports and volumes joined, else above."""
    merged = dict(below)
    for name, value in above.items():
        old = below.get(name)
        if isinstance(value, _Override):
            merged[name] = value.value
        elif isinstance(value, Mapping) and isinstance(old, Mapping):
            merged[name] = _merged(old, value)
        elif name == "environment" and value and old:
            merged[name] = {**dict(_pairs(old)), **dict(_pairs(value))}
        elif name in _JOINED and isinstance(value, list) and isinstance(old, list):
            merged[name] = [*old, *(one for one in value if one not in old)]
        else:
            merged[name] = value
    return merged


def _containers(project: str, name: str, service: Mapping[str, Any]) -> Iterator[Contained]:
    """Yield each container of a service: `scale`, or `deploy.replicas`, of them."""
    deploy = service.get("deploy")
    replicas = deploy.get("replicas", 1) if isinstance(deploy, Mapping) else 1
    number = str(service.get("scale", replicas))
    count = int(number) if re.fullmatch(r"[0-9]{1,3}", number) else 1
    for index in range(1, count + 1):
        called = str(service.get("container_name") or f"{project}-{name}-{index}")
        yield _contained(called, name, service, count)


def _contained(called: str, name: str, service: Mapping[str, Any], count: int) -> Contained:
    variables = {key: value or "" for key, value in _pairs(service.get("environment"))}
    published, inner = _ports(_list(service.get("ports")), drawn=count > 1)
    volumes = dict(_volumes(_list(service.get("volumes"))))
    address = _fixed(service.get("networks"))
    exposed = [int(one) for one in _texts(service.get("expose")) if one.isdigit()]
    alone = called if count > 1 else str(service.get("hostname") or name)
    return Contained(
        Container(
            name=name,
            image=str(service.get("image") or ""),
            words=(*_command(service.get("entrypoint")), *_command(service.get("command"))),
            variables=variables,
            ports=tuple(dict.fromkeys((*inner, *exposed))),
            mounts=tuple(volumes),
        ),
        container=called,
        address=address or alone,
        only_named=not address,
        on_host=service.get("network_mode") == "host",
        published=published,
        drawn=tuple(port for port in inner if port not in published),
        volumes=volumes,
    )


def _command(value: Any) -> list[str]:
    return words(value) if isinstance(value, str) else _texts(value)


def _fixed(networks: Any) -> str:
    """Return the address that a service is given in a network; empty for one that is drawn."""
    each = networks.values() if isinstance(networks, Mapping) else ()
    given = (one.get("ipv4_address") for one in each if isinstance(one, Mapping))
    return next((str(address) for address in given if address), "")


def _ports(listed: Sequence[Any], drawn: bool) -> tuple[dict[int, str], list[int]]:
    """Return what is published, and all ports of the container.

    Which of several containers of one service gets which port is not known from the file.
    """
    published, inner = dict[int, str](), list[int]()
    for target, outer, host in (one for each in listed for one in _port(each)):
        inner.append(target)
        if outer and not drawn:
            published.setdefault(target, f"{'127.0.0.1' if host in _ANY else host}:{outer}")
    return published, inner


def _port(one: Any) -> Iterator[tuple[int, int, str]]:
    """Yield the container's port, the machine's (0: drawn) and address of one entry, TCP only."""
    if isinstance(one, Mapping):
        target, outer = str(one.get("target", "")), str(one.get("published") or "")
        protocol, host = str(one.get("protocol") or "tcp"), str(one.get("host_ip") or "")
    else:
        match = _SHORT_PORT.fullmatch(str(one))
        if match is None:
            raise ConfigurationError(f"ports: found {one!r}, wanted HOST:CONTAINER, as 7001:6379")
        target, outer = match["target"], match["published"] or ""
        protocol, host = match["protocol"] or "tcp", match["six"] or match["host"] or ""
    if protocol != "tcp":
        return
    inside, outside = _range(target), _range(outer)
    if len(inside) != len(outside):
        outside = [0] * len(inside)
    yield from (
        (port, at, f"[{host}]" if ":" in host else host)
        for port, at in zip(inside, outside, strict=True)
    )


def _range(text: str) -> list[int]:
    match = re.fullmatch(r"([0-9]{1,5})(?:-([0-9]{1,5}))?", text)
    return list(range(int(match[1]), int(match[2] or match[1]) + 1)) if match else []


def _volumes(listed: Sequence[Any]) -> Iterator[tuple[str, str]]:
    """Yield where each thing is mounted, and whether it is a volume or a bind mount."""
    for one in listed:
        if isinstance(one, Mapping):
            yield str(one.get("target", "")), str(one.get("type") or "volume")
            continue
        source, has_target, target = str(one).partition(":")
        if not has_target:
            yield source, "volume"  # without a name, but of the engine's
            continue
        kind = "bind" if source.startswith((".", "/", "~")) else "volume"
        yield target.partition(":")[0], kind
