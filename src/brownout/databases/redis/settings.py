"""A node's own configuration: the file that it reads, and the flags of the command that starts it.

    redis-server /etc/redis/redis.conf --port 7000 --save ""

Flags win over the file. Files that it includes are not read.
"""

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

from brownout.base.errors import HostError, Refused
from brownout.inventory.model import Node
from brownout.machine.host import Host

__all__ = ["in_command", "in_file", "own_settings"]


def own_settings(node: Node, host: Host) -> Mapping[str, str]:
    """Return what the node's command and configuration file set: `{"dir": "/var/lib/redis"}`.

    Raises `Refused` if the file cannot be read.
    """
    command = node.host.command if node.host else ()
    named = next((word for word in command[1:2] if not word.startswith("-")), "")
    file = node.host.config_file if node.host else None
    if named.startswith("/"):
        file = Path(named)
    if file is None:
        return in_command(command)
    try:
        text = host.read_text(file)
    except HostError as error:
        raise Refused(
            f"node `{node.name}`: its configuration is not known: {error.message}"
        ) from error
    return {**in_file(text), **in_command(command)}


def in_command(command: Sequence[str]) -> dict[str, str]:
    """Return the flags of a command line, as `--dir D`."""
    found, name = dict[str, list[str]](), ""
    for word in command:
        if word.startswith("--"):
            name = word.removeprefix("--").lower()
            found[name] = []
        elif name:
            found[name].append(word)
    return {name: " ".join(values) for name, values in found.items()}


def in_file(text: str) -> dict[str, str]:
    """Return the settings of a redis.conf: a name and a value a line; the last one counts."""
    found = {}
    for line in text.splitlines():
        name, _, value = line.strip().partition(" ")
        if not name or name.startswith("#"):
            continue
        try:
            words = shlex.split(value)
        except ValueError:
            words = [value]
        found[name.lower()] = " ".join(words)
    return found
