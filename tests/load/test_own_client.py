"""A stream whose operations a program of the user's does, on a real cluster that fails over."""

import json
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests import chaos_runner as chaos
from tests.cli.conftest import Brownout, brownout, home
from tests.own_lab import own_lab
from tests.ready_clients import command

from brownout.databases.adapter import adapter_for
from brownout.inventory.model import Cluster
from brownout.load.client_check import Conversation, check

__all__ = ["brownout", "home"]

#: Three servers of Cassandra beside other labs answer too late on two cores.
ALONE = pytest.mark.quiet
WORKLOAD: dict[str, Any] = {
    "data": {"keys": 500, "value_bytes": 100},
    "streams": [
        {"name": "lookups", "mix": {"read": 80, "update": 20}, "rate": 50, "deadline_s": 1},
        {
            "name": "orders", "mix": {"read": 50, "update": 50}, "rate": 50, "deadline_s": 1,
            "verified": True, "ledger_keys": 200,
        },
    ],
}  # fmt: skip


@pytest.mark.matrix
@pytest.mark.timeout(400)
@pytest.mark.parametrize(
    ("cluster", "client", "options", "name"),
    [
        ("lab-postgresql", "postgresql.py", {"max_size": 10}, "psycopg"),
        ("lab-postgresql", "Hikari", {"maximumPoolSize": 10}, "HikariCP with pgjdbc"),
        ("lab-postgresql", "sqlalchemy_postgresql.py", {"driver": "psycopg"}, "sqlalchemy psycopg"),
        ("lab-postgresql", "go_pgx", {"max_open": 10}, "database/sql with pgx"),
        ("lab-redis", "node_ioredis.mjs", {}, "ioredis"),
        ("lab-redis", "Lettuce", {"adaptiveRefresh": True, "adaptiveRefreshMs": 1000}, "Lettuce"),
        ("lab-mongodb", "node_mongodb.mjs", {"maxPoolSize": 10}, "mongodb for Node"),
        ("lab-mongodb", "Mongodb", {"maxPoolSize": 10}, "MongoDB's driver for Java"),
        ("lab-mongodb", "mongodb.py", {"maxPoolSize": 10}, "pymongo"),
        pytest.param("lab-cassandra", "Cassandra", {}, "Cassandra's driver for Java", marks=ALONE),
        ("lab-aerospike", "Aerospike", {}, "Aerospike's client for Java"),
        ("lab-aerospike", "aerospike_client.py", {}, "aerospike"),
    ],
)
def test_the_clients_own_recovery_and_ledger_are_measured_beside_the_drivers(
    tmp_path: Path, cluster: str, client: str, options: dict[str, Any], name: str
) -> None:
    lookups, orders = WORKLOAD["streams"]
    own = {"command": command(client, tmp_path), "options": options}
    workload = tmp_path / "own.yaml"
    workload.write_text(json.dumps({**WORKLOAD, "streams": [lookups, {**orders, "client": own}]}))
    ran = chaos.run_as_shipped("node-kill", tmp_path, cluster, "--var", f"workload={workload}")
    ran.check_proven()
    (fault,) = ran.impact["faults"]
    assert ran.impact["ledger"]["state"] == "clean", ran.output
    assert ran.impact["ledger"]["acknowledged"] > 500
    assert "client orders read" in fault["longest_blackout_by_lane"]
    orders = fault["scopes"]["orders"]
    if cluster not in ("lab-aerospike", "lab-cassandra"):  # whose other nodes serve on
        assert orders["longest_blackout"] > 0
    assert orders["errors"]
    assert "other" not in orders["errors"], "an error of the connection has a cause"
    assert ran.directory is not None
    clients = json.loads((ran.directory / "generator.json").read_text())["driver_settings"]
    assert clients["clients"]["orders"]["name"] == name


@pytest.mark.matrix
@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    ("cluster", "programs"),
    [
        ("lab-postgresql", "postgresql.py"),
        ("lab-postgresql", "sqlalchemy_postgresql.py"),
        ("lab-postgresql", "entry.py sqlalchemy_postgresql.py"),
        ("lab-postgresql", "node_pg.mjs"),
        ("lab-postgresql", "go_pgx"),
        ("lab-postgresql", "Hikari"),
        ("lab-redis", "redis_cluster.py"),
        ("lab-redis", "node_ioredis.mjs"),
        ("lab-redis", "Lettuce"),
        ("lab-mongodb", "mongodb.py"),
        ("lab-mongodb", "node_mongodb.mjs"),
        ("lab-postgresql-secure", "postgresql.py"),
        ("lab-mongodb-secure", "mongodb.py"),
        ("lab-mongodb", "Mongodb"),
        pytest.param("lab-cassandra", "Cassandra", marks=ALONE),
        ("lab-aerospike", "Aerospike"),
    ],
)
def test_a_ready_client_keeps_every_rule_on_a_real_cluster(
    brownout: Brownout, tmp_path: Path, cluster: str, programs: str
) -> None:
    words = [word for each in programs.split() for word in command(each, tmp_path)]
    said = brownout("client", "check", "--cluster", cluster, "--", *words)
    assert said.code == 0, said.out + said.err
    if cluster != "lab-aerospike":  # of a stand-in no server hangs
        assert "✓ a write whose server hangs is in doubt" in said.out


@pytest.mark.matrix
@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    ("cluster", "client"),
    [
        ("lab-postgresql", "postgresql.py"),
        ("lab-redis", "redis_cluster.py"),
        ("lab-mongodb", "mongodb.py"),
        pytest.param("lab-cassandra", "Cassandra", marks=ALONE),
        ("lab-aerospike", "aerospike_client.py"),
    ],
)
def test_what_a_ready_client_wrote_before_any_load_is_removed_by_clean(
    brownout: Brownout,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    cluster: str,
    client: str,
) -> None:
    words, key = command(client, tmp_path), {"key": "orders:r00000001"}
    written = {"writer": "w", "sequence": 1, "value": "w 1 00000000 AAAA+/=="}
    with own_lab(cluster, tmp_path / "labs", monkeypatch) as up:
        with closing(adapter_for(up)) as adapter:
            at = adapter.load_spec()["connection"]
        with Conversation(words, at, {}) as before:
            assert before.opened() == ""
            assert before.ask(do="write", **key, **written)["end"] == "ok"
            assert before.ask(do="read", **key)["value"] == written["value"]
        cleaned = brownout("clean", "--cluster", cluster)
        assert cleaned.code == 0, cleaned.out + cleaned.err
        with Conversation(words, at, {}) as after:
            assert after.opened() == ""
            assert after.ask(do="read", **key) == {"id": 1, "end": "ok", "value": None}


def test_the_ready_client_for_aerospike_keeps_every_rule_on_the_stand_in(
    tmp_path: Path, lab_aerospike: Cluster
) -> None:
    adapter = adapter_for(lab_aerospike)
    at = adapter.load_spec()["connection"]
    adapter.close()
    with Conversation(command("aerospike_client.py", tmp_path), at, {}) as client:
        assert [rule for rule in check(client) if rule.problem] == []
