"""A planned hand-over, for real, and what the probes of a replica set say of it."""

from pathlib import Path
from typing import Any

import pytest
from tests import chaos_runner as chaos

from brownout.inventory.model import Cluster

pytestmark = pytest.mark.alone

ASKED = ("primaries", "elections", "replication_lag", "members")


def probe(name: str) -> dict[str, Any]:
    provider = {"type": "python", "module": "brownout.probes.mongodb", "func": name}
    return {"type": "probe", "name": name, "provider": provider}


def test_one_election_one_primary_and_how_long_a_secondary_caught_up(
    lab_mongodb: Cluster, tmp_path: Path
) -> None:
    experiment = chaos.quick(chaos.load("stepdown"))
    experiment["configuration"]["catch_up_s"] = 7
    experiment["method"] += [probe(name) for name in ASKED]
    ran = chaos.run(experiment, tmp_path, "--var", f"cluster={lab_mongodb.name}", *chaos.GENTLY)
    ran.check_proven()
    (event,) = [e for e in ran.events if e["stage"] == "effective" and e["type"] == "break"]
    assert event["evidence"]["catch_up_limit_s"] == 7
    assert event["evidence"]["caught_up_s"] >= 0
    said = {r["activity"]["name"]: r["output"] for r in ran.journal["run"]}
    assert {said[name]["status"] for name in ASKED} == {"measured"}
    assert (said["primaries"]["value"], said["members"]["value"]) == (1, 3)
    assert event["node"] not in said["primaries"]["nodes"]
    assert said["elections"]["value"] >= 1
    assert 0 <= said["replication_lag"]["value"] <= 10
