"""`brownout show`, `analyze`, `report` and `runs`: looking at runs again, and letting them go."""

import json
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from tests.cli.conftest import Brownout
from tests.run_builder import RunScript, build_run

from brownout.cli.durations import seconds
from brownout.faults import open_runs
from brownout.run.kept import KeptRun, to_remove

RUN = "20261122T101500Z-node-kill-4711"
TIGHT = ({"measure": "blackout", "limit": 0.5, "scope": "total"},)


@pytest.mark.parametrize(
    ("script", "code", "word"),
    [
        (RunScript(duration_s=45), 0, "PASS"),
        (RunScript(duration_s=45, limits=TIGHT), 1, "FAIL"),
        (RunScript(duration_s=45, lag_p99_ms=1400), 2, "INCONCLUSIVE"),
        (RunScript(duration_s=45, abort="a person"), 3, "ABORTED"),
    ],
    ids=lambda part: part if isinstance(part, str) else "",
)
def test_the_exit_code_is_the_verdict(
    script: RunScript, code: int, word: str, brownout: Brownout, home: Path
) -> None:
    build_run(home / "runs", script)
    shown = brownout("show")
    assert shown.code == code
    assert shown.out.splitlines()[-1].startswith(word)
    impact = json.loads(brownout("show", RUN, "--json").out)
    assert impact["verdict"].upper() == word


DIES = """
import os, sys
from pathlib import Path
from brownout.faults import open_runs
open_runs.claim("lab-mongodb", Path(sys.argv[1]), "lab-mongodb", brought_up=True)
os._exit(9)
"""


def _began(root: Path) -> Path:
    """A run that waits in its method, and has no result yet."""
    run = build_run(root, RunScript(duration_s=45, analyzed=False))
    (run / "journal.json").unlink()
    lines = (run / "events.ndjson").read_text().splitlines()[:3]
    steps = [
        {"type": "phase", "name": "method_started"},
        {"type": "note", "name": "step", "activity": "wait-until-redundant"},
    ]
    lines += [json.dumps({"id": 80 + n, "stage": "point", "t": 30.0, **step})
              for n, step in enumerate(steps)]  # fmt: skip
    (run / "events.ndjson").write_text("".join(line + "\n" for line in lines))
    return run


def test_a_run_that_goes_on_is_shown_as_one_with_what_it_does_now(
    brownout: Brownout, home: Path
) -> None:
    run = _began(home / "runs")
    open_runs.claim("lab-mongodb", run, "lab-mongodb", brought_up=False)
    try:
        shown = brownout("show")
        found = json.loads(brownout("show", "--json").out)
    finally:
        open_runs.release("lab-mongodb")
    assert shown.code == 2, shown.err
    assert "running; the last it did: method: wait-until-redundant" in shown.out
    assert f"`brownout watch {RUN}`" in shown.out
    assert (found["state"], found["phase"]) == ("running", "method: wait-until-redundant")


