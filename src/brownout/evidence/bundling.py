"""Make a bundle: everything in a run's directory, with its report, its checksums and no secret.

Runs hold none anyway; what looks like one in a text is taken out once more, and the manifest says
of which files. Numbers and histograms are left as they are, byte by byte.
"""

import hashlib
import io
import json
import os
import tarfile
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import IO

from brownout.errors import BrownoutError, ConfigurationError, Refused, RunDirectoryError
from brownout.evidence.manifest import NAME, File, Manifest
from brownout.report import html
from brownout.run.directory import RunDirectory
from brownout.run.events import wall_clock
from brownout.run.metadata import redact
from brownout.session import open_runs

__all__ = ["Bundle", "bundle"]

#: Texts in which somebody's words may stand: messages of drivers, command lines, settings.
_TEXTS = (".json", ".ndjson", ".log", ".txt", ".md", ".yaml", ".yml")
#: Tables of ours whose columns `cause` and `code` are a driver's words.
_TABLES = ("errors.csv",)


@dataclass(frozen=True, slots=True)
class Bundle:
    """A bundle that was made: where it is, its checksum, what is in it."""

    path: Path
    sha256: str
    manifest: Manifest


@dataclass(frozen=True, slots=True)
class _Entry:
    """A file that goes in: `data` where it was cleaned, else what lies at `path`."""

    path: Path
    data: bytes | None
    file: File

    def open(self) -> IO[bytes]:
        """Open what goes in."""
        return self.path.open("rb") if self.data is None else io.BytesIO(self.data)


def bundle(directory: RunDirectory, target: Path) -> Bundle:
    """Write the run in `directory` to `target`, a tar.gz; the report is made anew if it can be.

    Raises `Refused` for a run that goes on or is not healed, and `ConfigurationError` for links
    and other things that are no files, and where `target` is there already.
    """
    _check_ended(directory)
    impact = directory.read_impact()
    if target.exists():
        raise ConfigurationError(
            f"{target}: is there already and is not written over", "give another file with --to"
        )
    _make_report(directory)
    entries = {name: _entry(path) for name, path in _files(directory.path).items()}
    manifest = Manifest(
        run_id=directory.run_id,
        bundled=wall_clock(),
        brownout=version("brownout"),
        verdict=str(impact["verdict"]),
        stand_in=bool(impact["stand_in"]),
        versions={k: str(v) for k, v in (impact.get("versions") or {}).items()},
        files={name: entry.file for name, entry in entries.items()},
    )
    return Bundle(target, _write(target, manifest, entries), manifest)


def _check_ended(directory: RunDirectory) -> None:
    here = str(directory.path.resolve())
    for claim in open_runs.claims():
        if claim.run == here:
            state = "goes on" if claim.is_alive() else "died before it had put everything back"
            raise Refused(
                f"the run {directory.run_id} {state}, so its files are not final",
                "wait for its end" if claim.is_alive() else "`brownout heal` it first",
            )


def _make_report(directory: RunDirectory) -> None:
    """A report that cannot be made is no reason to go without the evidence."""
    if not directory.report.is_file():
        try:
            html.write(directory.path)
        except BrownoutError:
            return


def _files(folder: Path) -> dict[str, Path]:
    """Every file below a folder by its name there, sorted; hidden drafts are left out."""
    found, problems = {}, []
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_symlink() or not (path.is_dir() or path.is_file()):
            problems.append(f"{path}: is a link or no file, wanted files and folders only")
        elif path.is_file() and not path.name.startswith("."):
            found[name] = path
    if NAME in found:
        problems.append(f"{folder / NAME}: is what a bundle calls its own list; rename it")
    if problems:
        raise ConfigurationError(problems)
    return found


def _entry(path: Path) -> _Entry:
    """A file's list entry; a text without secrets, anything else as it lies there."""
    try:
        if path.suffix not in _TEXTS and path.name not in _TABLES:
            with path.open("rb") as file:
                sha256 = hashlib.file_digest(file, "sha256").hexdigest()
            return _Entry(path, None, File(bytes=path.stat().st_size, sha256=sha256))
        data = path.read_bytes()
    except OSError as error:
        raise RunDirectoryError(f"{path}: cannot be read: {error.strerror}") from error
    text = data.decode("utf-8", "surrogateescape")
    clean = _clean_json(text) if path.suffix == ".json" else _clean_lines(text, path.suffix)
    data = clean.encode("utf-8", "surrogateescape")
    sha256 = hashlib.sha256(data).hexdigest()
    return _Entry(path, data, File(bytes=len(data), sha256=sha256, redacted=clean != text))


def _clean_json(text: str) -> str:
    """A document by its keys; one that is as it was keeps its bytes."""
    try:
        data = json.loads(text)
    except ValueError:
        return _clean_lines(text, "")
    clean = redact(data)
    if clean == data:
        return text
    return json.dumps(clean, indent=2, ensure_ascii=False) + "\n"


def _clean_lines(text: str, suffix: str) -> str:
    """Line by line, so that no rule reaches over an end of line."""
    lines = text.splitlines(keepends=True)
    return "".join(_clean_line(line, suffix) for line in lines)


def _clean_line(line: str, suffix: str) -> str:
    bare = line.rstrip("\r\n")
    if suffix == ".ndjson":
        try:
            data = json.loads(bare)
        except ValueError:
            return str(redact(bare)) + line[len(bare) :]
        clean = redact(data)
        return line if clean == data else json.dumps(clean, ensure_ascii=False) + line[len(bare) :]
    return str(redact(bare)) + line[len(bare) :]


def _write(target: Path, manifest: Manifest, entries: Mapping[str, _Entry]) -> str:
    """Write the archive in one step and return its SHA-256."""
    beside = target.with_name(f".{target.name}.{os.getpid()}")
    listed = manifest.model_dump_json(indent=2).encode() + b"\n"
    try:
        with tarfile.open(beside, "w:gz", format=tarfile.PAX_FORMAT) as archive:
            _add(archive, f"{manifest.run_id}/{NAME}", len(listed), io.BytesIO(listed))
            for name, entry in entries.items():
                with entry.open() as file:
                    _add(archive, f"{manifest.run_id}/{name}", entry.file.bytes, file)
        with beside.open("rb") as made:
            found = hashlib.file_digest(made, "sha256").hexdigest()
        beside.replace(target)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise RunDirectoryError(
            f"{target}: cannot be written: {error.strerror or error}"
        ) from error
    return found


def _add(archive: tarfile.TarFile, name: str, size: int, file: IO[bytes]) -> None:
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode = size, 0o644
    archive.addfile(entry, file)
