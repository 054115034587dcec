"""Finding an etcd, and what goes into its configuration file."""

from pathlib import Path

import pytest
import yaml

from brownout.base.errors import ClusterError
from brownout.databases.etcd.lab.server import Ports, configuration, find_etcd
from brownout.databases.etcd.lab.settings import EtcdLab


def test_the_one_that_was_named_is_not_silently_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "etcd"
    other.write_text("#!/bin/sh\necho etcd Version: 2.3.8\n")
    other.chmod(0o755)
    monkeypatch.setenv("BROWNOUT_ETCD", str(other))
    with pytest.raises(ClusterError, match=r"says 'etcd Version: 2\.3\.8', wanted an etcd 3"):
        find_etcd()


def test_one_on_the_path_is_taken_before_that_of_the_checkout(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = tmp_path / "etcd"
    own.write_text("#!/bin/sh\necho etcd Version: 3.4.23\n")
    own.chmod(0o755)
    monkeypatch.delenv("BROWNOUT_ETCD", raising=False)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    assert find_etcd() == own


def test_a_member_knows_the_others_and_forgets_old_versions() -> None:
    ports = {1: Ports("127.0.0.1", 1001, 1002), 2: Ports("127.0.0.1", 2001, 2002)}
    spec = EtcdLab(engine="etcd", members=2)
    text = configuration(spec, "lab-etcd", 2, ports, Path("/lab/n2"), Path("/lab/n2/data"))
    said = yaml.safe_load(text)
    assert said["initial-cluster"] == "n1=http://127.0.0.1:1002,n2=http://127.0.0.1:2002"
    assert said["advertise-client-urls"] == "http://127.0.0.1:2001"
    assert (said["heartbeat-interval"], said["election-timeout"]) == (100, 1000)
    assert said["auto-compaction-mode"] == "revision"
    assert "client-transport-security" not in said


@pytest.mark.parametrize(
    ("settings", "why"),
    [({"spares": 1}, "spares: wanted 0"), ({"election_timeout_ms": 400}, "at least five times")],
)
def test_what_cannot_be_formed_is_refused(settings: dict[str, int], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        EtcdLab.model_validate({"engine": "etcd", **settings})
