"""Make a bundle: everything in a run's directory, with its report, its checksums and no secret."""

import hashlib
import io
import tarfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from brownout.base.errors import BrownoutError, ConfigurationError
from brownout.base.files import replacing
from brownout.faults import open_runs
from brownout.measure.document import read_impact
from brownout.run.directory import RunDirectory
from brownout.runs.evidence.entries import Entry, entries, manifest_of
from brownout.runs.evidence.manifest import NAME, Manifest
from brownout.show.report import html

__all__ = ["Bundle", "add", "bundle"]


@dataclass(frozen=True, slots=True)
class Bundle:
    """A bundle that was made: where it is, its checksum, what is in it."""

    path: Path
    sha256: str
    manifest: Manifest


def bundle(directory: RunDirectory, target: Path) -> Bundle:
    """Write the run in `directory` to `target`, a tar.gz; the report is made anew if it can be.

    Raises `Refused` for a run that is in progress or not healed, and `ConfigurationError` for links
    and other things that are not files, and where `target` is there already.
    """
    open_runs.check_over(directory.path)
    read_impact(directory)  # a run without a result is not evidence
    if target.exists():
        raise ConfigurationError(
            f"{target}: is there already and is not written over", "give another file with --output"
        )
    _make_report(directory)
    packed = entries(directory.path)
    manifest = manifest_of(directory.path, directory.run_id, packed)
    return Bundle(target, _write(target, manifest, packed), manifest)


def _make_report(directory: RunDirectory) -> None:
    """Make the report if it is missing; the evidence is packed even if that fails."""
    if not directory.report.is_file():
        try:
            html.write(directory.path)
        except BrownoutError:
            return


def _write(target: Path, manifest: Manifest, files: Mapping[str, Entry]) -> str:
    """Write the archive in one step and return its SHA-256."""
    listed = manifest.as_bytes()
    with replacing(target) as beside:
        with tarfile.open(beside, "w:gz", format=tarfile.PAX_FORMAT) as archive:
            add(archive, f"{manifest.run_id}/{NAME}", len(listed), io.BytesIO(listed))
            for name, entry in files.items():
                with entry.open() as file:
                    add(archive, f"{manifest.run_id}/{name}", entry.file.bytes, file)
        with beside.open("rb") as written:
            return hashlib.file_digest(written, "sha256").hexdigest()


def add(archive: tarfile.TarFile, name: str, size: int, file: IO[bytes]) -> None:
    """Put an open file of `size` bytes into an archive."""
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode = size, 0o600
    archive.addfile(entry, file)
