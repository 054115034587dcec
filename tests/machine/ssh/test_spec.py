"""What an inventory may say of a node on another machine, and every problem of it at once."""

from pathlib import Path
from typing import Any

import pytest

from brownout.base.errors import ConfigurationError
from brownout.inventory import inventory
from brownout.machine.ssh import SshSpec


def _parse(tmp_path: Path, **host: Any) -> SshSpec:
    raw = {
        "name": "orders",
        "database": "mongodb",
        "environment": "test",
        "nodes": [{"name": "n1", "address": "db1:27017", "host": {"kind": "ssh", **host}}],
        "connection": {"replica_set": "orders"},
    }
    cluster = inventory.parse(raw, tmp_path / "orders.yaml")
    spec = cluster.nodes[0].host
    assert isinstance(spec, SshSpec)
    return spec


def test_a_service_needs_nothing_but_its_name(tmp_path: Path) -> None:
    spec = _parse(tmp_path, service="mongod")

    assert spec.login("db1").address == "db1"
    assert (spec.port, spec.undo_after_s, spec.sudo, spec.bastion) == (22, 120.0, False, None)


def test_files_start_from_the_inventorys_directory_and_secrets_are_references(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "key").touch()
    (tmp_path / "hosts").touch()
    monkeypatch.setenv("KEY_PASS", "sesame")

    spec = _parse(
        tmp_path,
        service="mongod",
        identity_file="key",
        passphrase={"env": "KEY_PASS"},
        bastion={"address": "jump.example.com", "known_hosts": "hosts"},
    )

    assert spec.identity_file == tmp_path / "key"
    assert spec.bastion is not None
    assert spec.bastion.known_hosts == tmp_path / "hosts"
    assert spec.passphrase is not None
    assert spec.passphrase.get_secret_value() == "sesame"
    assert "sesame" not in repr(spec)


def test_every_problem_is_told_at_once_and_no_secret_with_it(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError) as refused:
        _parse(
            tmp_path,
            port=99_999,
            password="hush-hush",
            known_hosts="nowhere",
            bastion={"user": "ann"},
            commands={"start": "x", "program": "/usr/bin/mongod"},
            devices=["sdb"],
            check_host_key=False,
        )

    text = str(refused.value)
    places = ["port", "password", "known_hosts", "bastion.address", "commands.stop"]
    for place in [*places, "commands.program", "devices[0]", "check_host_key"]:
        assert f"nodes[0].host.{place}" in text
    assert "wanted {env: NAME} or {file: path}" in text
    assert "unknown setting" in text
    assert "hush" not in text


@pytest.mark.parametrize(
    ("host", "problem"),
    [
        ({}, "wanted one of service, commands"),
        (
            {"service": "x", "commands": {"start": "a", "stop": "b", "program": "c",
                                          "pid_command": "d"}},
            "wanted one of service, commands",
        ),
        ({"commands": {"start": "a", "stop": "b", "program": "c"}},
         "wanted one of pid_file, pid_command"),
        ({"service": "x; reboot"}, "service"),
        ({"service": "x", "address": "-oProxyCommand=x"}, "address"),
    ],
)  # fmt: skip
def test_what_contradicts_itself_is_refused(
    tmp_path: Path, host: dict[str, Any], problem: str
) -> None:
    with pytest.raises(ConfigurationError, match=problem):
        _parse(tmp_path, **host)


def test_two_nodes_may_not_be_the_same_unit_of_the_same_machine(tmp_path: Path) -> None:
    host = {"kind": "ssh", "address": "db1", "service": "mongod"}
    raw = {
        "name": "orders",
        "database": "mongodb",
        "environment": "test",
        "nodes": [
            {"name": "n1", "address": "db1:27017", "host": host},
            {"name": "n2", "address": "db1:27018", "host": {**host, "service": "mongod.service"}},
        ],
        "connection": {"replica_set": "orders"},
    }
    with pytest.raises(ConfigurationError, match="host 'service mongod on db1:22' is there 2 time"):
        inventory.parse(raw, tmp_path / "orders.yaml")
