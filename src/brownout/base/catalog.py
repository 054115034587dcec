"""What comes with brownout as data: experiments, workloads, limits, clusters. Read and copied.

A collection is a folder of files of one kind; a name in it is the file's without the ending.
"""

import difflib
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from brownout.base.errors import ConfigurationError
from brownout.base.files import is_file

__all__ = [
    "COLLECTIONS",
    "Collection",
    "find_experiment",
    "find_file",
    "is_path",
    "names",
    "read",
]


@dataclass(frozen=True, slots=True)
class Collection:
    """Where a kind of file lies, from the root of the checkout and of the package alike."""

    folder: str
    ending: str


COLLECTIONS = {
    "experiments": Collection("experiments", ".json"),
    "gamedays": Collection("experiments/gamedays", ".yaml"),
    "books": Collection("experiments/books", ".yaml"),
    "comparisons": Collection("experiments/clients", ".yaml"),
    "workloads": Collection("steady-state/workloads", ".yaml"),
    "limits": Collection("steady-state/slo", ".yaml"),
    "clusters": Collection("infra/clusters", ".yaml"),
}


def names(collection: str) -> list[str]:
    """Return the names of all files of a collection, sorted."""
    return sorted(name for name, _ in _files(collection))


def read(collection: str, name: str) -> str:
    """Return the text of a shipped file; `ConfigurationError` with the known names."""
    return _find(collection, name).read_text(encoding="utf-8")


def is_path(text: str) -> bool:
    """Say whether `text` is the path of a file and no name: it has a slash or a file's ending."""
    return "/" in text or text.endswith((".json", ".yaml", ".yml"))


def find_experiment(text: str) -> Path:
    """Return the file of an experiment given by its path or by the name of a shipped one."""
    return find_file("experiments", text)


def find_file(collection: str, text: str) -> Path:
    """Return a file that people named: by its path, or as a shipped one of `collection`."""
    path = Path(text)
    if is_file(path):
        return path
    if is_path(text):
        kind = collection.removesuffix("s")
        raise ConfigurationError(f"{text}: no such {kind}", f"see `brownout list {collection}`")
    return Path(str(_find(collection, text)))


def _find(collection: str, name: str) -> Traversable:
    for each, file in _files(collection):
        if each == name:
            return file
    listed = names(collection)
    near = difflib.get_close_matches(name, listed, n=1)
    raise ConfigurationError(
        f"{collection}: found {name[:100]!r}, wanted one of {', '.join(listed) or 'none'}",
        f"did you mean `{near[0]}`?" if near else "",
    )


def _files(collection: str) -> Iterator[tuple[str, Traversable]]:
    where = COLLECTIONS[collection]
    folder = files("brownout").joinpath(*where.folder.split("/"))
    if folder.is_dir():
        for file in folder.iterdir():
            if file.name.endswith(where.ending):
                yield file.name.removesuffix(where.ending), file
