"""How nodes are reached, and what the load generator gets."""

from typing import Any

import pytest

from brownout.base.errors import ConfigurationError
from brownout.databases.access import load_spec
from brownout.databases.couchbase.access import access
from brownout.inventory.model import Cluster

LOGIN = {"username": "me", "password": {"env": "C_PASSWORD"}}


@pytest.fixture(autouse=True)
def _password(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("C_PASSWORD", "s3cr3t")


def cluster(api: bool = True, **connection: Any) -> Cluster:
    nodes = [{"name": f"n{n}", "address": f"c{n}:11210"} for n in (1, 2)]
    for node in nodes if api else ():
        node["api"] = node["address"].replace("11210", "8091")
    return Cluster.model_validate(
        {
            "name": "c",
            "database": "couchbase",
            "environment": "test",
            "nodes": nodes,
            "connection": connection,
        }
    )


def test_a_login_and_the_bucket_are_handed_on() -> None:
    found = cluster(auth=LOGIN, tls={"enabled": True, "insecure": True}, options={"bucket": "shop"})
    way = access(found)
    spec = load_spec(found, "couchbase", way)
    assert (spec["driver"], spec["options"]) == ("couchbase", {"bucket": "shop"})
    assert spec["connection"]["password"] == "s3cr3t"
    assert spec["connection"]["tls"]["insecure_skip_verify"]
    assert (way.bucket, way.username, way.tls is not None) == ("shop", "me", True)
    assert "s3cr3t" not in repr(way)
    assert access(cluster(auth=LOGIN)).bucket == "brownout"


def test_all_that_couchbase_wants_and_does_not_have_is_said_at_once() -> None:
    with pytest.raises(ConfigurationError) as refused:
        access(cluster(api=False, uri="couchbase://c1"))
    said = str(refused.value)
    for words in ("wanted connection.hosts", "connection.auth: found none", "n1, n2: wanted `api`"):
        assert words in said
