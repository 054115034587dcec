"""`brownout sudoers`: the least rights on the machines of nodes, as files to be installed there."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from brownout.cli.arguments import complete_cluster

if TYPE_CHECKING:
    from collections.abc import Mapping

    from brownout.inventory.model import Cluster, Node

__all__ = ["sudoers"]


def sudoers(
    cluster: Annotated[str, typer.Argument(help="A cluster.", autocompletion=complete_cluster)],
    node: Annotated[str, typer.Option(help="Only for this node; default: every one.")] = "",
    output: Annotated[
        Path | None, typer.Option(help="Write NODE/install.sh and all that it installs below this.")
    ] = None,
    directory: Annotated[
        list[str] | None,
        typer.Option(help="NODE=DIR: what a wipe may empty, where it cannot be read. Repeatable."),
    ] = None,
) -> None:
    """Write what lets brownout's login do what the inventory allows on a node, and nothing else.

    Prints the sudoers files; touches no node.
    """
    from brownout.inventory import inventory
    from brownout.machine.ssh.spec import SshSpec
    from brownout.machine.ssh.sudoers import installation

    loaded = inventory.load(cluster)
    named = _by_node(directory or [], loaded)
    wanted = (
        [loaded.node(node)] if node else [n for n in loaded.every if isinstance(n.host, SshSpec)]
    )
    for each in wanted:
        directories = named.get(each.name) or _configured(loaded, each)
        text = installation(loaded, each, directories)
        typer.echo(text.sudoers)
        if output is not None:
            _write(output / each.name, text.files)


def _by_node(given: list[str], cluster: "Cluster") -> dict[str, list[Path]]:
    """Read `n1=/var/lib/db` and the like."""
    from brownout.base.errors import ConfigurationError

    by_node: dict[str, list[Path]] = {}
    for text in given:
        name, sign, path = text.partition("=")
        if not sign or not path.startswith("/"):
            raise ConfigurationError(f"--directory: found {text!r}, wanted NODE=/an/absolute/path")
        by_node.setdefault(cluster.node(name).name, []).append(Path(path))
    return by_node


def _configured(cluster: "Cluster", node: "Node") -> list[Path]:
    """Ask the database's adapter, which reads the node's configuration as our plain login."""
    from contextlib import closing

    from brownout.base.errors import BrownoutError
    from brownout.databases.adapter import adapter_for
    from brownout.machine.ssh.spec import SshSpec

    if not cluster.allow_data_loss or node.host is None:
        return []

    def plain(each: "Node") -> "Node":
        if not isinstance(each.host, SshSpec):
            return each
        return each.model_copy(update={"host": each.host.model_copy(update={"sudo": False})})

    nodes = {name: tuple(map(plain, getattr(cluster, name))) for name in ("nodes", "spares")}
    bare = cluster.model_copy(update=nodes)
    try:
        with closing(adapter_for(bare)) as adapter:
            return list(adapter.data_directories(bare.node(node.name)))
    except BrownoutError as error:
        typer.echo(
            f"brownout: node `{node.name}`: no right to wipe it, since its data directory is not "
            f"known: {error.message}; name it by --directory {node.name}=DIR",
            err=True,
        )
        return []


def _write(place: Path, files: "Mapping[str, str]") -> None:
    for name, text in files.items():
        file = place / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        file.chmod(0o755 if name.startswith("helpers/") or name.endswith(".sh") else 0o644)
