"""Experiments on three real nodes of Cassandra: for `make matrix`, since they take 2 GB."""

from pathlib import Path

import pytest
from tests import chaos_runner as chaos
from tests import kill_harness

from brownout.inventory.model import Cluster

pytestmark = [pytest.mark.matrix, pytest.mark.alone, pytest.mark.timeout(2400)]

ON = "lab-cassandra"
SHIPPED = ("node-kill", "node-wipe", "node-pause", "rolling-restart")
#: What three JVMs, a generator and two processors carry.
GENTLY = "streams.lookups.rate=100,streams.orders.rate=60,streams.orders.ledger_keys=2000"
GENTLY += ",data.keys=2000"


@pytest.mark.parametrize("name", SHIPPED)
def test_it_passes_as_shipped_and_loses_no_acknowledged_write(
    name: str, lab_cassandra: Cluster, tmp_path: Path
) -> None:
    options = ("--var", f"cluster={lab_cassandra.name}", "--var", f"load={GENTLY}")
    ran = chaos.finish(chaos.start(chaos.load(name), tmp_path, *options), tmp_path, 1800.0)
    print(ran.output)  # `pytest -rP` shows the table
    ran.check_passed()


def test_a_run_killed_in_mid_wipe_is_healed(lab_cassandra: Cluster, tmp_path: Path) -> None:
    cluster = ("--var", f"cluster={lab_cassandra.name}", "--var", f"load={GENTLY}")
    result = kill_harness.kill_and_heal(
        lab_cassandra, tmp_path / "run", "wipe_node", options=cluster
    )
    assert "n" in result.mended
