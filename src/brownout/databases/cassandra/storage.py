"""Where a node keeps its data, and whether it comes back without it, by its own configuration."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from brownout.base.errors import HostError, Refused
from brownout.databases.places import Unnamed, check_storage
from brownout.inventory.model import Node
from brownout.machine.host import Host

__all__ = ["NAMES", "answered", "check_contents", "check_returns", "directories", "is_data"]
__all__ += ["is_empty"]

_DATA, _LOG, _HINTS = "data_file_directories", "commitlog_directory", "hints_directory"
_CAPTURED = "cdc_raw_directory"
_OTHERS = ("saved_caches_directory", _CAPTURED, "local_system_data_file_directory")
#: What a node is asked for.
NAMES = (_DATA, _LOG, _HINTS, *_OTHERS)
#: Where it puts what is not set, in its `storagedir`.
_USUAL = {
    _DATA: "data",
    _LOG: "commitlog",
    _HINTS: "hints",
    "saved_caches_directory": "saved_caches",
}
_FILES = re.compile(r"-(Data|Index|Rows|Partitions|Statistics)\.db$|^CommitLog-.*\.log$|\.hints$")
#: What a node first creates in its data directories, and the suffixes of its other files.
_MARKS, _ENDS = frozenset({"system", "system_schema"}), (".log", ".hints", ".crc32", ".db", ".idx")
_REPLACE = ("replace_address_first_boot", "replace_address")


def directories(node: Node, settings: Mapping[str, Any], storagedir: str = "") -> list[Path]:
    """Return all directories in which a node keeps state: data, commit log, hints and others.

    `storagedir` is where Cassandra itself puts what is not set, by its JVM's property of that name.
    Raises `Unnamed` if one of the first three is not known.
    """
    usual = {name: f"{storagedir}/{place}" for name, place in _USUAL.items() if storagedir}
    settings = {**usual, **{name: value for name, value in settings.items() if value}}
    paths = [Path(str(path)) for path in _listed(settings.get(_DATA))]
    paths += [Path(str(settings[name])) for name in (_LOG, _HINTS, *_OTHERS) if name in settings]
    missing = [name for name in (_DATA, _LOG, _HINTS) if not settings.get(name)]
    relative = [str(path) for path in paths if not path.is_absolute()]
    if missing or relative:
        what = f"does not name {', '.join(missing)}" if missing else f"names {', '.join(relative)}"
        script = "; without them its start script decides (only bin/cassandra.in.sh is read)"
        raise Unnamed(
            f"node `{node.name}`: its data directories are not known: its cassandra.yaml {what}, "
            "wanted absolute paths",
            f"set them to what they are{script if missing else ''}",
        )
    return paths


def answered(rows: Mapping[str, str], settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a node's `system_views.settings` say of its directories: `[/a, /b]` is a list.

    What it does not use (`null`) is left out. Where changes are captured (`cdc_raw_directory`)
    it names whether there is such a directory or not; it counts if its `settings` have it.
    """
    directories: dict[str, Any] = {}
    for name in (_DATA, _LOG, _HINTS, *_OTHERS):
        value = rows.get(name, "").strip()
        if value in ("", "null", "[]") or (name == _CAPTURED and name not in settings):
            continue
        is_list = value.startswith("[") and value.endswith("]")
        directories[name] = [each.strip() for each in value[1:-1].split(",")] if is_list else value
    return directories


def is_data(file: Path) -> bool:
    """Whether a file that a node has open is one of its data, by its name."""
    return _FILES.search(file.name) is not None


def check_returns(node: Node, settings: Mapping[str, Any], given: Mapping[str, str]) -> None:
    """Raise `Refused` if the node, without data, would join as a new node or would copy nothing.

    A node with data ignores `replace_address_first_boot`, so it can stay set.
    """
    own = str(settings.get("broadcast_address") or settings.get("listen_address") or "")
    port = str(settings.get("storage_port") or 7000)
    replaces = next((given[name] for name in _REPLACE if given.get(name)), "")
    if not replaces or (own and replaces not in (own, f"{own}:{port}")):
        wanted = own or "its own address"
        raise Refused(
            f"node `{node.name}`: its JVM has replace_address_first_boot {replaces!r}, wanted "
            f"{wanted!r}: without its data it would not come back as the node that it was",
            f"add -Dcassandra.replace_address_first_boot={wanted} to its jvm-server.options; a "
            "node that has its data ignores it",
        )
    if own and {own, f"{own}:{port}"} & set(_seeds(settings)):
        raise Refused(
            f"node `{node.name}`: it is a seed in its own cassandra.yaml, and a seed does not copy "
            "its missing data from others",
            "let its own file name only other nodes as seeds; theirs may name it",
        )
    if str(settings.get("auto_bootstrap", True)).lower() == "false":
        raise Refused(
            f"node `{node.name}`: its cassandra.yaml has `auto_bootstrap: false`, so it would not "
            "copy its missing data from others",
            "take that line away",
        )


def check_contents(node: Node, host: Host, directory: Path) -> None:
    """Raise `Refused` if `directory` is not empty and nothing in it looks like Cassandra's."""
    check_storage(
        node,
        host,
        directory,
        "Cassandra's",
        lambda names: any(name in _MARKS or name.endswith(_ENDS) for name in names),
    )


def is_empty(host: Host, settings: Mapping[str, Any]) -> bool:
    """Return whether its data directories hold no data."""
    try:
        return not any(
            _MARKS & set(host.entries(Path(str(path)))) for path in _listed(settings.get(_DATA))
        )
    except HostError:
        return False


def _listed(value: Any) -> Sequence[Any]:
    if value is None:
        return ()
    return value if isinstance(value, list) else (value,)


def _seeds(settings: Mapping[str, Any]) -> list[str]:
    """Return the seeds of all providers: `parameters: [{seeds: "10.0.0.1,10.0.0.2"}]`."""
    seeds = []
    for provider in _listed(settings.get("seed_provider")):
        for parameters in _listed(provider.get("parameters")):
            seeds += str(parameters.get("seeds", "")).split(",")
    return [seed.strip() for seed in seeds if seed.strip()]
