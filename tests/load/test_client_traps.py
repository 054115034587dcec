"""The traps of docs/client.md: a pool that never leads to the primary again, and what cures it."""

import sys
from pathlib import Path

import pytest
from tests import chaos_runner as chaos

ROOT = Path(__file__).parents[2]
#: Long enough for the cure, which takes about ten seconds.
WAITED_S = "50"

pytestmark = [pytest.mark.matrix, pytest.mark.timeout(400)]


def _stepdown(where: Path, variant: str) -> chaos.Ran:
    """Hand over the primary under the shipped workload, whose programs are those of this tree."""
    shipped = (ROOT / "steady-state" / "workloads" / "read-only-standby.yaml").read_text()
    own = shipped.replace("python3", sys.executable)
    workload = where / "trap.yaml"
    workload.write_text(own.replace("infra/clients/", f"{ROOT / 'infra' / 'clients'}/"))
    ran = chaos.run_as_shipped(
        "stepdown", where, "lab-postgresql", "--var", f"workload={workload}:{variant}",
        BROWNOUT_MILESTONE_LIMIT_S=WAITED_S,
    )  # fmt: skip
    assert ran.impact["faults"], ran.output
    return ran


def test_a_pool_whose_ping_passes_on_a_standby_never_writes_again(tmp_path: Path) -> None:
    (fault,) = _stepdown(tmp_path, "default").impact["faults"]
    assert fault["promoted_time"][1] < 20
    assert fault["client_recovered_time"][1] is None
    assert fault["client_recovered_in"] == {"lane": "client orders", "op": "write"}
    assert fault["errors"]["not-primary"] > 500


def test_a_pool_that_is_emptied_after_25006_writes_again(tmp_path: Path) -> None:
    ran = _stepdown(tmp_path, "invalidated")
    (fault,) = ran.impact["faults"]
    assert fault["client_recovered_time"][1] is not None, ran.output
    assert fault["client_recovered_in"]["lane"] == "client orders"
    assert fault["errors"]["not-primary"] > 0
    assert ran.impact["ledger"]["state"] == "clean"
