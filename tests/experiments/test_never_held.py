"""A load that never holds again after the fault, on a real cluster, and what the verdict says."""

import sys
from pathlib import Path

import pytest
from tests import chaos_runner as chaos

from brownout.inventory.model import Cluster

GARBLE = """
import sys, pymongo
client = pymongo.MongoClient(sys.argv[1])
client["brownout"]["data"].update_many({}, {"$set": {"v": b"garbled"}})
"""


@pytest.mark.matrix
@pytest.mark.timeout(300)
def test_data_that_is_garbled_after_the_fault_is_a_fail(
    lab_mongodb: Cluster, tmp_path: Path
) -> None:
    experiment = chaos.quick(chaos.load("node-kill"))
    experiment["configuration"]["milestone_limit_s"] = 30
    addresses = ",".join(node.address for node in lab_mongodb.nodes)
    where = f"mongodb://{addresses}/?replicaSet={lab_mongodb.name}"
    provider = {"type": "process", "path": sys.executable, "arguments": ["-c", GARBLE, where]}
    experiment["method"].append({"type": "action", "name": "garble", "provider": provider})
    ran = chaos.run(experiment, tmp_path, "--var", f"cluster={lab_mongodb.name}", *chaos.GENTLY)
    impact = ran.impact
    assert impact["verdict"] == "fail", ran.output
    assert impact["ledger"]["data_corrupt"] == impact["ledger"]["data_keys"] == 500
    # On a busy machine only a remark: it is not counted where the load was not steady before.
    told = [*impact["reasons"], *impact["remarks"]]
    assert any("load_held: " in reason for reason in told), told
    assert any(reason.startswith("lost_writes: ") for reason in impact["reasons"])
    (held,) = [check for check in impact["validity"] if check["name"] == "load_held"]
    assert held["ok"] is False
