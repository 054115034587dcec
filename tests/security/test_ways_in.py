"""Every way to log in that is documented, through the control plane and the load generator."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from tests.security.driving import SMALL, leaks, load_for_a_second
from tests.security.secured_lab import LAB, USERNAME, VARIABLE, SecuredLab

from brownout.databases.adapter import adapter_for
from brownout.inventory import inventory
from brownout.load import workload as workloads
from brownout.load.generator import Generator

Way = Callable[[SecuredLab, Path, pytest.MonkeyPatch], Mapping[str, Any]]


def by_variable(
    secured: SecuredLab, where: Path, environment: pytest.MonkeyPatch
) -> Mapping[str, Any]:
    environment.setenv(VARIABLE, secured.password)
    return secured.scram({"env": VARIABLE})


def by_file(secured: SecuredLab, where: Path, _: pytest.MonkeyPatch) -> Mapping[str, Any]:
    (where / "secrets").mkdir()
    (where / "secrets" / "password").write_text(f"{secured.password}\n", encoding="utf-8")
    return secured.scram({"file": "secrets/password"})


def by_uri(secured: SecuredLab, where: Path, environment: pytest.MonkeyPatch) -> Mapping[str, Any]:
    hosts = ",".join(node.address for node in secured.cluster.nodes)
    login = f"{USERNAME}:{quote(secured.password, safe='')}"
    options = f"replicaSet={LAB}&tls=true&tlsCAFile={secured.tls}/ca.pem"
    environment.setenv(VARIABLE, f"mongodb://{login}@{hosts}/?{options}")
    return {"uri": {"env": VARIABLE}}


def by_certificate(secured: SecuredLab, where: Path, _: pytest.MonkeyPatch) -> Mapping[str, Any]:
    return secured.x509()


def by_locked_certificate(
    secured: SecuredLab, where: Path, environment: pytest.MonkeyPatch
) -> Mapping[str, Any]:
    environment.setenv(VARIABLE, secured.passphrase)
    locked = secured.locked_certificate(where)
    return secured.x509(locked, key_passphrase={"env": VARIABLE})


@pytest.mark.parametrize(
    ("way", "login"),
    [
        (by_variable, "SCRAM"),
        (by_file, "SCRAM"),
        (by_uri, "SCRAM"),
        (by_certificate, "MONGODB-X509"),
        (by_locked_certificate, "MONGODB-X509"),
    ],
    ids=lambda value: value if isinstance(value, str) else value.__name__,
)
def test_a_load_is_made_and_read_back_over_tls(
    secured: SecuredLab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: Way, login: str
) -> None:
    path = secured.inventory(tmp_path, way(secured, tmp_path, monkeypatch))
    result, told = load_for_a_second(path, tmp_path)
    assert result.stopped["ok"] > 0
    assert result.verified is not None
    assert result.verified["read"] == result.verified["keys"] == 200
    assert told["driver_settings"]["tls"] is True
    assert told["driver_settings"]["login"] == login
    assert leaks(secured, tmp_path / "run") == []


def test_the_generator_is_told_no_secret_but_over_its_input(
    secured: SecuredLab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = secured.inventory(tmp_path, by_variable(secured, tmp_path, monkeypatch))
    adapter = adapter_for(inventory.load(path))
    try:
        with Generator(tmp_path / "run") as generator:
            spec = workloads.load("lab", SMALL).to_spec(
                directory=tmp_path / "run", seed=1, writer="test", **adapter.load_spec()
            )
            generator.open(spec)
            process = Path("/proc", str(generator.pid))
            known = (process / "cmdline").read_bytes() + (process / "environ").read_bytes()
    finally:
        adapter.close()
    assert b"PATH=" in known
    assert secured.mark.encode() not in known
    assert VARIABLE.encode() not in known


def test_the_roles_that_the_documents_name_are_all_that_is_needed(
    secured: SecuredLab, tmp_path: Path
) -> None:
    """The lab's user has just those."""
    adapter = adapter_for(inventory.load(secured.inventory(tmp_path, secured.x509())))
    try:
        (primary,) = adapter.targets("primary", 1)
        assert [path.name for path in adapter.data_directories(primary)] == ["data"]
        assert adapter.drain(primary).already is False
        adapter.undrain(primary)
    finally:
        adapter.close()
