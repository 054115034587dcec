"""Experiments on five nodes of the Aerospike stand-in: one run a mechanism, then all as shipped.

What happens is tested, never how fast: on a busy machine the load may not be judged at all.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from tests import chaos_runner as chaos
from tests.waiting import await_true

from brownout.databases.aerospike.adapter import AerospikeAdapter
from brownout.inventory.model import Cluster
from brownout.machine.host import host_for
from brownout.show.report import picture
from brownout.show.report.reader import read

pytestmark = pytest.mark.live

ON = ("--var", "cluster=lab-aerospike")
EXPERIMENTS = (
    "node-kill",
    "node-wipe",
    "node-pause",
    "maintenance-quiesced",
    "maintenance-forgotten",
)
#: Its lost writes fail a run on a cluster that applies late what was sent to a node that hung.
MAY_LOSE_WRITES = {"node-pause"}


def quick(name: str, where: Path, **variables: float | str) -> chaos.Ran:
    """Run a shipped experiment on n2 with a short baseline, a low rate and short waits."""
    return chaos.run_quickly(name, where, "lab-aerospike", target="n2", **variables)


def milestones(ran: chaos.Ran) -> list[str]:
    """What the cluster reached."""
    found = [e for e in ran.events if e["type"] == "milestone" and e["first_yes"] is not None]
    return [event["name"] for event in found]


def evidence(ran: chaos.Ran, name: str) -> dict[str, Any]:
    (found,) = [e for e in ran.events if e["name"] == name and e["stage"] == "effective"]
    said: dict[str, Any] = found["evidence"]
    return said


def errors(ran: chaos.Ran) -> int:
    """Operations that ended badly over the fault."""
    return sum(ran.impact["faults"][0]["errors"].values())


def check_landed(ran: chaos.Ran) -> None:
    """The fault is proven, the cluster noticed it and got over it, and all of it is judged."""
    impact = ran.impact
    ran.check_proven()
    ran.check_limits_answered()
    assert milestones(ran) == ["changed", "rejoined", "redundant"]
    assert len(impact["faults"]) == 1
    assert impact["verdict"] in ("pass", "fail", "inconclusive")


def test_a_wiped_node_comes_back_empty_and_no_acknowledged_write_is_lost(
    lab_aerospike: Cluster, tmp_path: Path
) -> None:
    experiment = chaos.quick(chaos.load("node-wipe"))
    experiment["method"] += [asks(name) for name in ASKED]
    told = ("--var", "target=n2", "--var", "downtime_s=0.5", "--var", "canary=rate=10")
    ran = chaos.run(experiment, tmp_path, *ON, *chaos.GENTLY, *told)
    names = ["kill_node", "wipe_node", "start_node"]
    assert ran.deeds == [(name, "n2") for name in names], ran.output
    check_landed(ran)
    (emptied,) = evidence(ran, "wipe_node")["directories"]
    assert (emptied["files_removed"], emptied["entries_left"]) == (1, 0)
    assert emptied["directory"].endswith("lab-aerospike/n2/data")
    assert ran.impact["ledger"]["state"] == "clean"
    check_answered(ran)
    check_named_as_stand_in(ran)
    check_seen_by_an_application(ran)


def check_seen_by_an_application(ran: chaos.Ran) -> None:
    """The canary was a stream of the load, by the client in C."""
    assert ran.directory is not None
    (fault,) = ran.impact["faults"]
    assert fault["scopes"]["canary"]["latency"]["before"]["n"] > 0
    settings = json.loads((ran.directory / "generator.json").read_text())["driver_settings"]
    assert settings["clients"]["canary"]["name"] == "aerospike"
    assert "The application `canary` " in ran.output


def check_named_as_stand_in(ran: chaos.Ran) -> None:
    """Whoever sees the figures reads that they are a stand-in's."""
    assert ran.directory is not None
    assert ran.impact["stand_in"] is True
    assert "stand-in" in ran.impact["cluster"]["engine"]
    assert "STAND-IN" in ran.output
    page = (ran.directory / "report.html").read_text("utf-8")
    assert "(stand-in)" in page.partition("</title>")[0]
    figure = picture._draw(read(ran.directory))
    assert figure.texts[0].get_text().startswith("STAND-IN")
    assert all("stand-in" in axes.get_title(loc="left") for axes in figure.axes)


