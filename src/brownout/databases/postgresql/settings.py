"""A member's own configuration: the YAML file that Patroni's command names, or a directory of them.

Variables of its environment (`PATRONI_POSTGRESQL_DATA_DIR`) win over what is in files. Where the
inventory names a systemd unit or a file of variables, these say what else there is.
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from brownout.base.errors import HostError
from brownout.base.variables import variables_in
from brownout.databases.places import Unnamed
from brownout.databases.units import started_by
from brownout.inventory.model import Node
from brownout.machine.footprint import Footprint
from brownout.machine.host import Host

__all__ = ["VARIABLE", "living_directory", "own_settings"]

#: What Patroni's environment may say of where the data lie.
VARIABLE = "PATRONI_POSTGRESQL_DATA_DIR"
#: All of its settings as YAML, which count where it is given no file.
_WHOLE = "PATRONI_CONFIGURATION"
_ENDS = (".yml", ".yaml")
_ASSIGNED = re.compile(r"(PATRONI_\w+)=(.*)", re.DOTALL)


def own_settings(node: Node, host: Host) -> Mapping[str, Any]:
    """Return Patroni's settings for the node; `Unnamed` if they cannot be read."""
    command = node.host.command if node.host else ()
    file = (node.host.config_file if node.host else None) or _argument(command)
    variables = _assigned(command)
    if file is None and not variables:
        raise Unnamed(
            f"node `{node.name}`: its data directory is not known: the inventory does not name "
            "Patroni's configuration",
            "give it the node's `host.config_file`",
        )
    try:
        return _settings(host, file, variables)
    except (HostError, ValueError) as error:
        reason = error.message if isinstance(error, HostError) else str(error)
        raise Unnamed(f"node `{node.name}`: its configuration is not known: {reason}") from error


def living_directory(host: Host, footprint: Footprint) -> Path | None:
    """Return the data directory that Patroni was started with; None if that is not to be seen."""
    at, file = footprint.directory or Path(), _argument(footprint.command)
    directory = footprint.variables.get(VARIABLE)
    if not directory and file is not None:
        try:
            settings = _settings(host, at / file, {})
        except (HostError, ValueError):
            return None
        directory = (settings.get("postgresql") or {}).get("data_dir")
    path = at / str(directory or "")
    return path if directory and path.is_absolute() else None


def _argument(command: Sequence[str]) -> Path | None:
    """Return the file or directory that a command gives Patroni."""
    programs = [
        at for at, word in enumerate(command) if Path(word).name in ("patroni", "patroni.py")
    ]
    after = command[programs[-1] + 1 :] if programs else ()
    named = [word for word in after if not word.startswith("-")]
    named += [word for word in command if word.endswith(_ENDS)]
    return Path(named[0]) if named else None


def _assigned(command: Sequence[str]) -> dict[str, str]:
    """Return the variables that a command sets, as `env PATRONI_NAME=n1 patroni` does."""
    return {match[1]: match[2] for word in command if (match := _ASSIGNED.fullmatch(word))}


def _settings(host: Host, path: Path | None, variables: Mapping[str, str]) -> Mapping[str, Any]:
    """Return the settings of a file, or of a directory's files, below those of `variables`.

    Raises `HostError`, and `ValueError` for what is not Patroni's.
    """
    if path is None and _WHOLE in variables:
        return _parsed(variables[_WHOLE], _WHOLE)
    settings: dict[str, Any] = {}
    for file in [] if path is None else _files(host, path):
        text = host.read_text(file)
        start = started_by(host, file, text)
        if start is not None:
            theirs = {**start.variables, **_assigned(start.command), **variables}
            return _settings(host, _argument(start.command), theirs)
        named = {} if file.suffix in _ENDS else variables_in(text)
        if any(name.startswith("PATRONI_") for name in named):
            return _settings(host, None, {**named, **variables})
        settings = _merged(settings, _parsed(text, str(file)))
    directory = variables.get(VARIABLE)
    return _merged(settings, {"postgresql": {"data_dir": directory}}) if directory else settings


def _parsed(text: str, source: str) -> Mapping[str, Any]:
    try:
        data = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ValueError(f"`{source}` is not YAML") from error
    if not isinstance(data, Mapping):
        raise ValueError(f"`{source}` is not a configuration of Patroni")
    return data


def _files(host: Host, path: Path) -> list[Path]:
    """Return a file, or those of a directory that Patroni reads, in the order of their names."""
    if path.suffix in _ENDS:
        return [path]
    try:
        return [path / name for name in sorted(host.entries(path)) if name.endswith(_ENDS)]
    except HostError:
        return [path]


def _merged(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Return both; what both have is taken from `above`, mapping by mapping, as Patroni does.

    A setting without a value takes the one below away.
    """
    merged = dict(below)
    for name, value in above.items():
        if value is None:
            merged.pop(name, None)
        elif isinstance(value, Mapping) and isinstance(below.get(name), Mapping):
            merged[name] = _merged(below[name], value)
        else:
            merged[name] = value
    return merged
