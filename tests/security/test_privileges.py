"""Acts for which the login has no privilege: refused by the server, and nothing is left to undo."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from subprocess import CompletedProcess

import pytest
from tests.forked_run import brownout
from tests.security.secured_lab import VARIABLE, SecuredLab

from brownout.base.errors import ExitCode, Refused
from brownout.databases.adapter import adapter_for
from brownout.databases.mongodb.lab.security import ROLES
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


def called(tmp_path: Path, *words: str) -> CompletedProcess[str]:
    state = {"BROWNOUT_STATE": str(tmp_path / "state"), "BROWNOUT_RUNS": str(tmp_path / "runs")}
    return brownout(
        *words, "--cluster", str(tmp_path / "secured.yaml"), env={**os.environ, **state}
    )


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
        said = r"the primary did not step down: .*; give it the role `clusterManager`"
        with pytest.raises(Refused, match=said):
            faults.run("step_down_primary", primary)
        assert faults.pending == ()
        assert not faults.broke_something
        assert faults.put_back() == []
        assert faults.adapter.targets("primary", 1)[0] == primary
    (event,) = read_events(log)
    assert event.refused
    assert left([event]) == ()


def test_a_plan_and_a_run_name_the_grant_that_a_step_down_lacks_and_touch_nothing(
    limited: Cluster, tmp_path: Path
) -> None:
    refusal = "`onlooker` does not have the role `clusterManager`, which stepdown"
    statement = 'grantRolesToUser("onlooker", [{role: "clusterManager", db: "admin"}])'
    planned, ran = called(tmp_path, "plan", "stepdown"), called(tmp_path, "run", "stepdown")
    for code, words in ((planned.returncode, planned.stdout), (ran.returncode, ran.stderr)):
        assert code == ExitCode.BAD_INPUT, words
        assert refusal in words
        assert statement in words
    assert not (tmp_path / "runs").exists()
    assert called(tmp_path, "plan", "node-kill").returncode == 0, "it needs no such role"


@pytest.mark.matrix
def test_doctor_lists_every_privilege_with_what_grants_it(limited: Cluster, tmp_path: Path) -> None:
    words = called(tmp_path, "doctor").stdout
    assert "NOT granted" in words
    assert "stepdown, add, remove, votes_and_priority on secured" in words
    assert words.count("granted") == 4
