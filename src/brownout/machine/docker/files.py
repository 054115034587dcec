"""Reading a container's files, running or not: one file by the engine, names by a helper."""

import io
import tarfile
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from brownout.base.errors import HostError
from brownout.machine import files
from brownout.machine.docker.container import Container
from brownout.machine.docker.helper import HelperRunner

__all__ = ["entries", "read_text", "resolved"]

#: A larger file is not a configuration.
_MOST_BYTES = 16 << 20


def read_text(client: Any, container: Container, path: PurePosixPath) -> str:
    """Return the text of a file; the engine sends it in a tar archive."""
    try:
        chunks, _ = client.get_archive(container.id, str(path))
        return _only_file(_bounded(chunks)).decode("utf-8")
    except (ValueError, tarfile.TarError) as error:
        raise _unreadable(container, path, str(error)) from error


def entries(client: Any, container: Container, node: str, path: PurePosixPath) -> list[str]:
    """Return the names in a directory of the container's volumes.

    By a helper: the engine itself would send all that is in the directory as well.
    """
    if container.mount_of(path) is None:
        raise _unreadable(container, path, "it lies on no volume of the container")
    return files.entries(HelperRunner(client, container), node, path)


def resolved(client: Any, container: Container, node: str, paths: Sequence[Path]) -> list[Path]:
    """Return where paths lead in the container, without links, as a helper sees them."""
    return files.resolved(HelperRunner(client, container), node, paths)


def _bounded(chunks: Any) -> bytes:
    read = b""
    for chunk in chunks:
        read += chunk
        if len(read) > _MOST_BYTES:
            raise ValueError(f"it is longer than {_MOST_BYTES >> 20} MiB")
    return read


def _only_file(archive: bytes) -> bytes:
    with tarfile.open(fileobj=io.BytesIO(archive)) as opened:
        first = opened.next()
        file = opened.extractfile(first) if first is not None and first.isfile() else None
        if file is None:
            raise ValueError("it is not a plain file")
        return file.read()


def _unreadable(container: Container, path: PurePosixPath, why: str) -> HostError:
    return HostError(f"container {container.name}: `{path}` cannot be read: {why}")
