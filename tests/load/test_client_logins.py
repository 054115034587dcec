"""The ready clients on labs with TLS and logins: who is let in, and what the others are told."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.own_lab import own_lab
from tests.ready_clients import command

from brownout.databases.adapter import adapter_for
from brownout.databases.lab.certificates import Authority
from brownout.load.client_check import Conversation, check

Connection = dict[str, Any]


@pytest.fixture(scope="module")
def connection(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Connection]:
    """How clients connect to the secured lab of that name, which is up."""
    place = tmp_path_factory.mktemp("labs")
    with pytest.MonkeyPatch.context() as patch, own_lab(request.param, place, patch) as cluster:
        adapter = adapter_for(cluster)
        try:
            adapter.ready()
            yield adapter.load_spec()["connection"]
        finally:
            adapter.close()


def refusals(connection: Connection, where: Path) -> dict[str, tuple[Connection, tuple[str, ...]]]:
    """Connections that are refused, and words one of which says why."""
    stranger = where / "stranger.pem"
    stranger.write_bytes(Authority("stranger").pem)
    missing = str(where / "no-such-file.pem")
    tls = connection["tls"]
    without = {"cert_file": "", "key_file": ""}
    found: dict[str, tuple[Connection, tuple[str, ...]]] = {
        "authority": ({"tls": {**tls, "ca_file": str(stranger)}}, ("certificate", "PKIX")),
        "missing file": ({"tls": {**tls, "ca_file": missing}}, (missing,)),
        "missing certificate": (
            {"tls": {**tls, "cert_file": missing, "key_file": missing}},
            (missing,),
        ),
    }
    if connection["password"]:
        found["password"] = ({"password": "wrong"}, ("password", "WRONGPASS", "credentials"))
    else:
        found["no certificate"] = ({"tls": {**tls, **without}}, ("No verified subject name",))
    return {name: ({**connection, **changes}, words) for name, (changes, words) in found.items()}


@pytest.mark.matrix
@pytest.mark.timeout(400)
@pytest.mark.parametrize(
    ("connection", "client", "options"),
    [
        ("lab-postgresql-secure", "postgresql.py", {}),
        ("lab-postgresql-secure", "sqlalchemy_postgresql.py", {}),
        ("lab-postgresql-secure", "sqlalchemy_postgresql.py", {"driver": "psycopg"}),
        ("lab-postgresql-secure", "node_pg.mjs", {}),
        ("lab-postgresql-secure", "go_pgx", {"max_open": 10}),
        ("lab-postgresql-secure", "Hikari", {"initializationFailTimeout": 1}),
        ("lab-redis-secure", "redis_cluster.py", {}),
        ("lab-redis-secure", "node_ioredis.mjs", {}),
        ("lab-redis-secure", "Lettuce", {}),
        ("lab-mongodb-secure", "mongodb.py", {"serverSelectionTimeoutMS": 5000}),
        ("lab-mongodb-secure", "node_mongodb.mjs", {"serverSelectionTimeoutMS": 5000}),
        ("lab-mongodb-secure", "Mongodb", {"serverSelectionTimeoutMS": 5000}),
        ("lab-cassandra-secure", "Cassandra", {}),
    ],
    indirect=["connection"],
)
def test_a_ready_client_logs_in_and_says_why_it_cannot(
    connection: Connection,
    client: str,
    options: dict[str, Any],
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    words = command(client, tmp_path)
    with Conversation(words, connection, options) as let_in:
        assert [rule for rule in check(let_in) if rule.problem] == []
    problems = {}
    for name, (changed, expected) in refusals(connection, tmp_path).items():
        with Conversation(words, changed, options) as refused:
            problem = refused.opened()
        if "answered with the error" not in problem or not any(w in problem for w in expected):
            problems[name] = problem or "it opened"
    assert problems == {}
    said = capfd.readouterr()
    assert not connection["password"] or connection["password"] not in said.out + said.err
