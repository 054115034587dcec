"""Every experiment as shipped on real replica sets, down before and after it: `make matrix`."""

from pathlib import Path

import pytest
from tests import chaos_runner as chaos

from brownout.inventory.labs import running_inventory

pytestmark = pytest.mark.alone

ON_MONGODB = ("node-wipe", "node-kill", "node-pause", "stepdown")


@pytest.mark.matrix
@pytest.mark.timeout(400)
@pytest.mark.parametrize(
    ("name", "cluster", "target"),
    [
        *((name, cluster, "primary") for name in ON_MONGODB
          for cluster in ("lab-mongodb", "lab-mongodb-secure")),
        *((name, "lab-mongodb", "secondary") for name in ("node-kill", "node-wipe")),
    ],
)  # fmt: skip
def test_it_passes_as_shipped_and_loses_no_acknowledged_write(
    name: str, cluster: str, target: str, tmp_path: Path
) -> None:
    place = {"BROWNOUT_LAB_DIR": str(tmp_path / "lab"), "BROWNOUT_STATE": str(tmp_path / "state"),
             "BROWNOUT_TARGET": target}  # fmt: skip
    ran = chaos.run(chaos.load(name), tmp_path, "--var", f"cluster={cluster}", env=place)
    print(ran.output)  # `pytest -rP` shows the table
    assert ran.impact["verdict"] == "pass", ran.output
    assert ran.code == 0
    assert ran.impact["ledger"]["state"] == "clean"
    assert ran.impact["ledger"]["acknowledged"] > 1000
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("BROWNOUT_LAB_DIR", place["BROWNOUT_LAB_DIR"])
        assert running_inventory(cluster) is None
