"""A member's own configuration: the command that starts it, or the one file that it reads.

etcd takes each setting as a flag, as a variable of its environment or, with `--config-file`, from
one YAML file alone. Packages keep the variables in a file, as Debian in /etc/default/etcd.
"""

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

import yaml

from brownout.base.errors import HostError, Refused
from brownout.inventory.model import Node
from brownout.machine.host import Host

__all__ = ["in_command", "in_file", "own_settings"]


def own_settings(node: Node, host: Host) -> Mapping[str, str]:
    """Return what the node's command and configuration file set: `{"data-dir": "/var/lib/etcd"}`.

    A file that the command names counts alone; else flags win over variables. Raises `Refused` if
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
        raise Refused(
            f"node `{node.name}`: its configuration is not known: {error.message}"
        ) from error
    return in_file(text) if named else {**in_file(text), **flags}


def in_command(command: Sequence[str]) -> dict[str, str]:
    """Return the flags of a command line, as `--data-dir=D` and `--data-dir D`."""
    found = {}
    for index, word in enumerate(command):
        name, is_whole, value = word.partition("=")
        if not name.startswith("-"):
            continue
        after = command[index + 1] if index + 1 < len(command) else ""
        if not is_whole:
            value = "true" if after.startswith("-") or not after else after
        found[name.lstrip("-")] = value
    return found


def in_file(text: str) -> dict[str, str]:
    """Return the settings of a YAML file, or of one of variables: `ETCD_DATA_DIR="…"`."""
    try:
        data = yaml.safe_load(text)
    except yaml.YAMLError:
        data = None
    if isinstance(data, Mapping):
        return {str(name): str(value) for name, value in data.items() if value is not None}
    found = {}
    for line in text.splitlines():
        name, is_one, value = line.strip().removeprefix("export ").partition("=")
        if is_one and name.startswith("ETCD_"):
            words = shlex.split(value, comments=True)
            found[name.removeprefix("ETCD_").lower().replace("_", "-")] = "".join(words)
    return found
