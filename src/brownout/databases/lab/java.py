"""What labs of servers in Java need: Java itself, and Maven, which fetches jars once."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

from brownout.base.errors import ClusterError

__all__ = ["cached", "error_of_maven", "find_java", "find_maven"]

_STARTS_WITHIN_S = 60
#: Java 8 calls itself 1.8.
_VERSION = re.compile(r'version "(?:1\.)?(\d+)')


def find_java(needed_by: str, versions: range, package: str) -> Path:
    """Return the `java` of JAVA_HOME, or on PATH, of one of `versions`.

    Raises `ClusterError` where there is none; `package` is Debian's that brings one.
    """
    later = " or later" if len(versions) > 1 else ""
    wanted = f"Java {versions.start}{later}"
    home = os.environ.get("JAVA_HOME")
    program = str(Path(home) / "bin" / "java") if home else shutil.which("java")
    hint = f"apt install {package}, or set JAVA_HOME to one"
    if program is None:
        raise ClusterError(f"{needed_by} needs {wanted}, and no java is on PATH", hint)
    try:
        done = subprocess.run(
            [program, "-version"],
            capture_output=True,
            text=True,
            timeout=_STARTS_WITHIN_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        reason = getattr(error, "strerror", None) or error
        raise ClusterError(f"`{program}` does not start: {reason}", hint) from error
    answer = done.stderr.partition("\n")[0]
    version = _VERSION.search(answer)
    if version is None or int(version[1]) not in versions:
        raise ClusterError(f"`{program}` says {answer!r}, wanted {wanted}", hint)
    return Path(program)


def find_maven(needed_by: str, artifact: str, instead: str) -> Path:
    """Return `mvn`; `ClusterError` where it is not on PATH. `instead` is what does without it."""
    program = shutil.which("mvn")
    if program is None:
        raise ClusterError(
            f"{needed_by} needs Maven to fetch {artifact} once, and no mvn is on PATH",
            f"apt install maven, or {instead}",
        )
    return Path(program)


def error_of_maven(lines: Iterable[str], status: int) -> str:
    """Return the first error among the lines that Maven printed, else the last line."""
    printed = [line.strip() for line in lines if line.strip()]
    errors = [line.removeprefix("[ERROR] ") for line in printed if line.startswith("[ERROR]")]
    return (errors or printed[-1:] or [f"exit {status}"])[0]


def cached(name: str) -> Path:
    """Return where what Maven fetched is kept, there or not."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser()
    return cache / "brownout" / name
