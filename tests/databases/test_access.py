"""How nodes are reached, and what the load generator gets, where logins are by password only."""

from pathlib import Path
from typing import Any

import pytest

from brownout.base.errors import ConfigurationError
from brownout.databases.access import Access, by_password, load_spec
from brownout.databases.lab.certificates import Authority
from brownout.inventory.model import Cluster


def cluster(**connection: Any) -> Cluster:
    return Cluster.model_validate(
        {
            "name": "c",
            "database": "redis",
            "environment": "test",
            "nodes": [{"name": f"n{n}", "address": f"r{n}:6379"} for n in (1, 2)],
            "connection": connection,
        }
    )


def test_the_load_goes_to_every_node_or_to_the_hosts_that_are_named() -> None:
    every, named = cluster(), cluster(hosts=["lb:6379"])
    assert load_spec(every, "redis", Access())["connection"]["uri"] == "redis://r1:6379,r2:6379"
    assert load_spec(named, "redis", Access())["connection"]["uri"] == "redis://lb:6379"


def test_a_login_is_a_user_and_a_password(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A_PASSWORD", "s3cr3t")
    auth = {"username": "me", "password": {"env": "A_PASSWORD"}}
    found = cluster(auth=auth, tls={"enabled": True, "insecure": True}, options={"client": "x"})
    access = by_password(found, "a password")
    assert access.tls is not None
    assert "s3cr3t" not in repr(access)
    spec = load_spec(found, "redis", access)
    assert (spec["driver"], spec["options"]) == ("redis", {"client": "x"})
    assert (spec["connection"]["username"], spec["connection"]["password"]) == ("me", "s3cr3t")
    assert spec["connection"]["tls"]["insecure_skip_verify"]


def test_a_uri_and_a_login_by_certificate_are_refused(tmp_path: Path) -> None:
    ours = tmp_path / "client.pem"
    ours.write_bytes(Authority("authority").issue("me", "clients"))
    with pytest.raises(ConfigurationError, match=r"connection\.uri: found one, wanted connection"):
        by_password(cluster(uri="redis://r1:6379"), "a password")
    by_certificate = cluster(auth={"mechanism": "x509"}, tls={"certificate_file": str(ours)})
    with pytest.raises(ConfigurationError, match="found x509, wanted a password as we know it"):
        by_password(by_certificate, "a password as we know it")
