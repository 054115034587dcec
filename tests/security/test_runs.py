"""Whole runs of `chaos run` over TLS and a login, and a search for secrets in all they leave."""

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests import chaos_runner as chaos
from tests.chaos_runner import Ran
from tests.security.driving import SMALL, brownout, leaks
from tests.security.secured_lab import VARIABLE, SecuredLab

from brownout.base.wait import wait_until
from brownout.databases.adapter import adapter_for
from brownout.inventory.model import Cluster
from brownout.machine import procfs

SECRETS = {"db": {"password": {"type": "env", "key": VARIABLE}}}


def _experiment(name: str, **configuration: Any) -> dict[str, Any]:
    experiment = chaos.quick(chaos.load(name))
    if "downtime_s" in experiment["configuration"]:
        experiment["configuration"]["downtime_s"] = 0
    experiment["configuration"] |= configuration
    return experiment


def _environment(where: Path, inventory: Path, **more: str) -> dict[str, str]:
    return {
        "BROWNOUT_CLUSTER": str(inventory),
        "BROWNOUT_LOAD": SMALL,
        "BROWNOUT_STATE": str(where / "state"),
        **more,
    }


def _inventory(secured: SecuredLab, tmp_path: Path, connection: Mapping[str, Any]) -> Path:
    """Write an inventory in a folder of its own, apart from what a run leaves."""
    (tmp_path / "inventories").mkdir(exist_ok=True)
    return secured.inventory(tmp_path / "inventories", connection)


def _run(where: Path, experiment: Mapping[str, Any], environment: Mapping[str, str]) -> Ran:
    where.mkdir()
    return chaos.run(experiment, where, "--rollback-strategy=always", env=environment)


def _known_of_generator(run: Path) -> bytes:
    """Wait for a run's generator; return what everybody of its user can read of the process."""
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        for directory in run.glob("runs/*"):
            for pid in procfs.users_of(directory):
                found = procfs.identify(pid)
                if found and Path(found.command[0]).name == "loadgen":
                    process = Path("/proc", str(pid))
                    return (process / "cmdline").read_bytes() + (process / "environ").read_bytes()
        time.sleep(0.05)
    raise AssertionError("the generator was never seen")


def _check_measured(ran: Ran, faults: int = 1) -> None:
    """A fault was measured and the ledger read back; on a busy machine it may break its limits."""
    assert ran.impact["verdict"] in ("pass", "fail", "inconclusive"), ran.output
    assert len(ran.impact["faults"]) == faults
    assert ran.impact["ledger"]["state"] == "clean"
    assert ran.journal["brownout"]["undo_failed"] == []


def _is_whole(cluster: Cluster) -> bool:
    adapter = adapter_for(cluster)
    try:
        return wait_until(lambda: adapter.stable("whole").reached, 60)
    finally:
        adapter.close()


def test_a_run_by_password_leaves_it_in_no_file_and_in_no_process(
    secured: SecuredLab, tmp_path: Path
) -> None:
    """The password is in the environment, for the inventory and for the experiment's secrets."""
    inventory = _inventory(secured, tmp_path, secured.scram({"env": VARIABLE}))
    experiment = {**_experiment("node-kill"), "secrets": SECRETS}
    environment = _environment(tmp_path, inventory, **{VARIABLE: secured.password})
    where = tmp_path / "run"
    where.mkdir()
    process = chaos.start(experiment, where, "--rollback-strategy=always", env=environment)
    known = _known_of_generator(where)
    ran = chaos.finish(process, where)
    _check_measured(ran)
    assert secured.mark.encode() not in known
    assert secured.mark not in ran.output
    left = [path.name for path in where.iterdir()]
    assert {"journal.json", "chaostoolkit.log", "runs"} <= set(left)
    assert leaks(secured, where, tmp_path / "state", secured.tls.parent) == []
    # The node that was killed and started again has not inherited it either.
    for node in secured.cluster.nodes:
        pid = int((secured.tls.parent / node.name / "mongod.pid").read_text())
        assert secured.mark.encode() not in Path("/proc", str(pid), "environ").read_bytes()
    assert any("left in `brownout`" in line for line in ran.output.splitlines())
    assert [event["what"] for event in ran.events if event["name"] == "left"] == [
        "300 records, 200 verified keys"
    ]


