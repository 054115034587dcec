"""Secrets: referred to, resolved when an inventory is read, and shown nowhere."""

from pathlib import Path

import pytest

from brownout.base.errors import ConfigurationError
from brownout.base.redact import MASK, redact
from brownout.base.secret import environment_without_secrets, offer_secrets, offered_secrets
from brownout.databases.mongodb.access import access
from brownout.inventory import inventory
from brownout.inventory.model import Cluster

PASSWORD = "s3cret-of-orders"


def load(tmp_path: Path, connection: str) -> Cluster:
    path = tmp_path / "orders.yaml"
    path.write_text(
        "database: mongodb\nenvironment: test\n"
        f'nodes: [{{name: n1, address: "db1:27017"}}]\nconnection: {connection}\n',
        encoding="utf-8",
    )
    return inventory.load(path)


def problem_of(tmp_path: Path, connection: str) -> str:
    with pytest.raises(ConfigurationError) as caught:
        load(tmp_path, connection)
    assert PASSWORD not in str(caught.value)
    return str(caught.value).removeprefix(f"{tmp_path}/orders.yaml: ")


def by(reference: str) -> str:
    return f"{{auth: {{username: brownout, password: {reference}}}}}"


def test_a_password_comes_from_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ORDERS_PASSWORD", PASSWORD)

    assert access(load(tmp_path, by("{env: ORDERS_PASSWORD}"))).password == PASSWORD


def test_a_program_we_start_gets_no_secret_but_keeps_its_home_whatever_an_inventory_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ORDERS_PASSWORD", "hunter2")
    monkeypatch.setenv("HOME", "/home/ada")
    for name in ("ORDERS_PASSWORD", "HOME"):
        load(tmp_path, by(f"{{env: {name}}}"))

    environment = environment_without_secrets()

    assert "ORDERS_PASSWORD" not in environment
    assert environment["HOME"] == "/home/ada", "without it a wipe of a home directory goes ahead"


def test_a_password_comes_from_a_file_beside_the_inventory(tmp_path: Path) -> None:
    (tmp_path / "password.txt").write_text(f"{PASSWORD}\n", encoding="utf-8")

    assert access(load(tmp_path, by("{file: password.txt}"))).password == PASSWORD


def test_a_uri_with_a_password_is_a_secret_as_a_whole_and_is_taken_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    uri = f"mongodb+srv://brownout:{PASSWORD}%21@db.example.com/?retryWrites=false"
    monkeypatch.setenv("ORDERS_URI", uri)

    cluster = load(tmp_path, "{uri: {env: ORDERS_URI}}")
    found = access(cluster)

    assert (found.username, found.password) == ("brownout", f"{PASSWORD}!")
    assert found.uri == "mongodb+srv://db.example.com/?retryWrites=false"


def test_nothing_that_prints_or_dumps_a_cluster_shows_its_secrets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ORDERS_PASSWORD", PASSWORD)

    cluster = load(tmp_path, by("{env: ORDERS_PASSWORD}"))

    shown = [repr(cluster), str(cluster), str(cluster.model_dump()), cluster.model_dump_json()]
    shown += [str(cluster.public()), repr(access(cluster)), access(cluster).uri]
    assert not [text for text in shown if PASSWORD in text]


@pytest.mark.parametrize(
    ("reference", "wanted"),
    [
        ("{env: NOWHERE}", "the environment variable `NOWHERE` is not set; export it"),
        ("{env: EMPTY}", "the environment variable `EMPTY` is empty"),
        ("{file: nowhere.txt}", "nowhere.txt` cannot be read: No such file or directory"),
        ("{vault: x}", "found a reference of the kind 'vault', wanted {env: NAME} or {file: path}"),
        (PASSWORD, "found a plain value (not shown), wanted {env: NAME} or {file: path}"),
        ("[1]", "found a plain value (not shown), wanted {env: NAME} or {file: path}"),
    ],
)
def test_a_secret_that_is_missing_or_written_out_is_refused_without_showing_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reference: str, wanted: str
) -> None:
    monkeypatch.setenv("EMPTY", "")

    problem = problem_of(tmp_path, by(reference))

    assert problem.startswith("connection.auth.password: ")
    assert wanted in problem


@pytest.mark.parametrize(
    ("connection", "wanted"),
    [
        (
            f"{{uri: 'mongodb://brownout:{PASSWORD}@db1/'}}",
            "connection.uri: found a password in it, wanted {env: NAME} or auth.password",
        ),
        (
            f"{{auth: {{username: a, pasword: {PASSWORD}}}}}",
            "connection.auth.pasword: unknown setting",
        ),
        (f"{{auth: {PASSWORD}}}", "connection.auth: found a value (not shown), wanted"),
        ("{auth: {username: a}}", "connection.auth: scram needs password"),
        ("{auth: {mechanism: x509}}", "connection: x509 needs tls.certificate_file"),
        ("{uri: 'mongodb://db1/', hosts: ['db1:1']}", "connection: found uri and hosts"),
        ("{tls: {ca_file: nowhere.pem}}", "connection.tls.ca_file: found 'nowhere.pem', wanted"),
    ],
)
def test_an_impossible_connection_is_refused_without_showing_a_secret(
    tmp_path: Path, connection: str, wanted: str
) -> None:
    assert wanted in problem_of(tmp_path, connection)


def test_the_secrets_of_the_experiment_are_known_by_value_but_for_the_shortest() -> None:
    offer_secrets({"scope": {"password": "p/w of this", "pin": 918273, "on": True, "db": "abc"},
                   "list": ["another one", None]})  # fmt: skip
    try:
        assert offered_secrets() == ["p/w of this", "918273", "another one"]
        shown = redact(["k=p%2Fw%20of%20this", 918273, "x another one y"], offered_secrets())
        assert shown == [f"k={MASK}", MASK, f"x {MASK} y"]
        assert redact("p/w of this") == "p/w of this", "what we read again is not masked by value"
    finally:
        offer_secrets(None)
