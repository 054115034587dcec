"""An experiment may be YAML wherever it may be JSON."""

import json
from pathlib import Path

import pytest
import yaml
from tests import forked_run
from tests.cli.conftest import Brownout

from brownout.base import catalog
from brownout.base.errors import ConfigurationError
from brownout.session.experiment_checks import read_experiment

GAME_DAY = """
title: one step
cluster: lab-mongodb
experiments:
  - experiment: mine.yaml
"""


@pytest.fixture
def mine(home: Path) -> Path:
    """node-kill as YAML."""
    path = home / "mine.yaml"
    document = json.loads(catalog.read("experiments", "node-kill"))
    path.write_text(yaml.safe_dump(document, sort_keys=False))
    return path


def test_it_is_checked(brownout: Brownout, mine: Path) -> None:
    said = brownout("check", mine)
    assert (said.code, said.err) == (0, "")
    assert "(experiment)" in said.out
    mine.write_text(mine.read_text().replace("always", "never"))
    assert "always" in brownout("check", mine).err


def test_its_plan_is_that_of_the_same_experiment_in_json(brownout: Brownout, mine: Path) -> None:
    seed = ("--set", "seed=7")
    ours, shipped = brownout("plan", mine, *seed), brownout("plan", "node-kill", *seed)
    assert (ours.code, ours.err) == (shipped.code, shipped.err)
    assert ours.out.splitlines() == shipped.out.splitlines()


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # Chaos Toolkit's own
def test_it_is_run(brownout: Brownout, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    control = "def after_experiment_control(state=None, **_):\n    state['brownout'] = VERDICT\n"
    (home / "judge_of_yaml.py").write_text("VERDICT = {'verdict': 'fail'}\n" + control)
    monkeypatch.syspath_prepend(home)
    (home / "judged.yml").write_text(
        "title: t\ndescription: d\nmethod: []\nrollbacks: []\n"
        "controls: [{name: judge, provider: {type: python, module: judge_of_yaml}}]\n"
    )
    assert brownout("run", home / "judged.yml").code == 1


def test_chaos_toolkit_validates_it(mine: Path) -> None:
    command = ["chaostoolkit", "--no-version-check", "validate", str(mine)]
    done = forked_run.run(command, cwd=mine.parent)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_variable_of_it_is_swept(brownout: Brownout, mine: Path) -> None:
    said = brownout("sweep", mine, "--vary", "colour=1,2")
    assert said.code == 64
    assert "mine has no variable `colour`; wanted one of cluster" in said.err


def test_a_game_day_has_it_as_a_step(brownout: Brownout, mine: Path) -> None:
    day = mine.with_name("day.yaml")
    day.write_text(GAME_DAY)
    assert brownout("check", day).err == ""
    mine.write_text("- no\n- mapping\n")
    assert "mine.yaml: found list, wanted a mapping" in brownout("check", day).err


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("e.yaml", "method: [", "e.yaml:1:10: not valid YAML"),
        ("e.json", "{", "e.json: not valid JSON"),
        ("e.yaml", "a: 1\na: 2\n", "setting 'a' is defined twice"),
        ("e.json", "[]", "found list, wanted a mapping"),
    ],
)
def test_what_is_no_experiment_is_refused(name: str, text: str, words: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(ConfigurationError, match=words):
        read_experiment(tmp_path / name)