@pytest.mark.matrix
def test_a_run_by_certificate_with_a_locked_key_is_measured_and_read_back(
    secured: SecuredLab, tmp_path: Path
) -> None:
    locked = secured.locked_certificate(tmp_path)
    passphrase = {"key_passphrase": {"secret": "db.password"}}
    inventory = _inventory(secured, tmp_path, secured.x509(locked, **passphrase))
    experiment = {**_experiment("stepdown"), "secrets": SECRETS}
    environment = _environment(tmp_path, inventory, **{VARIABLE: secured.passphrase})
    ran = _run(tmp_path / "run", experiment, environment)
    _check_measured(ran)
    assert secured.mark not in ran.output
    assert leaks(secured, tmp_path / "run", tmp_path / "state", secured.tls.parent) == []


@pytest.mark.matrix
def test_a_run_that_fails_half_way_leaves_no_secret_either(
    secured: SecuredLab, tmp_path: Path
) -> None:
    """The password is in a file; the second action fails, and the node that the first broke is
    put back."""
    inventory = _inventory(secured, tmp_path, secured.scram({"file": "password"}))
    (inventory.parent / "password").write_text(secured.password, encoding="utf-8")
    experiment = {**_experiment("node-kill"), "secrets": {"db": {"password": secured.password}}}
    experiment["method"] = experiment["method"][:2]
    experiment["configuration"]["milestone_limit_s"] = 3
    experiment["method"][1]["provider"]["arguments"]["state"] = "redundant"  # never: one is down
    del experiment["configuration"]["downtime_s"]  # of a step that is left out
    source = tmp_path / "run" / "experiment.json"
    ran = _run(tmp_path / "run", experiment, _environment(tmp_path, inventory))
    assert ran.code == 1
    assert any("redundant" in reason for reason in ran.impact["reasons"]), ran.output
    assert ran.impact["verdict"] != "pass"
    assert [e["name"] for e in ran.events if e["stage"] == "intent"] == ["kill_node", "start_node"]
    assert secured.mark not in ran.output
    source.unlink()  # which is the user's own, and has a secret in it
    assert leaks(secured, tmp_path / "run", tmp_path / "state", secured.tls.parent) == []
    assert _is_whole(secured.cluster)


def test_a_wrong_password_ends_a_run_before_anything_is_touched(
    secured: SecuredLab, tmp_path: Path
) -> None:
    inventory = _inventory(secured, tmp_path, secured.scram({"env": VARIABLE}))
    environment = _environment(tmp_path, inventory, **{VARIABLE: f"wrong-{secured.mark}"})
    ran = _run(tmp_path / "run", _experiment("node-kill"), environment)
    assert ran.code == 1
    assert "authentication failed; see `connection.auth`" in ran.output
    assert ran.journal["status"] == "interrupted"
    assert ran.journal["run"] == []
    assert ran.directory is None
    assert secured.mark not in ran.output
    assert leaks(secured, tmp_path / "run", secured.tls.parent) == []


def test_a_missing_secret_ends_a_run_before_anything_is_touched(
    secured: SecuredLab, tmp_path: Path
) -> None:
    inventory = _inventory(secured, tmp_path, secured.scram({"env": "BROWNOUT_NOT_SET"}))
    ran = _run(tmp_path / "run", _experiment("node-kill"), _environment(tmp_path, inventory))
    assert ran.code == 1
    assert "`BROWNOUT_NOT_SET`" in ran.output
    assert ran.directory is None


def test_a_plan_logs_in_and_shows_no_secret(secured: SecuredLab, tmp_path: Path) -> None:
    path = _inventory(secured, tmp_path, secured.scram({"env": VARIABLE}))
    environment = {VARIABLE: secured.password}
    told = brownout(
        tmp_path, "plan", "node-kill", "--set", f"cluster={path}", environment=environment
    )
    assert told.returncode == 0, told.stdout + told.stderr
    assert "every member is there and in step" in told.stdout
    assert secured.mark not in told.stdout + told.stderr


def test_what_a_secured_lab_keeps_is_for_its_owner_only(secured: SecuredLab) -> None:
    assert secured.tls.stat().st_mode & 0o777 == 0o700
    modes = {path.name: path.stat().st_mode & 0o777 for path in secured.tls.iterdir()}
    assert set(modes) == {"ca.pem", "client.pem", "keyfile", "n1.pem", "n2.pem", "n3.pem", "n4.pem"}
    assert set(modes.values()) == {0o600}
