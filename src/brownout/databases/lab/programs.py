"""Finding a server's program that starts on this machine, and is the one that a lab wants."""

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from brownout.base.errors import ClusterError

__all__ = ["first", "named", "problem"]

_STARTS_WITHIN_S = 30
#: Those that did, each with what it was then: a file that was changed since is started anew.
_suited: set[tuple[Path, str, int, int, int]] = set()


def first(
    candidates: Iterable[tuple[str, Path]],
    what_is_wrong: Callable[[Path], str | None],
    variable: str,
    what: str,
) -> Path | list[str]:
    """Return the first candidate with which nothing is wrong, or what is wrong with each.

    Candidates come with where they are from. What somebody named by the environment's `variable`
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
    found = program.stat()
    asked = (program, says, found.st_ino, found.st_size, found.st_mtime_ns)
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
    said = (done.stdout or done.stderr).strip()
    if not re.search(says, said):
        return f"`{program}` says {said.partition(chr(10))[0]!r}, wanted {wanted}"
    _suited.add(asked)
    return None
