"""A steady load on Couchbase's mock, which every result names; no fault is made."""

from pathlib import Path

import pytest
from tests import chaos_runner as chaos

from brownout.databases.couchbase.scenarios import NO_FAULTS
from brownout.inventory.model import Cluster

pytestmark = [pytest.mark.matrix, pytest.mark.timeout(1200)]


def run(experiment: dict[str, object], on: Cluster, tmp_path: Path) -> chaos.Ran:
    options = ("--var", f"cluster={on.name}", *chaos.GENTLY)
    return chaos.finish(chaos.start(experiment, tmp_path, *options), tmp_path, 600.0)


def test_a_steady_load_is_served_and_its_result_says_that_a_mock_served_it(
    lab_couchbase: Cluster, tmp_path: Path
) -> None:
    experiment = chaos.quick(chaos.load("node-kill"))
    wait = next(step for step in experiment["method"] if step["name"] == "wait-until-redundant")
    experiment["method"] = [wait]
    (extension,) = experiment["extensions"]
    extension["needs"] = []
    ran = run(experiment, lab_couchbase, tmp_path)
    impact = ran.impact
    assert impact["stand_in"]
    assert impact["engine"] == "CouchbaseMock 1.5.27 (a mock)"
    assert impact["verdict"] != "pass"  # nothing was broken, so nothing is claimed
    assert impact["ledger"]["state"] == "clean"
    assert impact["ledger"]["acknowledged"] > 20
    assert "STAND-IN" in ran.output


def test_a_fault_is_refused_with_its_reason(lab_couchbase: Cluster, tmp_path: Path) -> None:
    ran = run(chaos.quick(chaos.load("node-kill")), lab_couchbase, tmp_path)
    assert NO_FAULTS in " ".join(ran.output.split())
    assert ran.directory is None or not ran.deeds
    assert ran.code != 0