@pytest.mark.matrix  # in CI a hung node is tried without an experiment (tests/load)
def test_a_node_that_hangs_is_given_up_and_comes_back(
    lab_aerospike: Cluster, tmp_path: Path
) -> None:
    ran = quick("node-pause", tmp_path, hang_s=4)
    assert ran.deeds == [("pause_node", "n2"), ("resume_node", "n2")], ran.output
    check_landed(ran)


@pytest.mark.matrix  # in CI a node is quiesced, stopped and healed without a run (tests/faults)
@pytest.mark.quiet
def test_a_quiesced_node_is_stopped_when_it_serves_nobody_and_nothing_fails(
    lab_aerospike: Cluster, tmp_path: Path
) -> None:
    experiment = chaos.quick(chaos.load("maintenance-quiesced"))
    experiment["configuration"] |= {"before_s": 0, "maintenance_s": 1}
    experiment["method"][2:2] = [asks(name) for name in ASKED]
    ran = chaos.run(experiment, tmp_path, *ON, *chaos.GENTLY, "--var", "target=n2")
    assert ran.deeds == [
        ("quiesce_node", "n2"), ("recluster", None), ("stop_node", "n2"), ("reboot_node", "n2"),
        ("start_node", "n2"), ("unquiesce_node", "n2"),
    ], ran.output  # fmt: skip
    check_landed(ran)
    assert evidence(ran, "recluster")["quiesced"] == ["n2"]
    assert evidence(ran, "reboot_node")["skipped"]
    assert errors(ran) == 0, ran.impact["faults"][0]["errors"]
    assert ran.impact["ledger"]["state"] == "clean"
    said = answers(ran)
    idle = said["wait-until-the-node-is-idle"]
    assert idle["value"] == 0
    assert idle["operations"], "it says so of histograms that were used"
    assert said["node_is_quiesced"] is True
    assert said["cluster_key"]["value"] == evidence(ran, "recluster")["cluster_key"]
    assert said["records"]["value"] >= 1000
    assert said["migrations_remaining"]["status"] == "measured"
    assert said["node_tps"]["node"] == "n2"


#: What is asked of the cluster: once redundancy is back, or between the recluster and the stop.
ASKED = ("node_is_quiesced", "cluster_key", "records", "migrations_remaining", "node_tps")


def answers(ran: chaos.Ran) -> dict[str, Any]:
    """What each activity of the method answered."""
    return {done["activity"]["name"]: done["output"] for done in ran.journal["run"]}


def check_answered(ran: chaos.Ran) -> None:
    """Each probe was asked of a cluster that is whole again."""
    said = answers(ran)
    assert said["node_is_quiesced"] is False
    assert said["cluster_key"]["status"] == "measured"
    assert said["records"]["value"] >= 1000
    assert said["migrations_remaining"]["value"] == 0
    assert said["node_tps"]["node"] == "n2"


def asks(name: str) -> dict[str, Any]:
    """A probe of Aerospike, as an activity of a method."""
    provider = {"type": "python", "module": "brownout.probes.aerospike", "func": name}
    return {"type": "probe", "name": name, "provider": provider}


@pytest.mark.matrix
@pytest.mark.quiet
def test_the_safe_stop_as_one_action_is_the_same(lab_aerospike: Cluster, tmp_path: Path) -> None:
    experiment = chaos.quick(chaos.load("maintenance-quiesced"))
    provider = {"type": "python", "module": "brownout.actions.aerospike",
                "func": "drain_and_stop_node"}  # fmt: skip
    one = {"type": "action", "name": "drain-and-stop", "provider": provider}
    experiment["method"] = [one]  # the rollback does the rest
    for name in ("before_s", "idle_timeout_s", "maintenance_s"):  # of steps that are left out
        del experiment["configuration"][name]
    ran = chaos.run(experiment, tmp_path, *ON, *chaos.GENTLY, "--var", "target=n2")
    names = ["quiesce_node", "recluster", "stop_node", "start_node", "unquiesce_node"]
    assert [name for name, _ in ran.deeds] == names, ran.output
    with AerospikeAdapter(lab_aerospike) as adapter:
        assert adapter.stable("rejoined").reached


