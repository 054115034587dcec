"""A planned hand-over, for real: the probes of a replica set, and a canary beside the load."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests import chaos_runner as chaos
from tests.forked_run import brownout

from brownout.inventory.model import Cluster
from brownout.run.primaries import read_primaries

pytestmark = pytest.mark.live

ASKED = ("primaries", "elections", "replication_lag", "members")
CANARY = ("--var", "canary=rate=20,policies.retryWrites=false")


def python(module: str, func: str, **arguments: Any) -> dict[str, Any]:
    return {"type": "python", "module": module, "func": func, "arguments": arguments}


def probe(name: str) -> dict[str, Any]:
    return {"type": "probe", "name": name, "provider": python("brownout.probes.mongodb", name)}


def limited(figure: str, limit: float) -> dict[str, Any]:
    """A probe of the hypothesis that holds a figure of the canary to a limit."""
    tolerance = python("brownout.probes.tolerances", "at_most", value=None, limit=limit)
    return {
        "type": "probe",
        "name": f"canary-{figure}",
        "tolerance": {"type": "probe", "name": "at-most", "provider": tolerance},
        "provider": python("brownout.probes.canary", "canary", figure=figure),
    }


def test_one_election_one_primary_how_long_a_secondary_caught_up_and_what_an_application_saw(
    lab_mongodb: Cluster, tmp_path: Path
) -> None:
    experiment = chaos.quick(chaos.load("stepdown"))
    experiment["configuration"]["catch_up_s"] = 7
    experiment["method"] += [probe(name) for name in ASKED]
    # First: Chaos Toolkit asks no probe after one that is not met, as on a busy machine.
    experiment["steady-state-hypothesis"]["probes"][:0] = [
        limited("operations", 1e6), limited("slowest_s", 0.0)
    ]  # fmt: skip
    cluster = ("--var", f"cluster={lab_mongodb.name}")
    ran = chaos.run(experiment, tmp_path, *cluster, *chaos.GENTLY, *CANARY)
    ran.check_proven()
    check_elected(ran)
    check_asked_by_itself(ran)
    check_seen_by_an_application(ran)
    check_held_to_limits(ran)


def check_elected(ran: chaos.Ran) -> None:
    (event,) = [e for e in ran.events if e["stage"] == "effective" and e["type"] == "break"]
    assert event["evidence"]["catch_up_limit_s"] == 7
    assert event["evidence"]["caught_up_s"] >= 0
    said = {r["activity"]["name"]: r["output"] for r in ran.journal["run"]}
    assert {said[name]["status"] for name in ASKED} == {"measured"}
    assert (said["primaries"]["value"], said["members"]["value"]) == (1, 3)
    assert event["node"] not in said["primaries"]["nodes"]
    assert said["elections"]["value"] >= 1
    assert 0 <= said["replication_lag"]["value"] <= 10


def check_asked_by_itself(ran: chaos.Ran) -> None:
    """Each member said by itself who is primary, and the measures are made of that."""
    assert ran.directory is not None
    claims = [look for look in read_primaries(ran.directory / "primaries.csv") if look.primary]
    said = {r["activity"]["name"]: r["output"] for r in ran.journal["run"]}
    by_term = {(look.node, int(look.election[8:], 16)) for look in claims}
    assert set(said["primaries"]["nodes"].items()) <= by_term
    assert len(by_term) >= 2
    (fault,) = ran.impact["faults"]
    last_no, first_yes = fault["promoted_time"]
    assert 0 <= last_no <= first_yes
    least, most = fault["primary_overlap"]
    assert 0 <= least <= most


def check_seen_by_an_application(ran: chaos.Ran) -> None:
    canary = ran.impact["canary"]
    assert canary["state"] == "measured", ran.output
    assert (canary["client"], canary["policies"]["retryWrites"]) == ("pymongo", False)
    assert canary["began_t"] < ran.impact["faults"][0]["effective"] < canary["ended_t"]
    assert canary["total"]["operations"] == canary["read"]["operations"] * 2

    assert f"canary (pymongo {canary['version']}): " in ran.output
    assert ran.directory is not None
    assert "What an application saw" in (ran.directory / "report.html").read_text()
    markdown = brownout("report", str(ran.directory), "-o", "-")
    assert "- canary (pymongo" in markdown.stdout, markdown.stderr


def check_held_to_limits(ran: chaos.Ran) -> None:
    """The canary's probes are the user's own limits, which are no part of the verdict."""
    answers = {
        each["activity"]["name"]: each
        for each in ran.journal["steady_states"]["after"]["probes"]
    }  # fmt: skip
    assert answers["canary-operations"]["tolerance_met"] is True
    assert answers["canary-slowest_s"]["tolerance_met"] is False
    assert ran.code == 1
    assert "canary" not in json.dumps(ran.impact["reasons"])
