"""Which probes of a hypothesis were not met, by Chaos Toolkit's own journal."""

from typing import Any

import pytest
from chaoslib.experiment import run_experiment

from brownout.session.hypothesis import unmet_probes

ANSWERS: dict[str, list[Any]] = {}


def answer(of: str) -> Any:
    """Answer as the test wants it; the last answer stays."""
    answers = ANSWERS[of]
    given = answers.pop(0) if len(answers) > 1 else answers[0]
    if isinstance(given, Exception):
        raise given
    return given


def journal_of(*answers: Any, **runtime: Any) -> dict[str, Any]:
    """Run an experiment without a fault, whose probe answers so, one time after the other."""
    ANSWERS["probe"] = list(answers)
    arguments = {"of": "probe"}
    provider = {"type": "python", "module": __name__, "func": "answer", "arguments": arguments}
    probe = {"type": "probe", "name": "error-rate", "tolerance": [0, 1], "provider": provider}
    journal: dict[str, Any] = run_experiment({
        "title": "t", "description": "d", "method": [], "rollbacks": [],
        "steady-state-hypothesis": {"title": "h", "probes": [probe]},
    }, **runtime)  # fmt: skip
    return journal


@pytest.mark.parametrize(
    ("answers", "wanted"),
    [
        ((0.5,), []),
        ((0.5, 7), [("after", True, "7")]),
        ((7,), [("before", True, "7")]),
        ((0.5, RuntimeError("no such host")), [("after", False, "no such host")]),
    ],
)
def test_a_probe_that_is_not_met_is_named_with_its_answer_or_why_it_failed(
    answers: tuple[Any, ...], wanted: list[tuple[str, bool, str]]
) -> None:
    probes = unmet_probes(journal_of(*answers))
    assert [(each["when"], each["answered"]) for each in probes] == [each[:2] for each in wanted]
    for probe, (_, _, detail) in zip(probes, wanted, strict=True):
        assert probe["probe"] == "error-rate"
        assert detail in probe["detail"]


def states(**of: Any) -> dict[str, Any]:
    return {"before": None, "after": None, "during": [], **of}


def state(output: Any, probe: str = "mine.f", met: bool = False) -> dict[str, Any]:
    module, _, func = probe.rpartition(".")
    provider = {"type": "python", "module": module, "func": func}
    activity = {"name": "p", "type": "probe", "provider": provider}
    run = {"activity": activity, "status": "succeeded", "output": output, "tolerance_met": met}
    return {"steady_state_met": met, "probes": [run]}


@pytest.mark.parametrize(
    ("output", "asked", "by_limits"),
    [
        ({"met": False}, "brownout.probes.impact.limits_are_met", True),
        ({"met": None}, "brownout.probes.impact.limits_are_met", True),
        ({"met": True, "value": 9.0}, "brownout.probes.impact.blackout", False),
        (False, "brownout.probes.cluster.cluster_is_whole", True),
        ({"met": False}, "somebody.elses.probe", False),
        (0.07, "brownout.probes.prometheus.query", False),
    ],
)
def test_only_a_probe_of_what_we_judge_ourselves_leaves_it_to_the_verdict(
    output: Any, asked: str, by_limits: bool
) -> None:
    (probe,) = unmet_probes({"steady_states": states(after=state(output, asked))})
    assert probe["by_limits"] is by_limits


@pytest.mark.parametrize(
    ("status", "after", "times"),
    [
        ("completed", True, []),  # Chaos Toolkit only remarks on it
        ("failed", True, [2]),
        ("failed", None, [2]),
        ("failed", False, [1]),  # the probe after the method failed, and is the one that counts
    ],
)
def test_what_a_probe_said_during_the_method_counts_where_the_experiment_ended_for_it(
    status: str, after: bool | None, times: list[int]
) -> None:
    during = [state(7), state(1, met=True), state(8)]
    last = None if after is None else state(7, met=after)
    journal = {"status": status, "steady_states": states(during=during, after=last)}
    assert [probe["times"] for probe in unmet_probes(journal)] == times


def test_a_journal_of_an_experiment_without_a_hypothesis_has_none() -> None:
    assert unmet_probes({"steady_states": states(), "status": "completed"}) == []
    assert unmet_probes({}) == []
