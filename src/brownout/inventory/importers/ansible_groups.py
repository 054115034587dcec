"""Groups, hosts and variables of an Ansible inventory, in whichever of its forms.

INI                                YAML                        ansible-inventory --list
[aerospike]                        all:                        {"_meta": {"hostvars": …},
a1 ansible_host=10.0.0.1             children:                  "aerospike": {"hosts": […]},
[aerospike:vars]                       aerospike:                …}
ansible_user=ops                         hosts: {a1: {…}}
"""

import json
import re
import shlex
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import Any

import yaml

from brownout.base.errors import ConfigurationError
from brownout.base.settings_file import load_yaml

__all__ = ["Groups", "parse"]

_RANGE = re.compile(r"\[([0-9]{1,9}|[a-zA-Z]):([0-9]{1,9}|[a-zA-Z])(?::([0-9]{1,9}))?\]")
#: More ranges in a name, or hosts of one, are a mistake.
_MOST_RANGES, _MOST_HOSTS = 4, 10_000
#: Without its tag, what Ansible has encrypted is a text that begins with `$ANSIBLE_VAULT`.
_TAGS = re.compile(r"(?<=[:\-\s])!(vault|vault-encrypted|unsafe)(?=\s)")


@dataclass
class _Group:
    hosts: dict[str, None] = field(default_factory=dict)
    children: dict[str, None] = field(default_factory=dict)
    variables: dict[str, Any] = field(default_factory=dict)


class Groups:
    """All groups of an inventory; `all` holds every host."""

    def __init__(self) -> None:
        self._groups: dict[str, _Group] = {"all": _Group()}
        self._hosts: dict[str, dict[str, Any]] = {}

    def group(self, name: str) -> _Group:
        """Return the group called `name`, made if it was not known."""
        return self._groups.setdefault(name, _Group())

    def add_host(self, group: str, name: str, variables: Mapping[str, Any]) -> None:
        """Put a host, or a range of them, into a group."""
        hosts = list(islice(_expanded(name), _MOST_HOSTS + 1))
        if len(hosts) > _MOST_HOSTS:
            raise ConfigurationError(f"`{name[:80]}` is more than {_MOST_HOSTS:,} hosts")
        for host in hosts:
            self.group(group).hosts[host] = None
            self._hosts.setdefault(host, {}).update(variables)

    def add_child(self, group: str, child: str) -> None:
        """Put a group into another; either may not have been spoken of before."""
        self.group(group).children[child] = None
        self.group(child)

    def names(self) -> list[str]:
        """Return every group's name."""
        return sorted(self._groups)

    def hosts(self, group: str) -> list[str]:
        """Return the hosts of a group and of all in it, in the order in which they stand there."""
        if group == "all":
            return list(self._hosts)
        found: dict[str, None] = {}
        for name in self._within(group):
            found.update(self.group(name).hosts)
        return list(found)

    def variables(self, host: str) -> dict[str, Any]:
        """Return a host's variables: its own win over its groups', an inner group's over outer."""
        found = dict(self.group("all").variables)
        for name, members in self._from_outer_to_inner:
            if host in members:
                found.update(self.group(name).variables)
        return {**found, **self._hosts.get(host, {})}

    @cached_property
    def _from_outer_to_inner(self) -> list[tuple[str, frozenset[str]]]:
        """Every group with its hosts; what lies in more groups comes later, then by name."""
        inner = {name: self._within(name) for name in self._groups if name != "all"}
        depths = Counter(child for name, found in inner.items() for child in found if child != name)
        ordered = sorted(inner, key=lambda name: (depths[name], name))
        return [(name, frozenset(self.hosts(name))) for name in ordered]

    def _within(self, group: str) -> list[str]:
        found, waiting = {group: None}, [group]
        while waiting:
            for child in self.group(waiting.pop()).children:
                if child not in found:
                    found[child] = None
                    waiting.append(child)
        return list(found)


