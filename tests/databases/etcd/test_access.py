"""How members are reached, and what the load generator gets."""

from pathlib import Path
from typing import Any

import pytest

from brownout.base.errors import ConfigurationError
from brownout.databases.etcd.access import access, load_spec
from brownout.databases.lab.certificates import Authority
from brownout.inventory.model import Cluster


def cluster(**connection: Any) -> Cluster:
    return Cluster.model_validate(
        {
            "name": "c",
            "database": "etcd",
            "environment": "test",
            "nodes": [{"name": f"n{n}", "address": f"e{n}:2379"} for n in (1, 2)],
            "connection": connection,
        }
    )


def test_the_load_goes_to_every_member_or_to_the_hosts_that_are_named() -> None:
    assert load_spec(cluster())["connection"]["uri"] == "etcd://e1:2379,e2:2379"
    assert load_spec(cluster(hosts=["lb:2379"]))["connection"]["uri"] == "etcd://lb:2379"


def test_a_login_is_a_user_and_a_password(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("E_PASSWORD", "s3cr3t")
    auth = {"username": "me", "password": {"env": "E_PASSWORD"}}
    found = cluster(auth=auth, tls={"enabled": True, "insecure": True}, options={"read": "x"})
    spec = load_spec(found)
    assert (spec["driver"], spec["options"]) == ("etcd", {"read": "x"})
    assert spec["connection"]["password"] == "s3cr3t"
    assert spec["connection"]["tls"]["insecure_skip_verify"]
    assert access(found).tls is not None
    assert "s3cr3t" not in repr(access(found))


def test_what_etcd_does_not_have_is_refused(tmp_path: Path) -> None:
    ours = tmp_path / "client.pem"
    ours.write_bytes(Authority("authority").issue("me", "clients"))
    with pytest.raises(ConfigurationError, match=r"connection\.uri: etcd has none"):
        access(cluster(uri="http://e1:2379"))
    with pytest.raises(ConfigurationError, match="takes no certificate for a login"):
        access(cluster(auth={"mechanism": "x509"}, tls={"certificate_file": str(ours)}))
