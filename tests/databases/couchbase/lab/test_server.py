"""Finding Java and the mock's jar, and what a lab may be."""

import hashlib
import shutil
from pathlib import Path

import pytest
from pydantic import ValidationError
from tests.wording import naming

from brownout.base.errors import ClusterError
from brownout.databases.couchbase.lab import server
from brownout.databases.couchbase.lab.settings import CouchbaseLab

JAR = f"CouchbaseMock-{server.VERSION}.jar"
FETCHES = """\
for word; do case $word in -DoutputDirectory=*) at=${word#*=};; esac; done
printf jar > "$at/%s" """


def program(at: Path, script: str) -> Path:
    at.parent.mkdir(parents=True, exist_ok=True)
    at.write_text(f"#!/bin/sh\n{script}\n")
    at.chmod(0o755)
    return at


def java(at: Path, version: str = "17.0.15") -> Path:
    return program(at, f"echo 'openjdk version \"{version}\" 2025-04-15' >&2")


@pytest.fixture
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a directory that is all of PATH, with a cache and nothing in either."""
    for name in (server.VARIABLE, "JAVA_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(shutil, "which", lambda name: _own(tmp_path / "bin" / name))
    return tmp_path


@pytest.fixture
def pinned(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take the digest of what FETCHES writes for the mock's."""
    monkeypatch.setattr(server, "_SHA256", hashlib.sha256(b"jar").hexdigest())


def _own(path: Path) -> str | None:
    return str(path) if path.is_file() else None


def test_without_java_or_maven_it_is_said_what_to_install(alone: Path) -> None:
    with pytest.raises(ClusterError, match=naming("java", "PATH")) as refused:
        server.find_server()
    assert "apt install default-jre-headless" in str(refused.value)
    java(alone / "bin" / "java")
    with pytest.raises(ClusterError, match=naming("mvn", "PATH")) as refused:
        server.find_server()
    assert "apt install maven" in str(refused.value)


@pytest.mark.parametrize("version", ["1.8.0_402", "11.0.2", "21.0.1"])
def test_any_java_from_8_on_does(version: str, alone: Path) -> None:
    found = java(alone / "bin" / "java", version)
    assert server.find_java() == found


def test_an_older_java_is_refused_by_what_it_says(alone: Path) -> None:
    java(alone / "bin" / "java", "1.7.0_80")
    with pytest.raises(ClusterError, match=r"1\.7\.0_80.*wanted Java 8 or later"):
        server.find_java()


@pytest.mark.usefixtures("pinned")
def test_maven_fetches_the_jar_once_and_only_when_a_lab_comes_up(alone: Path) -> None:
    java(alone / "bin" / "java")
    program(alone / "bin" / "mvn", FETCHES % JAR)
    told = server.find_server()
    assert "a mock and no Couchbase" in told
    assert "fetches for the first lab" in told
    with pytest.raises(ClusterError, match="brownout lab up lab-couchbase"):
        server.find_jar()
    said: list[str] = []
    server.fetch(said.append)
    assert said == [
        f"fetching CouchbaseMock {server.VERSION} by Maven, some 4 MB, once",
        "checking its digest",
    ]
    place = alone / "cache" / "brownout" / f"couchbase-mock-{server.VERSION}"
    assert server.find_jar() == place / JAR
    assert [path.name for path in place.iterdir()] == [JAR]
    program(alone / "bin" / "mvn", "exit 1")
    server.fetch(said.append)
    assert len(said) == 2


def test_another_jar_is_not_kept_and_not_run(alone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    java(alone / "bin" / "java")
    program(alone / "bin" / "mvn", FETCHES % JAR)
    with pytest.raises(ClusterError, match="SHA-256"):
        server.fetch(lambda _: None)
    assert not list((alone / "cache").rglob("*.jar"))
    named = alone / "mock.jar"
    monkeypatch.setenv(server.VARIABLE, str(named))
    with pytest.raises(ClusterError, match="cannot be read: No such file"):
        server.find_jar()
    named.write_bytes(b"another")
    with pytest.raises(ClusterError, match=naming("SHA-256", named)):
        server.find_server()


def test_what_maven_says_is_told(alone: Path) -> None:
    java(alone / "bin" / "java")
    program(alone / "bin" / "mvn", "echo '[ERROR] Could not transfer artifact'; exit 1")
    with pytest.raises(ClusterError, match=r"did not get CouchbaseMock .*: Could not transfer"):
        server.fetch(lambda _: None)


@pytest.mark.parametrize(
    ("setting", "wanted"),
    [
        ({"members": 3}, "members: wanted 1: one process plays all `nodes`"),
        ({"spares": 1}, "spares: wanted 0"),
        ({"racks": 2}, "racks: wanted 0"),
        ({"nodes": 1, "replicas": 1}, "replicas: wanted less than `nodes`"),
    ],
)
def test_what_a_mock_cannot_play_is_refused(setting: dict[str, int], wanted: str) -> None:
    with pytest.raises(ValidationError, match=wanted):
        CouchbaseLab.model_validate({"engine": "couchbase", **setting})
