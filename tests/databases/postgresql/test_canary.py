"""An application's psycopg beside the load: what it does is where it belongs, and goes again."""

from collections.abc import Iterator

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from brownout.databases.adapter import adapter_for
from brownout.databases.canary import NotFound, Target
from brownout.databases.postgresql.access import access
from brownout.databases.postgresql.canary import PostgresqlCanary
from brownout.inventory.canary import Policies
from brownout.inventory.model import Cluster

SCHEMA = "brownout_canary_test"


@pytest.fixture
def primary(lab_postgresql: Cluster) -> Iterator["psycopg.Connection[tuple[object, ...]]"]:
    """A session of its own on the primary, with the schema of a load."""
    adapter = adapter_for(lab_postgresql)
    (node,) = adapter.targets("primary", 4711)
    adapter.close()
    host, _, port = node.address.rpartition(":")
    conninfo = make_conninfo(host=host, port=port, **access(lab_postgresql).conninfo)
    with psycopg.connect(conninfo, autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {SCHEMA}")
        try:
            yield connection
        finally:
            connection.execute(f"DROP SCHEMA {SCHEMA} CASCADE")


def canary(cluster: Cluster, policies: Policies) -> PostgresqlCanary:
    adapter = adapter_for(cluster)
    spec = adapter.load_spec()
    adapter.close()
    options = {**spec["options"], "synchronous_commit": "local"}
    return PostgresqlCanary(Target(spec["connection"], options, SCHEMA, policies))


def test_it_writes_and_reads_on_the_primary_and_removes_only_its_own_table(
    lab_postgresql: Cluster, primary: "psycopg.Connection[tuple[object, ...]]"
) -> None:
    primary.execute(f"CREATE TABLE {SCHEMA}.data (id text)")
    client = canary(lab_postgresql, {"connect_timeout": 2, "pool": {"max_size": 8}})
    try:
        client.write(7, 1)
        client.write(7, 2)
        client.read(7)
        stored = primary.execute(f"SELECT id, value FROM {SCHEMA}.canary").fetchall()
        with pytest.raises(NotFound):
            client.read(8)
        client.clean()
        with pytest.raises(psycopg.Error) as error:
            client.read(7)
    finally:
        client.close()
    assert stored == [(7, 2)]
    assert PostgresqlCanary.code(error.value) == "42P01"  # undefined_table
    left = primary.execute("SELECT tablename FROM pg_tables WHERE schemaname = %s", [SCHEMA])
    assert left.fetchall() == [("data",)]


def test_it_says_which_policies_are_in_effect(
    lab_postgresql: Cluster, primary: "psycopg.Connection[tuple[object, ...]]"
) -> None:
    client = canary(lab_postgresql, {"connect_timeout": 2, "pool": {"max_size": 8, "check": True}})
    try:
        said = client.policies()
    finally:
        client.clean()
        client.close()
    assert said["connect_timeout"] == 2
    assert said["target_session_attrs"] == "read-write"
    assert said["options"] == "-c synchronous_commit=local"
    assert said["tcp_user_timeout"] is None
    assert (said["pool"]["max_size"], said["pool"]["timeout"]) == (8, 30.0)
    assert said["pool"]["check"] is True
