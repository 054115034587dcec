"""Finding a server's program that starts on this machine, and is the one that a lab wants.

What a lab downloads, or a package brings along, is started only if its digest is the pinned one.
"""

import hashlib
import os
import re
import shutil
import stat
import subprocess
from collections.abc import Callable, Collection, Iterable, Iterator
from pathlib import Path

from brownout.base.errors import ClusterError

__all__ = ["digest_problem", "first", "named", "problem"]

_STARTS_WITHIN_S = 30
#: Those that did, each with what it was then: a file that was changed since is started anew.
_suited: set[tuple[Path, str, int, int, int]] = set()
#: What was hashed, each with the names, sizes and times of its files, and its digest.
_digests: dict[tuple[Path, int], str] = {}


def digest_problem(place: Path, pinned: Collection[str]) -> str | None:
    """Return why a downloaded file, or folder of files, is not to be started; None if it may be.

    The digest of a file is its SHA-256. That of a folder is the SHA-256 of a line for each file in
    it, sorted by name: `SHA-256  NAME`, as sha256sum(1) prints. Python's caches do not count.
    """
    try:
        digest = _digest(place)
    except OSError as error:
        return f"`{error.filename}` cannot be read: {error.strerror}"
    if digest in pinned:
        return None
    return (
        f"`{place}` is not the pinned one: found the SHA-256 {digest}, wanted {' or '.join(pinned)}"
    )


def _digest(place: Path) -> str:
    """Return the digest, made once while its files are the same: they may have 140 MB."""
    if stat.S_ISREG(place.stat().st_mode):
        files = [place]
    else:
        files = [p for p in place.rglob("*") if p.is_file() and "__pycache__" not in p.parts]
    facts = [(path, path.stat()) for path in sorted(files)]
    version = hash(tuple((str(p), s.st_ino, s.st_size, s.st_mtime_ns) for p, s in facts))
    if (place, version) not in _digests:
        _digests[place, version] = _hashed(place, [path for path, _ in facts])
    return _digests[place, version]


def _hashed(place: Path, files: Iterable[Path]) -> str:
    total = hashlib.sha256()
    for path in files:
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        if path == place:
            return digest
        total.update(f"{digest}  {path.relative_to(place).as_posix()}\n".encode())
    return total.hexdigest()


def first(
    candidates: Iterable[tuple[str, Path]],
    what_is_wrong: Callable[[Path], str | None],
    variable: str,
    what: str,
) -> Path | list[str]:
    """Return the first candidate with which nothing is wrong, or what is wrong with each.

    Candidates come with where they are from. The program that the environment's `variable` names
    is not silently replaced: if it will not do, `ClusterError` says so of the lab's `what`.
    """
    problems = []
    for source, program in candidates:
        wrong = what_is_wrong(program)
        if wrong is None:
            return program
        problems.append(f"{source}: {wrong}")
        if source == variable:
            raise ClusterError(
                f"the lab cannot use the {what} that it was told to: {problems[-1]}",
                f"correct {variable}, or set it to nothing",
            )
    return problems


def named(variable: str, program: str) -> Iterator[tuple[str, Path]]:
    """Return what the environment's `variable` names, then `program` where it is on PATH."""
    if given := os.environ.get(variable):
        yield variable, Path(given).expanduser()
    if on_path := shutil.which(program):
        yield f"{program} on PATH", Path(on_path)


def problem(program: Path, says: str, wanted: str) -> str | None:
    """Return why a program will not do; None if it does, and did before while it is the same file.

    `says` is the pattern of what its `--version` prints, `wanted` what such a program is called.
    """
    if not program.is_file():
        return f"`{program}` is not a file"
    status = program.stat()
    asked = (program, says, status.st_ino, status.st_size, status.st_mtime_ns)
    if asked in _suited:
        return None
    try:
        done = subprocess.run(
            [program, "--version"],
            capture_output=True,
            text=True,
            timeout=_STARTS_WITHIN_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"`{program}` does not start: {getattr(error, 'strerror', None) or error}"
    if done.returncode != 0:
        lines = (done.stderr or done.stdout).strip().splitlines()
        return f"`{program}` does not start: {lines[0] if lines else f'exit {done.returncode}'}"
    output = (done.stdout or done.stderr).strip()
    if not re.search(says, output):
        return f"`{program}` says {output.partition(chr(10))[0]!r}, wanted {wanted}"
    _suited.add(asked)
    return None
