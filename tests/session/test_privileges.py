"""The load may log in as another user than we do, who needs what the load does and no more."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from brownout.databases.access import Access
from brownout.databases.adapter import adapter_for
from brownout.databases.redis.link import Link
from brownout.inventory import inventory
from brownout.inventory.model import Cluster
from brownout.load import workload
from brownout.load.remote.spec import LoadSettings
from brownout.load.session import run_load
from brownout.session.privileges import privileges

ENGINES = {
    "mongodb": 27017, "redis": 6379, "etcd": 2379, "cassandra": 9042, "postgresql": 5432,
    "aerospike": 3000,
}  # fmt: skip


@pytest.fixture(autouse=True)
def passwords(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONTROL_PASSWORD", "c0ntr0l")
    monkeypatch.setenv("LOAD_PASSWORD", "l0ad")


def auth(user: str) -> dict[str, Any]:
    return {"username": user, "password": {"env": f"{user.upper()}_PASSWORD"}}


@pytest.mark.parametrize("engine", ENGINES)
def test_the_load_has_the_login_of_load_auth_and_we_that_of_the_connection(engine: str) -> None:
    document = {
        "name": "c", "database": engine, "environment": "test",
        "nodes": [{"name": f"n{n}", "address": f"10.0.0.{n}:{ENGINES[engine]}"} for n in (1, 2, 3)],
        "connection": {"auth": auth("control")},
    }  # fmt: skip
    ours = inventory.parse(document, Path("c.yaml"))
    theirs = inventory.parse({**document, "load": {"auth": auth("load")}}, Path("c.yaml"))
    for cluster, user in ((ours, "control"), (theirs, "load")):
        own = cluster.as_the_load.connection.auth
        assert own is not None
        assert own.username == user
        assert cluster.connection.auth is not None
        assert cluster.connection.auth.username == "control"
    if engine != "aerospike":  # which asks a node for the namespace first
        with closing(adapter_for(theirs)) as adapter:
            connection = adapter.load_spec()["connection"]
        assert (connection["username"], connection["password"]) == ("load", "l0ad")


ALLOWED = "~brownout/* +@read +@write +@scripting +@connection +cluster"


@pytest.fixture
def users(lab_redis: Cluster) -> Iterator[Cluster]:
    """A real cluster with a user for the load; nodes ask us for no login."""
    links = [Link(node, Access(), 5.0) for node in lab_redis.nodes]
    for link in links:
        link.ask("ACL", "SETUSER", "load", "on", ">l0ad", *ALLOWED.split())
    load = LoadSettings.model_validate({"auth": auth("load")})
    yield lab_redis.model_copy(update={"load": load})
    for link in links:
        link.ask("ACL", "DELUSER", "load")
        link.close()


@pytest.mark.matrix
def test_a_load_without_any_role_in_the_cluster_is_served_and_named_where_it_may_not(
    users: Cluster, tmp_path: Path
) -> None:
    wanted = workload.load("lab", {})
    with closing(adapter_for(users)) as adapter:
        guards = privileges(users, adapter, ["kill", "stepdown"], wanted.namespace)
        assert all(guard.ok for guard in guards), guards
        result = run_load(wanted, adapter.load_spec(), tmp_path / "run", 3.0, seed=1)
        assert result.verified is not None
        assert result.verified["unread"] == 0
        for node in users.nodes:
            with closing(Link(node, Access(), 5.0)) as link:
                link.ask("ACL", "SETUSER", "load", "-@write")
        refused = [
            guard
            for guard in privileges(users, adapter, ["kill"], wanted.namespace)
            if not guard.ok
        ]
    assert ["the login `load`" in guard.detail for guard in refused] == [True]
