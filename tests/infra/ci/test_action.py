"""The GitHub Action and the GitLab component: valid, and their steps run as a runner runs them."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.chaos_runner import LOAD
from tests.infra.ci.steps import GitLabJob, Runner
from tests.runs.gate.repeated import build_repeats
from tests.wording import mentions

from brownout import cli
from brownout.base.settings_file import load_yaml

ROOT = Path(__file__).resolve().parents[3]
ACTION = ROOT / "action.yml"
COMPONENT = ROOT / "infra/ci/gitlab/templates/gate.yml"
COMPONENTS = sorted((ROOT / "infra/ci/gitlab/templates").iterdir())
LIMITS = ({"measure": "blackout", "limit": 9.0, "scope": "total", "why": "users wait"},)
HEAL = "Put back what a cancelled or failed run has left"
PLACE = "Make a folder of its own"
GATED = ("Decide", HEAL, "Comment on the pull request", "Fail unless the gate passed")


@pytest.mark.parametrize(
    ("path", "schema"),
    [
        ("action.yml", "github-actions"),
        ("infra/ci/github-actions.yaml", "github-workflows"),
        ("infra/ci/gitlab-ci.yaml", "gitlab-ci"),
        ("infra/ci/explore/action.yml", "github-actions"),
        ("infra/ci/github-explore.yaml", "github-workflows"),
        ("infra/ci/gitlab-explore.yaml", "gitlab-ci"),
    ],
)
def test_a_file_for_a_ci_is_valid_by_its_published_schema(path: str, schema: str) -> None:
    check(ROOT / path, schema)


@pytest.mark.parametrize("component", COMPONENTS, ids=lambda path: path.stem)
def test_both_parts_of_a_component_are_valid_by_the_published_schema(
    component: Path, tmp_path: Path
) -> None:
    header, body = component.read_text().split("\n---\n")
    for number, text in enumerate((header, body)):
        (tmp_path / f"{number}.yml").write_text(text)
        check(tmp_path / f"{number}.yml", "gitlab-ci")
    asked = set(re.findall(r"\$\[\[ inputs\.(\w+) \]\]", body))
    assert asked == set(load_yaml(header)["spec"]["inputs"])


def check(path: Path, schema: str) -> None:
    pytest.importorskip("check_jsonschema", reason="the schemas come with check-jsonschema")
    words = ["-m", "check_jsonschema", "--builtin-schema", f"vendor.{schema}", str(path)]
    done = subprocess.run([sys.executable, *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("path", [ACTION, COMPONENT], ids=["github", "gitlab"])
def test_a_ci_gives_options_that_there_are(path: Path) -> None:
    calls = re.findall(r"(?:\$BROWNOUT\"|brownout\"?) (repeat|gate|heal)\b(.*)", path.read_text())
    assert {name for name, _ in calls} == {"repeat", "gate", "heal"}
    commands = cli.command().commands
    options = {o for name in ("repeat", "gate") for p in commands[name].params for o in p.opts}
    given = set(re.findall(r"(?<=[\s('+])(--[a-z]+|-o)(?= )", path.read_text()))
    ours = given & {"--cluster", "--times", "--again", "--set", "--least", "--baseline", "-o"}
    assert {"--cluster", "--times", "--set", "--least", "--baseline", "-o"} <= ours <= options


def test_the_examples_give_inputs_that_there_are() -> None:
    github = load_yaml((ROOT / "infra/ci/github-actions.yaml").read_text())
    (step,) = [s for s in github["jobs"]["gate"]["steps"] if "brownout" in s["uses"]]
    assert set(step["with"]) <= set(load_yaml(ACTION.read_text())["inputs"])
    (include,) = load_yaml((ROOT / "infra/ci/gitlab-ci.yaml").read_text())["include"]
    assert ROOT / include["file"].removeprefix("/") == COMPONENT
    header = load_yaml(COMPONENT.read_text().split("\n---\n")[0])
    assert set(include["inputs"]) <= set(header["spec"]["inputs"])


@pytest.fixture
def runner(tmp_path: Path) -> Runner:
    """A machine on which brownout is installed already, for a gate of two runs."""
    runner = Runner(ACTION, tmp_path, {"python": "", "times": "2"})
    bin_ = runner.temp / "brownout" / "venv" / "bin"
    bin_.mkdir(parents=True)
    (bin_ / "brownout").write_text(f'#!/bin/sh\nexec {sys.executable} -m brownout "$@"\n')
    (bin_ / "brownout").chmod(0o755)
    runner.run(PLACE)
    return runner


def runs_of(runner: Runner) -> Path:
    return Path(runner.outputs["place"]["folder"]) / "runs"


def test_the_table_is_put_on_the_pull_request_once_and_replaced_later(runner: Runner) -> None:
    runs = runs_of(runner)
    build_repeats(runs, 5, 2.9, 2, limits=LIMITS)
    build_repeats(runs, 1, 2.9, 9, limits=LIMITS, lag_p99_ms=1400)
    runner.run(*GATED)
    assert not runner.failed, runner.said
    assert runner.outputs["gate"]["verdict"] == "pass"
    (comment,) = (runner.place / "comments").glob("*.md")
    text = comment.read_text()
    assert text.startswith("<!-- brownout gate node-kill lab-mongodb -->\n### ✓ PASS")
    assert mentions(text, "| total outage", "left out, since it could not be judged")
    assert "PASS" in (runner.place / "summary.md").read_text()
    runner.run(*GATED)
    assert list((runner.place / "comments").glob("*.md")) == [comment]
    assert "PATCH" in (runner.place / "comments" / "calls").read_text()


def test_a_gate_that_fails_fails_the_job_after_everything_was_kept(runner: Runner) -> None:
    tight = ({**LIMITS[0], "limit": 0.5},)
    build_repeats(runs_of(runner), 2, 2.9, 2, limits=tight)
    runner.run(*GATED, "Keep reports and JUnit")
    assert {name for name, code in runner.codes.items() if code} == {GATED[-1]}
    assert runner.outputs["gate"]["verdict"] == "fail"
    kept = {str(p.relative_to(runner.place / "artifact")) for p in
            (runner.place / "artifact").rglob("*") if p.is_file()}  # fmt: skip
    assert {"brownout/gate-1/gate.xml", "brownout/gate-1/gate.md"} <= kept
    assert any(name.endswith("impact.json") for name in kept)


def test_runs_that_do_not_belong_together_are_an_error_and_no_verdict(runner: Runner) -> None:
    build_repeats(runs_of(runner), 2, 2.9, 2)
    runner.run(*GATED)
    assert runner.outputs["gate"]["verdict"] == "error"
    assert runner.codes[GATED[-1]] == 64
    assert not list((runner.place / "comments").glob("*.md"))


def test_fewer_runs_than_were_asked_for_are_no_pass(runner: Runner) -> None:
    build_repeats(runs_of(runner), 1, 2.9, 2, limits=LIMITS)
    runner.run(*GATED)
    assert runner.outputs["gate"]["verdict"] == "inconclusive", runner.said
    assert runner.codes[GATED[-1]] == 2
    (comment,) = (runner.place / "comments").glob("*.md")
    assert mentions(comment.read_text(), "INCONCLUSIVE", "1 runs were judged", "at least 2")


def test_a_second_gate_in_a_job_judges_its_own_runs_only(runner: Runner) -> None:
    build_repeats(runs_of(runner), 2, 2.9, 2, limits=LIMITS)
    runner.run(PLACE)
    tight = ({**LIMITS[0], "limit": 0.5},)
    build_repeats(runs_of(runner), 2, 2.9, 3, limits=tight)
    runner.run(*GATED)
    assert runner.outputs["gate"]["verdict"] == "fail", runner.said


def test_the_component_judges_its_own_runs_only_and_wants_all_of_them(tmp_path: Path) -> None:
    job = GitLabJob(COMPONENT, tmp_path, {"requirement": "brownout", "times": "2"})
    workspace = tmp_path / "workspace"
    made = build_repeats(tmp_path / "made", 1, 2.9, 2, limits=LIMITS)
    build_repeats(workspace / "runs", 3, 2.9, 3, limits=LIMITS)
    program = workspace / ".brownout" / "bin" / "brownout"
    program.parent.mkdir(parents=True)
    stopped = f'if [ "$1" = repeat ]; then {shutil.which("cp")} -r {made[0]} runs; exit 2; fi'
    program.write_text(f'#!/bin/sh\n{stopped}\nexec {sys.executable} -m brownout "$@"\n')
    program.chmod(0o755)
    job.job["before_script"] = []  # it is installed
    assert job.run({}) == 2, job.said
    assert "1 runs were judged" in (workspace / "gate.md").read_text()


def inputs() -> dict[str, str]:
    """What the Action is given where it is run for real."""
    settings = ["target=primary", "baseline_s=10", *LOAD.split(",")]
    return {
        "python": "", "cluster": "lab-redis", "extras": "redis,report", "times": "2",
        "set": "\n".join(settings),
    }  # fmt: skip


@pytest.mark.live
@pytest.mark.matrix
def test_the_whole_action_runs_in_a_bare_folder(tmp_path: Path) -> None:
    runner = Runner(ACTION, tmp_path, inputs())
    runner.run()
    assert "Install brownout" in runner.codes
    assert runner.codes["Install brownout"] == 0, runner.said
    assert runner.outputs["gate"]["verdict"] in ("pass", "fail", "inconclusive"), runner.said
    assert runner.failed is (runner.outputs["gate"]["verdict"] != "pass")
    assert len(list((tmp_path / "comments").glob("*.md"))) == 1
    names = [path.name for path in (tmp_path / "artifact").rglob("*") if path.is_file()]
    assert names.count("report.html") == names.count("impact.json") >= 2
    assert "gate.xml" in names


@pytest.mark.live
@pytest.mark.matrix
def test_a_cancelled_action_puts_back_what_it_broke(tmp_path: Path) -> None:
    runs = tmp_path / "temp" / "brownout" / "gate-1" / "runs"

    def is_broken(step: str) -> bool:
        return any('"effective"' in path.read_text() for path in runs.glob("*/events.ndjson"))

    given = inputs()
    given["set"] += "\ndowntime_s=60"
    runner = Runner(ACTION, tmp_path, given, cancels=is_broken)
    runner.run()
    assert runner.cancelled, runner.said
    assert "Decide" not in runner.codes
    assert runner.codes[HEAL] == 0, runner.said
    (run,) = runs.glob("*Z-*")
    events = [json.loads(line) for line in (run / "events.ndjson").read_text().splitlines()]
    assert any((e["type"], e["name"]) == ("phase", "put_back") for e in events), runner.said
    state = tmp_path / "home" / ".local" / "state" / "brownout" / "open"
    assert not list(state.glob("*.json"))


def test_every_variable_of_the_component_is_a_text_though_an_input_is_empty(tmp_path: Path) -> None:
    job = GitLabJob(COMPONENT, tmp_path, {"requirement": "brownout"}).job
    assert {name for name, value in job["variables"].items() if not isinstance(value, str)} == set()


@pytest.mark.live
@pytest.mark.matrix
def test_the_whole_component_runs_in_a_bare_folder(tmp_path: Path) -> None:
    given = inputs()
    job = GitLabJob(COMPONENT, tmp_path, {
        "cluster": given["cluster"], "times": "1", "set": given["set"].replace("\n", " "),
        "requirement": f"{ROOT}[{given['extras']}]",
    })  # fmt: skip
    merge = {"BROWNOUT_TOKEN": "token", "CI_MERGE_REQUEST_IID": "17", "CI_PROJECT_ID": "4",
             "CI_API_V4_URL": "https://gitlab.example.com/api/v4"}  # fmt: skip
    code = job.run(merge)
    assert code in (0, 1, 2), job.said
    workspace = tmp_path / "workspace"
    patterns = [job.job["artifacts"]["reports"]["junit"], *job.job["artifacts"]["paths"]]
    assert [p for p in patterns if not list(workspace.glob(p))] == [], job.said
    note = (tmp_path / "comments" / "note.md").read_text()
    assert note.startswith("### ")
    url = (tmp_path / "comments" / "url").read_text()
    assert url == "https://gitlab.example.com/api/v4/projects/4/merge_requests/17/notes"
