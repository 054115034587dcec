"""The workflows of this repository are YAML and call what there is, with no more than they need."""

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from brownout.base.settings_file import load_yaml

ROOT = Path(__file__).resolve().parents[3]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").iterdir())
TARGETS = set(re.findall(r"^([a-z-]+):.* ## ", (ROOT / "Makefile").read_text(), re.MULTILINE))


def _steps(path: Path) -> list[dict[str, Any]]:
    return [step for job in load_yaml(path.read_text())["jobs"].values() for step in job["steps"]]


def test_there_is_one_for_tests_for_nights_and_for_releases() -> None:
    assert [path.name for path in WORKFLOWS] == ["nightly.yaml", "release.yaml", "test.yaml"]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_calls_what_is_there(path: Path) -> None:
    for step in _steps(path):
        assert ("run" in step) != ("uses" in step)
        assert "uses" not in step or re.fullmatch(r"[\w-]+/[\w-]+@[\w/.]+", step["uses"])
        for called in re.findall(r"\bmake ([a-z-]+)", step.get("run", "")):
            assert called in TARGETS
        for program in re.findall(r"(?:^| )((?:tools|\.ci)/\w+)", step.get("run", "")):
            assert (ROOT / program).stat().st_mode & 0o111


def test_nights_run_targets_that_there_are() -> None:
    matrix = load_yaml((ROOT / ".github/workflows/nightly.yaml").read_text())
    matrix = matrix["jobs"]["long"]["strategy"]["matrix"]
    assert {*matrix["target"], *(each["target"] for each in matrix["include"])} <= TARGETS


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_may_only_read_except_for_the_publisher(path: Path) -> None:
    workflow = load_yaml(path.read_text())
    assert workflow["permissions"] == {"contents": "read"}
    more = {name: job["permissions"] for name, job in workflow["jobs"].items()
            if "permissions" in job}  # fmt: skip
    assert more in ({}, {"publish": {"id-token": "write"}})
    assert "secrets." not in path.read_text()


def test_tests_run_on_every_python_that_the_package_names() -> None:
    workflow = load_yaml((ROOT / ".github/workflows/test.yaml").read_text())
    named = re.findall(r"Python :: (3\.\d+)", (ROOT / "pyproject.toml").read_text())
    assert workflow["jobs"]["test"]["strategy"]["matrix"]["python"] == named


@pytest.mark.parametrize("tag", ["", "v99.0.0", "0.1.0"])
def test_a_tag_that_is_not_the_version_is_no_release(tag: str) -> None:
    done = subprocess.run([ROOT / "tools/check_release", tag], capture_output=True, text=True)
    assert done.returncode == 1
    assert "pyproject.toml: found version" in done.stderr
