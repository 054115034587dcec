"""What Atlas is asked for on lab-atlas: real elections, by an API that begins later."""

from importlib.resources import files
from pathlib import Path

import pytest
import yaml
from tests import chaos_runner as chaos
from tests import kill_harness

from brownout.infra import lab

pytestmark = pytest.mark.live


def place(directory: Path) -> dict[str, str]:
    return {
        "BROWNOUT_LAB_DIR": str(directory / "lab"),
        "BROWNOUT_STATE": str(directory / "state"),
        "BROWNOUT_CLUSTERS": str(directory),
    }


def ran(name: str, directory: Path, *options: str) -> chaos.Ran:
    """Run an experiment with a short baseline and a rate that a busy machine carries."""
    found = chaos.run(
        chaos.quick(chaos.load(name)), directory, *chaos.GENTLY, *options, env=place(directory)
    )
    print(found.output)  # `pytest -rP` shows the table
    return found


def primaries(found: chaos.Ran, name: str) -> list[str]:
    """Who was primary after the events of this name, each once, as the driver saw it."""
    ends = [e for e in found.events if e.get("name") == name and e["stage"] == "ended"]
    return [primary for end in ends for primary in end["evidence"]["primaries"]]


def refused(directory: Path, **change: object) -> chaos.Ran:
    """Run it on lab-atlas with other settings."""
    text = (files("brownout") / "infra/clusters/lab-atlas.yaml").read_text(encoding="utf-8")
    settings = yaml.safe_load(text)
    (directory / "lab-atlas.yaml").write_text(yaml.safe_dump({**settings, **change}))
    experiment = chaos.quick(chaos.load("atlas-test-failover"))
    return chaos.run(experiment, directory, env=place(directory))


def asked(name: str) -> dict[str, object]:
    """One of the probes, to be asked once the failover is over."""
    provider = {"type": "python", "module": "brownout.probes.atlas", "func": name}
    return {"type": "probe", "name": name, "provider": provider}


PROBES = ("cluster_state", "pending_changes", "primaries", "elections", "replication_lag",
          "process_measurements", "events")  # fmt: skip


def test_it_is_measured_from_its_effect_loses_nothing_and_every_probe_knows_of_it(
    tmp_path: Path,
) -> None:
    experiment = chaos.quick(chaos.load("atlas-test-failover"))
    experiment["method"] += [asked(name) for name in PROBES]
    ran = chaos.run(experiment, tmp_path, env=place(tmp_path))

    print(ran.output)  # `pytest -rP` shows the table
    assert ran.impact["ledger"]["state"] == "clean", ran.output
    assert ran.impact["cluster"]["engine"].endswith("behind a local Atlas API")
    (intent, effective) = [
        event
        for event in ran.events
        if event.get("name") == "test_failover" and event["stage"] in ("intent", "effective")
    ]
    assert effective["t"] - intent["t"] > 1.5  # the lab begins after 2 s
    assert ran.impact["faults"][0]["start"] == effective["t"]
    told = {deed["activity"]["name"]: deed.get("output") for deed in ran.journal["run"]}
    assert told["cluster_state"]["state"] == "IDLE"
    assert told["pending_changes"] is False
    assert told["primaries"]["value"] == 1
    assert sorted(told["primaries"]["atlas"].values()) == [
        "REPLICA_PRIMARY", "REPLICA_SECONDARY", "REPLICA_SECONDARY"
    ]  # fmt: skip
    assert told["elections"]["value"] >= 1
    assert told["replication_lag"]["value"] < 10
    (measured, *_) = told["process_measurements"].values()
    assert measured["OPLOG_SLAVE_LAG_MASTER_TIME"]["units"] == "SECONDS"
    assert "PRIMARY_ELECTED" in {event["name"] for event in told["events"]}


def test_it_is_refused_where_the_inventory_denies_it(tmp_path: Path) -> None:
    ran = refused(tmp_path, guards={"deny_acts": ["failover"]})

    assert ran.code != 0
    assert "the inventory denies failover" in ran.output


@pytest.mark.matrix
def test_it_is_refused_with_every_condition_that_is_not_met(tmp_path: Path) -> None:
    small = {"engine": "atlas", "members": 3, "racks": 3, "oplog_mb": 16}
    ran = refused(tmp_path, lab=small)

    assert ran.code != 0
    assert "wanted at least 10800 s" in ran.output
    assert not [event for event in ran.events if event.get("name") == "test_failover"]


@pytest.mark.matrix
def test_a_resize_up_and_down_is_two_faults_with_an_election_each(tmp_path: Path) -> None:
    found = ran("atlas-resize-up-down", tmp_path)

    found.check_proven()
    assert found.impact["ledger"]["state"] == "clean", found.output
    assert found.deeds == [("resize_cluster", None)] * 3  # up, down, and nothing to put back
    assert len(found.impact["faults"]) == 2
    assert len(primaries(found, "resize_cluster")) >= 2


@pytest.mark.matrix
def test_an_outage_of_the_primarys_region_is_ended_and_loses_nothing(tmp_path: Path) -> None:
    found = ran("atlas-regional-outage", tmp_path, "--var", "outage_s:int=5")

    found.check_proven()
    assert found.impact["ledger"]["state"] == "clean", found.output
    assert found.deeds == [("start_outage", None), ("end_outage", None)]
    assert primaries(found, "start_outage")


@pytest.mark.matrix
def test_a_paused_cluster_serves_nobody_until_it_is_resumed(tmp_path: Path) -> None:
    found = ran("atlas-pause-resume", tmp_path, "--var", "paused_s:int=2")

    found.check_proven()
    assert found.impact["ledger"]["state"] == "clean", found.output
    assert found.deeds == [("pause_cluster", None), ("resume_cluster", None)]
    (fault,) = found.impact["faults"]
    assert fault["blackout"] > 2


@pytest.mark.matrix
@pytest.mark.quiet
@pytest.mark.parametrize(
    "name",
    ["atlas-test-failover", "atlas-regional-outage", "atlas-resize-up-down", "atlas-pause-resume"],
)
def test_it_passes_as_shipped_on_a_quiet_machine(name: str, tmp_path: Path) -> None:
    found = chaos.run(chaos.load(name), tmp_path, env=place(tmp_path))

    print(found.output)
    assert found.code == 0, found.output
    assert found.impact["verdict"] == "pass"


@pytest.mark.matrix
@pytest.mark.parametrize(
    ("experiment", "mark", "mended"),
    [
        ("atlas-regional-outage", "start_outage", "end_outage"),
        ("atlas-resize-up-down", "resize_cluster", "resize_cluster"),
        ("atlas-pause-resume", "pause_cluster", "resume_cluster"),
    ],
)
def test_a_run_killed_while_atlas_is_at_work_is_healed(
    experiment: str, mark: str, mended: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BROWNOUT_LAB_DIR", str(tmp_path / "lab"))
    cluster = lab.up("lab-atlas")
    try:
        found = kill_harness.kill_and_heal(
            cluster, tmp_path / "run", mark, after_s=3.0, experiment=experiment,
            options=chaos.GENTLY,
        )  # fmt: skip
    finally:
        lab.down("lab-atlas")
    assert mended in found.mended
