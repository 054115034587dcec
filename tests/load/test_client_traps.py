"""The traps of docs/client.md: a pool that never leads to the primary again, and what cures it."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests import chaos_runner as chaos

ROOT = Path(__file__).parents[2]
#: Long enough for the cure, which takes about ten seconds.
WAITED_S = "50"

pytestmark = [pytest.mark.matrix, pytest.mark.timeout(400)]


def _run(experiment: str, trap: str, where: Path, *more: str) -> chaos.Ran:
    """Run an experiment under the shipped workload `trap`, whose programs are built in `where`."""
    clients = shutil.copytree(ROOT / "infra" / "clients", where / "clients")
    if trap.startswith("hanging-pool"):
        subprocess.run(["npm", "install", "--silent", "--prefix", clients, "pg"], check=True)
    if trap.startswith("address-kept"):
        goals = ["compile", "dependency:copy-dependencies"]
        subprocess.run(["mvn", "-q", "-B", *goals], cwd=clients / "jvm", check=True)
    name, _, variant = trap.partition(":")
    shipped = (ROOT / "steady-state" / "workloads" / f"{name}.yaml").read_text()
    own = shipped.replace("python3", sys.executable)
    workload = where / "trap.yaml"
    workload.write_text(own.replace("infra/clients/", f"{clients}/"))
    ran = chaos.run_as_shipped(
        experiment, where, "lab-postgresql", *more,
        "--var", f"workload={workload}:{variant or 'default'}",
        BROWNOUT_MILESTONE_LIMIT_S=WAITED_S,
    )  # fmt: skip
    assert ran.impact["faults"], ran.output
    return ran


def test_a_pool_whose_ping_passes_on_a_standby_never_writes_again(tmp_path: Path) -> None:
    (fault,) = _run("stepdown", "read-only-standby", tmp_path).impact["faults"]
    assert fault["promoted_time"][1] < 20
    assert fault["client_recovered_time"][1] is None
    assert fault["client_recovered_in"] == {"lane": "client orders", "op": "write"}
    assert fault["errors"]["not-primary"] > 500


def test_a_pool_that_is_emptied_after_25006_writes_again(tmp_path: Path) -> None:
    ran = _run("stepdown", "read-only-standby:invalidated", tmp_path)
    (fault,) = ran.impact["faults"]
    assert fault["client_recovered_time"][1] is not None, ran.output
    assert fault["client_recovered_in"]["lane"] == "client orders"
    assert fault["errors"]["not-primary"] > 0
    assert ran.impact["ledger"]["state"] == "clean"


def test_a_pool_that_waits_for_a_server_that_hangs_is_served_when_it_resumes(
    tmp_path: Path,
) -> None:
    ran = _run("node-pause", "hanging-pool", tmp_path, "--var", "hang_s=45")
    (fault,) = ran.impact["faults"]
    assert fault["promoted_time"][1] < 35
    assert fault["scopes"]["lookups"]["client_recovered_time"][1] < 40
    assert fault["scopes"]["orders"]["client_recovered_time"][0] > 44, ran.output
    assert fault["scopes"]["orders"]["errors"]["pool-exhausted"] > 500


def test_a_pool_whose_queries_have_a_timeout_is_served_by_the_next_primary(tmp_path: Path) -> None:
    ran = _run("node-pause", "hanging-pool:query-timeout", tmp_path, "--var", "hang_s=45")
    (fault,) = ran.impact["faults"]
    assert fault["scopes"]["orders"]["client_recovered_time"][1] < 44, ran.output


def test_a_java_that_keeps_an_address_for_ever_never_writes_again(tmp_path: Path) -> None:
    (fault,) = _run("node-kill", "address-kept", tmp_path).impact["faults"]
    assert fault["scopes"]["lookups"]["client_recovered_time"][1] is not None
    assert fault["scopes"]["orders"]["client_recovered_time"][1] is None
    assert fault["client_recovered_in"] == {"lane": "client orders", "op": "write"}


def test_a_java_that_asks_again_for_the_address_writes_to_the_new_primary(tmp_path: Path) -> None:
    ran = _run("node-kill", "address-kept:after-5-s", tmp_path)
    (fault,) = ran.impact["faults"]
    assert fault["scopes"]["orders"]["client_recovered_time"][1] is not None, ran.output
    assert ran.impact["ledger"]["state"] == "clean"
