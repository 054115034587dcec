"""Finding a mongod that starts, and saying clearly why none does."""

import hashlib
from pathlib import Path

import pytest
import yaml
from tests.wording import naming

from brownout.base.errors import ClusterError
from brownout.base.extras import how_to_install
from brownout.databases.mongodb.lab import mongod
from brownout.databases.mongodb.lab.settings import ReplicaSetLab


def program(path: Path, script: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    path.chmod(0o755)
    return path


@pytest.fixture
def without_the_package(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(mongod, "_PACKAGE", "no-such-package")
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    monkeypatch.delenv("BROWNOUT_MONGOD", raising=False)


def test_the_lab_extra_brings_one_that_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BROWNOUT_MONGOD", raising=False)

    assert mongod.find_mongod().name == "mongod"


def test_a_named_one_wins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mine = program(tmp_path / "mongod-9", "echo db version v9.0.0")
    monkeypatch.setenv("BROWNOUT_MONGOD", str(mine))

    assert mongod.find_mongod() == mine


def test_a_packaged_one_that_was_altered_is_not_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started = tmp_path / "started"
    altered = program(tmp_path / "mongod", f": > {started}; echo db version v6.0.5")
    monkeypatch.setattr(mongod, "_packaged", lambda: altered)
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    monkeypatch.delenv("BROWNOUT_MONGOD", raising=False)

    with pytest.raises(ClusterError) as caught:
        mongod.find_mongod()

    found = hashlib.sha256(altered.read_bytes()).hexdigest()
    assert f"`{altered}` is not the pinned one: found the SHA-256 {found}, wanted 2680" in str(
        caught.value
    )
    monkeypatch.setattr(mongod, "_SHA256", found)
    assert mongod.find_mongod() == altered
    started.unlink()
    program(altered, f": > {started}; echo db version v6.0.6")  # and altered once more
    with pytest.raises(ClusterError, match="is not the pinned one"):
        mongod.find_mongod()
    assert not started.exists()


@pytest.mark.usefixtures("without_the_package")
def test_one_on_path_will_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = program(tmp_path / "bin" / "mongod", "echo db version v8.0.4")
    monkeypatch.setenv("PATH", str(found.parent))

    assert mongod.find_mongod() == found


@pytest.mark.usefixtures("without_the_package")
def test_where_none_is_found_every_place_and_the_way_out_are_named() -> None:
    with pytest.raises(ClusterError) as caught:
        mongod.find_mongod()

    message = str(caught.value)
    assert message.startswith("the lab needs a mongod that starts here (Linux")
    assert "package no-such-package: none; mongod on PATH: none" in message
    assert f"{how_to_install('lab')} on x86-64 Linux with OpenSSL 3" in message
    assert "BROWNOUT_MONGOD" in message


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        (
            "echo 'error while loading shared libraries: libcrypto.so.3' >&2; exit 127",
            "does not start: error while loading shared libraries: libcrypto.so.3",
        ),
        ("exit 3", "does not start: exit 3"),
        ("echo something else", "says 'something else', wanted a mongod"),
    ],
)
def test_one_that_does_not_start_is_named_with_its_reason_and_not_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, reason: str
) -> None:
    broken = program(tmp_path / "mongod", script)
    monkeypatch.setenv("BROWNOUT_MONGOD", str(broken))

    with pytest.raises(ClusterError) as caught:
        mongod.find_mongod()

    assert f"BROWNOUT_MONGOD: `{broken}` {reason}" in str(caught.value)
    assert "package" not in str(caught.value).partition(";")[0].partition("BROWNOUT_MONGOD")[2]


def test_one_that_is_not_there_or_no_program_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BROWNOUT_MONGOD", str(tmp_path / "nowhere"))
    with pytest.raises(ClusterError, match=naming("BROWNOUT_MONGOD", f"`{tmp_path}/nowhere`")):
        mongod.find_mongod()

    (tmp_path / "data").write_bytes(b"\x7fELF of another machine")
    (tmp_path / "data").chmod(0o755)
    monkeypatch.setenv("BROWNOUT_MONGOD", str(tmp_path / "data"))
    with pytest.raises(ClusterError, match="data` does not start: Exec format error"):
        mongod.find_mongod()


def test_a_configuration_keeps_to_its_own_directory_and_to_loopback(tmp_path: Path) -> None:
    spec = ReplicaSetLab(engine="mongodb", cache_mb=512, oplog_mb=64)

    found = yaml.safe_load(
        mongod.configuration(spec, "lab-x", "127.0.0.1:27017", tmp_path, tmp_path / "data", {})
    )

    assert found["net"] == {
        "bindIp": "127.0.0.1",
        "port": 27017,
        "unixDomainSocket": {"enabled": False},
    }
    assert found["storage"]["dbPath"] == str(tmp_path / "data")
    assert found["storage"]["wiredTiger"]["engineConfig"]["cacheSizeGB"] == 0.5
    assert found["replication"] == {"replSetName": "lab-x", "oplogSizeMB": 64}
    assert found["processManagement"]["pidFilePath"] == str(tmp_path / "mongod.pid")
