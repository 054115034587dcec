"""`mongodb+srv://`: the generator finds the set by the DNS, the control plane by the inventory."""

import json
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess
from urllib.parse import quote

import pytest
from tests.cli.conftest import set_each
from tests.security.driving import SMALL, brownout, leaks
from tests.security.name_server import Records, asking_it, serving, why_not
from tests.security.secured_lab import LAB, USERNAME, VARIABLE, SecuredLab

from brownout.base.errors import ExitCode

Load = Callable[[str], "CompletedProcess[str]"]


def _records(secured: SecuredLab) -> Records:
    """The set's service record, what its text record may say, and its members' addresses."""
    domain = f"{LAB}.localhost"
    ports = [node.address.rpartition(":")[2] for node in secured.cluster.nodes]
    names = [f"{node.name}.{domain}" for node in secured.cluster.nodes]
    return {
        (f"_mongodb._tcp.set.{domain}", "SRV"): [
            f"0 0 {port} {name}." for port, name in zip(ports, names, strict=True)
        ],
        (f"set.{domain}", "TXT"): [f'"replicaSet={LAB}&authSource=admin"'],
        **{(name, "A"): ["127.0.0.1"] for name in names},
    }


@pytest.fixture
def load(secured: SecuredLab, tmp_path: Path) -> Load:
    """Load for a second by a URI with a service record, against a name server of our own."""
    reason = why_not(tmp_path)
    if reason:
        pytest.skip(reason)
    connection = {"uri": {"env": VARIABLE}, "tls": {"ca_file": str(secured.tls / "ca.pem")}}
    path = secured.inventory(tmp_path, connection)

    def run(host: str) -> "CompletedProcess[str]":
        uri = f"mongodb+srv://{USERNAME}:{quote(secured.password, safe='')}@{host}/"
        with serving(_records(secured)):
            return brownout(
                tmp_path, "load", "lab", "--for", "1s", *set_each(SMALL), "--cluster", str(path),
                through=lambda command: asking_it(tmp_path, command), environment={VARIABLE: uri},
            )  # fmt: skip

    return run


def test_a_set_is_found_by_its_service_record_and_reached_by_tls(
    secured: SecuredLab, load: Load, tmp_path: Path
) -> None:
    told = load(f"set.{LAB}.localhost")
    assert told.returncode == 0, told.stderr
    assert "ledger: 200 of 200 keys read back" in told.stdout
    (summary,) = tmp_path.glob("runs/*/generator.json")
    settings = json.loads(summary.read_text())["driver_settings"]
    assert settings["tls"] is True
    assert settings["login"] == "SCRAM"
    assert all(f".{LAB}.localhost:" in host for host in settings["hosts"])
    assert leaks(secured, tmp_path / "runs") == []


def test_a_service_record_that_is_not_there_is_named_and_the_password_is_not(
    secured: SecuredLab, load: Load
) -> None:
    told = load(f"nowhere.{LAB}.localhost")
    assert told.returncode == ExitCode.INCONCLUSIVE
    assert f"_mongodb._tcp.nowhere.{LAB}.localhost" in told.stderr
    assert "no such host" in told.stderr
    assert secured.mark not in told.stderr + told.stdout
