"""Where a node keeps its data, by its own configuration."""

from collections.abc import Mapping
from pathlib import Path

from brownout.databases.places import Unnamed, check_storage, entries
from brownout.inventory.model import Node
from brownout.machine.host import Host

__all__ = ["SETTINGS", "check_contents", "directory", "holds_data", "is_data"]

#: What a living node is asked for.
SETTINGS = ("dir", "dbfilename", "appenddirname", "appendfilename")

#: The names as Redis has them without being told.
_NODES, _FOLDER, _SNAPSHOT, _LOG = "nodes.conf", "appendonlydir", "dump.rdb", "appendonly.aof"


def directory(node: Node, settings: Mapping[str, str]) -> Path:
    """Return the node's data directory.

    Raises `Unnamed` where the configuration names none: Redis keeps it where it was started.
    """
    named = settings.get("dir", "")
    if not Path(named).is_absolute():
        raise Unnamed(
            f"node `{node.name}`: its data directory is not known: its configuration has "
            f"`dir` {named!r}, wanted an absolute path",
            "set it, or give the inventory the node's `host.config_file`",
        )
    return Path(named)


def is_data(file: Path) -> bool:
    """Whether a file that a node has open is one of its data, by its name."""
    return file.name == _NODES or file.suffix in (".rdb", ".aof", ".manifest")


def check_contents(node: Node, host: Host, at: Path, settings: Mapping[str, str]) -> None:
    """Raise `Refused` if `at` holds something, but nothing that Redis would have left."""
    nodes = Path(settings.get("cluster-config-file", _NODES)).name
    check_storage(node, host, at, "Redis's", lambda names: nodes in names or _data(names, settings))


def holds_data(node: Node, host: Host, at: Path, settings: Mapping[str, str]) -> bool:
    """Return whether a node that starts there has data to load."""
    return _data(entries(node, host, at), settings)


def _data(names: list[str], settings: Mapping[str, str]) -> bool:
    kept = {
        settings.get("appenddirname", _FOLDER),
        settings.get("appendfilename", _LOG),
        settings.get("dbfilename", _SNAPSHOT),
    }
    return bool(kept & set(names))
