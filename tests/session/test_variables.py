"""Every variable of an experiment has its type wherever it is used, however it was given."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_type_hints

import pytest
from chaoslib import substitute
from chaoslib.activity import get_all_activities_in_experiment
from chaoslib.configuration import load_configuration
from tests import chaos_runner as chaos

from brownout import control
from brownout.base import catalog
from brownout.base.errors import ConfigurationError
from brownout.session.experiment_checks import problems
from brownout.session.options import SETTINGS
from brownout.session.plan import make_plan
from brownout.session.plan_file import plan_of

#: Numbers whose default is text, since an environment variable may give them.
BY_ENVIRONMENT = {"seed": "BROWNOUT_SEED", "baseline_s": "BROWNOUT_BASELINE_S"}


@pytest.fixture(autouse=True)
def _no_lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BROWNOUT_LAB_DIR", str(tmp_path / "lab"))
    monkeypatch.setenv("BROWNOUT_STATE", str(tmp_path / "state"))
    for variable in ("BROWNOUT_CLUSTER", "BROWNOUT_CLUSTERS", *BY_ENVIRONMENT.values()):
        monkeypatch.delenv(variable, raising=False)


def _planned(experiment: str, *given: str) -> dict[str, Any]:
    return dict(plan_of(experiment, given)[0].variables)


def _document(name: str) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(catalog.read("experiments", name))
    return loaded


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


SETTINGS_THAT_ARE_NUMBERS = [n for n, setting in SETTINGS.items() if _is_number(setting.default)]
NUMBERS = [
    (experiment, name)
    for experiment in catalog.names("experiments")
    for name, default in _document(experiment)["configuration"].items()
    if _is_number(default)
] + [("node-kill", name) for name in SETTINGS_THAT_ARE_NUMBERS]


def _uses(document: dict[str, Any], configuration: dict[str, Any]) -> Iterator[tuple[Any, Any]]:
    """Every pause and every typed argument as Chaos Toolkit hands it on, and its type."""
    for activity in get_all_activities_in_experiment(document):
        for pause in substitute(activity.get("pauses", {}), configuration, {}).values():
            yield pause, float
        provider = activity["provider"]
        module = __import__(provider["module"], fromlist=["_"])
        wanted = get_type_hints(getattr(module, provider["func"]))
        arguments = substitute(provider.get("arguments", {}), configuration, {})
        for name, value in arguments.items():
            yield value, wanted.get(name)


def _check_uses(document: dict[str, Any], configuration: dict[str, Any]) -> None:
    for value, wanted in _uses(document, configuration):
        if wanted is int:
            assert isinstance(value, int), value
        if wanted is float:
            assert _is_number(value), value
        if wanted is bool:
            assert isinstance(value, bool), value


@pytest.mark.parametrize(("experiment", "name"), NUMBERS)
def test_a_number_given_as_text_is_a_number_in_every_use(
    experiment: str, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    document = _document(experiment)
    text = {"budget_objective": "0.7", "undo_after_s": "700"}.get(name, "7")
    # As the control converts what Chaos Toolkit goes on to use.
    document["configuration"][name] = document["configuration"].get(name, "")
    configuration = load_configuration(document["configuration"], {name: text})
    control.before_experiment_control({**document, "dry": "activities"}, configuration)
    capsys.readouterr()
    for values in (_planned(experiment, f"{name}={text}"), configuration):
        assert values[name] == float(text)
        _check_uses(document, values)


@pytest.mark.parametrize(("experiment", "name"), NUMBERS)
def test_what_is_no_number_is_refused_by_plan_and_check(experiment: str, name: str) -> None:
    with pytest.raises(ConfigurationError) as refused:
        _planned(experiment, f"{name}=soon")
    document = _document(experiment)
    document["configuration"][name] = "soon"
    for told in (refused.value.problems, problems(document)):
        assert len(told) == 1
        assert told[0].startswith(f"configuration.{name}: found 'soon', wanted ")


@pytest.mark.parametrize("value", [None, "much", [1], {}])
def test_what_an_action_is_given_for_a_number_is_one(value: object) -> None:
    document = _document("lossy-link")
    document["method"][0]["provider"]["arguments"]["percent"] = value
    with pytest.raises(ConfigurationError) as refused:
        make_plan(document, load_configuration(document["configuration"]), {})
    assert any(
        f"percent: found {value!r}, wanted a number" in problem
        for problem in refused.value.problems
    )


@pytest.mark.parametrize("name", BY_ENVIRONMENT)
def test_a_number_of_the_environment_is_a_number_in_every_use(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(BY_ENVIRONMENT[name], "7")
    configuration = _planned("node-kill")
    assert configuration[name] == 7
    _check_uses(_document("node-kill"), configuration)
    monkeypatch.setenv(BY_ENVIRONMENT[name], "")  # as a shell script without a value has it
    assert _planned("node-kill")[name] == 0


def test_all_that_is_no_number_is_told_at_once() -> None:
    wrong = ("downtime_s=5s", "milestone_limit_s=-1", "warmup_max_s=inf", "phase_s=-1", "seed=1.5",
             "sham=perhaps", "sead=1")  # fmt: skip
    with pytest.raises(ConfigurationError) as refused:
        _planned("node-kill", *wrong)
    told = refused.value.problems
    for name, _, value in (each.partition("=") for each in wrong[:-1]):
        assert any(f"configuration.{name}: found '{value}', wanted" in problem for problem in told)
    assert any("--var sead" in problem for problem in told)
    assert len(told) == len(wrong)


@pytest.mark.parametrize(
    ("experiment", "given", "wanted"),
    [
        ("node-kill", "downtime_s=-1", "seconds, 0 or more"),  # `time.sleep` would raise
        ("node-kill", "downtime_s=nan", "seconds, 0 or more"),
        ("stepdown", "catch_up_s=2.5", "a whole number"),
        ("slow-node", "latency_ms=1e3x", "a whole number"),
        ("rolling-restart", "quiesced=1", "true or false"),
    ],
)
def test_each_use_has_its_own_wants(experiment: str, given: str, wanted: str) -> None:
    with pytest.raises(ConfigurationError, match=f"found .*, wanted {wanted}"):
        _planned(experiment, given)


def test_text_stays_text_and_half_a_second_half_a_second() -> None:
    given = _planned("node-wipe", "target=n2", "downtime_s=0.5", "mode=clean")
    assert (given["target"], given["downtime_s"], given["mode"]) == ("n2", 0.5, "clean")
    assert _planned("replication-factor", "workload=lab")["workload"] == "lab"
    assert _planned("rolling-restart", "quiesced=True")["quiesced"] is True


def _own(**configuration: Any) -> dict[str, Any]:
    """An experiment of somebody's own, whose variables are used by other functions than ours."""
    document = _document("node-kill")
    document["configuration"] |= configuration
    return document


