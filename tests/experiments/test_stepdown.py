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
CANARY = ("--var", "canary=rate=10,options.retryWrites=true")


def python(module: str, func: str, **arguments: Any) -> dict[str, Any]:
    return {"type": "python", "module": module, "func": func, "arguments": arguments}


def probe(name: str) -> dict[str, Any]:
    return {"type": "probe", "name": name, "provider": python("brownout.probes.mongodb", name)}


def test_one_election_one_primary_how_long_a_secondary_caught_up_and_what_an_application_saw(
    lab_mongodb: Cluster, tmp_path: Path
) -> None:
    experiment = chaos.quick(chaos.load("stepdown"))
    experiment["configuration"]["catch_up_s"] = 7
    experiment["method"] += [probe(name) for name in ASKED]
    experiment["configuration"]["limits"] = {"canary.longest_blackout": 0.0001}
    cluster = ("--var", f"cluster={lab_mongodb.name}")
    ran = chaos.run(experiment, tmp_path, *cluster, *chaos.GENTLY, *CANARY)
    ran.check_proven()
    check_elected(ran)
    check_asked_by_itself(ran)
    check_seen_by_an_application(ran)


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
    """The canary is a stream of the load: its lane, measures, limit and ledger are those."""
    assert ran.directory is not None
    (fault,) = ran.impact["faults"]
    assert fault["scopes"]["canary"]["client_recovered_time"] is not None
    assert {"canary.longest_blackout"} <= {
        f"{each['scope']}.{each['name']}" for each in ran.impact["slos"]
    }
    clients = json.loads((ran.directory / "generator.json").read_text())["driver_settings"]
    assert clients["clients"]["canary"]["name"].startswith("pymongo")
    assert clients["clients"]["canary"]["settings"] == {"retryWrites": True}
    ledger = (ran.directory / "ledger.ndjson").read_text()
    assert ledger.count('"stream": "canary"') + ledger.count('"stream":"canary"') > 0

    assert "The application `canary` " in ran.output
    assert "The built-in driver " in ran.output
    markdown = brownout("report", str(ran.directory), "-o", "-")
    assert "The application `canary` " in markdown.stdout.replace("\\", ""), markdown.stderr
