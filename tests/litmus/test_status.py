"""What a verdict of ours is in a ChaosResult, and what Litmus's score makes of it."""

from pathlib import Path
from typing import Any

import pytest
from tests import impacts
from tests.litmus.definitions import mistakes
from tests.run_builder import RunScript, build_run

from brownout.faults.litmus.surroundings import Surroundings
from brownout.litmus.chaosresult import RUN, chaosresult, is_of_our_job, says_so
from brownout.litmus.status import Told, broken_off, started, tell, with_history
from brownout.measure.document import read_impact
from brownout.measure.impact import Impact
from brownout.run.directory import RunDirectory

Document = dict[str, Any]


def slo(name: str, met: bool | None, value: float | None = 3.1, scope: str = "total") -> Document:
    return {
        "name": name, "scope": scope, "value": value, "limit": 10.0, "direction": "at_most",
        "limit_from": "steady-state/slo/x.yaml", "met": met, "detail": "there is no data",
        "why": "",
    }  # fmt: skip


def impact(word: str, *slos: Document, reasons: tuple[str, ...] = ("because",)) -> Impact:
    event = {"type": "break", "name": "kill_node", "node": "n1", "effective": 25.0}
    document = {
        "verdict": word,
        "reasons": [] if word == "pass" else list(reasons),
        "slos": list(slos),
        "cluster": {"name": "orders", "database": "mongodb"},
        "faults": [{"events": [event]}],
    }
    return impacts.made(document)


GOOD, BAD, OPEN = (
    slo("blackout", True),
    slo("recovery_time", False, 12.0),
    slo("errors", None, None),
)

TABLE = [
    # verdict, limits, phase, Litmus's verdict, percentage, the probes' verdicts
    ("pass", [GOOD, GOOD], "Completed", "Pass", "100", ["Passed", "Passed"]),
    ("pass", [], "Completed", "Pass", "0", []),
    ("fail", [GOOD, BAD], "Completed_With_Probe_Failure", "Fail", "50", ["Passed", "Failed"]),
    ("fail", [GOOD, GOOD, BAD], "Completed_With_Probe_Failure", "Fail", "66",
     ["Passed", "Passed", "Failed"]),
    ("fail", [BAD, OPEN], "Completed_With_Probe_Failure", "Fail", "0", ["Failed", "N/A"]),
    ("fail", [GOOD], "Completed_With_Probe_Failure", "Fail", "50", ["Passed", "Failed"]),
    ("inconclusive", [GOOD, GOOD], "Error", "Error", "0", ["N/A", "N/A"]),
    ("aborted", [GOOD], "Stopped", "Stopped", "0", ["N/A"]),
]  # fmt: skip


@pytest.mark.parametrize(("word", "slos", "phase", "verdict", "share", "probes"), TABLE)
def test_a_verdict_is_told_in_litmus_words(
    word: str, slos: list[Document], phase: str, verdict: str, share: str, probes: list[str]
) -> None:
    status = tell(impact(word, *slos), None).status()
    experiment = status["experimentStatus"]
    assert (experiment["phase"], experiment["verdict"]) == (phase, verdict)
    assert experiment["probeSuccessPercentage"] == share
    assert [probe["status"]["verdict"] for probe in status["probeStatuses"]] == probes
    assert ("errorOutput" in experiment) == (word in ("inconclusive", "aborted"))


def test_a_fail_without_an_unmet_limit_is_never_a_full_percentage() -> None:
    told = tell(impact("fail", GOOD, reasons=("lost_writes: 3 writes are gone",)), None)
    assert told.percentage == 50
    assert told.probes[-1]["status"] == {
        "verdict": "Failed",
        "description": "lost_writes: 3 writes are gone",
    }


def test_what_is_still_broken_is_an_error_whatever_was_measured() -> None:
    told = tell(impact("pass", GOOD), "node `n1` could not be put back")
    assert (told.phase, told.verdict, told.percentage) == ("Error", "Error", 0)
    assert told.error == ("STILL_BROKEN", "node `n1` could not be put back")
    assert [target.status for target in told.targets] == ["injected"]


def test_a_run_that_was_never_opened_is_an_error_and_a_stopped_one_is_stopped() -> None:
    assert tell(None, None).error == (
        "NOT_RUN", "no run was opened; the log of the pod says why"
    )  # fmt: skip
    assert tell(None, None, stopped=True).verdict == "Stopped"
    assert tell(impact("fail", BAD), None, stopped=True).verdict == "Fail"


def test_figure_and_limit_stand_with_each_probe() -> None:
    told = tell(impact("fail", BAD, OPEN, slo("tps_drop", True, 0.25, "write")), None)
    described = {probe["name"]: probe["status"]["description"] for probe in told.probes}
    source = "wanted (steady-state/slo/x.yaml)"
    assert described["recovery-time"] == f"12 s measured, at most 10 s {source}"
    assert described["errors"] == f"there is no data, at most 10 {source}"
    assert described["write-tps-drop"] == f"25 % measured, at most 1e+03 % {source}"


