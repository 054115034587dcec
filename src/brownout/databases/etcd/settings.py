"""A member's own configuration: the command that starts it, or the one file that it reads.

etcd takes each setting as a flag, as a variable of its environment or, with `--config-file`, from
one YAML file alone. Packages keep the variables in a file, as Debian in /etc/default/etcd; others
keep the command, as kubeadm in a pod's manifest and systemd in a unit.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from brownout.base.errors import HostError
from brownout.base.variables import variables_in
from brownout.databases.places import Unnamed
from brownout.databases.units import started_by
from brownout.databases.yaml_text import read_yaml
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
_OF_POD = re.compile(r"\$\((\w+)\)")


def own_settings(node: Node, host: Host) -> Mapping[str, str]:
    """Return what the node's command and configuration file set: `{"data-dir": "/var/lib/etcd"}`.

    A file of settings that the command, or a variable, names counts alone; else flags win over
    variables. Raises `Unnamed` if a file cannot be read.
    """
    settings = in_command(node.host.command if node.host else ())
    file = node.host.config_file if node.host else None
    try:
        if file is not None and "config-file" not in settings:
            settings = _read(host, file) | settings
        named = settings.get("config-file")
        return in_file(host.read_text(Path(named))) if named else settings
    except HostError as error:
        raise Unnamed(
            f"node `{node.name}`: its configuration is not known: {error.message}"
        ) from error


def _read(host: Host, file: Path) -> dict[str, str]:
    text = host.read_text(file)
    start = started_by(host, file, text)
    if start is None:
        return in_file(text)
    return _variables(start.variables) | in_command(start.command)


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
    """Return the settings of a YAML file, of a pod's manifest, or of variables.

    Raises `HostError` for a manifest whose directories are not those of the machine.
    """
    try:
        data = read_yaml(text)
    except yaml.YAMLError:
        data = None
    if isinstance(data, Mapping):
        if data.get("kind") == "Pod":
            return _of_pod(data)
        return {str(name): str(value) for name, value in data.items() if value is not None}
    return _variables(variables_in(text))


def _variables(variables: Mapping[str, str]) -> dict[str, str]:
    """Return settings that are given as variables: `ETCD_DATA_DIR` is `data-dir`."""
    return {
        name.removeprefix("ETCD_").lower().replace("_", "-"): value
        for name, value in variables.items()
        if name.startswith("ETCD_")
    }


def _of_pod(pod: Mapping[str, Any]) -> dict[str, str]:
    """Return the settings of the container in a manifest that runs etcd, as the machine has them.

    Its directories are those of the machine that are mounted there.
    """
    spec = pod.get("spec") or {}
    for container in spec.get("containers") or ():
        words = [*(container.get("command") or ()), *(container.get("args") or ())]
        if container.get("name") == "etcd" or any("etcd" in str(word) for word in words[:1]):
            settings = _of_container(container, list(map(str, words)))
            mounts = list(_mounts(spec, container))
            places = {name: settings[name] for name in _PLACES if name in settings}
            return settings | {name: _on_machine(at, mounts) for name, at in places.items()}
    return {}


def _of_container(container: Mapping[str, Any], words: Sequence[str]) -> dict[str, str]:
    """Return its settings; the kubelet puts its variables in place of `$(NAME)`."""
    pairs = [(one.get("name"), one.get("value")) for one in container.get("env") or ()]
    variables = {str(name): str(value) for name, value in pairs if value is not None}
    filled = [_OF_POD.sub(lambda it: variables.get(it[1], it[0]), word) for word in words]
    return _variables(variables) | in_command(filled)


def _mounts(spec: Mapping[str, Any], container: Mapping[str, Any]) -> Iterator[tuple[Path, Path]]:
    """Yield where in the container each directory of the machine is, the innermost first."""
    volumes = {one.get("name"): one for one in spec.get("volumes") or ()}
    mounts = sorted(container.get("volumeMounts") or (), key=lambda it: -len(str(it["mountPath"])))
    for mount in mounts:
        on_machine = (volumes.get(mount.get("name")) or {}).get("hostPath") or {}
        path = on_machine.get("path")
        yield (
            Path(str(mount["mountPath"])),
            Path(str(path), mount.get("subPath") or "") if path else Path(),
        )


def _on_machine(path: str, mounts: Sequence[tuple[Path, Path]]) -> str:
    for inside, outside in mounts:
        if Path(path).is_relative_to(inside):
            if outside.is_absolute():
                return str(outside / Path(path).relative_to(inside))
            break
    else:
        if not mounts:
            return path
    raise HostError(f"its manifest keeps `{path}` on no directory of the machine (`hostPath`)")
