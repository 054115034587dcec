"""Every shipped experiment is one that Chaos Toolkit accepts and that keeps our rules."""

import json
from pathlib import Path
from typing import Any

import pytest
from chaoslib.experiment import ensure_experiment_is_valid

from brownout.session.options import KEYS

EXPERIMENTS = sorted((Path(__file__).parents[2] / "experiments").glob("*.json"))


@pytest.fixture(params=EXPERIMENTS, ids=lambda path: path.stem)
def experiment(request: pytest.FixtureRequest) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(request.param.read_text())
    loaded["__file__"] = request.param.stem
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


def test_every_setting_of_the_control_can_be_given_by_variable(experiment: dict[str, Any]) -> None:
    assert set(KEYS) <= set(experiment["configuration"])


def test_its_first_probe_asks_whether_the_cluster_is_whole(experiment: dict[str, Any]) -> None:
    assert experiment["steady-state-hypothesis"]["probes"][0]["name"] == "cluster-is-whole"
