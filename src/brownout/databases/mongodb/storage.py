"""Where a member keeps its data: read from its own configuration, and checked for a wipe.

The file on disk, the command that starts it and, while it is alive, its own answer must agree.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from brownout.base.errors import HostError, Refused
from brownout.databases import apart
from brownout.inventory.model import Node
from brownout.machine.host import Host

__all__ = [
    "check_apart",
    "check_contents",
    "configured_directory",
    "path_in_command",
    "path_in_file",
]

#: At least one of these is in every directory that a mongod has used.
_MARKS = frozenset({"WiredTiger", "WiredTiger.wt", "mongod.lock", "storage.bson"})


def check_apart(node: Node, found: Sequence[Path], nodes: Sequence[Node]) -> None:
    """Raise `Refused` if another one of `nodes` keeps its data in `found`, in or around it."""
    apart.check(node, found, nodes, lambda other, its: [configured_directory(other, its)])


def configured_directory(node: Node, host: Host) -> Path:
    """Return the directory that the node's command line or configuration file names.

    Raises `Refused` if neither does: MongoDB's default is nobody's explicit choice.
    """
    command = node.host.command if node.host else ()
    named = path_in_command(command)
    if named is not None:
        return Path(named)
    file = _configuration_file(node)
    if file is None:
        raise _unknown(node, "the inventory gives no `host.config_file`")
    try:
        text = host.read_text(file)
    except HostError as error:
        raise _unknown(node, error.message) from error
    found = path_in_file(text)
    if found is None:
        raise _unknown(node, f"`{file}` does not name `storage.dbPath` as plain text")
    return Path(found)


def path_in_command(command: Sequence[str]) -> str | None:
    """Return the value of `--dbpath` in a command line, which wins over the file."""
    return _option(command, "--dbpath")


def path_in_file(text: str) -> str | None:
    """Return `storage.dbPath` of a mongod.conf; None if it is not there or not plain text."""
    try:
        data = yaml.safe_load(text)
    except yaml.YAMLError:
        return None
    storage = data.get("storage") if isinstance(data, Mapping) else None
    path: Any = storage.get("dbPath") if isinstance(storage, Mapping) else None
    return path if isinstance(path, str) and path else None


def check_contents(node: Node, host: Host, directory: Path) -> None:
    """Raise `Refused` if `directory` holds something, but nothing that a mongod would have left."""
    try:
        names = set(host.entries(directory))
    except HostError as error:
        raise _unknown(node, error.message) from error
    if names and not names & _MARKS:
        raise Refused(
            f"node `{node.name}`: `{directory}` does not look like MongoDB's storage: it holds "
            f"{', '.join(sorted(names)[:5])}"
        )


def _configuration_file(node: Node) -> Path | None:
    """Return the node's configuration file: the inventory's, else the one in its command."""
    if node.host is None:
        return None
    if node.host.config_file is not None:
        return node.host.config_file
    named = _option(node.host.command, "--config") or _option(node.host.command, "-f")
    return Path(named) if named else None


def _option(command: Sequence[str], name: str) -> str | None:
    for index, word in enumerate(command):
        if word == name:
            return next(iter(command[index + 1 :]), None)
        if word.startswith(f"{name}="):
            return word.partition("=")[2] or None
    return None


def _unknown(node: Node, why: str) -> Refused:
    return Refused(f"node `{node.name}`: its data directory is not known: {why}")
