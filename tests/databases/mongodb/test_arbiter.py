"""A replica set with logins and an arbiter, which has no users, so that no login succeeds there."""

import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pymongo
import pytest
from pydantic import SecretStr
from pymongo.errors import PyMongoError
from tests.waiting import await_true, await_whole

from brownout.databases.adapter import Claim
from brownout.databases.lab.ports import reserve_ports
from brownout.databases.milestones import still_unmet
from brownout.databases.mongodb.adapter import MongoAdapter
from brownout.databases.mongodb.census import census
from brownout.databases.mongodb.grants import GRANTS
from brownout.databases.mongodb.lab.mongod import find_mongod
from brownout.databases.mongodb.lab.security import ROLES
from brownout.inventory.connection import Auth, Connection
from brownout.inventory.model import Cluster, Node

pytestmark = [pytest.mark.live, pytest.mark.matrix, pytest.mark.timeout(300)]

USER, OTHER, PASSWORD, KEY = "chaos", "of-orders", "secret", "x" * 64


class PrimarySecondaryArbiter:
    """Three mongod with `keyFile`; the first of `nodes` is the arbiter."""

    def __init__(self, where: Path) -> None:
        self._where, self._running = where, dict[str, subprocess.Popen[bytes]]()
        key = where / "key"
        key.write_text(KEY)
        key.chmod(0o600)
        self._ports = dict(zip(("arbiter", "n1", "n2"), reserve_ports(3, where), strict=True))
        nodes = tuple(Node(name=n, address=f"127.0.0.1:{p}") for n, p in self._ports.items())
        self.cluster = Cluster(
            name="psa",
            database="mongodb",
            environment="test",
            nodes=nodes,
            connection=Connection(replica_set="psa", auth=self.login(PASSWORD)),
        )

    def login(self, password: str) -> Auth:
        kept = self._where / "password"
        kept.write_text(password)
        return Auth.model_validate({"username": USER, "password": {"file": str(kept)}})

    def start(self, name: str) -> None:
        data = self._where / name
        data.mkdir(exist_ok=True)
        words = [find_mongod(), "--replSet", "psa", "--port", self._ports[name], "--dbpath", data]
        words += ["--keyFile", self._where / "key", "--bind_ip", "127.0.0.1"]
        words += ["--wiredTigerCacheSizeGB", "0.25", "--oplogSize", "64"]
        words += ["--logpath", data / "log", "--nounixsocket"]
        # As from another machine: without users, loopback addresses may do much.
        words += ["--setParameter", "enableLocalhostAuthBypass=false"]
        self._running[name] = subprocess.Popen([str(word) for word in words])

    def stop(self, name: str) -> None:
        process = self._running.pop(name)
        process.kill()
        process.wait(30)

    def bring_up(self) -> None:
        for name in self._ports:
            self.start(name)
        members = [
            {"_id": number, "host": f"127.0.0.1:{port}", "arbiterOnly": name == "arbiter"}
            for number, (name, port) in enumerate(self._ports.items())
        ]
        members[1]["priority"] = 2
        settings = {"electionTimeoutMillis": 2000, "heartbeatIntervalMillis": 500}
        first = f"mongodb://127.0.0.1:{self._ports['n1']}/?directConnection=true"
        login: dict[str, Any] = {"username": "__system", "password": KEY, "authSource": "local"}
        with pymongo.MongoClient[dict[str, Any]](first, **login, timeoutMS=30_000) as client:

            def is_done(command: str, value: Any, **arguments: Any) -> bool:
                try:
                    client.admin.command(command, value, **arguments)
                except PyMongoError:
                    return False
                return True

            document = {"_id": "psa", "members": members, "settings": settings}
            await_true(lambda: is_done("replSetInitiate", document), "all members listen")
            user: dict[str, Any] = {"pwd": PASSWORD, "roles": list(ROLES)}
            await_true(lambda: is_done("createUser", USER, **user), "the first one is primary")
            client.orders.command("createUser", OTHER, **user)

    def take_down(self) -> None:
        for name in list(self._running):
            self.stop(name)


@pytest.fixture(scope="module")
def psa(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PrimarySecondaryArbiter]:
    members = PrimarySecondaryArbiter(tmp_path_factory.mktemp("psa"))
    try:
        members.bring_up()
        yield members
    finally:
        members.take_down()


def test_an_arbiter_counts_as_serving_though_no_login_succeeds_there(
    psa: PrimarySecondaryArbiter,
) -> None:
    with MongoAdapter(psa.cluster) as adapter:
        await_whole(adapter)
        adapter.ready()
        arbiter = adapter.members()[0]
        assert (arbiter.role, arbiter.state, arbiter.healthy) == ("other", "ARBITER", True)
        psa.stop("arbiter")
        assert any("arbiter" in each for each in still_unmet(adapter, "rejoined"))
        psa.start("arbiter")
        await_whole(adapter)


def test_an_arbiter_never_claims_to_be_primary(psa: PrimarySecondaryArbiter) -> None:
    with MongoAdapter(psa.cluster) as adapter:
        claims = {}
        for candidate in adapter.candidates():
            with closing(candidate):
                claims[candidate.node] = candidate.claim()
    assert claims["arbiter"] == Claim(False)
    assert sorted(claim.primary for claim in claims.values()) == [False, False, True]


def test_rights_are_asked_of_a_member_that_has_users(psa: PrimarySecondaryArbiter) -> None:
    with MongoAdapter(psa.cluster) as adapter:
        assert adapter.missing_grants(GRANTS, "brownout") == []
        assert adapter.missing_grants(GRANTS, "orders") == [GRANTS[0]]


def test_a_set_is_written_with_its_arbiter_by_whomever_is_asked(
    psa: PrimarySecondaryArbiter,
) -> None:
    listed = {node.address for node in psa.cluster.nodes}
    for seed in psa.cluster.nodes:
        asked = psa.cluster.model_copy(update={"nodes": (seed,)})
        machines = census(asked).machines
        assert {f"{one.address}:{one.database_port}" for one in machines} == listed


def test_a_user_of_another_database_logs_in_by_a_uri_that_names_it(
    psa: PrimarySecondaryArbiter,
) -> None:
    hosts = ",".join(node.address for node in psa.cluster.nodes)
    uri = f"mongodb://{OTHER}:{PASSWORD}@{hosts}/orders?replicaSet=psa"
    connection = Connection(uri=SecretStr(uri))
    with MongoAdapter(psa.cluster.model_copy(update={"connection": connection})) as adapter:
        await_whole(adapter)


def test_a_wrong_password_is_refused_by_every_other_member(psa: PrimarySecondaryArbiter) -> None:
    connection = psa.cluster.connection.model_copy(update={"auth": psa.login("wrong")})
    with MongoAdapter(psa.cluster.model_copy(update={"connection": connection})) as adapter:
        states = {member.node: member.state for member in adapter.members()}
    assert states == {"arbiter": "ARBITER", "n1": "unreachable", "n2": "unreachable"}
