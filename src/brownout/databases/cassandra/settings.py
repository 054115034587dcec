"""A node's own configuration: its cassandra.yaml, and its JVM's properties (`-Dcassandra.…`).

Properties are in the command, in files that it names (`@/path`), or, with a distribution's package,
beside cassandra.yaml in `jvm*-server.options` and `cassandra-env.sh`.
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from brownout.base.errors import HostError
from brownout.databases.places import Unnamed
from brownout.inventory.model import Node
from brownout.machine.host import Host

__all__ = ["living_settings", "own_settings", "properties", "properties_in"]

_BESIDE = (
    *("jvm-server.options", "jvm11-server.options", "jvm17-server.options"),
    *("jvm.options", "cassandra-env.sh"),
)
_PROPERTY = re.compile(r"-Dcassandra\.([\w.-]+)=([^\s\"']*)")


def own_settings(node: Node, host: Host) -> Mapping[str, Any]:
    """Return the settings of the node's cassandra.yaml: `{"listen_address": "10.0.0.1", …}`.

    Raises `Unnamed` if the inventory names no such file, or it cannot be read.
    """
    file = node.host.config_file if node.host else None
    if file is None:
        raise Unnamed(
            f"node `{node.name}`: its configuration is not known",
            "give the inventory the node's `host.config_file`, its cassandra.yaml",
        )
    try:
        settings = yaml.safe_load(host.read_text(file))
    except (HostError, yaml.YAMLError) as error:
        reason = error.message if isinstance(error, HostError) else str(error)
        raise Unnamed(f"node `{node.name}`: its configuration is not known: {reason}") from error
    if not isinstance(settings, Mapping):
        raise Unnamed(f"node `{node.name}`: `{file}` is not a cassandra.yaml")
    return settings


def living_settings(host: Host, command: Sequence[str]) -> Mapping[str, Any]:
    """Return the settings of the cassandra.yaml that a living JVM's command names; none else."""
    place = _properties_of(host, command).get("config", "").removeprefix("file:")
    file = Path("/", place.lstrip("/"))
    try:
        settings = yaml.safe_load(host.read_text(file)) if place.startswith("/") else {}
    except (HostError, yaml.YAMLError):
        settings = {}
    return settings if isinstance(settings, Mapping) else {}


def properties(node: Node, host: Host) -> Mapping[str, str]:
    """Return its JVM's properties that can be read, as `{"ring_delay_ms": "8000"}`."""
    command = node.host.command if node.host else ()
    config = node.host.config_file if node.host else None
    beside = [config.parent / name for name in _BESIDE] if config is not None else []
    return _properties_of(host, command, beside)


def _properties_of(
    host: Host, command: Sequence[str], files: Sequence[Path] = ()
) -> dict[str, str]:
    """Return the properties in a command, in the files that it names, and in further `files`."""
    named = [Path(word[1:]) for word in command if word.startswith("@/")]
    given: dict[str, str] = {}
    for file in (*named, *files):
        try:
            given |= properties_in(host.read_text(file))
        except HostError:
            continue
    return given | properties_in("\n".join(command))


def properties_in(text: str) -> dict[str, str]:
    """Return the properties in `text`, without those in comments."""
    lines = (line for line in text.splitlines() if not line.lstrip().startswith("#"))
    return dict(match for line in lines for match in _PROPERTY.findall(line))