#: Without reads, which would fail for good where nothing is left to read.
WRITES = """
title: verified writes alone
data: {keys: 2000, value_bytes: 64}
streams:
  - {name: orders, mix: {update: 100}, rate: 100, deadline_s: 1, verified: true, ledger_keys: 4000}
"""


@pytest.mark.matrix  # in CI lost copies are counted (tests/load), and a run with lost writes fails
def test_losing_both_copies_is_seen_by_the_ledger_though_every_health_check_is_green(
    lab_aerospike: Cluster, tmp_path: Path
) -> None:
    experiment = chaos.quick(chaos.load("node-wipe"))
    experiment["configuration"]["downtime_s"] = 0
    del experiment["configuration"]["load"]  # its workload is its own
    experiment["steady-state-hypothesis"]["probes"].insert(1, UNAVAILABLE)
    workload = tmp_path / "writes.yaml"
    workload.write_text(WRITES)
    told = ("--var", f"workload={workload}", "--var", "target=n2")
    process = chaos.start(experiment, tmp_path, *ON, *told)
    host, other = (host_for(lab_aerospike.node(name)) for name in ("n2", "n3"))
    await_true(lambda: not host.running().running, "n2 is killed")
    other.stop("kill")  # by somebody else: our own guards would not
    with AerospikeAdapter(lab_aerospike) as adapter:
        other.wipe(adapter.data_directories(lab_aerospike.node("n3")))
    other.start()
    ran = chaos.finish(process, tmp_path)
    check_landed(ran)
    after = {p["activity"]["name"]: p for p in ran.journal["steady_states"]["after"]["probes"]}
    assert after["cluster-is-whole"]["output"] is True
    assert after["partitions-unavailable"]["output"]["value"] == 0
    assert (ran.impact["verdict"], ran.impact["ledger"]["state"]) == ("fail", "lost")
    assert ran.impact["ledger"]["lost"] > 0
    assert ran.code == 1


UNAVAILABLE = {
    "type": "probe",
    "name": "partitions-unavailable",
    "tolerance": {
        "type": "probe",
        "name": "none",
        "provider": {
            "type": "python",
            "module": "brownout.probes.tolerances",
            "func": "at_most",
            "arguments": {"value": None, "limit": 0},
        },
    },
    "provider": {
        "type": "python",
        "module": "brownout.probes.aerospike",
        "func": "partitions_unavailable",
    },
}


@pytest.mark.matrix
@pytest.mark.quiet
@pytest.mark.timeout(400)
@pytest.mark.parametrize("name", EXPERIMENTS)
def test_it_passes_as_shipped_and_loses_no_write_but_to_a_hang(name: str, tmp_path: Path) -> None:
    ran = chaos.run_as_shipped(name, tmp_path, "lab-aerospike", BROWNOUT_ASD="stand-in")
    check_landed(ran)
    lost = ran.impact["ledger"]["lost"]
    assert not lost or name in MAY_LOSE_WRITES
    assert ran.impact["verdict"] == ("fail" if lost else "pass"), ran.output
    assert (ran.code == 0) == (not lost)


@pytest.mark.matrix
@pytest.mark.quiet
@pytest.mark.timeout(600)
def test_forgetting_the_quiesce_costs_what_it_would_have_spared(tmp_path: Path) -> None:
    cost = {}
    for name in ("maintenance-quiesced", "maintenance-forgotten"):
        where = tmp_path / name
        ran = chaos.run_as_shipped(name, where, "lab-aerospike", BROWNOUT_ASD="stand-in")
        cost[name] = errors(ran)
    assert cost["maintenance-forgotten"] > 10 * max(1, cost["maintenance-quiesced"]), cost
