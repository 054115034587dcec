"""Every shipped experiment is one that Chaos Toolkit accepts and that keeps our rules."""

import json
from pathlib import Path
from typing import Any

import pytest
from chaoslib.experiment import ensure_experiment_is_valid

from brownout.base.compact_json import compact
from brownout.session.options import SETTINGS

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
    assert len(text.splitlines()) < 110
    assert text == compact(json.loads(text)), "`tools/format_experiments.py` writes it so"


def test_it_says_where_and_at_what_and_repeats_no_default(experiment: dict[str, Any]) -> None:
    assert {"cluster", "target"} <= set(experiment["configuration"])
    for name, value in experiment["configuration"].items():
        if name not in SETTINGS:
            assert f"${{{name}}}" in json.dumps(experiment), f"{name} is not used"
        elif name not in ("cluster", "target"):
            assert value != SETTINGS[name].default, f"{name} repeats its default"


def test_every_measure_of_its_hypothesis_is_accepted_where_it_is_met(
    experiment: dict[str, Any],
) -> None:
    probes = experiment["steady-state-hypothesis"]["probes"]
    measured = [p for p in probes if p["provider"]["module"] == "brownout.probes.impact"]
    assert len(measured) >= 8
    met = {"type": "jsonpath", "path": "$.met", "expect": True}
    assert [p["tolerance"] for p in measured] == [met] * len(measured)
    assert [p["tolerance"] for p in probes if p not in measured] == [True] * 3


def test_its_first_probe_asks_whether_the_cluster_is_whole(experiment: dict[str, Any]) -> None:
    assert experiment["steady-state-hypothesis"]["probes"][0]["name"] == "cluster-is-whole"
