"""An experiment's configuration block: typed, every problem at once, every origin kept."""

from typing import Any

import pytest

from brownout.session.options import (
    SETTINGS,
    Options,
    complete,
    read_options,
    unknown_keys,
    unknown_variables,
)

KEYS = {name: setting.default for name, setting in SETTINGS.items()}


@pytest.fixture(autouse=True)
def _no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for setting in SETTINGS.values():
        monkeypatch.delenv(setting.environment or "BROWNOUT_LIMITS", raising=False)


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


@pytest.mark.parametrize("limit", [True, "True", "1_0", "٣", None, [3], "nan"])
def test_what_is_not_a_plain_number_is_not_a_limit(limit: Any) -> None:
    options, problems = _read(limits={"blackout": limit})
    assert [problem for problem in problems if "--var limits: blackout: found" in problem]
    assert options.variable_limits == {}


@pytest.mark.parametrize("limits", [{"blackout": 3}, "blackout=3", " blackout = 3 ,"])
def test_limits_may_be_a_mapping_or_text(limits: Any) -> None:
    assert _read(limits=limits)[0].variable_limits == {"blackout": 3.0}


@pytest.mark.parametrize("limits", [{"blackout": "none"}, "blackout=NONE"])
def test_a_limit_may_be_dropped(limits: Any) -> None:
    assert _read(limits=limits)[0].variable_limits == {"blackout": "none"}


def test_a_variable_that_the_experiment_does_not_have_is_named_with_those_it_has() -> None:
    (problem,) = unknown_variables({"limts": 1, "seed": 2, "mode": "kill"}, {"mode": ""})
    assert "limts" in problem
    assert "limits, load, milestone_limit_s, mode, phase_s, seed" in problem


@pytest.mark.parametrize(("given", "meant"), [(True, True), ("true", True), ("", False)])
def test_a_control_window_is_asked_for_by_a_truth_value(given: Any, meant: bool) -> None:
    assert _read(sham=given)[0].sham is meant


def test_what_is_no_truth_value_is_told() -> None:
    _, problems = _read(sham="perhaps", phase_s=-1)
    assert len(problems) == 2


def test_a_setting_that_the_experiment_leaves_out_has_its_default() -> None:
    assert complete({}, {}, {}) == KEYS
    assert complete({"mode": "kill"}, {"mode": "kill"}, {}) == {"mode": "kill", **KEYS}


@pytest.mark.parametrize(
    ("name", "text", "meant"),
    [
        ("cluster", "staging", "staging"),
        ("sham", "true", True),
        ("phase_s", "2.5", 2.5),
        ("warmup_max_s", "60", 60),
        ("milestone_limit_s", "90", 90),
        ("baseline_s", "12", 12),
        ("budget_objective", "0.9", 0.9),
        ("budget_days", "7", 7),
        ("seed", "4711", 4711),
        ("canary", "rate=5", "rate=5"),
        ("target", "n2", "n2"),
    ],
)
def test_a_setting_comes_from_a_variable_or_else_from_the_environment(
    name: str, text: str, meant: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read(given: dict[str, Any]) -> Any:
        problems: list[str] = []
        options = read_options({}, complete({}, {}, given), problems)
        assert problems == []
        return getattr(options, name)

    assert read({name: text}) == meant
    monkeypatch.setenv(f"BROWNOUT_{name.upper()}", text)
    assert read({}) == meant
    monkeypatch.setenv(f"BROWNOUT_{name.upper()}", "30")
    assert read({name: text}) == meant


def test_stop_conditions_come_from_the_environment_as_json(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BROWNOUT_ABORT_IF", '[{"file": "/run/stop-chaos"}]')
    (condition,) = read_options({}, complete({}, {}, {}), []).abort_if
    assert str(condition.model_dump()["file"]) == "/run/stop-chaos"


def test_what_the_experiment_says_is_not_changed_by_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("BROWNOUT_CLUSTER", "production")
    declared = {"cluster": "lab-mongodb"}
    assert complete(declared, declared, {})["cluster"] == "lab-mongodb"


def test_an_empty_environment_variable_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    for setting in SETTINGS.values():
        if setting.environment:
            monkeypatch.setenv(setting.environment, "")
    assert complete({}, {}, {}) == KEYS


def _experiment(configuration: dict[str, Any], module: str = "brownout.actions.node") -> Any:
    provider = {"type": "python", "module": module, "func": "stop_node",
                "arguments": {"mode": "${mode}"}}  # fmt: skip
    return {"configuration": configuration, "method": [{"type": "action", "provider": provider}]}


def test_every_key_that_nothing_reads_is_named_with_the_settings() -> None:
    known = {"mode": "kill", "seed": 1, "vault_addr": "http://127.0.0.1"}
    assert list(unknown_keys(_experiment(known))) == []
    problems = list(unknown_keys(_experiment({**known, "abort_iff": [], "colour": "blue"})))
    assert len(problems) == 2
    assert "configuration.abort_iff" in problems[0]
    assert "did you mean `abort_if`?" in problems[0]
    assert "configuration.colour" in problems[1]
    assert all(f"the settings are {', '.join(SETTINGS)}" in problem for problem in problems)


def test_what_others_may_read_is_no_mistake_unless_it_is_nearly_a_setting() -> None:
    own = {"aws_region": "eu-west-1", "mode": "kill"}
    assert list(unknown_keys(_experiment(own, "chaosaws.ec2.actions"))) == []
    (problem,) = unknown_keys(_experiment({**own, "abort_iff": []}, "chaosaws.ec2.actions"))
    assert "did you mean `abort_if`?" in problem
