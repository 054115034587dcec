"""Copy one folder of a run to the store: every file, each checked there, and then its manifest.

The manifest comes last: what has one is whole. A folder that was copied before is only brought up
to date. What the store has is what a bundle would have: texts without anything like a secret.
"""

import hashlib
import io
import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from brownout.base.errors import RunDirectoryError
from brownout.base.files import private_file
from brownout.run.directory import runs_root
from brownout.run.metadata import read_json
from brownout.runs.evidence.entries import entries, entry, manifest_of
from brownout.runs.evidence.manifest import NAME, File, Manifest, parse
from brownout.runs.store.objects import NotThere, Objects
from brownout.runs.store.place import Place

__all__ = ["MARK", "Pushed", "is_pushed", "mark", "name_of", "push", "push_files"]

#: In a run's folder: where it was copied to, and by its own time when. It is not copied itself.
MARK = ".stored"


@dataclass(frozen=True, slots=True)
class Pushed:
    """What was done: files in all, and those that had to be sent, in bytes too."""

    url: str
    files: int
    sent: int
    sent_bytes: int


def push(folder: Path, objects: Objects) -> Pushed:
    """Copy `folder` to the store and mark it; raises `StoreError` and leaves it unmarked if not."""
    began = _begin(folder)
    name, files = name_of(folder), entries(folder)
    before = _there(name, objects)
    sizes = objects.sizes(name) if before else {}
    new = {each: one for each, one in files.items() if not _is_there(one.file, each, before, sizes)}
    for each, one in new.items():
        objects.put(f"{name}/{each}", one.open, one.file)
    if new or before is None or set(before.files) != set(files):
        _put_manifest(objects, manifest_of(folder, name, files))
    mark(folder, objects.place, began)
    sent_bytes = sum(one.file.bytes for one in new.values())
    return Pushed(f"{objects.place.url}/{name}", len(files), len(new), sent_bytes)


def push_files(folder: Path, names: Iterable[str], objects: Objects) -> None:
    """Copy some files of a folder that may still change; it gets no manifest and no mark."""
    for name in names:
        one = entry(folder / name)
        objects.put(f"{name_of(folder)}/{name}", one.open, one.file)


def name_of(folder: Path) -> str:
    """Return what a folder is called in the store: its path below the runs, else its own name."""
    try:
        return folder.resolve().relative_to(runs_root().resolve()).as_posix()
    except ValueError:
        return folder.resolve().name


def mark(folder: Path, place: Place, began_ns: int | None = None) -> None:
    """Note in the folder where it was copied to, as it was at `began_ns` or is now."""
    try:
        private_file(folder / MARK).write_text(
            json.dumps({"store": place.url}) + "\n", encoding="utf-8"
        )
        if began_ns is not None:
            os.utime(folder / MARK, ns=(began_ns, began_ns))
    except OSError as error:
        raise _unwritable(folder, error) from error


def _begin(folder: Path) -> int:
    """Return the time by the clock of the folder's file system, in ns; forget an older mark."""
    try:
        private_file(folder / MARK).write_text("{}\n", encoding="utf-8")
        return (folder / MARK).stat().st_mtime_ns
    except OSError as error:
        raise _unwritable(folder, error) from error


def _unwritable(folder: Path, error: OSError) -> RunDirectoryError:
    return RunDirectoryError(f"{folder / MARK}: cannot be written: {error.strerror}")


def is_pushed(folder: Path, place: Place) -> bool:
    """Whether all of `folder` as it is now was copied to `place`, by the note in it."""
    try:
        if read_json(folder / MARK).get("store") != place.url:
            return False
        since = (folder / MARK).stat().st_mtime_ns
        files = (path for path in folder.rglob("*") if not path.name.startswith("."))
        return all(path.stat().st_mtime_ns < since for path in files if path.is_file())
    except (RunDirectoryError, OSError):
        return False


def _there(name: str, objects: Objects) -> Manifest | None:
    try:
        return parse(objects.read(f"{name}/{NAME}"), objects.place.url)
    except NotThere:
        return None


def _is_there(file: File, name: str, before: Manifest | None, sizes: Mapping[str, int]) -> bool:
    """Whether the manifest lists it so, and it was neither removed nor cut since."""
    listed = before.files.get(name) if before else None
    return listed is not None and listed.sha256 == file.sha256 and sizes.get(name) == file.bytes


def _put_manifest(objects: Objects, manifest: Manifest) -> None:
    data = manifest.as_bytes()
    listed = File(bytes=len(data), sha256=hashlib.sha256(data).hexdigest())
    objects.put(f"{manifest.run_id}/{NAME}", lambda: io.BytesIO(data), listed)
