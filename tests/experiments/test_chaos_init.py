"""`chaos init` makes an experiment of our activities; `brownout check` says what it still needs."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from brownout import discover
from brownout.session.experiment_checks import problems


def _chaos(where: Path, *arguments: str, answers: tuple[str, ...] = ()) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "chaostoolkit", "--no-version-check", *arguments],
        cwd=where, input="\n".join([*answers, ""]), capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture
def made(tmp_path: Path) -> dict[str, Any]:
    """What `chaos init` writes of kill, start and put_back, each with its default arguments."""
    _chaos(tmp_path, "discover", "--no-install", "brownout")
    every = discover()["activities"]
    actions = [a for a in every if a["type"] == "action"]

    def chosen(name: str, among: list[Any], another: str) -> tuple[str, ...]:
        (found,) = [
            (str(number), activity)
            for number, activity in enumerate(among, 1)
            if (activity["mod"], activity["name"]) == ("brownout.actions.node", name)
        ]
        number, activity = found
        asked = [a for a in activity["arguments"] if a["name"] not in ("configuration", "secrets")]
        return (number, "y", *([""] * len(asked)), another)

    method = ("y", *chosen("kill_node", every, "y"), *chosen("start_node", every, "n"))
    rollbacks = ("y", *chosen("put_back", actions, "n"))
    answers = ("mine", "n", *method, *rollbacks)
    _chaos(tmp_path, "init", "--experiment-path", "mine.yaml", answers=answers)
    found: dict[str, Any] = yaml.safe_load((tmp_path / "mine.yaml").read_text())
    return found


def test_what_it_makes_lacks_only_what_makes_it_a_measurement(made: dict[str, Any]) -> None:
    assert [step["name"] for step in made["method"]] == ["kill_node", "start_node"]
    assert made["method"][0]["provider"]["arguments"]["node"] == "target"
    said = problems(made)
    for lacking in ("brownout.control", "always", "scenario"):
        assert [problem for problem in said if lacking in problem], said

    control = {"type": "python", "module": "brownout.control"}
    whole = {"type": "python", "module": "brownout.probes.cluster", "func": "cluster_is_whole"}
    made["controls"] = [{"name": "brownout", "provider": control}]
    made["runtime"] = {"rollbacks": {"strategy": "always"}}
    made["extensions"] = [{"name": "brownout", "scenario": "node-kill", "needs": ["kill"]}]
    made["steady-state-hypothesis"] = {
        "title": "whole",
        "probes": [{"type": "probe", "name": "whole", "tolerance": True, "provider": whole}],
    }
    assert problems(made) == []
