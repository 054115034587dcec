"""A member's own configuration: the command that starts it, or the one file that it reads.

etcd takes each setting as a flag, as a variable of its environment or, with `--config-file`, from
one YAML file alone. Packages keep the variables in a file, as Debian in /etc/default/etcd; others
keep the command, as kubeadm in a pod's manifest and systemd in a unit.
"""

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from brownout.base.errors import HostError
from brownout.databases.places import Unnamed
from brownout.inventory.model import Node
from brownout.machine.footprint import Footprint
from brownout.machine.host import Host

__all__ = ["VARIABLES", "in_command", "in_file", "living_settings", "own_settings"]

#: What a living member's environment may say of where its data lie, and how it comes back.
VARIABLES = tuple(
    f"ETCD_{name}"
    for name in (
        *("CONFIG_FILE", "DATA_DIR", "INITIAL_ADVERTISE_PEER_URLS", "INITIAL_CLUSTER_STATE"),
        *("NAME", "WAL_DIR"),
    )
)
_PLACES = ("data-dir", "wal-dir")


def own_settings(node: Node, host: Host) -> Mapping[str, str]:
    """Return what the node's command and configuration file set: `{"data-dir": "/var/lib/etcd"}`.

    A file that the command names counts alone; else flags win over variables. Raises `Unnamed` if
    the file cannot be read.
    """
    command = node.host.command if node.host else ()
    flags = in_command(command)
    named = flags.get("config-file")
    file = Path(named) if named else node.host.config_file if node.host else None
    if file is None:
        return flags
    try:
        text = host.read_text(file)
    except HostError as error:
        raise Unnamed(
            f"node `{node.name}`: its configuration is not known: {error.message}"
        ) from error
    return in_file(text) if named else {**in_file(text), **flags}


def living_settings(host: Host, footprint: Footprint) -> Mapping[str, str]:
    """Return the settings that the living member was started with, with absolute directories.

    Nothing, where its process does not tell: its data then lie where it was started, or where a
    script that starts it says.
    """
    settings = {**_variables(footprint.variables), **in_command(footprint.command)}
    named = settings.get("config-file")
    if named:
        try:
            settings = in_file(host.read_text(_from(footprint, named)))
        except HostError:
            return {}
    is_etcd = footprint.command and Path(footprint.command[0]).name.startswith("etcd")
    if "data-dir" not in settings and is_etcd:
        settings["data-dir"] = f"{settings.get('name', 'default')}.etcd"
    places = {name: _from(footprint, settings.pop(name)) for name in _PLACES if name in settings}
    return settings | {name: str(path) for name, path in places.items() if path.is_absolute()}


def _from(footprint: Footprint, path: str) -> Path:
    """Return a path as the member sees it from where it works."""
    return (footprint.directory or Path()) / path


def in_command(command: Sequence[str]) -> dict[str, str]:
    """Return the flags of a command line, as `--data-dir=D` and `--data-dir D`."""
    options = {}
    for index, word in enumerate(command):
        name, is_whole, value = word.partition("=")
        if not name.startswith("-"):
            continue
        after = command[index + 1] if index + 1 < len(command) else ""
        if not is_whole:
            value = "true" if after.startswith("-") or not after else after
        options[name.lstrip("-")] = value
    return options


def in_file(text: str) -> dict[str, str]:
    """Return the settings of a YAML file, of a pod's manifest, of a unit, or of variables."""
    try:
        data = yaml.safe_load(text)
    except yaml.YAMLError:
        data = None
    if isinstance(data, Mapping):
        if data.get("kind") == "Pod":
            return in_command(_command_of(data))
        return {str(name): str(value) for name, value in data.items() if value is not None}
    variables, command = dict[str, str](), list[str]()
    for line in text.replace("\\\n", " ").splitlines():
        name, is_one, value = line.strip().removeprefix("export ").partition("=")
        if is_one and name.startswith("ETCD_"):
            variables[name] = "".join(_words(value))
        elif name == "Environment":
            variables |= dict(word.split("=", 1) for word in _words(value) if "=" in word)
        elif name == "ExecStart":
            command = _words(value)
    return _variables(variables) | in_command(command)


def _variables(variables: Mapping[str, str]) -> dict[str, str]:
    """Return settings that are given as variables: `ETCD_DATA_DIR` is `data-dir`."""
    return {
        name.removeprefix("ETCD_").lower().replace("_", "-"): value
        for name, value in variables.items()
        if name.startswith("ETCD_")
    }


def _command_of(pod: Mapping[str, Any]) -> list[str]:
    """Return the command and arguments of the container in a manifest that runs etcd."""
    for container in (pod.get("spec") or {}).get("containers") or ():
        words = [*(container.get("command") or ()), *(container.get("args") or ())]
        if any("etcd" in str(word) for word in words[:1]) or container.get("name") == "etcd":
            return list(map(str, words))
    return []


def _words(text: str) -> list[str]:
    """Return the words of a line as a shell has them; a quote that does not end is a letter."""
    try:
        return shlex.split(text, comments=True)
    except ValueError:
        return text.split()
