"""How members are reached, and what the load generator gets."""

from typing import Any

import pytest

from brownout.base.errors import ConfigurationError
from brownout.databases.access import load_spec
from brownout.databases.postgresql.access import access, api_of
from brownout.inventory.model import Cluster, Node


def cluster(**connection: Any) -> Cluster:
    return Cluster.model_validate(
        {
            "name": "c",
            "database": "postgresql",
            "environment": "test",
            "nodes": [{"name": f"n{n}", "address": f"p{n}:5432"} for n in (1, 2)],
            "connection": connection,
        }
    )


def test_without_a_login_we_are_the_user_that_every_installation_has() -> None:
    assert access(cluster()).username == "postgres"


def test_patroni_listens_where_it_is_said_or_where_it_usually_does() -> None:
    assert api_of(Node(name="n", address="p1:5432")) == "p1:8008"
    assert api_of(Node(name="n", address="p1:5432", api="p1:9009")) == "p1:9009"


def test_one_login_is_for_both(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PG_PASSWORD", "s3cr3t")
    auth = {"username": "me", "password": {"env": "PG_PASSWORD"}}
    found = cluster(auth=auth, tls={"enabled": True, "insecure": True}, options={"database": "d"})
    spec = load_spec(found, "postgresql", access(found))
    assert (spec["driver"], spec["options"]) == ("postgresql", {"database": "d"})
    assert spec["connection"]["password"] == "s3cr3t"
    assert spec["connection"]["tls"]["insecure_skip_verify"]
    way = access(found)
    assert way.tls is not None
    assert way.conninfo["sslmode"] == "require"
    assert (way.conninfo["dbname"], way.conninfo["password"]) == ("d", "s3cr3t")
    assert "s3cr3t" not in repr(way)


def test_without_tls_nothing_is_encrypted_and_with_it_the_server_is_checked() -> None:
    assert access(cluster()).conninfo["sslmode"] == "disable"
    assert access(cluster(tls={"enabled": True})).conninfo["sslmode"] == "verify-full"


def test_a_uri_is_refused() -> None:
    with pytest.raises(ConfigurationError, match=r"connection\.uri: found one, wanted connection"):
        access(cluster(uri="postgresql://p1:5432"))
