"""Every experiment as shipped on real replica sets, down before and after it: `make matrix`."""

from pathlib import Path

import pytest
from tests import chaos_runner as chaos

pytestmark = pytest.mark.quiet

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
    chaos.run_as_shipped(name, tmp_path, cluster, BROWNOUT_TARGET=target).check_passed()
