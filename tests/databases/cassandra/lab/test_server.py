"""Finding Java and Cassandra's jars, and what goes into a node's files."""

import hashlib
import shutil
from pathlib import Path

import pytest
import yaml

from brownout.base.errors import ClusterError
from brownout.databases.cassandra.lab import server
from brownout.databases.cassandra.lab.configuration import Place, cassandra_yaml, jvm_arguments
from brownout.databases.cassandra.lab.settings import CassandraLab
from brownout.databases.cassandra.settings import properties_in

HOME = Path("/lab/n1")
PLACES = {n: Place(f"127.0.0.{n}", 9000 + n, 7000 + n, 7100 + n) for n in (1, 2, 3)}
SPEC = CassandraLab(engine="cassandra")


def program(at: Path, script: str) -> Path:
    at.parent.mkdir(parents=True, exist_ok=True)
    at.write_text(f"#!/bin/sh\n{script}\n")
    at.chmod(0o755)
    return at


def java(at: Path, version: str) -> Path:
    return program(at, f"echo 'openjdk version \"{version}\" 2025-04-15' >&2")


@pytest.fixture
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a directory that is all of PATH, with a cache and nothing in either."""
    for name in ("BROWNOUT_CASSANDRA", "JAVA_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(shutil, "which", lambda name: _own(tmp_path / "bin" / name))
    return tmp_path


def _own(path: Path) -> str | None:
    return str(path) if path.is_file() else None


def test_without_java_or_maven_it_is_said_what_to_install(alone: Path) -> None:
    with pytest.raises(ClusterError, match="no java is on PATH") as refused:
        server.find_server()
    assert "apt install openjdk-17-jre-headless" in str(refused.value)
    java(alone / "bin" / "java", "17.0.15")
    with pytest.raises(ClusterError, match="no mvn is on PATH") as refused:
        server.find_server()
    assert "apt install maven" in str(refused.value)


@pytest.mark.parametrize("version", ["1.8.0_402", "11.0.2", "21.0.1"])
def test_another_java_is_refused_by_what_it_says(version: str, alone: Path) -> None:
    java(alone / "bin" / "java", version)
    with pytest.raises(ClusterError, match=rf"{version}.*wanted Java 17"):
        server.find_java()


def test_maven_fetches_the_jars_once_and_only_when_a_lab_comes_up(
    alone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    java(alone / "bin" / "java", "17.0.15")
    program(
        alone / "bin" / "mvn",
        f"""\
for word; do case $word in -DoutputDirectory=*) at=${{word#*=}};; esac; done
mkdir -p "$at"; touch "$at/cassandra-all-{server.VERSION}.jar"
for i in $(seq 60); do echo "Downloaded from somewhere: $i"; done""",
    )
    assert "fetches for the first lab" in server.find_server()
    with pytest.raises(ClusterError, match="brownout lab up lab-cassandra"):
        server.jars()
    said: list[str] = []
    with pytest.raises(ClusterError, match="SHA-256"):
        server.fetch(said.append)
    assert list((alone / "cache" / "brownout").iterdir()) == []
    said.clear()
    empty = hashlib.sha256().hexdigest()
    jars = hashlib.sha256(f"{empty}  cassandra-all-{server.VERSION}.jar\n".encode()).hexdigest()
    monkeypatch.setattr(server, "_SHA256", jars)
    server.fetch(said.append)
    assert said == [
        f"fetching Cassandra {server.VERSION} by Maven, some 66 MB, once",
        "Maven has fetched 50 files",
        "checking their digest",
    ]
    assert server.jars() == alone / "cache" / "brownout" / f"cassandra-{server.VERSION}"
    program(alone / "bin" / "mvn", "exit 1")
    server.fetch(said.append)
    assert len(said) == 3
    (server.jars() / "another.jar").touch()
    with pytest.raises(ClusterError, match="SHA-256"):
        server.jars()


def test_what_maven_says_is_told_and_nothing_half_fetched_stays(alone: Path) -> None:
    java(alone / "bin" / "java", "17.0.15")
    program(alone / "bin" / "mvn", "echo '[ERROR] Could not transfer artifact'; exit 1")
    with pytest.raises(ClusterError, match=r"did not get Cassandra .*: Could not transfer"):
        server.fetch(lambda _: None)
    assert list((alone / "cache" / "brownout").iterdir()) == []


def test_an_installation_that_was_named_is_taken_or_refused(
    alone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = alone / "apache-cassandra"
    (place / "lib").mkdir(parents=True)
    monkeypatch.setenv("BROWNOUT_CASSANDRA", str(place))
    with pytest.raises(ClusterError, match="a directory without Cassandra's jars"):
        server.jars()
    (place / "lib" / "apache-cassandra-5.0.5.jar").touch()
    assert server.jars() == place / "lib"


def test_a_cluster_begins_with_seeds_only_and_none_is_its_own_once_it_is_formed() -> None:
    new, formed = (
        yaml.safe_load(cassandra_yaml(SPEC, "lab", 2, PLACES, HOME, HOME / "data", each))
        for each in (False, True)
    )
    seeds = [text["seed_provider"][0]["parameters"][0]["seeds"] for text in (new, formed)]
    assert seeds == [
        "127.0.0.1:7001,127.0.0.2:7002,127.0.0.3:7003",
        "127.0.0.1:7001,127.0.0.3:7003",
    ]
    assert (formed["native_transport_port"], formed["storage_port"]) == (9002, 7002)
    assert formed["hints_directory"] == "/lab/n1/data/hints"
    assert "authenticator" not in formed


def test_a_node_of_a_formed_cluster_replaces_itself_if_it_has_no_data(tmp_path: Path) -> None:
    (tmp_path / "jamm-0.4.0.jar").touch()
    new, formed = (
        properties_in(jvm_arguments(SPEC, PLACES[1], HOME, HOME / "data", tmp_path, each))
        for each in (False, True)
    )
    assert "replace_address_first_boot" not in new
    assert formed["replace_address_first_boot"] == "127.0.0.1:7001"


def test_a_secure_node_wants_a_certificate_and_a_login() -> None:
    spec = CassandraLab(engine="cassandra", secure=True)
    said = yaml.safe_load(cassandra_yaml(spec, "lab", 1, PLACES, HOME, HOME / "data", True))
    assert said["authenticator"] == "PasswordAuthenticator"
    assert said["client_encryption_options"]["require_client_auth"]
    assert said["client_encryption_options"]["truststore"] == "/lab/tls/ca.pem"


def test_what_cannot_be_formed_is_refused() -> None:
    with pytest.raises(ValueError, match="spares: wanted 0"):
        CassandraLab.model_validate({"engine": "cassandra", "spares": 1})
