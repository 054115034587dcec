"""The programs of a lab: Java, and Cassandra's jars, which Maven fetches once.

    ~/.cache/brownout/cassandra-5.0.5/*.jar

Maven's own settings say where it fetches them from. Jars are run only if their digest is the pinned
one, but for those that BROWNOUT_CASSANDRA names.
"""

import os
import subprocess
import tempfile
from importlib.resources import files
from pathlib import Path

from brownout.base.errors import ClusterError
from brownout.databases.lab import java, programs
from brownout.databases.lab.engine import Progress

__all__ = ["VARIABLE", "arguments", "fetch", "find_java", "find_server", "jars"]

VARIABLE = "BROWNOUT_CASSANDRA"
VERSION = "5.0.5"
#: Of the folder with its 100 jars; see `programs.digest_problem`.
_SHA256 = "b0e9d980fec64fc695cac3aa05aea0df473335de97a0a1b1283167d0d78ee052"
_JAVA = range(17, 18)
_MAIN = f"cassandra-all-{VERSION}.jar"
_SAY_EVERY = 50
_POM = f"""\
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>brownout</groupId>
  <artifactId>lab-cassandra</artifactId>
  <version>1</version>
  <dependencies>
    <dependency>
      <groupId>org.apache.cassandra</groupId>
      <artifactId>cassandra-all</artifactId>
      <version>{VERSION}</version>
    </dependency>
  </dependencies>
</project>
"""


def find_server() -> str:
    """Return in words which server a lab would run; fetches nothing.

    Raises `ClusterError` where Java, or Maven and the jars, are missing.
    """
    program = find_java()
    there = _given() or _cached()
    if there is not None:
        return f"{there} with {program}"
    return f"Cassandra {VERSION}, which {_maven()} fetches for the first lab, with {program}"


def find_java() -> Path:
    """Return a Java 17: of JAVA_HOME, or on PATH; `ClusterError` where there is none."""
    return java.find_java("a lab of Cassandra", _JAVA, "openjdk-17-jre-headless")


def jars() -> Path:
    """Return the directory of Cassandra's jars; `ClusterError` where they were not fetched."""
    folder = _given() or _cached()
    if folder is None:
        raise ClusterError(
            f"Cassandra's jars are not in `{_place()}`", "`brownout lab up lab-cassandra` gets them"
        )
    return folder


def fetch(progress: Progress) -> None:
    """Fetch Cassandra's jars, 66 MB, if they are not there.

    Raises `ClusterError` with Maven's error if that fails.
    """
    find_java()
    if _given() or _cached():
        return
    maven, place = _maven(), _place()
    place.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=place.parent, prefix=".cassandra-") as scratch:
        (Path(scratch) / "pom.xml").write_text(_POM, encoding="utf-8")
        target = Path(scratch) / "jars"
        command = [
            *(str(maven), "--batch-mode", "--file", str(Path(scratch) / "pom.xml")),
            "dependency:copy-dependencies",
            *(f"-DoutputDirectory={target}", "-DincludeScope=runtime"),
        ]
        progress(f"fetching Cassandra {VERSION} by Maven, some 66 MB, once")
        words = _run(command, progress)
        if not (target / _MAIN).is_file():
            raise ClusterError(
                f"Maven did not get Cassandra {VERSION}: {words}",
                f"see that `mvn` works here, or set {VARIABLE} to a directory with its jars",
            )
        progress("checking their digest")
        _check(target)
        if not place.is_dir():
            target.rename(place)


def arguments() -> Path:
    """Return the argument file that all nodes' JVMs share."""
    return Path(str(files("brownout.databases.cassandra.lab") / "java.conf"))


def _run(command: list[str], progress: Progress) -> str:
    """Run Maven, report its progress, and return its error or last line."""
    lines: list[str] = []
    fetched = 0
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        try:
            for line in process.stdout or ():
                if "Downloaded" in line:
                    fetched += 1
                    if fetched % _SAY_EVERY == 0:
                        progress(f"Maven has fetched {fetched} files")
                elif "Downloading" not in line:
                    lines.append(line)
        except BaseException:
            process.kill()
            raise
    return java.error_of_maven(lines, process.returncode)


def _given() -> Path | None:
    """Return the directory of jars that BROWNOUT_CASSANDRA names, or that has them in `lib`."""
    given = os.environ.get(VARIABLE)
    if not given:
        return None
    place = Path(given).expanduser()
    for directory in (place, place / "lib"):
        if any(directory.glob("cassandra-all-*.jar")) or any(
            directory.glob("apache-cassandra-*.jar")
        ):
            return directory
    raise ClusterError(
        f"{VARIABLE} is {given!r}, a directory without Cassandra's jars",
        f"correct {VARIABLE}, or set it to nothing",
    )


def _cached() -> Path | None:
    place = _place()
    if not (place / _MAIN).is_file():
        return None
    _check(place)
    return place


def _check(place: Path) -> None:
    if wrong := programs.digest_problem(place, [_SHA256]):
        raise ClusterError(wrong, f"remove it, or set {VARIABLE} to an installation of Cassandra 5")


def _place() -> Path:
    return java.cached(f"cassandra-{VERSION}")


def _maven() -> Path:
    instead = f"set {VARIABLE} to an installation of Cassandra 5"
    return java.find_maven("a lab of Cassandra", "Cassandra", instead)


if __name__ == "__main__":
    print(jars())  # for the Makefile, whose Go tests want them
