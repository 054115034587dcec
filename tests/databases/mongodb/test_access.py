"""What drivers are given: addresses, options and certificates, with the secrets beside the URI."""

from pathlib import Path

import pytest
from pydantic import SecretStr

from brownout.databases.lab.certificates import Authority
from brownout.databases.mongodb.access import access
from brownout.inventory.connection import Auth, Connection, Tls
from brownout.inventory.model import Cluster, Node


def cluster(connection: Connection) -> Cluster:
    return Cluster(
        name="orders",
        database="mongodb",
        environment="test",
        nodes=(Node(name="n1", address="db1:27017"), Node(name="n2", address="db2:27017")),
        connection=connection,
    )


def test_the_nodes_are_the_hosts_where_none_are_given() -> None:
    found = access(cluster(Connection(replica_set="rs")))

    assert found.uri == "mongodb://db1:27017,db2:27017/?replicaSet=rs"


def test_given_hosts_replace_the_nodes_for_the_load_only() -> None:
    found = access(cluster(Connection(hosts=("proxy:27017",), replica_set="rs")))

    assert found.uri == "mongodb://proxy:27017/?replicaSet=rs"
    assert found.direct_uri("db1:27017") == "mongodb://db1:27017/?directConnection=true"


def test_a_uri_keeps_its_options_and_one_member_gets_those_that_concern_it() -> None:
    uri = "mongodb://db1,db2/?replicaSet=rs&compressors=zlib&authSource=x"

    found = access(cluster(Connection(uri=SecretStr(uri))))

    assert found.uri == uri
    assert found.direct_uri("db1:27017") == (
        "mongodb://db1:27017/?compressors=zlib&authSource=x&directConnection=true"
    )


@pytest.mark.parametrize(("query", "tls"), [("", "true"), ("?tls=false", "false")])
def test_a_service_record_means_encryption_unless_it_says_otherwise(query: str, tls: str) -> None:
    found = access(cluster(Connection(uri=SecretStr(f"mongodb+srv://db.example.com/{query}"))))

    assert f"tls={tls}" in found.direct_uri("db1:27017")


@pytest.mark.parametrize(
    ("uri", "source"),
    [
        ("mongodb://app:pw@db1,db2/orders?replicaSet=rs0", "orders"),
        ("mongodb://app:pw@db1/%C3%B6rders", "%c3%b6rders"),
        ("mongodb://app:pw@db1/orders?authMechanism=SCRAM-SHA-256", "orders"),
        ("mongodb://app:pw@db1/orders?authsource=admin", "admin"),
        ("mongodb://app:pw@db1/", ""),
        ("mongodb://db1/orders", ""),
        ("mongodb://CN=app@db1/orders?authMechanism=MONGODB-X509", ""),
        ("mongodb+srv://app:pw@db.example.com/orders", ""),  # the DNS may name another one
    ],
)
def test_a_login_of_a_uri_is_known_to_the_database_that_it_names(uri: str, source: str) -> None:
    asked = access(cluster(Connection(uri=SecretStr(uri)))).direct_uri("db1:27017")

    assert asked.lower().count("authsource=") == bool(source)
    assert not source or f"authsource={source}" in asked.lower()


def test_a_user_is_beside_the_uri_and_its_database_in_it() -> None:
    auth = Auth(username="u", password=SecretStr("p"), source="users")

    found = access(cluster(Connection(auth=auth)))

    assert found.uri == "mongodb://db1:27017,db2:27017/?authSource=users"
    assert found.pymongo() == {"username": "u", "password": "p"}
    assert found.generator() == {"uri": found.uri, "username": "u", "password": "p"}


@pytest.mark.parametrize(
    ("user", "query"),
    [("u:p@", "&authSource=users"), ("", "&authMechanism=MONGODB-X509&authSource=$external")],
)
def test_a_member_without_users_is_reached_without_a_login(user: str, query: str) -> None:
    uri = "mongodb://{}db1:27017/?replicaSet=rs&compressors=zlib{}"
    plain = access(cluster(Connection(uri=SecretStr(uri.format("", "")))))

    found = access(cluster(Connection(uri=SecretStr(uri.format(user, query)))))

    assert (found.logs_in, plain.logs_in) == (True, False)
    assert found.without_login().direct_uri("db1:27017") == plain.direct_uri("db1:27017")
    assert found.without_login().pymongo() == plain.pymongo()


def test_nothing_that_may_be_a_secret_is_printed() -> None:
    uri = "mongodb://u:first@db1/?tlsCertificateKeyFilePassword=second"

    found = access(cluster(Connection(uri=SecretStr(uri))))

    assert "first" not in repr(found)
    assert "second" not in repr(found)


@pytest.mark.parametrize("insecure", [False, True])
def test_a_certificate_serves_pymongo_and_the_generator(tmp_path: Path, insecure: bool) -> None:
    pem = tmp_path / "client.pem"
    pem.write_bytes(Authority("ours").issue("client", "clients", passphrase="0pen"))
    passphrase = SecretStr("0pen")
    tls = Tls(ca_file=pem, certificate_file=pem, key_passphrase=passphrase, insecure=insecure)

    found = access(cluster(Connection(auth=Auth(mechanism="x509"), tls=tls)))

    assert found.uri.endswith("?authMechanism=MONGODB-X509&authSource=%24external")
    assert found.pymongo() == {
        "tls": True,
        "tlsInsecure": insecure,
        "tlsCAFile": str(pem),
        "tlsCertificateKeyFile": str(pem),
        "tlsCertificateKeyFilePassword": "0pen",
    }
    assert found.generator()["tls"] == {
        "enabled": True,
        "ca_file": str(pem),
        "cert_file": str(pem),
        "key_file": str(pem),
        "key_passphrase": "0pen",
        "insecure_skip_verify": insecure,
    }
