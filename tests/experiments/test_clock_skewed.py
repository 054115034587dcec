"""A server whose clock is wrong, for real."""

from pathlib import Path

import pytest
from tests import chaos_runner as chaos

from brownout.machine import clock

WHY_NOT = clock.why_not_here()
pytestmark = [
    pytest.mark.skipif(bool(WHY_NOT), reason=f"NOT TESTED: own clocks: {WHY_NOT}"),
    pytest.mark.live,
]


@pytest.mark.matrix  # in CI a primary is asked (tests/faults/test_clock.py)
@pytest.mark.quiet
@pytest.mark.timeout(400)
def test_as_shipped_it_passes_with_a_lab_that_is_down_before_and_after(tmp_path: Path) -> None:
    chaos.run_as_shipped("clock-skewed", tmp_path).check_passed()
