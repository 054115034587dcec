"""Acts for which the login has no privilege: refused by the server, and nothing is left to undo."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.security.secured_lab import VARIABLE, SecuredLab

from brownout.base.errors import Refused
from brownout.databases.adapter import adapter_for
from brownout.databases.mongodb.lab.secured import ROLES
from brownout.faults.faults import Faults
from brownout.faults.undos import left
from brownout.inventory import inventory
from brownout.inventory.model import Cluster
from brownout.run.events import EventLog, read_events

WITHOUT_MANAGER = [role for role in ROLES if role["role"] != "clusterManager"]


@pytest.fixture
def limited(
    secured: SecuredLab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Cluster]:
    """The lab, with a login that may look at it and may not change it."""
    monkeypatch.setenv(VARIABLE, secured.password)
    secured.add_user("onlooker", secured.password, WITHOUT_MANAGER)
    try:
        connection = secured.scram({"env": VARIABLE}, "onlooker")
        yield inventory.load(str(secured.inventory(tmp_path, connection)))
    finally:
        with secured.admin() as admin:
            admin.admin.command("dropUser", "onlooker")


@contextmanager
def faults_on(cluster: Cluster, log: Path) -> Iterator[Faults]:
    adapter = adapter_for(cluster)
    try:
        yield Faults(cluster, adapter, EventLog(log), lambda monotonic: monotonic)
    finally:
        adapter.close()


def test_a_step_down_that_the_server_refuses_leaves_nothing_to_be_undone(
    limited: Cluster, tmp_path: Path
) -> None:
    log = tmp_path / "events.ndjson"
    with faults_on(limited, log) as faults:
        primary = faults.adapter.targets("primary", 1)[0]
        with pytest.raises(Refused, match=r"the primary did not step down: .*lacks the privilege"):
            faults.do("step_down_primary", primary)
        assert faults.pending == ()
        assert not faults.acts.broke_something
        assert faults.put_back() == []
        assert faults.adapter.targets("primary", 1)[0] == primary
    (event,) = read_events(log)
    assert event.refused
    assert left([event]) == ()
