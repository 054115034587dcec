"""Finding a PostgreSQL and a Patroni, and what goes into Patroni's configuration."""

from pathlib import Path

import pytest
import yaml
from tests.wording import naming

from brownout.base.errors import ClusterError
from brownout.databases.lab.network import HERE
from brownout.databases.postgresql.lab import server
from brownout.databases.postgresql.lab.server import (
    Ports,
    configuration,
    find_patroni,
    find_postgres,
)
from brownout.databases.postgresql.lab.settings import PostgresqlLab

HOME = Path("/lab/n2")


def test_the_one_that_was_named_is_not_silently_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "postgres"
    other.write_text("#!/bin/sh\necho 'postgres (PostgreSQL) 9.6.1'\n")
    other.chmod(0o755)
    monkeypatch.setenv("BROWNOUT_POSTGRESQL", str(tmp_path))
    with pytest.raises(ClusterError, match=r"says 'postgres \(PostgreSQL\) 9\.6\.1', wanted"):
        find_postgres()
    other.write_text("#!/bin/sh\necho 'postgres (PostgreSQL) 17.2'\n")
    with pytest.raises(ClusterError, match="has no initdb, pg_basebackup, pg_ctl, pg_rewind"):
        find_postgres()


def test_the_server_of_the_wheel_is_started_only_if_it_is_the_pinned_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if server._packaged() is None:
        pytest.skip("the wheel is for x86-64 Linux")
    monkeypatch.delenv("BROWNOUT_POSTGRESQL", raising=False)
    assert find_postgres() == server._packaged()
    monkeypatch.setattr(server, "_SHA256", ("0" * 64,))
    monkeypatch.setattr(server, "_DEBIAN", Path("/none"))
    monkeypatch.setenv("PATH", "/none")
    with pytest.raises(ClusterError, match=naming("SHA-256", "0" * 64)):
        find_postgres()


def test_what_is_missing_is_said_with_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ClusterError, match="needs Patroni") as missing:
        find_patroni()
    assert "[lab-postgresql]" in missing.value.hint
    (tmp_path / "patroni").write_text("")
    (tmp_path / "patroni").chmod(0o755)
    assert find_patroni() == (str(tmp_path / "patroni"),)


@pytest.fixture
def _anywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """No server is looked for."""
    where = "brownout.databases.postgresql.lab.server.find_postgres"
    monkeypatch.setattr(where, lambda encrypts: Path("/with-tls" if encrypts else "/pg"))


def said(**settings: object) -> dict[str, object]:
    spec = PostgresqlLab.model_validate({"engine": "postgresql", **settings})
    text = configuration(
        spec, "lab", 2, Ports(HERE, 1, 2), "127.0.0.1:3", HOME, HOME / "data", "s3cr3t"
    )
    found: dict[str, object] = yaml.safe_load(text)
    return found


@pytest.mark.usefixtures("_anywhere")
def test_members_share_a_store_and_everybody_on_loopback_is_let_in() -> None:
    found = said()
    assert (found["scope"], found["name"]) == ("lab", "n2")
    assert found["etcd3"] == {"hosts": "127.0.0.1:3"}
    assert "ctl" not in found
    text = str(found)
    assert "host all all 127.0.0.1/32 trust" in text
    assert "'synchronous_mode': False" in text


@pytest.mark.usefixtures("_anywhere")
def test_a_secure_lab_lets_in_passwords_over_tls_alone_and_a_synchronous_one_waits() -> None:
    text = str(said(secure=True, synchronous=True))
    assert "hostssl all all 127.0.0.1/32 scram-sha-256" in text
    assert "trust'" not in text
    assert "'synchronous_mode': True" in text
    assert "/lab/tls/n2.pem" in text
    assert "/with-tls" in text


@pytest.mark.parametrize(
    ("settings", "why"),
    [({"spares": 1}, "spares: wanted 0"), ({"ttl_s": 10}, "ttl_s: wanted")],
)
def test_what_cannot_be_formed_is_refused(settings: dict[str, int], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        PostgresqlLab.model_validate({"engine": "postgresql", **settings})
