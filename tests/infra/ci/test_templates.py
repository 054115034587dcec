"""The CI templates are YAML, and what they call is there with the options that they give."""

import re
from pathlib import Path
from typing import Any

import pytest

from brownout import cli
from brownout.base.settings_file import load_yaml

ROOT = Path(__file__).resolve().parents[3]
TEMPLATES = sorted((ROOT / "infra" / "ci").glob("*.yaml"))
COMMANDS: dict[str, Any] = cli.command().commands


def scripts(part: Any) -> list[str]:
    """Every text that stands where a CI looks for commands."""
    if isinstance(part, dict):
        return [text for value in part.values() for text in scripts(value)]
    if isinstance(part, list):
        return [text for value in part for text in scripts(value)]
    return [part] if isinstance(part, str) else []


def test_there_is_one_for_each_ci() -> None:
    assert [path.name for path in TEMPLATES] == ["github-actions.yaml", "gitlab-ci.yaml"]


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.name)
def test_a_template_calls_what_is_there(path: Path) -> None:
    called = [text for text in scripts(load_yaml(path.read_text())) if text.startswith("brownout ")]
    assert {text.split()[1] for text in called} == {"repeat", "gate"}
    for text in called:
        command = COMMANDS[text.split()[1]]
        known = {option for parameter in command.params for option in parameter.opts}
        given = re.findall(r"(?<=\s)--?[a-z]+", text)
        assert given
        assert set(given) <= known


def test_github_runs_the_jobs_steps_and_gitlab_the_jobs_script() -> None:
    github, gitlab = (load_yaml(path.read_text()) for path in TEMPLATES)
    assert all("run" in step or "uses" in step for step in github["jobs"]["gate"]["steps"])
    assert gitlab["resilience"]["artifacts"]["reports"]["junit"] == "gate.xml"
