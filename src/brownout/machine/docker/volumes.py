"""Whether a directory of a container may be emptied, as far as the engine's mounts tell. Pure.

What lies in the directory is looked at besides, by a helper that sees it (`cluster.directories`).
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

from brownout.machine.docker.container import Container, Mount

__all__ = ["refusals"]


def refusals(
    directory: PurePosixPath,
    container: Container,
    others: Mapping[str, Sequence[Mount]],
    volumes: Mapping[str, Mapping[str, Any]],
) -> Iterator[str]:
    """Yield every reason why `directory` must not be emptied.

    `others` are the mounts of the engine's other containers, by name; `volumes` is what the
    engine says of each volume of this one.
    """
    mount = container.mount_of(directory)
    if mount is None:
        yield "it lies on no volume of the container, only in its own layer"
        return
    if mount.kind != "volume":
        yield (
            f"it lies on a {mount.kind or 'foreign'} mount of `{mount.source}`, and "
            "its other users cannot be seen from here; give the node a volume"
        )
        return
    if not mount.writable:
        yield f"its volume `{mount.name}` is mounted read-only"
    yield from _driver(mount, volumes.get(mount.name, {}))
    for inner in container.mounts:
        if inner is not mount and inner.destination.is_relative_to(directory):
            yield f"something else is mounted in it at `{inner.destination}`"
    for name, mounts in others.items():
        if any(_shares(mount, theirs) for theirs in mounts):
            yield f"its volume `{mount.name}` is mounted in container `{name}` too"


def _driver(mount: Mount, volume: Mapping[str, Any]) -> Iterator[str]:
    """A volume of another driver, or with options, may be another machine's disk as well."""
    driver, options = volume.get("Driver"), volume.get("Options")
    if driver != "local" or options:
        what = f"driver `{driver}`" if driver != "local" else f"options {dict(options or {})}"
        yield f"its volume `{mount.name}` ({what}) may be in use elsewhere"


def _shares(own: Mount, theirs: Mount) -> bool:
    if theirs.kind == "volume":
        return theirs.name == own.name
    if theirs.kind != "bind" or not theirs.writable:
        return False  # what watches a machine has all of it, to read
    return own.source.is_relative_to(theirs.source) or theirs.source.is_relative_to(own.source)
