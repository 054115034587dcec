"""A disk that is full, for real."""

from pathlib import Path

import pytest
from tests import chaos_runner as chaos

from brownout.databases.lab import file_systems

WHY_NOT = file_systems.why_not()
pytestmark = [
    pytest.mark.skipif(bool(WHY_NOT), reason=f"NOT TESTED: full disks: {WHY_NOT}"),
    pytest.mark.live,
]


@pytest.mark.matrix  # in CI a full leader is asked (tests/faults/test_disk_full.py)
@pytest.mark.quiet
@pytest.mark.timeout(800)  # a member may be redundant again only after five minutes
def test_as_shipped_it_passes_with_a_lab_that_is_down_before_and_after(tmp_path: Path) -> None:
    chaos.run_as_shipped("disk-full", tmp_path, timeout_s=650).check_passed()
