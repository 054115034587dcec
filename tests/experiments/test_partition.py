"""A lost majority and a cut-off primary, for real: what is lost, and that the ledger finds it."""

import json
from pathlib import Path
from typing import Any

import bson
import pytest
from tests import chaos_runner as chaos

from brownout.databases.adapter import adapter_for
from brownout.databases.milestones import still_unmet
from brownout.inventory.labs import running_inventory
from brownout.inventory.model import Cluster, Node, ProcessSpec
from brownout.machine import network
from brownout.run.ledger import classify
from brownout.run.ledger_lines import read_ledger_lines

pytestmark = pytest.mark.live

WHY_NOT = network.why_not()


def ledger_of(ran: chaos.Ran) -> tuple[dict[str, Any], dict[str, Any]]:
    """What was promised of each verified key, and what was read back of it."""
    assert ran.directory is not None
    lines = list(read_ledger_lines(ran.directory / "ledger.ndjson"))
    keys = {line["key"]: line for line in lines if "key" in line}
    return keys, {line["read"]: line for line in lines if "read" in line}


def lost_keys(keys: dict[str, Any], reads: dict[str, Any]) -> set[str]:
    """The keys that the ledger reports lost."""
    end = {"end": True, "keys": 1}
    return {key for key in keys if classify([keys[key], reads[key], end]).lost}


def promised(line: dict[str, Any], stored: int, rolled_back: int) -> bool | None:
    """Whether an acknowledged write is among those that were rolled back; None: nobody can say."""
    if line["kind"] == "counter":
        return None if line["in_doubt_n"] else True
    others = [*line["in_doubt"], *line["failed"]]
    gone = range(stored + 1, rolled_back + 1)
    return any(not any(first <= seq <= last for first, last in others) for seq in gone)


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
    # Long enough for an election: members that are joined before it lose nothing.
    ran = chaos.run_quickly("write-concern-1", tmp_path, lab_partition.name, partition_s=6)
    impact = ran.impact
    old = lab_partition.node(impact["experiment"]["target"])
    assert ran.deeds == [("partition_node", old.name), ("heal_partition", old.name)], ran.output
    assert (impact["verdict"], ran.code) == ("fail", 1), ran.output
    files = rollbacks(old) - before[old.name]
    documents = {d["_id"]: d for f in files for d in bson.decode_all(f.read_bytes())}
    keys, reads = ledger_of(ran)
    truth = {}
    for key, document in documents.items():
        name, field = ("value", "n") if "n" in document else ("seq", "s")
        truth[key] = promised(keys[key], reads[key][name], document[field])
    open_keys = {key for key, is_lost in truth.items() if is_lost is None}
    lost, ledger = lost_keys(keys, reads), impact["ledger"]
    for kind in ("register", "counter"):
        assert any(keys[key]["kind"] == kind for key in lost)
    assert lost <= set(documents)
    assert lost - open_keys == {key for key, is_lost in truth.items() if is_lost}
    assert (ledger["lost_keys"], ledger["data_lost"]) == (len(lost), 0)
    assert ledger["refused_keys"] > 0  # writes went on, and hid none of it
    assert ledger["in_doubt_applied"] + ledger["in_doubt_absent"] <= ledger["in_doubt"]
    assert ledger["lost"] <= reverted(old) <= ledger["lost"] + ledger["in_doubt"]
    adapter = adapter_for(lab_partition)
    try:
        assert still_unmet(adapter, "whole") == []
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
@pytest.mark.quiet
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
@pytest.mark.quiet
@pytest.mark.timeout(900)
@pytest.mark.skipif(bool(WHY_NOT), reason=f"NOT TESTED: partitions of a cluster: {WHY_NOT}")
@pytest.mark.parametrize(
    ("cluster", "verdict"),
    [
        ("lab-cassandra-partition", "pass"),
        ("lab-etcd-partition", "pass"),
        # A master acknowledges writes that no replica has until it notices that it is alone.
        ("lab-redis-partition", "fail"),
    ],
)
def test_other_databases_are_partitioned_as_shipped(
    cluster: str, verdict: str, tmp_path: Path
) -> None:
    ran = chaos.run_as_shipped("partition", tmp_path, cluster)
    assert ran.impact["verdict"] == verdict, ran.output
    assert (ran.impact["ledger"]["lost"] > 0) == (verdict == "fail")
    broken = {item["measure"] for item in ran.impact["limits"] if item["met"] is False}
    assert broken == ({"lost_writes"} if verdict == "fail" else set())


@pytest.mark.matrix
@pytest.mark.quiet
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
    ran = chaos.run_as_shipped(name, tmp_path)
    assert ran.impact["verdict"] == verdict, ran.output
    assert (ran.impact["ledger"]["lost"] > 0) == (verdict == "fail")
