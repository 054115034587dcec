"""What of a run's folder leaves this machine: every file, its checksum, and no secret.

Runs hold none anyway; what looks like one in a text is taken out once more. Numbers and histograms
are left as they are, byte by byte.
"""

import hashlib
import io
import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import IO, Any

from brownout.base.errors import ConfigurationError, RunDirectoryError
from brownout.base.redact import redact
from brownout.measure.document import read_impact
from brownout.run.directory import RunDirectory
from brownout.run.events import wall_clock
from brownout.run.metadata import read_json
from brownout.runs.evidence.manifest import NAME, File, Manifest
from brownout.runs.run_set import verdict_of

__all__ = ["Entry", "entries", "entry", "manifest_of"]

#: Files with text of other programs and people: messages of drivers, command lines, settings.
_TEXTS = (".json", ".ndjson", ".log", ".txt", ".md", ".yaml", ".yml")
#: Tables of ours whose columns `cause` and `code` are a driver's words.
_TABLES = ("errors.csv",)


@dataclass(frozen=True, slots=True)
class Entry:
    """A file that goes along: `data` where it was cleaned, else what lies at `path`."""

    path: Path
    data: bytes | None
    file: File

    def open(self) -> IO[bytes]:
        """Open what goes along."""
        return self.path.open("rb") if self.data is None else io.BytesIO(self.data)


def entries(folder: Path) -> dict[str, Entry]:
    """Return every file below `folder` by its name there, sorted; hidden drafts are left out.

    Raises `ConfigurationError` for links and other things that are not files, and
    `RunDirectoryError` for what cannot be read.
    """
    return {name: entry(path) for name, path in _files(folder).items()}


def manifest_of(folder: Path, name: str, contents: Mapping[str, Entry]) -> Manifest:
    """Return what a bundle or a store says of the run, the load or the game day in `folder`."""
    stand_in, versions = _tested(folder)
    return Manifest(
        run_id=name,
        bundled=wall_clock(),
        brownout=version("brownout"),
        verdict=verdict_of(folder),
        stand_in=stand_in,
        versions={key: str(value) for key, value in versions.items()},
        files={each: one.file for each, one in contents.items()},
    )


def _tested(folder: Path) -> tuple[bool, Mapping[str, Any]]:
    """Return whether a stand-in was tested, and all versions: of its result, or of its record."""
    with suppress(RunDirectoryError):  # of a game day, of a load, or not judged yet
        impact = read_impact(RunDirectory(folder))
        return impact.stand_in, impact.versions
    try:
        run = read_json(folder / "run.json")
    except RunDirectoryError:
        return False, {}
    return bool((run.get("cluster") or {}).get("stand_in")), run.get("versions") or {}


def _files(folder: Path) -> dict[str, Path]:
    """Every file below a folder by its name there, sorted; hidden drafts are left out."""
    files, problems = {}, []
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_symlink() or not (path.is_dir() or path.is_file()):
            problems.append(f"{path}: is a link or no file, wanted files and folders only")
        elif path.is_file() and not path.name.startswith("."):
            files[name] = path
    if NAME in files:
        problems.append(f"{folder / NAME}: is what a bundle calls its own list; rename it")
    if problems:
        raise ConfigurationError(problems)
    return files


def entry(path: Path) -> Entry:
    """Return a file's entry: a text without secrets, anything else as it lies there."""
    try:
        if path.suffix not in _TEXTS and path.name not in _TABLES:
            with path.open("rb") as file:
                sha256 = hashlib.file_digest(file, "sha256").hexdigest()
            return Entry(path, None, File(bytes=path.stat().st_size, sha256=sha256))
        data = path.read_bytes()
    except OSError as error:
        raise RunDirectoryError(f"{path}: cannot be read: {error.strerror}") from error
    text = data.decode("utf-8", "surrogateescape")
    clean = _clean_json(text) if path.suffix == ".json" else _clean_lines(text, path.suffix)
    data = clean.encode("utf-8", "surrogateescape")
    sha256 = hashlib.sha256(data).hexdigest()
    return Entry(path, data, File(bytes=len(data), sha256=sha256, redacted=clean != text))


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
