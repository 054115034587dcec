"""Taking an Aerospike node out of service and back: written down first, proven, safe to repeat."""

import contextlib
import json
import re
from collections.abc import Iterator
from pathlib import Path

import aerospike
import pytest
from tests import chaos_runner as chaos
from tests import kill_harness
from tests.forked_run import brownout
from tests.waiting import await_true

from brownout.base.errors import ConfigurationError, Refused, Unsupported
from brownout.databases.aerospike.adapter import AerospikeAdapter
from brownout.databases.milestones import still_unmet
from brownout.faults import registry
from brownout.faults.faults import Faults
from brownout.faults.undos import broken, left
from brownout.infra import lab
from brownout.inventory.model import Cluster, Guards
from brownout.machine.host import host_for
from brownout.measure.episodes import has_landed
from brownout.run.events import Event, EventLog, read_events


@pytest.fixture
def cluster(lab_aerospike: Cluster) -> Cluster:
    return lab_aerospike


def quiesced(adapter: AerospikeAdapter) -> list[str]:
    return [view.node for view in adapter.ask() if view.is_quiesced]


def breaks(log: Path) -> list[Event]:
    return [event for event in read_events(log) if event.type == "break"]


def test_a_quiesce_has_no_effect_before_the_recluster_and_is_not_proven_before_it(
    faults: Faults, adapter: AerospikeAdapter, lab_aerospike: Cluster, log: Path
) -> None:
    told = faults.run("quiesce_node", lab_aerospike.node("n2"))
    assert (told["effective"], quiesced(adapter)) == (None, [])
    assert [has_landed(event) for event in breaks(log)] == [False]
    assert broken(left(read_events(log))) == faults.broken == {"n2": "unquiesce_node"}

    done = faults.run("recluster")
    assert quiesced(adapter) == done["evidence"]["quiesced"] == ["n2"]
    assert {event.effective for event in breaks(log)} == {round(done["effective"], 6)}
    assert all(has_landed(event) for event in breaks(log))


def test_only_the_principal_accepts_a_recluster_and_every_answer_is_kept(faults: Faults) -> None:
    answers = faults.run("recluster")["evidence"]["answers"]
    assert sorted(answers.values()) == ["ignored-by-non-principal"] * 4 + ["ok"]


def test_a_recluster_alone_breaks_nothing(faults: Faults, log: Path) -> None:
    faults.run("recluster")
    assert [event.type for event in read_events(log)] == ["mend"]
    assert faults.broken == {}


def test_each_step_is_safe_to_repeat(
    faults: Faults, adapter: AerospikeAdapter, lab_aerospike: Cluster
) -> None:
    node = lab_aerospike.node("n3")
    faults.run("quiesce_node", node)
    assert not faults.run("quiesce_node", node)["evidence"]["already"]
    faults.run("recluster")
    assert faults.run("quiesce_node", node)["evidence"]["already"]
    assert not faults.run("unquiesce_node", node)["evidence"]["already"]
    assert faults.run("unquiesce_node", node)["evidence"]["already"]
    assert quiesced(adapter) == []


def test_a_node_that_was_quiesced_and_stopped_is_started_first_and_then_given_its_work_back(
    faults: Faults, adapter: AerospikeAdapter, lab_aerospike: Cluster, log: Path
) -> None:
    node = lab_aerospike.node("n2")
    faults.run("quiesce_node", node)
    faults.run("recluster")
    faults.run("stop_node", node)
    assert faults.run("reboot_node", node)["evidence"]["skipped"]  # a process has no machine
    waiting = {"n2": "start_node then unquiesce_node"}
    assert broken(left(read_events(log))) == faults.broken == waiting

    after = Faults(lab_aerospike, adapter, EventLog(log), lambda t: t, faults.pending)  # it died
    assert after.put_back() == []
    names = [event.name for event in read_events(log) if event.type == "mend"]
    assert names == ["reboot_node", "start_node", "unquiesce_node"]
    assert broken(left(read_events(log))) == {}


@pytest.mark.matrix
def test_a_run_that_died_while_a_node_was_quiesced_is_healed(
    adapter: AerospikeAdapter, lab_aerospike: Cluster, tmp_path: Path
) -> None:
    options = ("--var", "cluster=lab-aerospike", "--var", "target=n2")
    healed = kill_harness.kill_and_heal(
        lab_aerospike, tmp_path / "run", "changed", 0.0, "maintenance-quiesced", options
    )
    assert "n2" in healed.mended
    assert quiesced(adapter) == []


def test_a_second_node_is_not_taken_out_while_one_is(
    faults: Faults, adapter: AerospikeAdapter, lab_aerospike: Cluster
) -> None:
    faults.run("quiesce_node", lab_aerospike.node("n2"))
    with pytest.raises(Refused, match="nodes down: broken now: n2; at most 1"):
        faults.run("quiesce_node", lab_aerospike.node("n3"))
    faults.run("recluster")
    assert quiesced(adapter) == ["n2"]


def test_nothing_is_taken_out_of_a_cluster_that_migrates(
    faults: Faults, adapter: AerospikeAdapter, lab_aerospike: Cluster
) -> None:
    host, _, port = lab_aerospike.nodes[0].address.rpartition(":")
    with contextlib.closing(aerospike.client({"hosts": [(host, int(port))]}).connect()) as client:
        for number in range(2000):  # where there is no record, nothing migrates
            client.put(("test", "migrating", number), {"n": number})
    as_it_was = adapter.setting("migration_speed", None)
    adapter.adjust("migration_speed", {"migrate_sleep": 500_000, "migrate_threads": 1}, None)
    try:
        adapter.drain(lab_aerospike.node("n4"))  # by somebody else
        adapter.undrain(lab_aerospike.node("n4"))
        assert not adapter.stable("redundant").reached
        with pytest.raises(Refused, match=r"not redundant now: .*partitions still migrate"):
            faults.run("quiesce_node", lab_aerospike.node("n2"))
        assert quiesced(adapter) == []
    finally:
        adapter.adjust("migration_speed", as_it_was, None)


