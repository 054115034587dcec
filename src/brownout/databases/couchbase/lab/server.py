"""The programs of a lab: Java, and CouchbaseMock's jar, which Maven fetches once.

    ~/.cache/brownout/couchbase-mock-1.5.27/CouchbaseMock-1.5.27.jar

Maven knows where from, by its own settings. A jar is run only if its digest is the pinned one.
"""

import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from brownout.base.errors import ClusterError
from brownout.databases.lab import programs
from brownout.databases.lab.engine import Progress

__all__ = ["VARIABLE", "VERSION", "fetch", "find_jar", "find_java", "find_server"]

VARIABLE = "BROWNOUT_COUCHBASE_MOCK"
VERSION = "1.5.27"
_SHA256 = "69aad2c1b3e538120bc89425682f27facfb219094645906a63c411b2c46a8b9c"
_JAR = f"CouchbaseMock-{VERSION}.jar"
_ARTIFACT = f"com.couchbase.mock:CouchbaseMock:{VERSION}"
_LEAST_JAVA = 8
_STARTS_WITHIN_S = 60


def find_server() -> str:
    """Return in words the server that a lab would run; nothing is fetched.

    Raises `ClusterError` where Java, or Maven and the jar, are missing.
    """
    java, jar = find_java(), _given() or _cached()
    what = f"a mock and no Couchbase: CouchbaseMock {VERSION}"
    if jar is not None:
        return f"{what}, {jar} with {java}"
    return f"{what}, which {_maven()} fetches for the first lab, with {java}"


def find_java() -> Path:
    """Return a Java 8 or later: of JAVA_HOME, or on PATH; `ClusterError` where there is none."""
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home) / "bin" / "java") if home else shutil.which("java")
    hint = "apt install default-jre-headless, or set JAVA_HOME to one"
    if java is None:
        raise ClusterError("a lab of Couchbase needs Java, and no java is on PATH", hint)
    try:
        done = subprocess.run(
            [java, "-version"],
            capture_output=True,
            text=True,
            timeout=_STARTS_WITHIN_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        reason = getattr(error, "strerror", None) or error
        raise ClusterError(f"`{java}` does not start: {reason}", hint) from error
    first_line = done.stderr.partition("\n")[0]
    version = re.search(r'version "(?:1\.)?(\d+)', first_line)
    if version is None or int(version[1]) < _LEAST_JAVA:
        raise ClusterError(
            f"`{java}` says {first_line!r}, wanted Java {_LEAST_JAVA} or later", hint
        )
    return Path(java)


def find_jar() -> Path:
    """Return the mock's jar; `ClusterError` where it was not fetched, or is another one."""
    jar = _given() or _cached()
    if jar is None:
        raise ClusterError(
            f"CouchbaseMock is not in `{_place()}`", "`brownout lab up lab-couchbase` gets it"
        )
    return jar


def fetch(progress: Progress) -> None:
    """Fetch the mock's jar, some 4 MB, if it is not there.

    Raises `ClusterError` with Maven's own words where it does not get it, or gets another one.
    """
    find_java()
    if _given() or _cached():
        return
    maven, place = _maven(), _place()
    place.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=place, prefix=".fetching-") as scratch:
        command = [str(maven), "--batch-mode", "dependency:copy", f"-Dartifact={_ARTIFACT}"]
        progress(f"fetching CouchbaseMock {VERSION} by Maven, some 4 MB, once")
        done = subprocess.run(
            [*command, f"-DoutputDirectory={scratch}"],
            capture_output=True,
            text=True,
            cwd=scratch,
            check=False,
        )
        jar = Path(scratch) / _JAR
        if not jar.is_file():
            raise ClusterError(
                f"Maven did not get CouchbaseMock {VERSION}: {_words(done)}",
                f"see that `mvn` works here, or set {VARIABLE} to its jar",
            )
        progress("checking its digest")
        _check(jar)
        jar.replace(place / _JAR)


def _words(done: subprocess.CompletedProcess[str]) -> str:
    """Return the first error that Maven told of, or the last that it said."""
    lines = [line.strip() for line in done.stdout.splitlines() if line.strip()]
    errors = [line.removeprefix("[ERROR] ") for line in lines if line.startswith("[ERROR]")]
    return (errors or lines[-1:] or [f"exit {done.returncode}"])[0]


def _check(jar: Path) -> None:
    if wrong := programs.digest_problem(jar, [_SHA256]):
        raise ClusterError(wrong, f"remove it, and what {VARIABLE} says")


def _given() -> Path | None:
    """Return the jar that BROWNOUT_COUCHBASE_MOCK names."""
    given = os.environ.get(VARIABLE)
    if not given:
        return None
    jar = Path(given).expanduser()
    _check(jar)
    return jar


def _cached() -> Path | None:
    jar = _place() / _JAR
    if not jar.is_file():
        return None
    _check(jar)
    return jar


def _place() -> Path:
    cache = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser()
    return cache / "brownout" / f"couchbase-mock-{VERSION}"


def _maven() -> Path:
    program = shutil.which("mvn")
    if program is None:
        raise ClusterError(
            "a lab of Couchbase needs Maven to fetch CouchbaseMock once, and no mvn is on PATH",
            f"apt install maven, or set {VARIABLE} to the jar of CouchbaseMock {VERSION}",
        )
    return Path(program)


if __name__ == "__main__":
    print(find_jar())  # for the Makefile, whose Go tests want it
