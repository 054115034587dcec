"""Check a bundle without unpacking it: every file against its checksum, and nothing that is more.

A bundle may come from anywhere: links and names that lead elsewhere are refused, and no more is
unpacked than the manifest says there is, of headers as of files.
"""

import gzip
import hashlib
import io
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from brownout.base.errors import ConfigurationError
from brownout.measure.document import has_its_digest
from brownout.runs.evidence.manifest import NAME, Manifest, parse, unsafe

__all__ = ["Checked", "verify"]

#: A manifest of ten thousand files is smaller.
_MOST_MANIFEST = 4_000_000
#: What tarfile and zlib raise where an archive is damaged or ends early.
_BROKEN = (tarfile.TarError, EOFError, OSError, ValueError)
_BLOCK = 1 << 20
#: No read of ours, and no header of a bundle, is larger. tarfile reads a header into memory whole.
_MOST_AT_ONCE = 8 << 20
#: A file takes three headers at most, and is filled up to whole blocks.
_FRAME = 4 * tarfile.BLOCKSIZE
#: The tables of a run shrink to a tenth; what unpacks to more than this many times is a trap.
_MOST_TIMES = 200
_SMALL = 100_000_000
#: An impact has some 100 kB; a larger file is refused.
_MOST_IMPACT = 100_000_000


@dataclass(slots=True)
class Checked:
    """What was found: each file that is damaged, missing, added, or not safe; empty is good."""

    manifest: Manifest
    sha256: str
    damaged: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    added: list[str] = field(default_factory=list)
    unsafe: list[str] = field(default_factory=list)

    @property
    def problems(self) -> list[str]:
        """All of it in words."""
        return [
            *(f"unsafe: {each}" for each in self.unsafe),
            *(f"damaged: {each}" for each in self.damaged),
            *(f"missing: {each}" for each in self.missing),
            *(f"added: {each}" for each in self.added),
        ]


def verify(path: Path) -> Checked:
    """Check the bundle at `path`; raises `ConfigurationError` if it is not a bundle."""
    try:
        with path.open("rb") as file:
            sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise ConfigurationError(f"{path}: cannot be read: {error.strerror}") from error
    try:
        with (
            _Bounded(path) as unpacked,
            tarfile.open(fileobj=unpacked, mode="r:") as archive,
        ):
            manifest = _manifest(archive, path)
            unpacked.limit = _unpacked_size(manifest, path)
            checked = Checked(manifest, sha256)
            _check(archive, checked)
    except _BROKEN as error:
        raise ConfigurationError(f"{path}: is not a bundle: {error}") from error
    return checked


class _Bounded(gzip.GzipFile):
    """An archive that unpacks to `limit` bytes at most; raises `ValueError` beyond it."""

    limit = _MOST_MANIFEST + _FRAME + tarfile.RECORDSIZE

    def read(self, size: int | None = -1) -> bytes:
        """Return the next bytes, no more than a header or a block has."""
        if size is None or size < 0 or size > _MOST_AT_ONCE:
            raise ValueError(f"a header of more than {_MOST_AT_ONCE:,} bytes")
        self._within(self.tell() + size)
        return super().read(size)

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Go to an offset from the beginning."""
        self._within(offset)
        return super().seek(offset, whence)

    def _within(self, place: int) -> None:
        if place > self.limit + tarfile.RECORDSIZE:
            raise ValueError(f"more than the {self.limit:,} bytes that its manifest lists")


def _unpacked_size(manifest: Manifest, path: Path) -> int:
    """Return how many bytes a bundle may unpack to; refuse one that is made to fill a disk."""
    total = sum(file.bytes + _FRAME for file in manifest.files.values())
    limit = _MOST_MANIFEST + _FRAME + tarfile.RECORDSIZE + total
    if limit > max(_SMALL, _MOST_TIMES * path.stat().st_size):
        raise ConfigurationError(
            f"{path}: is not a bundle: it has {path.stat().st_size:,} bytes and says that it "
            f"unpacks to {total:,}"
        )
    return limit


def _manifest(archive: tarfile.TarFile, path: Path) -> Manifest:
    """The first entry, which has to be the manifest."""
    first = archive.next()
    name = first.name.rpartition("/")[2] if first else ""
    if first is None or name != NAME or not first.isreg() or first.size > _MOST_MANIFEST:
        raise ConfigurationError(f"{path}: is not a bundle: its first entry is not {NAME}")
    file = archive.extractfile(first)
    manifest = parse(file.read(_MOST_MANIFEST) if file else b"", str(path))
    if first.name != f"{manifest.run_id}/{NAME}":
        raise ConfigurationError(f"{path}: is not a bundle: its folder is not {manifest.run_id}")
    return manifest


def _check(archive: tarfile.TarFile, checked: Checked) -> None:
    seen: set[str] = set()
    try:
        for entry in _entries(archive):
            _check_entry(archive, entry, checked, seen)
    except _BROKEN as error:
        checked.damaged.append(f"the archive itself, after {len(seen)} files: {error}")
    checked.missing += [name for name in checked.manifest.files if name not in seen]


def _entries(archive: tarfile.TarFile) -> Iterator[tarfile.TarInfo]:
    while (entry := archive.next()) is not None:
        yield entry


def _check_entry(
    archive: tarfile.TarFile, entry: tarfile.TarInfo, checked: Checked, seen: set[str]
) -> None:
    folder = f"{checked.manifest.run_id}/"
    name = entry.name.removeprefix(folder)
    if unsafe(entry.name) or not entry.name.startswith(folder):
        checked.unsafe.append(f"{entry.name!r} leads out of the bundle's folder")
    elif not entry.isreg():
        checked.unsafe.append(f"{entry.name!r} is a link or no file")
    elif name in seen:
        checked.added.append(f"{name}, a second time")
    elif name not in checked.manifest.files:
        checked.added.append(name)
    else:
        seen.add(name)
        file = archive.extractfile(entry)
        if file is not None and not _is_as_listed(file, name, entry.size, checked):
            checked.damaged.append(name)


def _is_as_listed(file: IO[bytes], name: str, size: int, checked: Checked) -> bool:
    """Whether a file has its size and checksum; impact.json also its own digest."""
    listed = checked.manifest.files[name]
    if size != listed.bytes:
        return False
    digest, kept = hashlib.sha256(), b""
    while block := file.read(_BLOCK):
        digest.update(block)
        kept = kept + block if name == "impact.json" and size <= _MOST_IMPACT else b""
    if digest.hexdigest() != listed.sha256:
        return False
    return name != "impact.json" or has_its_digest(kept)
