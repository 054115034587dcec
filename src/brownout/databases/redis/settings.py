"""A node's own configuration: the file that it reads, and the flags of the command that starts it.

    redis-server /etc/redis/redis.conf --port 7000 --save ""

Flags win over the file. A file that it includes counts as if it were written in its place.
"""

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

from brownout.base.errors import HostError
from brownout.databases.places import Unnamed
from brownout.inventory.model import Node
from brownout.machine.host import Host

__all__ = ["in_command", "in_file", "own_settings"]

#: Redis itself stops at so many files within one another.
_DEEPEST = 16


def own_settings(node: Node, host: Host) -> Mapping[str, str]:
    """Return what the node's command and configuration file set: `{"dir": "/var/lib/redis"}`.

    Raises `Unnamed` if the file, or one that it includes, cannot be read.
    """
    command = node.host.command if node.host else ()
    named = next((word for word in command[1:2] if not word.startswith("-")), "")
    file = node.host.config_file if node.host else None
    if named.startswith("/"):
        file = Path(named)
    if file is None:
        return in_command(command)
    return {**in_file(_with_included(node, host, file)), **in_command(command)}


def _with_included(node: Node, host: Host, file: Path, depth: int = 0) -> str:
    """Return a file's text with that of each file that it includes in the place of its line."""
    try:
        lines = host.read_text(file).splitlines()
    except HostError as error:
        raise Unnamed(
            f"node `{node.name}`: its configuration is not known: {error.message}"
        ) from error
    for number, line in enumerate(lines):
        name, value = _setting(line)
        if name != "include":
            continue
        if not Path(value).is_absolute() or set(value) & set("*?[") or depth >= _DEEPEST:
            raise Unnamed(
                f"node `{node.name}`: its configuration is not known: `{file}` includes `{value}`, "
                "wanted the absolute path of one file"
            )
        lines[number] = _with_included(node, host, Path(value), depth + 1)
    return "\n".join(lines)


def in_command(command: Sequence[str]) -> dict[str, str]:
    """Return the flags of a command line, as `--dir D`."""
    options, name = dict[str, list[str]](), ""
    for word in command:
        if word.startswith("--"):
            name = word.removeprefix("--").lower()
            options[name] = []
        elif name:
            options[name].append(word)
    return {name: " ".join(values) for name, values in options.items()}


def in_file(text: str) -> dict[str, str]:
    """Return the settings of a redis.conf: a name and a value a line; the last one counts."""
    settings = map(_setting, text.splitlines())
    return {name: value for name, value in settings if name}


def _setting(line: str) -> tuple[str, str]:
    """Return the name and the value of a line, without quotes; nothing of a comment."""
    name, *rest = line.split(None, 1) or [""]
    if not name or name.startswith("#"):
        return "", ""
    value = rest[0].strip() if rest else ""
    try:
        return name.lower(), " ".join(shlex.split(value))
    except ValueError:
        return name.lower(), value
