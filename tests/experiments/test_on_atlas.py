"""Atlas's failover test on lab-atlas: real elections, asked of an API that begins later."""

from importlib.resources import files
from pathlib import Path

import pytest
import yaml
from tests import chaos_runner as chaos

pytestmark = pytest.mark.alone


def place(directory: Path) -> dict[str, str]:
    return {
        "BROWNOUT_LAB_DIR": str(directory / "lab"),
        "BROWNOUT_STATE": str(directory / "state"),
        "BROWNOUT_CLUSTERS": str(directory),
    }


def refused(directory: Path, **change: object) -> chaos.Ran:
    """Run it on lab-atlas with other settings."""
    text = (files("brownout") / "infra/clusters/lab-atlas.yaml").read_text(encoding="utf-8")
    settings = yaml.safe_load(text)
    (directory / "lab-atlas.yaml").write_text(yaml.safe_dump({**settings, **change}))
    experiment = chaos.quick(chaos.load("atlas-test-failover"))
    return chaos.run(experiment, directory, env=place(directory))


def test_it_is_measured_from_its_effect_and_loses_nothing(tmp_path: Path) -> None:
    ran = chaos.run(chaos.quick(chaos.load("atlas-test-failover")), tmp_path, env=place(tmp_path))

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
