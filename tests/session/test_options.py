"""An experiment's configuration block: typed, every problem at once, every origin kept."""

from typing import Any

import pytest

from brownout.session.options import KEYS, Options, read_options, unknown_variables


def _read(**given: Any) -> tuple[Options, list[str]]:
    problems: list[str] = []
    return read_options(KEYS, {**KEYS, **given}, problems), problems


def test_the_defaults_are_usable_and_draw_a_seed() -> None:
    options, problems = _read()
    assert problems == []
    assert options.cluster == "lab-mongodb"
    assert options.seed > 0


def test_a_given_seed_is_kept() -> None:
    assert _read(seed="4711")[0].seed == 4711


def test_every_problem_is_told_at_once() -> None:
    _, problems = _read(
        seed="x", warmup_max_s=0, milestone_limit_s="soon", limits="blackout=much", abort_if="["
    )
    assert len(problems) == 5


def test_a_number_without_end_is_a_problem_and_no_crash() -> None:
    digits = "9" * 400
    _, problems = _read(seed=float("inf"), baseline_s=10**400, limits={"blackout": 10**400})
    assert [problem.partition(": found")[0] for problem in problems] == [
        "--var limits: blackout",
        "configuration.seed",
        "configuration.baseline_s",
    ]
    assert _read(seed=digits)[0].seed == int(digits)


def test_a_limit_by_variable_is_told_from_one_in_the_experiment() -> None:
    problems: list[str] = []
    declared = {**KEYS, "limits": "blackout=5,recovery_time=9"}
    options = read_options(declared, {**declared, "limits": "blackout=3"}, problems)
    assert options.experiment_limits == {"blackout": 5.0, "recovery_time": 9.0}
    assert options.variable_limits == {"blackout": 3.0}
    options = read_options(declared, declared, problems)
    assert options.variable_limits == {}


@pytest.mark.parametrize("limits", [{"blackout": 3}, "blackout=3", " blackout = 3 ,"])
def test_limits_may_be_a_mapping_or_text(limits: Any) -> None:
    assert _read(limits=limits)[0].variable_limits == {"blackout": 3.0}


def test_a_variable_that_the_experiment_does_not_have_is_named_with_those_it_has() -> None:
    (problem,) = unknown_variables({"limts": 1, "seed": 2}, {"limits": "", "seed": 0})
    assert "limts" in problem
    assert "limits, seed" in problem


@pytest.mark.parametrize(("given", "meant"), [(True, True), ("true", True), ("", False)])
def test_a_control_window_is_asked_for_by_a_truth_value(given: Any, meant: bool) -> None:
    assert _read(sham=given)[0].sham is meant


def test_what_is_no_truth_value_is_told() -> None:
    _, problems = _read(sham="perhaps", phase_s=-1)
    assert len(problems) == 2
