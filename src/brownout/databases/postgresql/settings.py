"""A member's own configuration: the YAML file that Patroni's command names, or a directory of them.

Variables of its environment (`PATRONI_POSTGRESQL_DATA_DIR`) win over what is in files.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from brownout.base.errors import HostError
from brownout.databases.places import Unnamed
from brownout.inventory.model import Node
from brownout.machine.footprint import Footprint
from brownout.machine.host import Host

__all__ = ["VARIABLE", "living_directory", "own_settings"]

#: What Patroni's environment may say of where the data lie.
VARIABLE = "PATRONI_POSTGRESQL_DATA_DIR"
_ENDS = (".yml", ".yaml")


def own_settings(node: Node, host: Host) -> Mapping[str, Any]:
    """Return Patroni's settings for the node; `Unnamed` if they cannot be read."""
    named = _file(node)
    try:
        return _read(host, named)
    except (HostError, ValueError) as error:
        reason = error.message if isinstance(error, HostError) else str(error)
        raise Unnamed(f"node `{node.name}`: its configuration is not known: {reason}") from error


def living_directory(host: Host, footprint: Footprint) -> Path | None:
    """Return the data directory that Patroni was started with; None if that is not to be seen."""
    directory = footprint.variables.get(VARIABLE)
    file = next((word for word in reversed(footprint.command) if word.endswith(_ENDS)), "")
    if not directory and file:
        try:
            settings = _read(host, (footprint.directory or Path()) / file)
        except (HostError, ValueError):
            return None
        directory = (settings.get("postgresql") or {}).get("data_dir")
    path = (footprint.directory or Path()) / str(directory or "")
    return path if directory and path.is_absolute() else None


def _read(host: Host, path: Path) -> dict[str, Any]:
    """Return the settings of a file, or of a directory's files in the order of their names.

    Raises `HostError`, and `ValueError` for what is not Patroni's.
    """
    try:
        files = [path] if path.suffix in _ENDS else _files_in(host, path)
    except HostError:
        files = [path]
    settings: dict[str, Any] = {}
    for file in files:
        try:
            part = yaml.safe_load(host.read_text(file))
        except yaml.YAMLError as error:
            raise ValueError(f"`{file}` is not YAML") from error
        if not isinstance(part, Mapping):
            raise ValueError(f"`{file}` is not a configuration of Patroni")
        settings = _merged(settings, part)
    return settings


def _files_in(host: Host, directory: Path) -> list[Path]:
    return [directory / name for name in sorted(host.entries(directory)) if name.endswith(_ENDS)]


def _merged(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Return both; what both have is taken from `above`, mapping by mapping."""
    merged = {**below, **above}
    for name in below.keys() & above.keys():
        if isinstance(below[name], Mapping) and isinstance(above[name], Mapping):
            merged[name] = _merged(below[name], above[name])
    return merged


def _file(node: Node) -> Path:
    host = node.host
    if host is not None and host.config_file is not None:
        return host.config_file
    named = [word for word in (host.command if host else ()) if word.endswith(_ENDS)]
    if not named:
        raise Unnamed(
            f"node `{node.name}`: its data directory is not known: the inventory does not name "
            "Patroni's configuration",
            "give it the node's `host.config_file`",
        )
    return Path(named[-1])
