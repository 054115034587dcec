"""Every shipped experiment is one that Chaos Toolkit accepts and that keeps our rules."""

import json
from pathlib import Path
from typing import Any

import pytest
from chaoslib.configuration import load_configuration
from chaoslib.experiment import ensure_experiment_is_valid

from brownout.base.compact_json import compact
from brownout.faults.registry import faults, undos
from brownout.judge import slo
from brownout.session.options import SETTINGS
from brownout.session.plan import make_plan

EXPERIMENTS = sorted((Path(__file__).parents[2] / "experiments").glob("*.json"))


@pytest.fixture(params=EXPERIMENTS, ids=lambda path: path.stem)
def path(request: pytest.FixtureRequest) -> Path:
    found: Path = request.param
    return found


@pytest.fixture
def experiment(path: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(path.read_text())
    loaded["__file__"] = path.stem
    return loaded


def test_chaos_toolkit_accepts_it(experiment: dict[str, Any]) -> None:
    ensure_experiment_is_valid(experiment)


def test_its_scenario_is_its_file_name(experiment: dict[str, Any]) -> None:
    (extension,) = experiment["extensions"]
    assert extension["scenario"] == experiment["__file__"]
    assert extension["needs"]


def test_it_always_puts_back_what_it_broke(experiment: dict[str, Any]) -> None:
    assert experiment["runtime"]["rollbacks"]["strategy"] == "always"
    assert [undo["provider"]["func"] for undo in experiment["rollbacks"]] == ["put_back"]


def test_it_names_no_database_and_no_cluster_but_by_variable(experiment: dict[str, Any]) -> None:
    assert experiment["configuration"]["cluster"]["type"] == "env"
    del experiment["configuration"]
    assert "mongo" not in json.dumps(experiment["steady-state-hypothesis"]).lower()


def test_it_fits_on_one_screen_and_is_written_as_every_other(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 50
    assert text == compact(json.loads(text)), "`tools/format_experiments.py` writes it so"


def test_it_says_where_and_at_what_and_repeats_no_default(experiment: dict[str, Any]) -> None:
    assert {"cluster", "target"} <= set(experiment["configuration"])
    for name, value in experiment["configuration"].items():
        if name not in SETTINGS:
            assert f"${{{name}}}" in json.dumps(experiment), f"{name} is not used"
        elif name not in ("cluster", "target"):
            assert value != SETTINGS[name].default, f"{name} repeats its default"


def test_its_hypothesis_is_that_the_cluster_is_whole_and_that_every_limit_is_met(
    experiment: dict[str, Any],
) -> None:
    whole, limits = experiment["steady-state-hypothesis"]["probes"]
    assert whole["provider"]["func"] == "cluster_is_whole"
    assert whole["tolerance"] is True
    assert limits["provider"]["func"] == "limits_are_met"
    assert limits["tolerance"] == {"type": "jsonpath", "path": "$.met", "expect": True}


#: Actions that mend, beside the undos: of a rack, and of every node in turn. Whether LitmusChaos is
#: stopped or was over by itself before is its own affair, so that its limits count from the effect.
MENDS = {*undos(), "start_rack", "restart_each_node"} - {*faults(), "stop_chaos_engine"}


def test_where_something_returns_that_is_limited_and_waits_count_from_it(path: Path) -> None:
    """How long a node stays away is for the experiment to decide, not for the database."""
    experiment = json.loads(path.read_text("utf-8"))
    mends = {step["provider"]["func"] for step in experiment["method"]} & MENDS
    waits = {"rejoin_time", "redundancy_time"}
    for name in slo.names():
        scenario, database = name.split(".")
        if scenario == path.stem:
            limits = {limit.measure for limit in slo.file_limits(scenario, database)}
            assert ("return_recovery_time" in limits) == bool(mends), name
            assert not (mends and waits & limits), name


def _with_every_setting(experiment: dict[str, Any]) -> dict[str, Any]:
    """The experiment with every setting named."""
    named: dict[str, Any] = json.loads(json.dumps(experiment))
    settings: dict[str, Any] = {
        name: list(each.default) if name == "abort_if" else each.default
        for name, each in SETTINGS.items()
    }
    for name in ("workload", "load", "seed", "confirm", "baseline_s", "canary"):
        default = str(settings[name])
        settings[name] = {"type": "env", "key": SETTINGS[name].environment, "default": default}
    named["configuration"] = {**settings, **named["configuration"]}
    return named


@pytest.fixture
def _nothing_else_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("BROWNOUT_LAB_DIR", str(tmp_path / "lab"))
    for setting in SETTINGS.values():
        monkeypatch.delenv(setting.environment or "BROWNOUT_CLUSTERS", raising=False)


@pytest.mark.usefixtures("_nothing_else_said")
def test_one_that_names_every_setting_with_its_default_has_the_same_plan(
    experiment: dict[str, Any],
) -> None:
    named = _with_every_setting(experiment)
    ensure_experiment_is_valid(named)
    short, long = (
        make_plan(each, load_configuration(each["configuration"], dict(given)), given)
        for each, given in ((experiment, {"seed": 4711}), (named, {"seed": 4711}))
    )
    assert long.options == short.options
    assert long.limits == short.limits
    assert long.settings == short.settings
    assert {**long.variables, "abort_if": ()} == short.variables
