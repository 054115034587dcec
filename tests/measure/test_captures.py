"""The measures on what a real cluster did: `tests/data/captures`. Known of them is what was seen
then: one node of five lost took 16 % of the whole and 53 % of the writes, for about 2 s."""

import json
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from brownout.measure import ScopeImpact, series_impact

CAPTURES = Path(__file__).parents[1] / "data" / "captures"
FAULTS: dict[str, float] = json.loads((CAPTURES / "faults.json").read_text())
COLUMNS = {"read": 1, "write": 2, "total": 3}
DRIVEN_APART = ("kill-wipe", "kill", "term")


@cache
def measured(name: str, scope: str) -> ScopeImpact:
    rows = np.loadtxt(CAPTURES / f"{name}.csv", delimiter=",", skiprows=1).T
    impact = series_impact(rows[0], rows[COLUMNS[scope]], fault_at=FAULTS[name])
    return impact.faults[0].scopes["total"]


@pytest.mark.parametrize("name", DRIVEN_APART)
def test_one_node_of_five_takes_16_percent_of_the_whole_and_53_of_the_writes(name: str) -> None:
    assert measured(name, "total").drops.tps_drop == pytest.approx(0.16, abs=0.01)
    assert measured(name, "write").drops.tps_drop == pytest.approx(0.53, abs=0.01)


@pytest.mark.parametrize("name", DRIVEN_APART)
def test_reads_that_go_to_a_replica_have_no_dip(name: str) -> None:
    assert measured(name, "read").course.dips == ()


@pytest.mark.parametrize(("name", "seconds"), [("kill-wipe", 2.0), ("term", 2.0), ("kill", 2.6)])
def test_service_is_back_when_the_cluster_has_formed_again(name: str, seconds: float) -> None:
    assert measured(name, "total").course.recovery_time == pytest.approx(seconds, abs=0.1)


def test_a_pause_of_0_8_s_is_a_dip_of_0_8_s() -> None:
    course = measured("pause", "total").course
    assert len(course.dips) == 1
    assert course.dips[0].length == pytest.approx(0.8, abs=0.1)
    assert course.recovery_time == pytest.approx(0.8, abs=0.1)


def test_reads_and_writes_of_one_loop_fall_together() -> None:
    together, apart = measured("kill-one-loop", "read"), measured("kill-wipe", "read")
    assert (together.drops.tps_drop or 0.0) > 0.3
    assert (apart.drops.tps_drop or 1.0) < 0.05


def test_retries_make_the_dip_of_the_writes_deeper() -> None:
    retried, once = measured("kill-retries", "write"), measured("kill-wipe", "write")
    assert (retried.drops.tps_drop or 0.0) > (once.drops.tps_drop or 1.0) + 0.1


@pytest.mark.parametrize("name", FAULTS)
def test_the_noise_before_the_fault_is_told_from_it(name: str) -> None:
    drops = measured(name, "total").drops
    assert (drops.tps_drop_sham or 0.0) < 0.02 < (drops.tps_drop or 0.0)