def test_a_pause_wants_a_number_whatever_its_default_is() -> None:
    document = _own(rest={"type": "env", "key": "NO_SUCH_VARIABLE", "default": "3"})
    document["method"][0]["pauses"] = {"after": "${rest}"}
    assert problems(document) == []
    assert problems(document, {"rest": "soon"}) == [
        "configuration.rest: found 'soon', wanted seconds, 0 or more"
    ]


def test_a_default_that_is_a_number_makes_the_variable_one() -> None:
    document = _own(rest=3)
    sleep = {"type": "process", "path": "sleep", "arguments": "${rest}"}
    document["method"].append({"type": "action", "name": "rest", "provider": sleep})
    assert problems(document) == []
    assert problems(document, {"rest": "soon"}) == [
        "configuration.rest: found 'soon', wanted a number"
    ]


def test_a_value_that_a_probe_finds_is_checked_when_it_is_known(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Chaos Toolkit asks it when the run begins; until then nobody knows what it is."""
    asked = {"type": "probe", "name": "ask", "provider": {
        "type": "process", "path": "echo", "arguments": "4"}}  # fmt: skip
    document = _own(downtime_s=asked)
    assert problems(document) == []
    configuration = {**load_configuration(document["configuration"]), "downtime_s": "4"}
    control.before_experiment_control({**document, "dry": "activities"}, configuration)
    assert configuration["downtime_s"] == 4
    capsys.readouterr()


def test_chaos_run_takes_settings_that_the_experiment_leaves_out(tmp_path: Path) -> None:
    shared = {"configuration": {"baseline_s": 5, "load": "streams.lookups.rate=99", "other": 1}}
    (tmp_path / "shared.json").write_text(json.dumps(shared))
    ran = chaos.run(
        chaos.load("node-kill"), tmp_path, "--dry", "activities",
        "--var-file", "shared.json", "--var", "seed=4711",
    )  # fmt: skip
    assert "seed         4711" in ran.output, ran.output
    assert "baseline     5 s" in ran.output
    assert "99" in next(line for line in ran.output.splitlines() if line.startswith("load"))


def test_an_offset_may_be_behind_and_a_duration_may_not() -> None:
    assert _planned("clock-skewed", "offset_s=-60")["offset_s"] == -60
    with pytest.raises(ConfigurationError, match="skewed_s: found '-1', wanted seconds"):
        _planned("clock-skewed", "skewed_s=-1")


@pytest.mark.parametrize(
    ("experiment", "given", "waits_s"),
    [
        ("node-kill", (), 300),
        ("disk-full", (), 630),  # on MongoDB it may take 600 s
        ("node-kill", ("limits=redundancy_time=500",), 530),
        ("node-kill", ("limits=redundancy_time=500", "milestone_limit_s=60"), 60),
        ("node-kill", ("limits=lost_operations=5000",), 300),
    ],
)
def test_a_run_waits_long_enough_to_decide_each_of_its_limits(
    experiment: str, given: tuple[str, ...], waits_s: float
) -> None:
    assert _planned(experiment, *given)["milestone_limit_s"] == waits_s
