"""`brownout plan`, `abort` and `heal` as commands: what they say and their exit codes."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import Brownout

from brownout import catalog
from brownout.session import open_runs


@pytest.fixture(autouse=True)
def _no_lab(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BROWNOUT_LAB_DIR", str(home / "lab"))


def test_a_plan_names_every_step_and_touches_nothing(brownout: Brownout, home: Path) -> None:
    said = brownout("plan", "node-wipe", "--var", "seed:int=7", "--var", "mode=clean")
    assert said.code == 0, said.err
    for words in ("seed         7", "wipe-the-node", "wait-until-redundant", "put-back"):
        assert words in said.out
    assert said.out.rstrip().endswith("nothing was touched")
    assert list(home.iterdir()) == []


@pytest.mark.parametrize(("baseline_s", "said"), [("0.5", True), ("10", False), ("0", False)])
def test_a_plan_says_that_its_baseline_is_too_short_for_a_pass(
    baseline_s: str, said: bool, brownout: Brownout, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BROWNOUT_BASELINE_S", baseline_s)
    told = brownout("plan", "node-kill")
    assert told.code == 0, told.err
    assert ("with less than 10 s a run is never a pass" in told.out) is said


def test_a_plan_that_a_guard_forbids_says_so(
    brownout: Brownout, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inventory = (
        "database: mongodb\nenvironment: production\n"
        "lab: {engine: mongodb}\nguards: {deny_acts: [wipe]}\n"
    )
    (home / "prod.yaml").write_text(inventory)
    said = brownout("plan", "node-wipe", "--var", f"cluster={home / 'prod.yaml'}")
    assert said.code == 64
    for guard in ("NO   environment", "NO   deny list", "NO   data loss"):
        assert guard in said.out


@pytest.mark.parametrize(
    ("scenario", "words"),
    [
        ("partition", "NO   supports partition: its nodes have no network namespace"),
        ("slow-node", "NO   supports delay: its nodes cannot be slowed (`lab.slow_links`)"),
    ],
)
def test_a_plan_on_a_lab_that_is_down_says_what_it_could_not_do_once_it_is_up(
    scenario: str, words: str, brownout: Brownout, home: Path
) -> None:
    said = brownout("plan", scenario, "--var", "cluster=lab-mongodb")
    assert said.code == 64
    assert words in said.out
    assert list(home.iterdir()) == []


def test_a_plan_on_a_lab_that_is_down_asks_this_machine_too(
    brownout: Brownout, monkeypatch: pytest.MonkeyPatch, home: Path
) -> None:
    monkeypatch.setenv("PATH", str(home))
    said = brownout("plan", "partition")
    assert "NO   supports partition: ip, nsenter, setsid not found on PATH" in said.out
    said = brownout("plan", "slow-node")  # by toxiproxy, which needs none of these
    assert "yes  supports delay: yes" in said.out


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda e: e["extensions"][0].update(scenario="node-kil"), "did you mean node-kill?"),
        (lambda e: e.pop("extensions"), "by which limits are found"),
    ],
    ids=["a misspelt scenario", "no scenario"],
)
def test_a_plan_without_limits_to_judge_by_is_refused(
    change: Callable[[Any], Any], words: str, brownout: Brownout, home: Path
) -> None:
    experiment = json.loads(catalog.read("experiments", "node-kill"))
    change(experiment)
    (home / "mine.json").write_text(json.dumps(experiment))
    said = brownout("plan", home / "mine.json", "--var", "limits=recovery_time=10")
    assert said.code == 64
    assert words in said.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("no-such",), "node-kill"),
        (("experiments/none.json",), "no such experiment"),
        (("node-kill", "--var", "seed"), "NAME=VALUE"),
        (("node-kill", "--var", "seed:int=x"), "not of type int"),
        (("node-kill", "--var", "sead=1"), "sead"),
    ],
    ids=lambda part: " ".join(part) if isinstance(part, tuple) else "",
)
def test_a_plan_of_bad_input_says_what_is_wrong(
    arguments: tuple[str, ...], words: str, brownout: Brownout
) -> None:
    said = brownout("plan", *arguments)
    assert said.code == 64
    assert words in said.err


def test_with_no_run_there_is_nothing_to_stop_or_to_heal(brownout: Brownout) -> None:
    stopped = brownout("abort")
    assert (stopped.code, "none" in stopped.err) == (64, True)
    healed = brownout("heal")
    assert (healed.code, "nothing to heal" in healed.out) == (0, True)


def test_a_run_that_goes_on_is_told_to_stop_and_not_healed(brownout: Brownout, home: Path) -> None:
    run = home / "runs" / "20260101T000000Z-node-kill-1"
    run.mkdir(parents=True)
    open_runs.claim("mine", run, "lab-mongodb", brought_up=False)
    try:
        assert brownout("heal").code == 64
        stopped = brownout("abort", "mine", "--reason", "lunch")
    finally:
        open_runs.release("mine")
    assert stopped.code == 0, stopped.err
    assert (run / "abort").read_text() == "lunch\n"


def test_a_plan_shows_what_atlas_would_be_asked_and_asks_it_nothing(
    brownout: Brownout, home: Path
) -> None:
    said = brownout("plan", "atlas-regional-outage", "--var", "regions=LAB_R2")
    assert said.code == 0, said.err
    own = "http://127.0.0.1:{port}/api/atlas/v2/groups/{groupId}/clusters/lab-atlas"
    assert f"asks GET {own}/status\n" in said.out
    assert f"POST {own}/outageSimulation\n" in said.out
    assert '"regionName": "LAB_R2"' in said.out
    assert f"put back by DELETE {own}/outageSimulation\n" in said.out
    assert list(home.iterdir()) == []
