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

__all__ = ["living_settings", "own_settings", "properties", "properties_in", "storagedir"]

_BESIDE = (
    *("jvm-server.options", "jvm11-server.options", "jvm17-server.options"),
    *("jvm.options", "cassandra-env.sh"),
)
_STORAGEDIR = re.compile(r"^\s*cassandra_storagedir=(\S+)", re.MULTILINE)
_HOME = re.compile(r"\$(CASSANDRA_HOME\b|\{CASSANDRA_HOME\})")
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


def storagedir(node: Node, host: Host, given: Mapping[str, str]) -> str:
    """Return where the node keeps what its cassandra.yaml does not name; empty if not known.

    That is a property of its JVM (`given`), which its start script sets. In a tarball the script
    `bin/cassandra.in.sh` beside `conf/cassandra.yaml` has it, as `$CASSANDRA_HOME/data`. Raises
    `Unnamed` where the two differ.
    """
    named = given.get("storagedir", "")
    config = node.host.config_file if node.host else None
    own = properties_in("\n".join(node.host.command if node.host else ())).get("storagedir")
    home = config.parent.parent if config is not None and config.parent.name == "conf" else None
    try:
        text = host.read_text(home / "bin" / "cassandra.in.sh") if home and not own else ""
    except HostError:
        text = ""
    of_script = [match[1].strip("\"'") for match in _STORAGEDIR.finditer(text)][-1:]
    at = [_HOME.sub(lambda _: str(home), path) for path in of_script]
    paths = {path for path in (named, *at) if path}
    if len(paths) > 1:
        raise Unnamed(
            f"node `{node.name}`: its data directories are not known: its JVM's properties have "
            f"`cassandra.storagedir` {named!r}, its cassandra.in.sh has {at[0]!r}",
            "name all directories in its cassandra.yaml",
        )
    path = next(iter(paths), "")
    return "" if "$" in path or "`" in path else path


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
