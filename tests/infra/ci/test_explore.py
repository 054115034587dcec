"""The nightly exploration of GitHub and GitLab: another seed every night, a finding kept and shown.

A stand-in for brownout says what a finding looks like from outside; the real one runs in `matrix`.
"""

import re
from pathlib import Path
from typing import Any

import pytest
from tests.chaos_runner import LOAD
from tests.infra.ci.steps import GitLabJob, Runner

from brownout import cli
from brownout.base.settings_file import load_yaml

ROOT = Path(__file__).resolve().parents[3]
ACTION = ROOT / "infra/ci/explore/action.yml"
COMPONENT = ROOT / "infra/ci/gitlab/templates/explore.yml"
PLACE = "Make a folder of its own"
HEAL = "Put back what a cancelled or failed exploration has left"
KEEP = "Keep findings, page and record"
FAIL = "Fail on a finding"
STAND_IN = """#!/bin/sh
mkdir -p "$BROWNOUT_RUNS"
echo "$@" >> "$BROWNOUT_RUNS/../calls"
[ "$1" = explore ] || exit 0
while [ "$1" != --output ]; do shift; done
here="$BROWNOUT_RUNS/explorations/20261128T020000Z-lab"
mkdir -p "$2" "$here"
echo '{}' > "$2/mongodb-lost-writes-7.json"
echo '# Exploration of lab' > "$here/explore.md"
echo > "$here/explore.html"
echo > "$here/explore.json"
echo '1 sequence breaks the promise'
exit CODE
"""


def stand_in(runner: Runner, code: int) -> None:
    program = runner.temp / "brownout" / "venv" / "bin" / "brownout"
    program.parent.mkdir(parents=True)
    program.write_text(STAND_IN.replace("CODE", str(code)))
    program.chmod(0o755)


def artifact(runner: Runner) -> set[str]:
    root = runner.place / "artifact"
    return {path.name for path in root.rglob("*") if path.is_file()}


@pytest.mark.parametrize("code", [0, 1, 2, 4])
def test_the_job_ends_as_the_exploration_did_with_everything_kept(
    tmp_path: Path, code: int
) -> None:
    runner = Runner(ACTION, tmp_path, {"python": "", "options": "--only=kill_node\n--times=3"})
    stand_in(runner, code)
    runner.run(PLACE, "Explore", HEAL, KEEP, FAIL)
    assert runner.codes[FAIL] == code, runner.said
    assert runner.codes["Explore"] == runner.codes[HEAL] == 0
    assert {"mongodb-lost-writes-7.json", "explore.html", "explore.md"} <= artifact(runner)
    assert "# Exploration of lab" in (tmp_path / "summary.md").read_text()
    shown = "::error title=finding of brownout explore::1 sequence breaks the promise (seed 214)"
    assert (shown in runner.said) is (code == 1)
    explored, healed = (runner.temp / "brownout/explore-1/calls").read_text().splitlines()
    assert explored.startswith("explore lab-mongodb --for 20m --seed 214 --output")
    assert explored.endswith("--only=kill_node --times=3")
    assert healed == "heal"


def test_a_seed_that_is_given_is_taken(tmp_path: Path) -> None:
    runner = Runner(ACTION, tmp_path, {"python": "", "seed": "7"})
    stand_in(runner, 0)
    runner.run(PLACE, "Explore", FAIL)
    assert runner.outputs["explore"]["seed"] == "7"


def test_a_second_exploration_in_a_job_keeps_its_own(tmp_path: Path) -> None:
    runner = Runner(ACTION, tmp_path, {"python": ""})
    stand_in(runner, 0)
    for number in (1, 2):
        runner.run(PLACE, "Explore", HEAL, KEEP, FAIL)
        folder = runner.temp / f"brownout/explore-{number}"
        assert runner.outputs["place"]["folder"] == str(folder)
        assert len((folder / "calls").read_text().splitlines()) == 2
        assert len(list(folder.glob("findings/*.json"))) == 1


def test_a_pipeline_of_gitlab_has_a_seed_of_its_own_and_keeps_the_finding(tmp_path: Path) -> None:
    job = GitLabJob(COMPONENT, tmp_path, {"requirement": "brownout", "options": "--times=3"})
    assert all(isinstance(value, str) for value in job.job["variables"].values())
    workspace = tmp_path / "workspace"
    program = workspace / ".brownout" / "bin" / "brownout"
    program.parent.mkdir(parents=True)
    program.write_text(STAND_IN.replace("CODE", "1"))
    program.chmod(0o755)
    (workspace / "runs").mkdir()
    job.job["before_script"] = []  # it is installed
    assert job.run({"CI_PIPELINE_IID": "214"}) == 1, job.said
    explored, healed = (workspace / "calls").read_text().splitlines()
    assert explored == ("explore lab-mongodb --for 20m --seed 214 --output findings --times=3")
    assert healed == "heal"
    paths = job.job["artifacts"]["paths"]
    assert job.job["artifacts"]["when"] == "always"
    kept = {path.name for pattern in paths for path in workspace.glob(pattern)}
    assert {"mongodb-lost-writes-7.json", "explore.html", "explore.md", "explore.json"} == kept


@pytest.mark.parametrize("path", [ACTION, COMPONENT], ids=["github", "gitlab"])
def test_a_night_gives_options_that_there_are(path: Path) -> None:
    options = {o for p in cli.command().commands["explore"].params for o in p.opts}
    calls = re.findall(
        r"(?:explore|arguments=)[ (]\"\$(?:CLUSTER).*(?:\n.*--output.*)?", path.read_text()
    )
    given = {option for call in calls for option in re.findall(r"--[a-z]+", call)}
    assert {"--for", "--seed", "--output"} <= given <= options


def test_the_examples_give_inputs_that_there_are_and_time_enough() -> None:
    github = load_yaml((ROOT / "infra/ci/github-explore.yaml").read_text())
    (job,) = github["jobs"].values()
    (step,) = [each for each in job["steps"] if "brownout" in each["uses"]]
    assert step["uses"].split("@")[0] == f"OWNER/brownout/{ACTION.parent.relative_to(ROOT)}"
    assert set(step["with"]) <= set(load_yaml(ACTION.read_text())["inputs"])
    assert job["timeout-minutes"] >= 2 * int(step["with"]["for"].removesuffix("m"))
    (include,) = load_yaml((ROOT / "infra/ci/gitlab-explore.yaml").read_text())["include"]
    assert ROOT / include["file"].removeprefix("/") == COMPONENT
    header = load_yaml(COMPONENT.read_text().split("\n---\n")[0])
    assert set(include["inputs"]) <= set(header["spec"]["inputs"])


@pytest.mark.live
@pytest.mark.matrix
def test_a_whole_night_runs_in_a_bare_folder(tmp_path: Path) -> None:
    load = "\n".join(f"--set={each}" for each in LOAD.split(","))
    given: dict[str, Any] = {
        "python": "", "cluster": "lab-redis", "extras": "redis,report", "for": "1s", "seed": "3",
        "options": f"--only=kill_node\n{load}",
    }  # fmt: skip
    runner = Runner(ACTION, tmp_path, given)
    runner.run()
    assert runner.codes["Install brownout"] == 0, runner.said
    assert runner.outputs["explore"]["code"] in ("0", "1"), runner.said
    assert runner.codes[FAIL] == int(runner.outputs["explore"]["code"])
    assert {"explore.html", "explore.json", "report.html"} <= artifact(runner)
