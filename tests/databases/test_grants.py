"""What a login lacks, asked of real servers with users that have just less than is needed."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import pytest
import yaml

from brownout.base.errors import Refused
from brownout.databases.access import Access
from brownout.databases.adapter import Privileged, SteppingDown, adapter_for
from brownout.databases.aerospike.grants import refused
from brownout.databases.etcd.grants import covers
from brownout.databases.etcd.link import Link as EtcdLink
from brownout.databases.mongodb.grants import allowed
from brownout.databases.redis.link import Link as RedisLink
from brownout.infra import lab
from brownout.inventory import inventory, labs
from brownout.inventory.database import database, databases
from brownout.inventory.grants import Grant
from brownout.inventory.model import Cluster

PASSWORD = "less-than-needed"


def grants(name: str, act: str) -> list[Grant]:
    return [grant for grant in database(name).grants if act in grant.acts]


@contextmanager
def asking(cluster: Cluster, auth: dict[str, Any], where: Path) -> Iterator[Privileged]:
    """The adapter of a running lab, with another login."""
    running = yaml.safe_load((labs.directory(cluster.name) / "inventory.yaml").read_text())
    del running["lab"]
    connection = {**running.get("connection", {}), "auth": auth}
    path = where / "limited.yaml"
    path.write_text(yaml.safe_dump({**running, "name": "limited", "connection": connection}))
    adapter = adapter_for(inventory.load(str(path)))
    try:
        assert isinstance(adapter, Privileged)
        yield adapter
    finally:
        adapter.close()


def test_every_database_declares_what_its_load_needs_and_how_that_is_given() -> None:
    for found in databases().values():
        if found.driver == "stone":
            continue
        assert any("the load" in grant.acts for grant in found.grants), found.name
        for grant in found.grants:
            privilege, statement = grant.words("ann", "brownout")
            assert "ann" in statement, (found.name, privilege)


def test_privileges_of_mongodb_cover_what_they_name_and_no_more() -> None:
    has = [
        {"resource": {"cluster": True}, "actions": ["replSetGetStatus"]},
        {"resource": {"db": "brownout", "collection": ""}, "actions": ["find"]},
        {"resource": {"db": "shop", "collection": "orders"}, "actions": ["insert"]},
    ]
    assert allowed("cluster:replSetGetStatus", has)
    assert not allowed("cluster:replSetStateChange", has)
    assert allowed("brownout:find", has)
    assert not allowed("shop:insert", has), "of one collection only"
    assert allowed("shop:insert", [{"resource": {"anyResource": True}, "actions": ["insert"]}])


@pytest.mark.parametrize(
    ("permission", "covered"),
    [
        ({"permType": "READWRITE", "key": "YnJvd25vdXQv", "range_end": "YnJvd25vdXQw"}, True),
        ({"permType": "READ", "key": "YnJvd25vdXQv", "range_end": "YnJvd25vdXQw"}, False),
        ({"permType": "READWRITE", "key": "YnJvd25vdXQv"}, False),
        ({"permType": "READWRITE", "key": "AA==", "range_end": "AA=="}, True),
    ],
)
def test_a_permission_of_etcd_has_to_cover_the_whole_prefix(
    permission: dict[str, str], covered: bool
) -> None:
    assert covers("brownout/", permission) is covered


def test_a_node_of_aerospike_says_that_a_role_is_missing() -> None:
    assert refused("ERROR:81:role violation")
    assert not refused("ERROR:4:bad parameter")


@pytest.mark.live
@pytest.mark.matrix
def test_a_user_of_redis_without_one_command_lacks_just_what_needs_it(
    lab_redis: Cluster, tmp_path: Path
) -> None:
    links = [RedisLink(node, Access(), 5.0) for node in lab_redis.nodes]
    rules = ("on", f">{PASSWORD}", "~brownout/*", "+@all", "-cluster|failover", "-migrate")
    for link in links:
        link.ask("ACL", "SETUSER", "limited", *rules)
    try:
        auth = {"username": "limited", "password": {"file": "password"}}
        (tmp_path / "password").write_text(PASSWORD)
        with asking(lab_redis, auth, tmp_path) as adapter:
            every = database("redis").grants
            lacking = adapter.missing_grants(every, "brownout")
            assert [grant.acts for grant in lacking] == [("stepdown",), ("slots",)]
            assert adapter.missing_grants(grants("redis", "the load"), "elsewhere") != []
            before = [str(link.ask("CLUSTER", "NODES")).count("master") for link in links]
            stepping = cast(SteppingDown, adapter)
            master = lab_redis.node(adapter.targets("primary", 1)[0].name)  # type: ignore[attr-defined]
            with pytest.raises(Refused, match=r"does not take over: .*NOPERM"):
                stepping.step_down(master, 0)
            assert before == [str(link.ask("CLUSTER", "NODES")).count("master") for link in links]
    finally:
        for link in links:
            link.ask("ACL", "DELUSER", "limited")
            link.close()


@pytest.fixture
def with_users(lab_etcd: Cluster) -> Iterator[Callable[..., Any]]:
    """The lab with users: `root`, and `limited`, who may do nothing yet; none afterwards."""
    node = lab_etcd.nodes[0]
    open_link, root = EtcdLink(node, Access(), 5.0), None
    for name in ("root", "limited"):
        open_link.ask("auth/user/add", name=name, password=PASSWORD)
    open_link.ask("auth/role/add", name="brownout")
    open_link.ask("auth/role/add", name="root")
    open_link.ask("auth/user/grant", user="root", role="root")
    open_link.ask("auth/user/grant", user="limited", role="brownout")
    open_link.ask("auth/enable")
    root = EtcdLink(node, Access(None, "root", PASSWORD), 5.0)
    try:
        yield root.ask
    finally:
        root.ask("auth/disable")
        for name in ("root", "limited"):
            open_link.ask("auth/user/delete", name=name)
        for name in ("root", "brownout"):
            open_link.ask("auth/role/delete", role=name)
        open_link.close()
        root.close()


@pytest.mark.live
@pytest.mark.matrix
def test_a_user_of_etcd_who_is_not_root_lacks_what_root_does(
    lab_etcd: Cluster, with_users: Callable[..., Any], tmp_path: Path
) -> None:
    auth = {"username": "limited", "password": {"file": "password"}}
    (tmp_path / "password").write_text(PASSWORD)
    every = database("etcd").grants
    with asking(lab_etcd, auth, tmp_path) as adapter:
        assert adapter.missing_grants(every, "brownout") == list(every)
        leader = adapter.targets("primary", 1)[0]  # type: ignore[attr-defined]
        with pytest.raises(Refused, match="permission denied; give the user the role `root`"):
            cast(SteppingDown, adapter).step_down(leader, 0)
        perm = {"permType": "READWRITE", "key": "YnJvd25vdXQv", "range_end": "YnJvd25vdXQw"}
        with_users("auth/role/grant", name="brownout", perm=perm)
        lacking = adapter.missing_grants(every, "brownout")
        assert [grant.acts for grant in lacking] == [("stepdown", "wipe")]


@pytest.mark.live
@pytest.mark.matrix
def test_a_login_that_patroni_refuses_lacks_the_step_down(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = "lab-postgresql-secure"
    monkeypatch.setenv("BROWNOUT_LAB_DIR", str(tmp_path / "lab"))
    monkeypatch.delenv("BROWNOUT_CLUSTERS", raising=False)
    try:
        cluster = lab.up(name)
        with adapter_for(cluster) as adapter:  # type: ignore[attr-defined]
            assert adapter.missing_grants(database("postgresql").grants, "brownout") == []
        (tmp_path / "password").write_text(PASSWORD)
        username = cluster.connection.auth.username if cluster.connection.auth else ""
        auth = {"username": username, "password": {"file": "password"}}
        with asking(cluster, auth, tmp_path) as adapter:
            lacking = adapter.missing_grants(grants("postgresql", "stepdown"), "brownout")
            assert [grant.acts for grant in lacking] == [("stepdown",)]
    finally:
        lab.down(name)