def parse(text: str, source: str) -> Groups:
    """Return the groups of an inventory; `ConfigurationError` where it is none."""
    stripped = text.lstrip()
    if stripped.startswith("{"):
        return _of_json(text, source)
    try:
        data = load_yaml(_TAGS.sub("", text))
    except yaml.YAMLError:
        return _of_ini(text, source)
    if isinstance(data, Mapping):
        return _of_yaml(data, source)
    return _of_ini(text, source)


def _of_json(text: str, source: str) -> Groups:
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ConfigurationError(f"{source}: not valid JSON: {error}") from error
    groups = Groups()
    known = _mapping(_mapping(data.get("_meta")).get("hostvars"))
    for name, content in data.items():
        if name == "_meta":
            continue
        listed = content if isinstance(content, list) else _mapping(content).get("hosts")
        group = groups.group(name)
        for host in _names(listed):
            groups.add_host(name, host, _mapping(known.get(host)))
        for child in _names(_mapping(content).get("children")):
            groups.add_child(name, child)
        group.variables.update(_mapping(_mapping(content).get("vars")))
    return groups


def _of_yaml(data: Mapping[str, Any], source: str) -> Groups:
    groups = Groups()
    problems: list[str] = []
    waiting = [(str(name), content) for name, content in data.items()]
    while waiting and not problems:
        name, content = waiting.pop(0)
        if content is not None and not isinstance(content, Mapping):
            problems.append(f"{source}: group `{name}`: found a {type(content).__name__}")
            continue
        group, content = groups.group(name), _mapping(content)
        for host, variables in _mapping(content.get("hosts")).items():
            groups.add_host(name, str(host), _mapping(variables))
        group.variables.update(_mapping(content.get("vars")))
        children = _mapping(content.get("children"))
        for child, inner in children.items():
            groups.add_child(name, str(child))
            waiting.append((str(child), inner))
    if problems:
        raise ConfigurationError(problems)
    return groups


def _of_ini(text: str, source: str) -> Groups:
    groups, problems = Groups(), []
    name, kind = "ungrouped", ""
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.strip()
        if not line or line[0] in "#;":
            continue
        section = re.fullmatch(r"\[([^:\]\s]+)(?::(vars|children))?\]\s*(#.*)?", line)
        if section:
            name, kind = section[1], section[2] or ""
            groups.group(name)
        elif kind == "children":
            groups.add_child(name, line.split()[0])
        elif kind == "vars":
            key, _, value = line.partition("=")
            groups.group(name).variables[key.strip()] = _unquoted(value)
        else:
            problem = _ini_host(groups, name, line)
            problems += [f"{source}:{number}: {problem}"] if problem else []
    if problems:
        raise ConfigurationError(problems)
    return groups


def _ini_host(groups: Groups, group: str, line: str) -> str:
    """Add a host's line to its group; return in words what is wrong with it."""
    try:
        host, *words = shlex.split(line, comments=True)
    except ValueError as error:
        return f"not a host with variables: {error}"
    odd = [word for word in words if "=" not in word]
    if odd or "=" in host:
        return f"found {(odd or [host])[0]!r}, wanted `host name=value …`"
    pairs = (word.partition("=") for word in words)
    groups.add_host(group, host, {key: value for key, _, value in pairs})
    return ""


def _unquoted(value: str) -> str:
    try:
        return " ".join(shlex.split(value, comments=True))
    except ValueError:
        return value.strip()


def _names(value: Any) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _expanded(pattern: str) -> Iterator[str]:
    """Yield the hosts of `db[01:03].example.com`."""
    match = _RANGE.search(pattern)
    if match is None or len(_RANGE.findall(pattern)) > _MOST_RANGES:
        yield pattern
        return
    first, last, step = match[1], match[2], int(match[3] or 1) or 1
    if first.isdigit() and last.isdigit():
        numbers = range(int(first), int(last) + 1, step)
        middle = [str(number).zfill(len(first)) for number in numbers[: _MOST_HOSTS + 1]]
    else:
        middle = [chr(code) for code in range(ord(first[0]), ord(last[0]) + 1, step)]
    for part in middle:
        yield from _expanded(pattern[: match.start()] + part + pattern[match.end() :])
