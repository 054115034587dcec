"""A run that could not be copied to its store is no success of `chaos run`, whatever it found."""

import errno
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from tests import chaos_runner as chaos

from brownout import control
from brownout.inventory.model import Cluster
from brownout.runs.store import delivery
from brownout.session.current import set_current
from brownout.session.session import Session

LOST = "the run is NOT in the store file:///dev/null/runs"


@pytest.mark.parametrize(
    ("verdict", "not_stored", "met", "code_0"),
    [("pass", None, True, True), ("pass", LOST, True, False), ("pass", None, False, False),
     ("fail", None, True, False), ("inconclusive", None, True, False)],
)  # fmt: skip
def test_exit_0_takes_a_pass_a_met_hypothesis_and_a_run_that_is_kept(
    verdict: str, not_stored: str | None, met: bool, code_0: bool
) -> None:
    journal = {"status": "completed", "deviated": not met}
    result = {"verdict": verdict, "not_stored": not_stored}
    session = SimpleNamespace(
        interruption=SimpleNamespace(reason=""), close=lambda *_: result, end=lambda: None
    )
    set_current(cast(Session, session))
    control.after_experiment_control({}, state=journal)
    assert (journal["status"] == "completed" and not journal["deviated"]) is code_0


def test_runs_that_cannot_be_listed_are_said_to_be_not_copied_and_nothing_crashes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unreadable() -> None:
        raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setenv("BROWNOUT_STORE", f"file://{tmp_path}")
    monkeypatch.setattr(delivery, "list_all", unreadable)
    said: list[str] = []
    (why,) = delivery.deliver_left(said.append)
    assert "Too many open files" in why
    assert [why in line for line in said] == [True]


@pytest.mark.live
def test_a_run_that_is_not_in_the_store_says_so(tmp_path: Path, lab_mongodb: Cluster) -> None:
    experiment = chaos.quick(chaos.load("stepdown"))
    experiment["method"] = []
    del experiment["configuration"]["catch_up_s"]  # of the step that is left out
    env = {"BROWNOUT_STORE": "file:///dev/null/runs"}
    check_not_stored(chaos.run(experiment, tmp_path, *chaos.GENTLY, env=env))


@pytest.mark.quiet
@pytest.mark.matrix
def test_a_pass_that_is_not_in_the_store_does_not_exit_with_0(
    tmp_path: Path, lab_mongodb: Cluster
) -> None:
    experiment = chaos.quick(chaos.load("stepdown"), chaos.LEAST_BASELINE_S)
    env = {"BROWNOUT_STORE": "file:///dev/null/runs"}
    ran = chaos.run(experiment, tmp_path, *chaos.GENTLY, env=env)
    assert ran.impact["verdict"] == "pass", ran.output
    check_not_stored(ran)


def check_not_stored(ran: chaos.Ran) -> None:
    assert ran.code == 1
    assert "brownout store push" in ran.output
    assert "file:///dev/null/runs" in ran.journal["brownout"]["not_stored"]
