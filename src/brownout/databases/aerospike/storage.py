"""Where a node keeps its data: the files and devices that its aerospike.conf and itself name."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from brownout.base.errors import HostError, Refused
from brownout.databases.aerospike.conf import settings
from brownout.databases.places import Unnamed
from brownout.inventory.model import Node
from brownout.machine.host import Host

__all__ = ["check_contents", "check_listed", "configuration", "devices_in", "files_in"]
__all__ += ["is_data", "living", "named", "places", "stored_on"]

#: What a node's `get-config` of a namespace calls its files, devices and their shadows.
_LIVING = re.compile(r"storage-engine\.(file|device)(\[\d+\])?(\.shadow)?")


def check_listed(node: Node, devices: Sequence[Path]) -> None:
    """Refuse where the inventory lists devices and the node stores on none."""
    listed = getattr(node.host, "devices", ())
    if listed and not devices:
        paths = ", ".join(f"`{path}`" for path in listed)
        raise Refused(
            f"node `{node.name}`: the inventory lists {paths} under `devices`, but the node's own "
            "configuration names no device",
            "correct the inventory: only what the node itself stores on is wiped",
        )


def check_contents(node: Node, host: Host, files: Sequence[Path]) -> None:
    """A wipe empties directories, so nothing but the node's storage `files` may be in them."""
    directories = _directories(files)
    own = {each.name for each in (*files, *directories)}
    for directory in directories:
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


def stored_on(node: Node, host: Host) -> tuple[list[Path], list[Path]]:
    """Return the files and the devices of the node's storage, as its configuration names them.

    Raises `Unnamed` if that cannot be read or names neither, and `Refused` where an index is kept
    that a wipe of these would leave.
    """
    text = configuration(node, host)
    mounts = [one.values for one in settings(text) if one.name == "mount" and one.values]
    if mounts:
        paths = ", ".join(f"`{path}`" for values in mounts for path in values)
        raise Refused(
            f"node `{node.name}`: its configuration keeps an index on {paths} (`index-type` or "
            "`sindex-type`), which a wipe of its storage would leave",
            "wipe such a node by hand",
        )
    return _stored(node, text)


def _stored(node: Node, text: str) -> tuple[list[Path], list[Path]]:
    files, devices = files_in(text), devices_in(text)
    if not files and not devices:
        raise _unknown(node, "its configuration names no `file` or `device` of a `storage-engine`")
    return files, devices


def named(node: Node, host: Host) -> list[Path]:
    """Return the directories of the node's storage files, and its devices, as they are named."""
    return places(*_stored(node, configuration(node, host)))


def living(configurations: Iterable[Mapping[str, str]]) -> tuple[list[Path], list[Path]]:
    """Return the files and the devices that a living node's `get-config` names."""
    paths: dict[str, list[Path]] = {"file": [], "device": []}
    for configuration in configurations:
        for name, value in configuration.items():
            match = _LIVING.fullmatch(name)
            if match is not None:
                paths[match[1]] += [Path(path) for path in value.split(",") if path[:1] == "/"]
    return paths["file"], paths["device"]


def is_data(file: Path) -> bool:
    """Whether a file that a node has open may be one of its data: a device, or by its name."""
    is_device = file.is_relative_to("/dev") and not file.is_relative_to("/dev/shm")
    return is_device or file.suffix == ".dat"


def places(files: Iterable[Path], devices: Iterable[Path]) -> list[Path]:
    """Return what a wipe empties: the directories of files, and devices."""
    return [*_directories(files), *devices]


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
    """Return the text of the node's own configuration; `Unnamed` if it cannot be read."""
    file = node.host.config_file if node.host else None
    if file is None:
        raise _unknown(node, "the inventory gives no `host.config_file`")
    try:
        return host.read_text(file)
    except HostError as error:
        raise _unknown(node, error.message) from error


def _unknown(node: Node, why: str) -> Unnamed:
    return Unnamed(f"node `{node.name}`: its storage is not known: {why}")
