"""Where a member keeps its data: read from its own configuration, and checked for a wipe.

The file on disk, the command that starts it and, while it is alive, its own answer must agree.
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from brownout.base.errors import HostError
from brownout.databases import apart
from brownout.databases.places import Unnamed, check_storage
from brownout.databases.units import started_by
from brownout.databases.yaml_text import read_yaml
from brownout.inventory.model import Node
from brownout.machine.footprint import Footprint
from brownout.machine.host import Host

__all__ = [
    "check_apart",
    "check_contents",
    "configured_directory",
    "is_data",
    "living_directory",
    "path_in_command",
    "path_in_file",
]

#: Where a mongod without a `dbPath` keeps its data.
_DEFAULT = Path("/data/db")
#: At least one of these is in every directory that a mongod has used.
_MARKS = frozenset({"WiredTiger", "WiredTiger.wt", "mongod.lock", "storage.bson"})


def check_apart(node: Node, directories: Sequence[Path], nodes: Sequence[Node]) -> None:
    """Raise `Refused` if another of `nodes` keeps its data in or around `directories`."""
    apart.check(node, directories, nodes, lambda other, its: [configured_directory(other, its)])


def configured_directory(node: Node, host: Host) -> Path:
    """Return the directory that the node's command line or configuration file names.

    Raises `Unnamed` if neither does: MongoDB's default is not an explicit choice.
    """
    command = node.host.command if node.host else ()
    named = path_in_command(command)
    if named is not None:
        return _absolute(node, named)
    file = _configuration_file(node)
    if file is None:
        raise _unknown(node, "the inventory gives no `host.config_file`")
    try:
        text = host.read_text(file)
        start = started_by(host, file, text)
        if start is not None:
            named = path_in_command(start.command)
            file = _file_in_command(start.command) or file
            text = host.read_text(file) if named is None else ""
    except HostError as error:
        raise _unknown(node, error.message) from error
    directory = named or path_in_file(text)
    if directory is None:
        raise _unknown(node, f"`{file}` does not name `storage.dbPath` as plain text")
    return _absolute(node, directory)


def living_directory(
    host: Host, footprint: Footprint | None, answer: Mapping[str, Any] | None
) -> Path | None:
    """Return where a living member keeps its data, by its `getCmdLineOpts` or its process.

    `answer` is None where it does not answer that. None if neither is known.
    """
    directory = footprint.directory if footprint is not None else None
    named: Any = None
    if answer is not None:
        named = answer.get("parsed", {}).get("storage", {}).get("dbPath") or _DEFAULT
    elif footprint is not None:
        named = path_in_command(footprint.command)
        file = _file_in_command(footprint.command)
        if named is None and file is not None:
            try:
                named = path_in_file(host.read_text((directory or Path()) / file))
            except HostError:
                return None
    path = (directory or Path()) / str(named or "")
    return path if named and path.is_absolute() else None


def is_data(file: Path) -> bool:
    """Whether a file that a member has open is one of its data, by its name."""
    return file.suffix == ".wt" or file.name in _MARKS or file.name.startswith("WiredTigerLog.")


def path_in_command(command: Sequence[str]) -> str | None:
    """Return the value of `--dbpath` in a command line, which wins over the file."""
    return _option(command, "dbpath")


def path_in_file(text: str) -> str | None:
    """Return `storage.dbPath` of a mongod.conf; None if it is not there or not plain text.

    As YAML, with a dot in the name or nested, or as lines of the older `dbpath=/d`.
    """
    try:
        data = read_yaml(text)
    except yaml.YAMLError:
        data = None
    if isinstance(data, Mapping):
        storage = data.get("storage")
        nested: Any = storage.get("dbPath") if isinstance(storage, Mapping) else None
        path = nested or data.get("storage.dbPath")
        return path if isinstance(path, str) and path else None
    for line in text.splitlines():
        name, _, value = line.partition("#")[0].partition("=")
        if name.strip() == "dbpath":
            return value.strip() or None
    return None


def check_contents(node: Node, host: Host, directory: Path) -> None:
    """Raise `Refused` if `directory` holds something, but nothing that a mongod would have left."""
    check_storage(node, host, directory, "MongoDB's", lambda names: bool(_MARKS & set(names)))


def _configuration_file(node: Node) -> Path | None:
    """Return the node's configuration file: the inventory's, else the one in its command."""
    if node.host is None:
        return None
    if node.host.config_file is not None:
        return node.host.config_file
    return _file_in_command(node.host.command)


def _file_in_command(command: Sequence[str]) -> Path | None:
    joined = (word[2:] for word in command if re.match(r"-f[^=-]", word))  # as `-f/etc/mongod.conf`
    named = _option(command, "config") or _option(command, "f") or next(joined, None)
    return Path(named) if named else None


def _option(command: Sequence[str], name: str) -> str | None:
    """Return the value of an option, which may have one dash or two."""
    for index, word in enumerate(command):
        option, has_value, value = word.partition("=")
        if not option.startswith("-") or option.lstrip("-").lower() != name:
            continue
        return (value or None) if has_value else next(iter(command[index + 1 :]), None)
    return None


def _absolute(node: Node, named: str) -> Path:
    if not Path(named).is_absolute():
        raise _unknown(node, f"its configuration has `dbPath` {named!r}, wanted an absolute path")
    return Path(named)


def _unknown(node: Node, why: str) -> Unnamed:
    return Unnamed(f"node `{node.name}`: its data directory is not known: {why}")
