"""Where a node keeps its data: the files and devices that its own aerospike.conf names."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from brownout.base.errors import HostError, Refused
from brownout.databases.aerospike.conf import settings
from brownout.inventory.model import Node
from brownout.machine.host import Host

__all__ = ["configuration", "devices_in", "files_in", "named", "targets"]


def targets(node: Node, host: Host) -> list[Path]:
    """Return what a wipe of the node has to empty: the directories of its files, and its devices.

    Raises `Refused` if its configuration cannot be read or names neither, if a directory holds
    anything but the node's own storage, or if the inventory lists devices and the node has none.
    """
    text = configuration(node, host)
    files, devices = files_in(text), devices_in(text)
    listed = getattr(node.host, "devices", ())
    if listed and not devices:
        told = ", ".join(f"`{path}`" for path in listed)
        raise Refused(
            f"node `{node.name}`: the inventory lists {told} under `devices`, but the node's own "
            "configuration names no device",
            "correct the inventory: only what the node itself stores on is wiped",
        )
    for directory in _directories(files):
        _check_contents(node, host, directory, {file.name for file in files})
    return named(node, host)


def named(node: Node, host: Host) -> list[Path]:
    """Return the directories of the node's storage files, and its devices, as they are named.

    Raises `Refused` if its configuration cannot be read or names neither.
    """
    text = configuration(node, host)
    found = [*_directories(files_in(text)), *devices_in(text)]
    if not found:
        raise _unknown(node, "its configuration names no `file` or `device` of a `storage-engine`")
    return found


def _directories(files: Iterable[Path]) -> list[Path]:
    return sorted({path.parent for path in files})


def files_in(text: str) -> list[Path]:
    """Return each `file` of a `storage-engine` in an aerospike.conf, shadow files too."""
    return list(_lines("file", text))


def devices_in(text: str) -> list[Path]:
    """Return each `device` of a `storage-engine` in an aerospike.conf, shadow devices too.

    A node whose shadow device is left alone comes back with all its data from there.
    """
    return list(_lines("device", text))


def _lines(word: str, text: str) -> Iterator[Path]:
    for one in settings(text):
        if one.name == word and one.context == "storage-engine":
            yield from map(Path, one.values)


def configuration(node: Node, host: Host) -> str:
    """Return the text of the node's own configuration; `Refused` if it cannot be read."""
    file = node.host.config_file if node.host else None
    if file is None:
        raise _unknown(node, "the inventory gives no `host.config_file`")
    try:
        return host.read_text(file)
    except HostError as error:
        raise _unknown(node, error.message) from error


def _check_contents(node: Node, host: Host, directory: Path, own: set[str]) -> None:
    """A wipe empties a directory, so nothing but the node's storage files may be in it."""
    try:
        foreign = sorted(set(host.entries(directory)) - own)
    except HostError as error:
        raise _unknown(node, error.message) from error
    if foreign:
        raise Refused(
            f"node `{node.name}`: `{directory}` holds more than its storage files: "
            f"{', '.join(foreign[:5])}",
            "give the storage files a directory of their own",
        )


def _unknown(node: Node, why: str) -> Refused:
    return Refused(f"node `{node.name}`: its storage is not known: {why}")