def test_a_run_that_goes_on_awaits_every_probe() -> None:
    status = started(["recovery-time"]).status()
    assert status["experimentStatus"] == {
        "phase": "Running", "verdict": "Awaited", "probeSuccessPercentage": "Awaited"
    }  # fmt: skip
    assert status["probeStatuses"][0]["status"] == {"verdict": "Awaited"}


@pytest.mark.parametrize(
    ("told", "counts"),
    [
        (started([]), (3, 2, 1)),
        (tell(impact("pass", GOOD), None), (4, 2, 1)),
        (tell(impact("fail", BAD), None), (3, 3, 1)),
        (tell(impact("aborted"), None), (3, 2, 2)),
        (tell(impact("inconclusive"), None), (3, 2, 1)),
    ],
)
def test_the_history_goes_on_and_counts_what_is_over(told: Told, counts: tuple[int, ...]) -> None:
    before = {"passedRuns": 3, "failedRuns": 2, "stoppedRuns": 1}
    history = with_history(told, before)["history"]
    assert (history["passedRuns"], history["failedRuns"], history["stoppedRuns"]) == counts


# -- Litmus's score of a scenario: sum(weight x percentage) / sum(weight), weights of 0 to 10 -----


def score(*faults: tuple[float, Told]) -> float:
    """The formula of Litmus's control plane; what is awaited counts as nothing."""
    weights = sum(weight for weight, _ in faults)
    return sum(weight * (told.percentage or 0) for weight, told in faults) / weights


def test_the_score_of_real_runs_means_what_was_measured(tmp_path: Path) -> None:
    limits = tuple(
        {"measure": m, "limit": limit, "scope": "total", "limit_from": "test", "why": "test"}
        for m, limit in (("recovery_time", 5.0), ("blackout", 4.0), ("lost_writes", 0.0))
    )

    def told(name: str, **script: Any) -> Told:
        path = build_run(tmp_path, RunScript(name=name, limits=limits, **script))
        return tell(read_impact(RunDirectory.open(path)), None)

    held, broke = told("held"), told("broke", outage_s=8.0)
    unknown = told("unknown", whole=False)
    assert [found.verdict for found in (held, broke, unknown)] == ["Pass", "Fail", "Error"]
    assert [found.percentage for found in (held, broke, unknown)] == [100, 33, 0]
    assert score((10, held)) == 100
    assert score((10, held), (10, broke)) == pytest.approx(66.5)
    assert score((10, held), (5, broke), (5, unknown)) == pytest.approx(58.25)
    assert score((5, held), (10, unknown)) == pytest.approx(33.33, abs=0.01)


# -- the object ---------------------------------------------------------------------------------

HERE = Surroundings("kill", "node-kill", "litmus", pod="node-kill-x1")
ENGINE = {
    "apiVersion": "litmuschaos.io/v1alpha1",
    "kind": "ChaosEngine",
    "metadata": {"name": "kill", "uid": "u-1"},
}
LABELS = {"job-name": "node-kill-abc", "name": "node-kill"}


def made(told: Told, before: Document | None = None, run: str = "r1") -> Document:
    return chaosresult(HERE, ENGINE, LABELS, told, run, before)


def test_it_is_named_labelled_and_owned_as_litmus_wants_it() -> None:
    result = made(started(["blackout"]))
    assert mistakes(result) == []
    metadata = result["metadata"]
    assert metadata["name"] == "kill-node-kill"
    assert metadata["labels"] == {**LABELS, "chaosUID": "u-1"}
    assert metadata["ownerReferences"][0]["uid"] == "u-1"
    assert result["spec"] == {"engine": "kill", "experiment": "node-kill"}
    assert "resourceVersion" not in metadata


def test_what_others_noted_stays_and_the_version_read_is_the_one_written_over() -> None:
    before = made(started([]))
    before["metadata"] |= {"resourceVersion": "7", "annotations": {"note": "by hand"}}
    metadata = made(tell(impact("pass", GOOD), None), before)["metadata"]
    assert metadata["resourceVersion"] == "7"
    assert metadata["annotations"] == {"note": "by hand", RUN: "r1"}


@pytest.mark.parametrize("slos", [(), (GOOD,), (BAD, OPEN)])
@pytest.mark.parametrize("word", ["pass", "fail", "inconclusive", "aborted"])
def test_every_verdict_is_a_result_that_litmus_takes(word: str, slos: tuple[Document]) -> None:
    assert mistakes(made(tell(impact(word, *slos), None))) == []
    assert mistakes(made(broken_off("POD_DIED", "why"))) == []


def test_a_write_that_is_repeated_is_known_again() -> None:
    told = tell(impact("pass", GOOD), None)
    written = made(told)
    assert says_so(written, told, "r1")
    assert not says_so(written, told, "r2")
    assert not says_so(made(started([])), told, "r1")
    assert not says_so(None, told, "r1")


def test_a_second_pod_of_the_same_job_is_known_and_a_new_job_is_not() -> None:
    running, over = made(started([])), made(tell(impact("pass", GOOD), None))
    assert is_of_our_job(running, LABELS)
    assert not is_of_our_job(over, LABELS)
    assert not is_of_our_job(running, {**LABELS, "job-name": "node-kill-def"})
    assert not is_of_our_job(running, {})
    assert not is_of_our_job(None, LABELS)
