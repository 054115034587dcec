"""The programs of a lab: Java, and CouchbaseMock's jar, which Maven fetches once.

    ~/.cache/brownout/couchbase-mock-1.5.27/CouchbaseMock-1.5.27.jar

Maven knows where from, by its own settings. A jar is run only if its digest is the pinned one.
"""

import os
import subprocess
import tempfile
from pathlib import Path

from brownout.base.errors import ClusterError
from brownout.databases.lab import java, programs
from brownout.databases.lab.engine import Progress

__all__ = ["VARIABLE", "VERSION", "fetch", "find_jar", "find_java", "find_server"]

VARIABLE = "BROWNOUT_COUCHBASE_MOCK"
VERSION = "1.5.27"
_SHA256 = "69aad2c1b3e538120bc89425682f27facfb219094645906a63c411b2c46a8b9c"
_JAR = f"CouchbaseMock-{VERSION}.jar"
_ARTIFACT = f"com.couchbase.mock:CouchbaseMock:{VERSION}"
_JAVA = range(8, 1000)


def find_server() -> str:
    """Return in words the server that a lab would run; nothing is fetched.

    Raises `ClusterError` where Java, or Maven and the jar, are missing.
    """
    program, jar = find_java(), _given() or _cached()
    what = f"a mock and no Couchbase: CouchbaseMock {VERSION}"
    if jar is not None:
        return f"{what}, {jar} with {program}"
    return f"{what}, which {_maven()} fetches for the first lab, with {program}"


def find_java() -> Path:
    """Return a Java 8 or later: of JAVA_HOME, or on PATH; `ClusterError` where there is none."""
    return java.find_java("a lab of Couchbase", _JAVA, "default-jre-headless")


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
            reason = java.error_of_maven(done.stdout.splitlines(), done.returncode)
            raise ClusterError(
                f"Maven did not get CouchbaseMock {VERSION}: {reason}",
                f"see that `mvn` works here, or set {VARIABLE} to its jar",
            )
        progress("checking its digest")
        _check(jar)
        jar.replace(place / _JAR)


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
    return java.cached(f"couchbase-mock-{VERSION}")


def _maven() -> Path:
    instead = f"set {VARIABLE} to the jar of CouchbaseMock {VERSION}"
    return java.find_maven("a lab of Couchbase", "CouchbaseMock", instead)


if __name__ == "__main__":
    print(find_jar())  # for the Makefile, whose Go tests want it