def test_nothing_is_taken_out_of_a_cluster_that_lacks_a_node(
    faults: Faults, adapter: AerospikeAdapter, lab_aerospike: Cluster
) -> None:
    host = host_for(lab_aerospike.node("n4"))
    host.stop("kill")  # by somebody else
    try:
        with pytest.raises(Refused, match=r"n4: .* does not answer"):
            faults.run("quiesce_node", lab_aerospike.node("n2"))
        assert quiesced(adapter) == []
    finally:
        host.start()


def test_a_node_that_somebody_left_quiesced_is_not_a_whole_cluster(
    faults: Faults, adapter: AerospikeAdapter, lab_aerospike: Cluster
) -> None:
    adapter.drain(lab_aerospike.node("n4"))
    try:
        await_true(lambda: adapter.stable("redundant").reached, "nothing migrates")
        with pytest.raises(Refused, match="not redundant now: n4 is quiesced"):
            faults.run("stop_node", lab_aerospike.node("n2"))
    finally:
        adapter.undrain(lab_aerospike.node("n4"))


def test_a_node_that_was_left_quiesced_is_given_its_work_back_by_lab_up(
    adapter: AerospikeAdapter, lab_aerospike: Cluster
) -> None:
    adapter.drain(lab_aerospike.node("n4"))
    said: list[str] = []
    lab.up(lab_aerospike.name, progress=said.append)
    assert "n4 is taken in again" in said
    assert quiesced(adapter) == []
    assert still_unmet(adapter, "whole") == []


def test_a_quiesce_on_the_deny_list_is_refused(
    lab_aerospike: Cluster, adapter: AerospikeAdapter, log: Path
) -> None:
    denying = lab_aerospike.model_copy(update={"guards": Guards(deny_acts=("quiesce",))})
    with pytest.raises(Refused, match="denies quiesce"):
        Faults(denying, adapter, EventLog(log), lambda t: t).run("quiesce_node", denying.node("n2"))
    assert quiesced(adapter) == []


def test_a_database_that_cannot_quiesce_says_so(lab_mongodb: Cluster, log: Path) -> None:
    from brownout.databases.adapter import adapter_for

    adapter = adapter_for(lab_mongodb)
    try:
        faults = Faults(lab_mongodb, adapter, EventLog(log), lambda t: t)
        with pytest.raises(Unsupported, match=r"quiesce.*nothing is touched"):
            faults.run("quiesce_node", lab_mongodb.nodes[0])
        assert not log.exists()
    finally:
        adapter.close()


def test_a_namespace_that_there_is_not_is_named_with_those_there_are(
    lab_aerospike: Cluster, adapter: AerospikeAdapter
) -> None:
    with pytest.raises(ConfigurationError, match="found 'nope', wanted one of test"):
        adapter.namespaces("nope")
    options = lab_aerospike.connection.model_copy(update={"options": {"namespace": "nope"}})
    wrong = lab_aerospike.model_copy(update={"connection": options})
    with AerospikeAdapter(wrong) as found, pytest.raises(ConfigurationError, match="'nope'"):
        found.ready()


@pytest.fixture
def community(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Cluster]:
    """A small lab whose nodes have the Community Edition's commands."""
    inventory = tmp_path / "lab-community.yaml"
    settings = {"engine": "aerospike", "members": 2, "heartbeat_ms": 150, "edition": "community"}
    text = {"database": "aerospike", "environment": "lab", "allow_data_loss": True, "lab": settings}
    inventory.write_text(json.dumps(text))
    monkeypatch.setenv("BROWNOUT_ASD", "stand-in")
    monkeypatch.setenv("BROWNOUT_LAB_DIR", str(tmp_path / "lab"))
    try:
        yield lab.up(str(inventory))
    finally:
        lab.down(str(inventory))


def test_a_plan_on_the_community_edition_says_no_and_a_run_does_nothing_milder(
    community: Cluster, tmp_path: Path
) -> None:
    var = f"cluster={tmp_path / 'lab-community.yaml'}"
    plan = brownout("plan", "maintenance-quiesced", "--set", var, timeout=60)
    assert plan.returncode == 64, plan.stdout + plan.stderr
    assert re.search("NO   supports quiesce: .*Community Edition", plan.stdout), plan.stdout
    ran = chaos.run(chaos.load("maintenance-quiesced"), tmp_path, "--var", var)
    assert (ran.code, ran.directory, ran.journal["run"]) == (1, None, [])
    assert "unsupported on `lab-community`" in ran.output


def test_the_community_edition_cannot_quiesce_and_nothing_is_touched(
    community: Cluster, log: Path
) -> None:
    with AerospikeAdapter(community) as adapter:
        key = adapter.signature()
        faults = Faults(community, adapter, EventLog(log), lambda t: t)
        assert not adapter.supports("quiesce").ok
        stop = registry.supports("stop", community, adapter)
        assert stop is not None
        assert stop.ok
        with pytest.raises(Unsupported, match="Community Edition"):
            faults.run("quiesce_node", community.nodes[0])
        with pytest.raises(Unsupported, match="Community Edition"):
            faults.run("recluster")
        with pytest.raises(Refused, match="ERROR:25:enterprise only"):
            adapter.quiesce(community.nodes[0])
        assert adapter.signature() == key
        assert not log.exists()
