"""Where nodes keep their data: what their configuration says, held against the living node.

A configuration file may be overridden by one that it includes, by the environment or by the command
line, or may have been edited since the node was started. So the node is asked while it lives, and
its process is looked at; a wipe of another directory would leave the node its data.

    configuration ─┐
    its own answer ├─▶ the same? ─▶ what a wipe empties
    its open files ┘
"""

from collections.abc import Callable, Sequence
from pathlib import Path

from brownout.base.errors import HostError, Refused
from brownout.inventory.model import Node
from brownout.machine.footprint import Footprint
from brownout.machine.host import Host

__all__ = ["Elsewhere", "Places", "Unnamed", "check_storage", "entries", "names", "strays"]


class Unnamed(Refused):
    """No configuration that could be read says where a node keeps its data."""


class Elsewhere(Refused):
    """The living node keeps its data elsewhere than its configuration says."""


class Places:
    """The data directories of one cluster's nodes; `is_data` tells the database's files by name.

    A stopped node cannot be asked any more, so what it said while it lived is kept.
    """

    def __init__(self, is_data: Callable[[Path], bool]) -> None:
        self._is_data = is_data
        self._answered: dict[str, list[Path]] = {}

    def agreed(
        self,
        node: Node,
        host: Host,
        configured: Callable[[], Sequence[Path]],
        living: Sequence[Path] | None,
        footprint: Footprint | None,
    ) -> list[Path]:
        """Return what a wipe of `node` has to empty, where all that is known of it agrees.

        `living` is the node's own answer, None if it gives none. It counts where the configuration
        names nothing (`Unnamed`), and for what the node uses besides. Raises `Elsewhere` where
        the configuration names what the living node does not use, or where the node has files of
        the database open elsewhere.
        """
        if living is not None:
            self._answered[node.name] = list(living)
        answered = self._answered.get(node.name)
        try:
            named = list(configured())
        except Unnamed:
            if answered is None:
                raise
            named = []
        if answered is not None:
            _check_same(node, host, named, answered)
            named = answered
        if footprint is not None:
            others = strays(host, footprint, named, self._is_data)
            if others:
                raise Elsewhere(
                    f"node `{node.name}`: its process has files open that look like its data and "
                    f"do not lie in {names(named)}: {names(others[:3])}",
                    "see which configuration it was started with",
                )
        return named


def entries(node: Node, host: Host, directory: Path) -> list[str]:
    """Return the names in a data directory of `node`; `Refused` where they are not known."""
    try:
        return host.entries(directory)
    except HostError as error:
        raise Refused(
            f"node `{node.name}`: its data directory is not known: {error.message}"
        ) from error


def check_storage(
    node: Node, host: Host, directory: Path, whose: str, is_ours: Callable[[list[str]], bool]
) -> None:
    """Raise `Refused` if `directory` holds something, but nothing that `whose` server left."""
    contents = entries(node, host, directory)
    if contents and not is_ours(contents):
        raise Refused(
            f"node `{node.name}`: `{directory}` does not look like {whose} storage: it holds "
            f"{', '.join(sorted(contents)[:5])}"
        )


def strays(
    host: Host, footprint: Footprint, directories: Sequence[Path], is_data: Callable[[Path], bool]
) -> list[Path]:
    """Return the open files that look like data and lie in none of `directories`."""
    files = [file for file in footprint.files if is_data(file)]
    if not files:
        return []
    real = host.resolved(directories)
    return sorted(file for file in files if not any(file.is_relative_to(each) for each in real))


def names(paths: Sequence[Path]) -> str:
    """Return paths for people."""
    return ", ".join(f"`{path}`" for path in paths) or "no directory"


def _check_same(node: Node, host: Host, named: Sequence[Path], answered: Sequence[Path]) -> None:
    """Refuse where the configuration names what the node does not use, whatever links there are."""
    if set(named) <= set(answered):
        return
    try:
        same = set(host.resolved(named)) <= set(host.resolved(answered))
    except HostError:
        same = False
    if not same:
        raise Elsewhere(
            f"node `{node.name}`: its configuration names {names(named)}, but it runs with "
            f"{names(answered)}",
            "restart it with its configuration, or correct the inventory",
        )