def test_a_run_that_was_killed_is_shown_as_one_and_healing_says_what_it_did(
    brownout: Brownout, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BROWNOUT_LAB_DIR", str(home / "lab"))
    run = _began(home / "runs")
    assert subprocess.run([sys.executable, "-c", DIES, str(run)], check=False).returncode == 9
    shown = brownout("show")
    assert shown.code == 2, shown.err
    assert "died before it had put everything back" in shown.out
    assert "`brownout heal lab-mongodb`" in shown.out
    healed = brownout("heal")
    assert healed.code == 0, healed.err
    assert "lab-mongodb: took down the lab that the run had brought up" in healed.out
    assert "put back" not in healed.out
    shown = brownout("show")
    assert (shown.code, f"`brownout analyze {RUN}`" in shown.out) == (2, True)


def test_results_are_made_again_from_the_raw_files(brownout: Brownout, home: Path) -> None:
    run = build_run(home / "runs", RunScript(duration_s=45))
    before = (run / "impact.json").read_bytes()
    (run / "impact.json").unlink()
    missing = brownout("show", run)
    assert (missing.code, "brownout analyze" in missing.err) == (64, True)
    assert brownout("analyze", run).code == 0
    assert (run / "impact.json").read_bytes() == before


@pytest.mark.parametrize("command", ["show", "analyze", "report", "watch"])
def test_a_run_that_is_not_there_is_bad_input(command: str, brownout: Brownout, home: Path) -> None:
    for name in ("latest", "no-such-run"):
        said = brownout(command, name)
        assert (said.code, "no" in said.err) == (64, True)


def test_a_report_is_made_as_a_file_a_picture_and_markdown(brownout: Brownout, home: Path) -> None:
    run = build_run(home / "runs", RunScript(duration_s=45))
    assert brownout("report").out.strip() == str(run / "report.html")
    assert (run / "report.html").stat().st_size > 10_000
    assert brownout("report", run, "-o", home / "run.png").code == 0
    assert (home / "run.png").read_bytes().startswith(b"\x89PNG")
    assert "PASS" in brownout("report", run, "-o", "-").out
    wanted = [str(home / f"a.{end}") for end in ("md", "html", "png")]
    several = brownout("report", run, *(word for file in wanted for word in ("-o", file)))
    assert several.out.split() == wanted
    assert "PASS" in (home / "a.md").read_text()
    assert (home / "a.html").stat().st_size > 10_000


def test_a_report_without_its_packages_says_what_to_install(
    brownout: Brownout, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    build_run(home / "runs", RunScript(duration_s=45))
    monkeypatch.setitem(sys.modules, "jinja2", None)
    monkeypatch.delitem(sys.modules, "brownout.show.report.html", raising=False)
    said = brownout("report")
    assert (said.code, "[report]'" in said.err) == (64, True)


def _kept(days_ago: int) -> KeptRun:
    began = datetime(2026, 11, 22, tzinfo=UTC) - timedelta(days=days_ago)
    return KeptRun(Path(f"{began:%Y%m%dT%H%M%SZ}-node-kill-1"), began)


@pytest.mark.parametrize(
    ("keep", "older", "gone"),
    [
        (2, None, [40, 30]),
        (0, None, [40, 30, 20, 10]),
        (9, None, []),
        (None, "25d", [40, 30]),
        (3, "25d", [40]),
        (1, "8w", []),
    ],
)
def test_only_what_is_too_old_or_too_many_may_go(
    keep: int | None, older: str | None, gone: list[int]
) -> None:
    runs = [_kept(days) for days in (40, 30, 20, 10)]
    limit = timedelta(seconds=seconds(older, "--older-than")) if older else None
    found = to_remove(runs, datetime(2026, 11, 22, tzinfo=UTC), keep, limit)
    assert [run.name for run in found] == [_kept(days).name for days in gone]


def test_runs_go_only_when_that_is_confirmed(brownout: Brownout, home: Path) -> None:
    names = [f"2026010{n}T000000Z-node-kill-{n}" for n in (1, 2, 3)]
    foreign = "20200101T000000Z-dump-of-the-shop"  # named as a run is, and not of ours
    for name in [*names, foreign]:
        (home / "runs" / name).mkdir(parents=True)
    for name in names:
        (home / "runs" / name / "run.json").write_text("{}")
    (home / "runs" / "notes").mkdir()
    dry = brownout("runs", "prune", "--keep", "1")
    assert [line.split()[-1] for line in dry.out.splitlines()[:-1]] == names[:2]
    assert "--yes" in dry.out
    assert all((home / "runs" / name).is_dir() for name in names)
    brownout("runs", "prune", "--keep", "1", "--yes")
    assert sorted(path.name for path in (home / "runs").iterdir()) == [foreign, names[2], "notes"]


def test_a_run_that_may_still_have_to_be_healed_stays(brownout: Brownout, home: Path) -> None:
    run = home / "runs" / "20260101T000000Z-node-kill-1"
    run.mkdir(parents=True)
    (run / "run.json").write_text("{}")
    open_runs.claim("lab-mongodb", run, "lab-mongodb", brought_up=False)
    try:
        said = brownout("runs", "prune", "--keep", "0", "--yes")
    finally:
        open_runs.release("lab-mongodb")
    assert said.out.startswith("kept")
    assert run.is_dir()


def test_pruning_wants_to_know_what(brownout: Brownout, home: Path) -> None:
    said = brownout("runs", "prune")
    assert (said.code, "--keep" in said.err) == (64, True)


def test_runs_are_listed_with_verdict_and_size(brownout: Brownout, home: Path) -> None:
    build_run(home / "runs", RunScript(duration_s=45))
    load = home / "runs" / "20260101T000000Z-load-1"
    load.mkdir()
    (load / "outcomes.csv").touch()
    listed = json.loads(brownout("runs", "list", "--json").out)
    assert [(row["run"], row["verdict"]) for row in listed] == [
        ("20260101T000000Z-load-1", "load only"),
        (RUN, "pass"),
    ]
    assert listed[1]["bytes"] > 1000
    assert RUN in brownout("runs", "list").out


#: Sets the window's title, hides the line above, turns the direction of writing.
ESCAPES = "\x1b]0;owned\x07\x1b[1A\x1b[2K\x9b\u202e"


def test_what_a_foreign_run_says_cannot_steer_the_terminal(brownout: Brownout, home: Path) -> None:
    run = build_run(home / "runs", RunScript(duration_s=45, abort=f"because {ESCAPES}"))
    record = json.loads((run / "run.json").read_text())
    record["experiment"]["title"] = f"title {ESCAPES}"
    record["cluster"]["name"] = f"cluster {ESCAPES}"
    (run / "run.json").write_text(json.dumps(record, ensure_ascii=False))
    events = (run / "events.ndjson").read_text()
    (run / "events.ndjson").write_text(events.replace('"n1"', json.dumps(f"n1{ESCAPES}")))
    for command in (("analyze", run), ("show", run), ("report", run, "-o", "-"), ("runs", "list"),
                    ("watch", run), ("compare", run, run)):  # fmt: skip
        shown = brownout(*command)
        text = shown.out + shown.err
        assert text.strip(), command
        assert not set(text) & {"\x1b", "\x07", "\x9b", "\u202e"}, command
