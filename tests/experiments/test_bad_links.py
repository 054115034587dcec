"""A primary on a bad link, as shipped: who replaces it, what is lost, and a control that passes."""

from pathlib import Path

import pytest
from tests import chaos_runner as chaos

from brownout.machine import network

WHY_NOT = network.why_not()
pytestmark = [
    pytest.mark.live,
    pytest.mark.matrix,  # in CI each fault is done to a set (tests/faults/test_link.py)
    pytest.mark.quiet,
    pytest.mark.timeout(600),
    pytest.mark.skipif(bool(WHY_NOT), reason=f"NOT TESTED: bad links: {WHY_NOT}"),
]


@pytest.mark.parametrize("engine", ["mongodb", "etcd", "redis", "cassandra"])
@pytest.mark.parametrize("experiment", ["lossy-link", "black-hole", "one-way"])
def test_as_shipped_only_a_half_open_link_has_it_replaced(
    engine: str, experiment: str, tmp_path: Path
) -> None:
    ran = chaos.run_as_shipped(experiment, tmp_path, f"lab-{engine}-partition")
    # A master acknowledges writes that no replica has until it notices that it is alone.
    loses = (engine, experiment) == ("redis", "one-way")
    assert ran.impact["verdict"] == ("fail" if loses else "pass"), ran.output
    assert (ran.impact["ledger"]["lost"] > 0) == loses
    (fault,) = ran.impact["faults"]
    if engine != "cassandra":  # which has no primary
        replaced = fault["promoted_time"] != [0.0, 0.0]
        assert replaced == (experiment == "one-way"), ran.output


@pytest.mark.parametrize("engine", ["mongodb", "etcd", "redis", "cassandra"])
def test_a_link_that_loses_nothing_costs_nothing(engine: str, tmp_path: Path) -> None:
    ran = chaos.run_as_shipped(
        "lossy-link", tmp_path, f"lab-{engine}-partition", "--var", "percent=0"
    )
    ran.check_passed()
    (fault,) = ran.impact["faults"]
    assert (fault["blackout"], fault["lost_operations"]) == (0, 0), ran.output
