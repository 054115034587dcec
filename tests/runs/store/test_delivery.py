"""A run that could not be copied to its store is no success of `chaos run`, whatever it found."""

from pathlib import Path

import pytest
from tests import chaos_runner as chaos

from brownout.inventory.model import Cluster

pytestmark = pytest.mark.alone


def test_a_pass_that_is_not_in_the_store_does_not_exit_with_0(
    tmp_path: Path, lab_mongodb: Cluster
) -> None:
    env = {"BROWNOUT_STORE": "file:///dev/null/runs"}
    ran = chaos.run(
        chaos.quick(chaos.load("stepdown"), chaos.LEAST_BASELINE_S),
        tmp_path,
        *chaos.GENTLY,
        env=env,
    )
    assert ran.impact["verdict"] == "pass", ran.output
    assert ran.code == 1
    assert "is NOT in the store" in ran.output
    assert "file:///dev/null/runs" in ran.journal["brownout"]["not_stored"]
