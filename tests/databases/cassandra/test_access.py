"""How nodes are reached, and what the load generator gets."""

from pathlib import Path
from typing import Any

import pytest

from brownout.base.errors import ConfigurationError
from brownout.databases.cassandra.access import access, load_spec
from brownout.databases.lab.certificates import Authority
from brownout.inventory.model import Cluster


def cluster(**connection: Any) -> Cluster:
    return Cluster.model_validate(
        {
            "name": "c",
            "database": "cassandra",
            "environment": "test",
            "nodes": [{"name": f"n{n}", "address": f"c{n}:9042"} for n in (1, 2)],
            "connection": connection,
        }
    )


def test_the_load_goes_to_every_node_or_to_the_hosts_that_are_named() -> None:
    assert load_spec(cluster())["connection"]["uri"] == "cassandra://c1:9042,c2:9042"
    assert load_spec(cluster(hosts=["c2:9042"]))["connection"]["uri"] == "cassandra://c2:9042"


def test_a_login_is_a_user_and_a_password(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("C_PASSWORD", "s3cr3t")
    auth = {"username": "me", "password": {"env": "C_PASSWORD"}}
    found = cluster(auth=auth, tls={"enabled": True, "insecure": True}, options={"local_dc": "x"})
    spec = load_spec(found)
    assert (spec["driver"], spec["options"]) == ("cassandra", {"local_dc": "x"})
    assert spec["connection"]["password"] == "s3cr3t"
    assert spec["connection"]["tls"]["insecure_skip_verify"]
    assert access(found).tls is not None
    assert "s3cr3t" not in repr(access(found))


def test_what_cassandra_does_not_have_is_refused(tmp_path: Path) -> None:
    ours = tmp_path / "client.pem"
    ours.write_bytes(Authority("authority").issue("me", "clients"))
    with pytest.raises(ConfigurationError, match=r"Cassandra has none, wanted connection\.hosts"):
        access(cluster(uri="cassandra://c1:9042"))
    with pytest.raises(ConfigurationError, match="wanted a username and a"):
        access(cluster(auth={"mechanism": "x509"}, tls={"certificate_file": str(ours)}))
