"""Where a node keeps its data: the files that its own aerospike.conf names."""

from pathlib import Path

from brownout.cluster.host import Host
from brownout.cluster.model import Node
from brownout.errors import HostError, Refused

__all__ = ["directories", "files_in"]


def directories(node: Node, host: Host) -> list[Path]:
    """Return the directories of the node's storage files, without doubles.

    Raises `Refused` if its configuration cannot be read or names none.
    """
    file = node.host.config_file if node.host else None
    if file is None:
        raise _unknown(node, "the inventory gives no `host.config_file`")
    try:
        found = files_in(host.read_text(file))
    except HostError as error:
        raise _unknown(node, error.message) from error
    if not found:
        raise _unknown(node, f"`{file}` names no `file` in a `storage-engine device`")
    return sorted({path.parent for path in found})


def files_in(text: str) -> list[Path]:
    """Return each `file` of a `storage-engine` in an aerospike.conf."""
    found: list[Path] = []
    contexts: list[str] = []
    for line in text.splitlines():
        words = line.partition("#")[0].split()
        if not words:
            continue
        if words[-1] == "{":
            contexts.append(words[0])
        elif words[0] == "}":
            contexts = contexts[:-1]
        elif words[0] == "file" and contexts and contexts[-1] == "storage-engine":
            found.append(Path(words[1]))
    return found


def _unknown(node: Node, why: str) -> Refused:
    return Refused(f"node `{node.name}`: its storage files are not known: {why}")
