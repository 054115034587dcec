"""The hosts of groups of an Ansible inventory, with the variables that say how to log in.

`ansible-inventory --list` reads the inventory, so it may be whatever Ansible takes: INI, YAML, a
directory, a program, a plugin's settings, each with its `group_vars` and `host_vars`.

{"_meta": {"hostvars": {"a1": {"ansible_user": "ops"}}}, "stone": {"hosts": ["a1"]}, …}
"""

import json
import os
import re
import shutil
import subprocess
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from brownout.base.errors import ConfigurationError
from brownout.base.secret import environment_without_secrets
from brownout.base.settings_file import read_text
from brownout.inventory.importers.ansible_variables import HostVariables, Wanted, is_port, machines
from brownout.inventory.importers.images import named_after
from brownout.inventory.importers.machine import Imported, Machine

__all__ = ["asked_for", "listing", "read"]

_PROGRAM: Final = "ansible-inventory"
#: A plugin may ask a cloud for its machines.
_TIMEOUT_S: Final = 120.0
_PLUGIN = re.compile(r"unknown plugin '([\w.]{1,120})'")
_LIBRARY = re.compile(r"required Python library \(([\w ,.-]{1,120})\)")


def listing(file: Path) -> str:
    """Return what `ansible-inventory --list` says of an inventory, or `file` if that is such JSON.

    It never prompts for a vault's password, and its complaints are not repeated: they may
    contain a secret. Raises `ConfigurationError`.
    """
    if file.is_file():
        text = read_text(file, "file")
        if text.lstrip().startswith("{"):
            return text
    elif not file.is_dir():
        raise ConfigurationError(f"file `{file}`: No such file or directory")
    # Here, or in the environment that brownout itself is installed in.
    places = (os.environ.get("PATH", os.defpath), str(Path(sys.executable).parent))
    program = shutil.which(_PROGRAM, path=os.pathsep.join(places))
    if program is None:
        raise ConfigurationError(
            f"{file}: `{_PROGRAM}`, which reads inventories of Ansible, is not installed",
            "pip install ansible-core, or give the output of `ansible-inventory --list` from "
            "another machine",
        )
    command = f"`{_PROGRAM} -i {file} --list`"
    try:
        done = subprocess.run(
            [program, "-i", str(file.absolute()), "--list"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_TIMEOUT_S,
            start_new_session=True,  # without a terminal, where it would ask for passwords
            env=environment_without_secrets() | {"ANSIBLE_INVENTORY_ANY_UNPARSED_IS_FAILED": "1"},
        )
    except subprocess.TimeoutExpired as error:
        raise ConfigurationError(
            f"{file}: {command} has not ended within {_TIMEOUT_S:g} s", "run it to see why"
        ) from error
    except OSError as error:
        raise ConfigurationError(f"`{program}` cannot be run: {error.strerror}") from error
    if done.returncode != 0:
        _check_plugins(file, done.stderr.decode(errors="replace"))
        raise ConfigurationError(
            f"{file}: Ansible cannot read it: {_PROGRAM} ended with {done.returncode}",
            f"{command} says why",
        )
    return done.stdout.decode(errors="replace")


def _check_plugins(file: Path, complaint: str) -> None:
    """Raise `ConfigurationError` where Ansible misses a plugin, or what a plugin needs.

    Only names are taken from the complaint: it may repeat a secret.
    """
    plugins = sorted(set(_PLUGIN.findall(complaint)))
    collections = sorted({name.rpartition(".")[0] for name in plugins if name.count(".") == 2})
    if plugins:
        what = " and ".join(f"`{name}`" for name in plugins)
        install = f"ansible-galaxy collection install {' '.join(collections)}"
        raise ConfigurationError(
            f"{file}: the inventory plugin {what} is not installed",
            f"{install}; or give the output of `{_PROGRAM} --list` from a machine that has it"
            if collections
            else f"install the collection that has it, or give the output of `{_PROGRAM} --list` "
            "from a machine that has it",
        )
    libraries = sorted(set(_LIBRARY.findall(complaint)))
    if libraries:
        raise ConfigurationError(
            f"{file}: its inventory plugin needs the Python library {', '.join(libraries)}, which "
            "is not installed beside Ansible",
            f"install it, or give the output of `{_PROGRAM} --list` from a machine that has it",
        )


def asked_for(text: str, source: str, group: str, database: str) -> tuple[tuple[str, ...], str]:
    """Return the groups of the nodes and what runs on them, by the names of the groups.

    `group` (`a,b`) and `database` are the user's, each empty where it is to be found. Raises
    `ConfigurationError` where the names leave a doubt, with the option that decides.
    """
    listed = _parsed(text, source)
    groups = tuple(filter(None, re.split(r"[,:]", group)))
    if groups and database:
        return groups, database
    listed_groups = ", ".join(sorted(_groups(listed))) or "none"
    if groups:
        kinds = {kind for each in _within(listed, *groups) if (kind := named_after(each))}
        if len(kinds) != 1:
            says = f"says {' and '.join(sorted(kinds))}" if kinds else "does not say which database"
            raise ConfigurationError(f"{source}: the group `{group}` {says}; say it by --database")
        return groups, kinds.pop()
    if database in _groups(listed):
        return (database,), database
    kind_of = {name: kind for name in _groups(listed) if (kind := named_after(name))}
    named = sorted(name for name, kind in kind_of.items() if database in ("", kind))
    inner = {child for name in named for child in _within(listed, name) if child != name}
    outer = [name for name in named if name not in inner]
    if len(outer) != 1:
        candidates = ", ".join(f"{name} ({kind_of[name]})" for name in outer)
        raise ConfigurationError(
            f"{source}: wanted one group named after {database or 'a database'}, found "
            f"{candidates or f'none; it has {listed_groups}'}",
            "say which by --group"
            + ("" if database or outer else ", and its database by --database"),
        )
    return (outer[0],), kind_of[outer[0]]


@dataclass(frozen=True, slots=True)
class _Hosts:
    """The hosts of nodes with their shards (empty: none), those of routers, and all others."""

    shards: Mapping[str, str]
    routers: Sequence[str] = ()
    aside: Sequence[str] = ()


def read(text: str, source: str, wanted: Wanted) -> Imported:
    """Return the hosts of the wanted groups, and of the groups in them, from what was listed.

    Raises `ConfigurationError` with all problems.
    """
    listed = _parsed(text, source)
    groups = {*_groups(listed), "all", "ungrouped"}
    unknown = [name for name in wanted.groups if name not in groups]
    if unknown:
        names_of_groups = ", ".join(sorted(_groups(listed))) or "none"
        raise ConfigurationError(
            [f"{source}: has no group `{name}`; it has {names_of_groups}" for name in unknown],
            "say which by --group",
        )
    problems = [
        f"{source}: group `{name}`: found `vars`, wanted them with each host; list without --export"
        for name in sorted(groups)
        if _mapping(listed.get(name)).get("vars")
    ]
    values = _mapping(_mapping(listed.get("_meta")).get("hostvars"))
    variables = {
        name: HostVariables(name, _mapping(values.get(name)))
        for name in [*_hosts(listed, "all"), *_hosts(listed, *groups)]
    }
    hosts = _sorted_out(listed, wanted)
    nodes = {
        name: machines(variables[name], wanted, f"{source}: host {name}", problems)
        for name in hosts.shards
    }
    if not nodes:
        problems.append(f"{source}: group `{', '.join(wanted.groups)}` has no hosts")
    problems += _shared(nodes, variables, wanted, source)
    if problems:
        raise ConfigurationError(problems)
    routers = [
        f"{one.address}:{one.database_port or wanted.server.port}"
        for name in hosts.routers
        for one in machines(variables[name], _of_router(wanted), source, [])
    ]
    group = ", ".join(wanted.groups)
    return _imported(
        Imported(wanted.groups[0], f"Ansible's {source}, group {group}", ()),
        nodes,
        hosts,
        routers,
        _named_alike([variables[name] for name in hosts.shards], wanted),
    )


def _imported(
    imported: Imported,
    nodes: Mapping[str, Sequence[Machine]],
    hosts: _Hosts,
    routers: Sequence[str],
    connection: Mapping[str, Any],
) -> Imported:
    """Return it with its nodes. Without the routers, which shards need, each has a note."""
    notes = [f"Not nodes of a shard, and left out: {', '.join(hosts.aside)}"] if hosts.aside else []
    if not any(hosts.shards.values()):
        every = [one for of_host in nodes.values() for one in of_host]
        return replace(imported, machines=tuple(every), connection=connection, notes=tuple(notes))
    if routers:
        every = [replace(one, shard=hosts.shards[name]) for name, on in nodes.items() for one in on]
        notes.append("A node's shard is its group; give the names that config.shards has.")
        connection = {"hosts": list(routers)}
    else:
        every = [
            replace(one, notes=(f"its group may be its shard: `{hosts.shards[name]}`", *one.notes))
            for name, on in nodes.items()
            for one in on
        ]
        notes.append(
            "The groups look like shards: then give each node its `shard` and name the routers in "
            "`connection.hosts`; docs/clusters.md#sharded-clusters."
        )
        connection = {}
    return replace(imported, machines=tuple(every), connection=connection, notes=tuple(notes))


def _sorted_out(listed: Mapping[str, Any], wanted: Wanted) -> _Hosts:
    """Tell shards, routers and others apart, by the names of their groups, where there are any."""
    every = _hosts(listed, *wanted.groups)
    server = wanted.server
    if not server.router_words:
        return _Hosts(dict.fromkeys(every, ""))
    names = [name for name in listed if name not in ("_meta", "all", "ungrouped")]
    routers = _hosts(listed, *(name for name in names if _is_of(name, server.router_words)))
    parts = (
        wanted.groups
        if len(wanted.groups) > 1
        else _names(listed.get(wanted.groups[0]), "children")
    )
    of_routers = [name for name in parts if _is_of(name, server.router_words)]
    aside = [name for name in parts if _is_of(name, server.aside_words) and name not in of_routers]
    shards = [name for name in parts if name not in of_routers and name not in aside]
    owners = defaultdict[str, list[str]](list)
    for name in shards:
        for host in _hosts(listed, name):
            owners[host].append(name)
    left = [host for host in every if host in owners or not {*of_routers, *aside}]
    if len(shards) < 2 or any(len(owners[host]) != 1 for host in left):
        return _Hosts(dict.fromkeys(left, ""), routers, _without(every, left))
    return _Hosts({host: owners[host][0] for host in left}, routers, _without(every, left))


def _is_of(group: str, words: Sequence[str]) -> bool:
    return any(word in group.lower() for word in words)


def _without(every: Sequence[str], left: Sequence[str]) -> list[str]:
    return [host for host in every if host not in left]


def _of_router(wanted: Wanted) -> Wanted:
    """Return what is wanted of a router: it listens at the usual port, and not at a node's."""
    return replace(wanted, port=wanted.server.port, port_from="")


def _named_alike(hosts: Sequence[HostVariables], wanted: Wanted) -> dict[str, str]:
    """Return the settings of the connection that a variable has alike on all hosts."""
    settings = {}
    for setting, names in wanted.server.named_by.items():
        values = {host.text(*names) for host in hosts}
        value = next(iter(values), "")
        if len(values) == 1 and value and "{{" not in value:
            settings[setting] = value
    return settings


def _shared(
    nodes: Mapping[str, Sequence[Machine]],
    variables: Mapping[str, HostVariables],
    wanted: Wanted,
    source: str,
) -> list[str]:
    """Return in words which hosts have one address and port, and what may tell them apart."""
    at = defaultdict[str, list[str]](list)
    for host, on in nodes.items():
        for one in on:
            at[f"{one.address}:{one.database_port or wanted.port or wanted.server.port}"].append(
                host
            )
    problems = []
    for address, hosts in at.items():
        if len(hosts) > 1:
            every = [variables[host].values for host in hosts]
            differ = [
                name
                for name in sorted(every[0])
                if not name.startswith("ansible_")
                and all(is_port(each.get(name)) for each in every)
                and len({str(each[name]) for each in every}) == len(hosts)
            ]
            advice = (
                f"it may be {', '.join(differ)}" if differ else "none of theirs differs as ports do"
            )
            problems.append(
                f"{source}: hosts {', '.join(hosts)} have one address, {address}: wanted the "
                f"variable with their ports by --port-from ({advice})"
            )
    return problems


def _parsed(text: str, source: str) -> Mapping[str, Any]:
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ConfigurationError(
            f"{source}: not valid JSON: {error}",
            "wanted what `ansible-inventory --list` prints; give an inventory itself as a file",
        ) from error
    if not isinstance(data, dict):
        raise ConfigurationError(f"{source}: found a {type(data).__name__}, wanted a JSON object")
    return data


def _hosts(listed: Mapping[str, Any], *groups: str) -> list[str]:
    """Return the hosts of groups and of all in them, in the order in which they stand there."""
    inner = _within(listed, *groups)
    return list(dict.fromkeys(host for name in inner for host in _names(listed.get(name), "hosts")))


def _within(listed: Mapping[str, Any], *groups: str) -> dict[str, None]:
    """Return these groups and all in them, in the order in which they stand there."""
    inner, waiting = dict.fromkeys(groups), [*groups]
    while waiting:
        new = [n for n in _names(listed.get(waiting.pop(0)), "children") if n not in inner]
        inner |= dict.fromkeys(new)
        waiting += new
    return inner


def _groups(listed: Mapping[str, Any]) -> set[str]:
    """Return the names of all groups but those that every inventory has."""
    named = [name for name in listed if name != "_meta"]
    inner = (child for name in named for child in _names(listed[name], "children"))
    return {*named, *inner} - {"all", "ungrouped"}


def _names(content: Any, kind: str) -> list[str]:
    """Return the `hosts` or `children` of a group; a program may list its hosts alone."""
    listed = content if isinstance(content, list) and kind == "hosts" else None
    listed = _mapping(content).get(kind) if listed is None else listed
    return [item for item in listed if isinstance(item, str)] if isinstance(listed, list) else []


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
