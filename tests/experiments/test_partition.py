"""A lost majority and a cut-off primary, for real: what is lost, and that the ledger finds it."""

import json
from pathlib import Path

import bson
import pytest
from tests import chaos_runner as chaos

from brownout.cluster import network
from brownout.cluster.adapter import adapter_for
from brownout.cluster.model import Cluster, Node, ProcessSpec
from brownout.infra.lab.state import running_inventory

pytestmark = pytest.mark.alone

WHY_NOT = network.why_not()


def lost_keys(ran: chaos.Ran) -> tuple[set[str], set[str]]:
    """Counters that lack acknowledged increments, and those that had one in doubt."""
    assert ran.directory is not None
    text = (ran.directory / "ledger.ndjson").read_text()
    lines = [json.loads(line) for line in text.splitlines()]
    found = {line["read"]: line.get("value", 0) for line in lines if "read" in line}
    keys = {line["key"]: line for line in lines if "key" in line}
    lost = {key for key, line in keys.items() if found[key] < line["acked"]}
    return lost, {key for key, line in keys.items() if line["in_doubt_n"]}


def rollbacks(node: Node) -> set[Path]:
    """The files in which a member keeps what it rolled back."""
    assert isinstance(node.host, ProcessSpec)
    assert node.host.working_directory is not None
    return set((node.host.working_directory / "data" / "rollback").glob("*/*.bson"))


def reverted(node: Node) -> int:
    """How many updates a member's last rollback took back, by its own log."""
    assert isinstance(node.host, ProcessSpec)
    assert node.host.log_file is not None
    log = node.host.log_file.read_text().splitlines()
    said = [json.loads(line) for line in log if '"Rollback reverted command counts"' in line]
    return int(said[-1]["attr"]["update"])


def test_all_that_a_cut_off_primary_acknowledged_alone_is_found_lost(
    lab_partition: Cluster, tmp_path: Path
) -> None:
    before = {node.name: rollbacks(node) for node in lab_partition.nodes}
    ran = chaos.run_quickly("write-concern-1", tmp_path, lab_partition.name, partition_s=3)
    impact = ran.impact
    old = lab_partition.node(impact["experiment"]["target"])
    assert ran.deeds == [("partition_node", old.name), ("heal_partition", old.name)], ran.output
    assert (impact["verdict"], ran.code) == ("fail", 1), ran.output
    files = rollbacks(old) - before[old.name]
    documents = {d["_id"] for f in files for d in bson.decode_all(f.read_bytes())}
    lost, in_doubt = lost_keys(ran)
    ledger = impact["ledger"]
    assert lost
    assert lost <= documents
    assert documents - lost <= in_doubt
    assert ledger["rolled_back_keys"] == len(lost)
    assert ledger["lost"] <= reverted(old) <= ledger["lost"] + ledger["in_doubt"]
    adapter = adapter_for(lab_partition)
    try:
        assert adapter.stable("whole").reached
    finally:
        adapter.close()


def test_a_primary_without_a_majority_steps_down_and_no_acknowledged_write_is_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BROWNOUT_LAB_DIR", str(tmp_path / "lab"))
    ran = chaos.run_quickly("majority-loss", tmp_path, "lab-mongodb-majority", downtime_s=0)
    first, second = (node for name, node in ran.deeds if name == "kill_node")
    assert ran.deeds == [
        ("kill_node", first), ("kill_node", second),
        ("start_node", first), ("start_node", second),
    ], ran.output  # fmt: skip
    (waited,) = [r["output"] for r in ran.journal["run"]
                 if r["activity"]["name"] == "wait-until-no-primary"]  # fmt: skip
    assert sorted(waited["members"].values()) == ["SECONDARY", "unreachable", "unreachable"]
    (fault,) = ran.impact["faults"]
    assert fault["redundancy_time"] is not None
    assert ran.impact["ledger"]["state"] == "clean"
    assert ran.impact["ledger"]["acknowledged"] > 100
    assert running_inventory("lab-mongodb-majority") is None


@pytest.mark.matrix
@pytest.mark.timeout(400)
def test_a_partition_as_shipped_passes_and_loses_nothing_that_a_majority_acknowledged(
    lab_partition: Cluster, tmp_path: Path
) -> None:
    before = {node.name: rollbacks(node) for node in lab_partition.nodes}
    ran = chaos.run(chaos.load("partition"), tmp_path)
    print(ran.output)  # `pytest -rP` shows the table
    old = lab_partition.node(ran.impact["experiment"]["target"])
    assert (ran.impact["verdict"], ran.code) == ("pass", 0), ran.output
    assert ran.impact["ledger"]["state"] == "clean"
    assert ran.impact["ledger"]["acknowledged"] > 1000
    assert rollbacks(old) - before[old.name]  # it had taken writes, and nobody was promised them


@pytest.mark.matrix
@pytest.mark.timeout(400)
@pytest.mark.parametrize(
    ("name", "verdict"),
    [
        ("majority-loss", "pass"),
        pytest.param("write-concern-1", "fail", marks=pytest.mark.skipif(
            bool(WHY_NOT), reason=f"NOT TESTED: partitions of a replica set: {WHY_NOT}")),
    ],
)  # fmt: skip
def test_as_shipped_with_a_lab_that_is_down_before_and_after(
    name: str, verdict: str, tmp_path: Path
) -> None:
    place = {"BROWNOUT_LAB_DIR": str(tmp_path / "lab"), "BROWNOUT_STATE": str(tmp_path / "state")}
    ran = chaos.run(chaos.load(name), tmp_path, env=place)
    print(ran.output)
    assert ran.impact["verdict"] == verdict, ran.output
    assert (ran.impact["ledger"]["lost"] > 0) == (verdict == "fail")
    assert list((tmp_path / "lab").iterdir()) == []
