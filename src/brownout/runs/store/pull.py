"""See what a store has, and fetch a run from it: whole and as it was sent, or not at all."""

import shutil
from dataclasses import dataclass
from pathlib import Path

from brownout.base.errors import ConfigurationError, RunDirectoryError
from brownout.base.files import private_directory
from brownout.run.directory import EXPLORATIONS, GAMEDAYS
from brownout.runs.evidence.manifest import NAME, Manifest, parse
from brownout.runs.store.objects import NotThere, Objects
from brownout.runs.store.push import mark

__all__ = ["Stored", "list_stored", "pull"]


@dataclass(frozen=True, slots=True)
class Stored:
    """One run in a store; without a manifest it is not whole: its last file is still to come."""

    name: str
    manifest: Manifest | None

    @property
    def verdict(self) -> str:
        """The verdict, or why there is none."""
        return self.manifest.verdict if self.manifest else "not whole"

    @property
    def bytes(self) -> int:
        """The size of its files."""
        return sum(file.bytes for file in self.manifest.files.values()) if self.manifest else 0


def list_stored(objects: Objects, last: int) -> list[Stored]:
    """Return the `last` runs and game days of the store, the oldest first."""
    runs = [name for name in objects.folders() if name not in (EXPLORATIONS, GAMEDAYS)]
    named = {name.rpartition("/")[2]: name for name in [*runs, *objects.folders(f"{GAMEDAYS}/")]}
    return [_stored(named[key], objects) for key in sorted(named)[-last:]]


def _stored(name: str, objects: Objects) -> Stored:
    try:
        return Stored(name, parse(objects.read(f"{name}/{NAME}"), objects.place.url))
    except NotThere:
        return Stored(name, None)


def pull(name: str, objects: Objects, root: Path) -> Path:
    """Fetch a run to `root`/`name` and return that; every file has its checksum.

    Raises `ConfigurationError` where that is there already or the store has no such run, and
    `StoreError` where a file is missing or damaged; nothing is left of it then.
    """
    target = root / name
    if target.exists():
        raise ConfigurationError(
            f"{target}: is there already and is not written over",
            "give another with --output",
        )
    manifest = _stored(name, objects).manifest
    if manifest is None or manifest.run_id != name:
        raise ConfigurationError(
            f"{objects.place.url}/{name}: there is no such run, or it is not whole",
            "`brownout store list` says what there is",
        )
    beside = target.with_name(f".{target.name}.part")
    shutil.rmtree(beside, ignore_errors=True)
    try:
        _fetch(manifest, objects, beside)
        beside.rename(target)
    except OSError as error:
        raise RunDirectoryError(f"{target}: cannot be written: {error.strerror}") from error
    finally:
        shutil.rmtree(beside, ignore_errors=True)
    mark(target, objects.place)
    return target


def _fetch(manifest: Manifest, objects: Objects, folder: Path) -> None:
    for name, listed in manifest.files.items():
        path = folder / name
        private_directory(path.parent)
        objects.fetch(f"{manifest.run_id}/{name}", path, listed)
