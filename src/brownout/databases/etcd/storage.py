"""Where a member keeps its data, by its own configuration, and whether it can come back without."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from brownout.base.errors import HostError, Refused
from brownout.databases.places import Unnamed, check_storage
from brownout.inventory.model import Node
from brownout.machine.host import Host

__all__ = ["check_contents", "check_returns", "directories", "is_data", "is_empty"]
__all__ += ["peer_url"]

#: What etcd makes in its data directory, and in that of its log.
_MARK, _LOG = "member", ".wal"


def directories(node: Node, settings: Mapping[str, str]) -> list[Path]:
    """Return the node's data directory and, where it has one of its own, that of its log.

    Raises `Unnamed` where the configuration names none: etcd's default depends on where it runs.
    """
    named, log = settings.get("data-dir", ""), settings.get("wal-dir", "")
    if not _is_known(named) or (log and not _is_known(log)):
        raise Unnamed(
            f"node `{node.name}`: its data directory is not known: its configuration has "
            f"`data-dir` {named!r}, wanted an absolute path, as of `wal-dir`",
            "set it, or give the inventory the node's `host.config_file`",
        )
    return [Path(named), *([Path(log)] if log else [])]


def _is_known(path: str) -> bool:
    """Whether a path is absolute and has no variable that a shell or systemd fills in."""
    return Path(path).is_absolute() and not set(path) & set("$%`")


def is_data(file: Path) -> bool:
    """Whether a file that a member has open is one of its data, by its name."""
    return file.suffix == _LOG or (file.name == "db" and file.parent.name == "snap")


def peer_url(node: Node, settings: Mapping[str, str]) -> str:
    """Return the URL by which others know the node; `Refused` where it is not named."""
    named = settings.get("initial-advertise-peer-urls", "").split(",")[0]
    if not named:
        raise Refused(
            f"node `{node.name}`: its configuration has no `initial-advertise-peer-urls`, by which "
            "the others would take it in again after it lost its data"
        )
    return named


def check_returns(node: Node, settings: Mapping[str, str]) -> None:
    """Refuse a wipe of a node that would not come back as a member of its cluster.

    With the state `new` a member without data begins a cluster of its own, or refuses to start.
    """
    peer_url(node, settings)
    state = settings.get("initial-cluster-state", "new")
    if state != "existing":
        raise Refused(
            f"node `{node.name}`: its configuration has `initial-cluster-state` {state!r}, wanted "
            "'existing': without its data it would not join its cluster again",
            "set it to existing, which means nothing to a member that has its data",
        )


def check_contents(node: Node, host: Host, directory: Path) -> None:
    """Raise `Refused` if `directory` holds something, but nothing that etcd would have left."""
    check_storage(
        node,
        host,
        directory,
        "etcd's",
        lambda names: any(name == _MARK or name.endswith(_LOG) for name in names),
    )


def is_empty(host: Host, directories: Sequence[Path]) -> bool:
    """Return whether a member that starts there has no data; also where they are not there.

    A log of its own may lie in the data directory, which then holds its empty directory.
    """
    data, log = directories[0], directories[-1]
    if log == data:
        log = data / _MARK / "wal"
    logged = any(name.endswith(_LOG) for name in _entries(host, log))
    return not logged and "db" not in _entries(host, data / _MARK / "snap")


def _entries(host: Host, directory: Path) -> list[str]:
    try:
        return host.entries(directory)
    except HostError:
        return []
