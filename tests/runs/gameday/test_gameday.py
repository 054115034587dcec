"""Game days as commands on a real replica set: run, stopped, killed, resumed, scheduled."""

import json
import re
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import Brownout, brownout
from tests.kill_harness import kill_tree
from tests.runs.gameday.conftest import GENTLY, Hook, Write
from tests.wording import mentions

from brownout.databases.adapter import adapter_for
from brownout.databases.milestones import still_unmet
from brownout.faults import open_runs
from brownout.inventory.model import Cluster
from brownout.machine.host import host_for
from brownout.runs.gameday import start
from brownout.runs.gameday.days import Day, all_days, new_place
from brownout.runs.gameday.gameday_file import read
from brownout.runs.gameday.record import Record, StepRecord
from brownout.runs.history.place import find
from brownout.runs.history.store import Store

__all__ = ["brownout"]

COMMAND = (sys.executable, "-m", "brownout", "gameday")
GO_ON = {"fail": "go on", "inconclusive": "go on"}
SOON = {"at_least_s": 0, "limit_s": 60}


def gently(experiment: str, **variables: Any) -> dict[str, Any]:
    """A step with a short baseline and a low rate."""
    return {"experiment": experiment, "variables": {**GENTLY, **variables}}


#: A step that lasts until somebody ends it.
HANGING = gently("node-pause", hang_s=600, undo_after_s=900)


def told(*words: str | Path) -> subprocess.CompletedProcess[str]:
    """Run a command to its end, in a process of its own."""
    arguments = [*COMMAND, *map(str, words)]
    return subprocess.run(arguments, capture_output=True, text=True, timeout=200)


#: A busy machine takes its time to start a server; a day that is due before that is missed.
STARTS_WITHIN_S = 12


def started(*words: str | Path) -> "subprocess.Popen[str]":
    """Start a command, with its words in the file `said`."""
    with Path("said").open("a") as said:
        return subprocess.Popen([*COMMAND, *map(str, words)], stdout=said, stderr=said, text=True)


def served(due: Callable[[datetime], Sequence[Path]]) -> "tuple[datetime, subprocess.Popen[str]]":
    """Start a server for the days that are `due` at a moment that it was there for."""
    for within_s in (STARTS_WITHIN_S, 5 * STARTS_WITHIN_S):
        Path("said").unlink(missing_ok=True)
        at = datetime.now(UTC) + timedelta(seconds=within_s)
        days = due(at)
        process = started("serve", *days)
        await_(lambda: Path("said").read_text().count(" due at ") >= len(days), process)  # noqa: B023
        if "nothing more is due" not in Path("said").read_text():
            return at, process
        process.terminate()
        process.wait(60)
    pytest.fail("no server started in time to be told of the days")


def await_(state: Callable[[], Any], process: "subprocess.Popen[str]") -> None:
    """Wait until it is so, while the process lives."""
    deadline = time.monotonic() + 400  # a busy machine waits long for a stable baseline
    while not state():
        assert process.poll() is None, Path("said").read_text()[-3000:]
        assert time.monotonic() < deadline, Path("said").read_text()[-3000:]
        time.sleep(0.05)


def happened(act: str, home: Path) -> Callable[[], bool]:
    """Whether an act of some run has its proof."""

    def found() -> bool:
        lines = [line for path in home.glob("runs/*/events.ndjson")
                 for line in path.read_text().splitlines() if line.endswith("}")]  # fmt: skip
        return any((e["name"], e["stage"]) == (act, "effective") for e in map(json.loads, lines))

    return found


def check_whole(cluster: Cluster) -> None:
    """Every process runs, none is paused, every member is in step, and no run has the cluster."""
    for node in cluster.nodes:
        state = host_for(node).running()
        assert state.running
        assert not state.paused
    adapter = adapter_for(cluster)
    try:
        assert still_unmet(adapter, "whole") == []
    finally:
        adapter.close()
    assert open_runs.claims() == []


def verdicts(day: Day) -> list[str]:
    return [step.verdict or step.status for step in day.record.steps]


@pytest.mark.matrix
def test_three_experiments_a_second_day_refused_and_a_stop_in_the_middle(
    lab_mongodb: Cluster,
    home: Path,
    write: Write,
    hook: Hook,
    brownout: Brownout,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPS", hook.url)
    monkeypatch.setenv("BROKEN", "json://127.0.0.1:9/secretpath")
    day = write(
        experiments=[gently("stepdown"), HANGING, gently("node-kill")],
        cool_down=SOON,
        stop_on=GO_ON,
        notify=[{"name": "ops", "url": {"env": "OPS"}},
                {"name": "nobody", "url": {"env": "BROKEN"}, "about": ["begin"]}],
    )  # fmt: skip
    process = started("run", day)
    try:
        await_(happened("pause_node", home), process)
        second = brownout("gameday", "run", day)
        assert second.code == 64
        assert f"process {process.pid} on host" in second.err
        assert "node-pause: running" in brownout("gameday", "status").out
        stopped = brownout("gameday", "stop", "--reason", "the pager rang")
        assert stopped.code == 0, stopped.err
        assert "cluster `lab-mongodb` is whole: n1, n2, n3 are there and in step" in stopped.out
        check_whole(lab_mongodb)
        process.wait(60)  # it has let go of the cluster, and tells people last
    finally:
        process.terminate()
        process.wait(60)
    (made,) = all_days("day")
    first, middle, last = verdicts(made)
    assert first in ("pass", "fail", "inconclusive")
    assert middle in ("aborted", "fail", "inconclusive")
    assert last == "waiting"
    assert made.record.stopped == "the pager rang"
    assert process.returncode in (1, 3)
    summary = made.summary.read_text()
    for step in made.record.steps[:2]:
        assert (made.path / summary.split(f"[{Path(step.run).name}](")[1].split(")")[0]).is_file()
    assert "`nobody` was not told" in summary
    assert "secretpath" not in summary + Path("said").read_text()
    assert any("begins" in title for title in hook.titles)
    assert made.record.verdict in hook.titles[-1]
    kept = find()
    assert kept is not None
    with Store(kept) as store:
        assert {run.occasion for run in store.runs()} == {"game day day"}


def test_a_day_that_is_killed_is_healed_and_resumed(
    lab_mongodb: Cluster, home: Path, write: Write, brownout: Brownout
) -> None:
    steps = [gently("node-pause", hang_s=6)]
    day = write(experiments=steps, stop_on=GO_ON)
    process = started("run", day)
    await_(happened("pause_node", home), process)
    kill_tree(process.pid)
    process.wait()
    assert ": died" in brownout("gameday", "status").out
    changed = write(experiments=[*steps, "stepdown"], stop_on=GO_ON)
    refused = brownout("gameday", "run", changed, "--resume")
    assert refused.code == 64
    assert mentions(refused.err, changed)
    day = write(experiments=steps, stop_on=GO_ON)
    resumed = told("run", day, "--resume")
    assert ": died; taken over" in resumed.stderr
    assert "put back: resume_node n" in resumed.stderr
    assert "lost: node-pause, begun" in resumed.stderr
    (made,) = all_days("day")
    assert verdicts(made)[0] in ("pass", "fail", "inconclusive"), resumed.stderr
    assert resumed.returncode in (0, 1, 2)
    check_whole(lab_mongodb)
    nothing = brownout("gameday", "run", day, "--resume")
    assert "nothing is left to do" in nothing.err


@pytest.mark.matrix
@pytest.mark.timeout(600)
def test_a_scheduled_day_is_run_and_what_was_missed_is_said(
    lab_mongodb: Cluster, home: Path, write: Write, hook: Hook, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPS", hook.url)
    people = [{"name": "ops", "url": {"env": "OPS"}}]

    def due(at: datetime) -> list[Path]:
        schedule = {"at": at.isoformat()}
        elsewhere = f"{(at + timedelta(days=2)):%a} 00:00-23:59"
        return [
            write("soon", experiments=[gently("stepdown")], schedule=schedule),
            write("shut", schedule=schedule, window={"weekly": [elsewhere]}, notify=people),
        ]

    at, process = served(due)
    soon = due(at)[0]
    try:
        await_(lambda: any(day.record.ended for day in all_days("soon")), process)
        await_(lambda: any("did not begin" in title for title in hook.titles), process)
        second = told("serve", soon)
        assert second.returncode == 64
        assert "served already by another process" in second.stderr
    finally:
        process.terminate()
        process.wait(60)
    assert all_days("shut") == []
    assert "window" in Path("said").read_text()
    check_whole(lab_mongodb)


@pytest.mark.matrix
def test_a_time_that_came_while_nobody_served_is_missed_and_said(
    home: Path, write: Write, hook: Hook, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPS", hook.url)

    def due(at: datetime) -> list[Path]:
        schedule = {"at": at.isoformat(), "late": "1s"}
        return [write(notify=[{"name": "ops", "url": {"env": "OPS"}}], schedule=schedule)]

    at, process = served(due)
    process.kill()
    process.wait()
    (day,) = due(at)
    hook.heard.clear()
    while datetime.now(UTC) < at + timedelta(seconds=1.5):
        time.sleep(0.1)
    process = started("serve", day, "--listen", "127.0.0.1:0")
    try:
        await_(lambda: any("MISSED" in title for title in hook.titles), process)
        await_(lambda: scraped("brownout_gameday_missed_total") == 1, process)
    finally:
        process.terminate()
        process.wait(60)
    died, missed = hook.heard
    assert "its server died" in died["title"]
    assert missed["type"] == "warning"
    assert f"to do: run it by hand: `brownout gameday run {day}`" in missed["message"]
    assert all_days() == []


def scraped(metric: str) -> float | None:
    """Ask the server of schedules for a metric; None as long as it has no address."""
    address = re.search(r"http://\S+/metrics", Path("said").read_text())
    if address is None:
        return None
    with urllib.request.urlopen(address[0], timeout=10) as page:
        samples = page.read().decode()
    value = re.search(rf"^{metric}\{{.*}} (\S+)$", samples, re.MULTILINE)
    return float(value[1]) if value else None


def test_a_stale_pass_is_told_once_and_shown_to_prometheus(
    home: Path, write: Write, hook: Hook, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPS", hook.url)
    people = [{"name": "ops", "url": {"env": "OPS"}}]
    day = write(notify=people, schedule={"cron": "0 3 * * tue"}, on_call="the database team")
    old = (datetime.now(UTC) - timedelta(days=40)).isoformat()
    step = StepRecord("stepdown", "stepdown", {})
    step.begin(old)
    step.end(old, "pass", home / "runs/one", ())
    record = Record("day", "", "lab-mongodb", "lab-mongodb", str(day), 0, [step], old, old, "pass")
    Day(new_place("day"), record).save()
    for _ in range(2):
        process = started("serve", day, "--listen", "127.0.0.1:0")
        try:
            await_(lambda: scraped("brownout_gameday_pass_stale") == 1, process)
            await_(lambda: hook.heard, process)
        finally:
            process.terminate()
            process.wait(60)
        Path("said").unlink()
    (message,) = hook.heard
    assert message["type"] == "warning"
    assert "stepdown is STALE" in message["title"]
    lines = message["message"].splitlines()
    assert "passed 40 days ago, wanted within 30 days" in lines[0]
    assert "runs/one/report.html" in lines[1]
    assert lines[2].startswith("to do (the database team): `brownout gameday run")


@pytest.mark.matrix
@pytest.mark.timeout(600)
def test_a_server_killed_with_its_day_is_told_and_put_back_by_the_next_one(
    lab_mongodb: Cluster, home: Path, write: Write, hook: Hook, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPS", hook.url)
    people = [{"name": "ops", "url": {"env": "OPS"}, "about": ["fail"]}]

    def due(at: datetime) -> list[Path]:
        return [write(experiments=[HANGING], schedule={"at": at.isoformat()}, notify=people)]

    at, process = served(due)
    await_(happened("pause_node", home), process)
    kill_tree(process.pid)
    process.wait()
    assert "schedules: process" in told("status").stdout
    assert "  died  " in told("history").stdout
    process = started("serve", *due(at))
    try:
        await_(lambda: len(hook.heard) == 2, process)
    finally:
        process.terminate()
        process.wait(60)
    server, day = hook.heard
    assert (server["type"], day["type"]) == ("warning", "warning")
    assert "its server died" in server["title"]
    assert ": died: " in day["title"]
    assert "cluster `lab-mongodb` is whole" in day["message"]
    assert verdicts(all_days()[0]) == ["running"]
    assert all_days()[0].record.verdict == "died"
    check_whole(lab_mongodb)


def test_a_lost_database_of_leases_does_not_hide_the_verdict(home: Path, write: Write) -> None:
    words: list[str] = []
    with start._leased(read(str(write())), resume=False, say=words.append):
        for path in (home / "state").glob("gamedays.db*"):
            path.write_bytes(b"no database" * 1000)
    assert mentions(words[0], "lab-mongodb", "was not released")


@pytest.mark.matrix
def test_a_day_whose_records_go_away_while_something_is_broken_puts_it_back_and_exits_with_3(
    lab_mongodb: Cluster, home: Path, write: Write, hook: Hook, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPS", hook.url)
    people = [{"name": "ops", "url": {"env": "OPS"}, "about": ["end"]}]
    steps = [{**HANGING, "name": "first"}, gently("stepdown")]
    process = started("run", write(experiments=steps, notify=people, stop_on=GO_ON))
    await_(happened("pause_node", home), process)
    (day,) = all_days()
    day.path.rename(home / "elsewhere")
    day.path.write_text("the disk went away")
    subprocess.run([*COMMAND, "stop", "--reason", "the pager rang"], timeout=200)
    assert process.wait(60) == 3, Path("said").read_text()[-3000:]
    words = Path("said").read_text()
    assert mentions(words, "the game day was aborted", str(day.path), "cannot be written")
    assert "stepdown begins" not in words
    check_whole(lab_mongodb)
    (message,) = hook.heard
    assert message["type"] in ("warning", "failure")  # a broken limit counts, too
    assert "cluster `lab-mongodb` is whole" in message["message"]


@pytest.mark.matrix
@pytest.mark.timeout(600)
def test_a_scheduled_day_that_is_killed_is_put_back_by_its_server_and_told(
    lab_mongodb: Cluster, home: Path, write: Write, hook: Hook, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPS", hook.url)
    people = [{"name": "ops", "url": {"env": "OPS"}, "about": ["fail"]}]
    _, process = served(
        lambda at: [write(experiments=[HANGING], schedule={"at": at.isoformat()}, notify=people)]
    )
    try:
        await_(happened("pause_node", home), process)
        (lease,) = json.loads(told("status", "--json").stdout)
        kill_tree(lease["pid"])
        await_(lambda: hook.titles, process)
    finally:
        process.terminate()
        process.wait(60)
    assert "was killed by SIGKILL" in hook.titles[0]
    assert "cluster `lab-mongodb` is whole" in hook.heard[0]["message"]
    check_whole(lab_mongodb)


@pytest.mark.matrix
def test_a_safeguard_of_chaostoolkit_addons_ends_the_experiment_and_the_day(
    lab_mongodb: Cluster, home: Path, write: Write
) -> None:
    (home / "trip").write_text("")
    probe = {
        "type": "probe",
        "name": "nobody-tripped",
        "frequency": 1,
        "tolerance": {"type": "regex", "pattern": "^$", "target": "stdout"},
        "provider": {"type": "process", "path": "cat", "arguments": str(home / "trip")},
    }
    steps = [HANGING, gently("stepdown")]
    process = started("run", write(experiments=steps, safeguards=[probe], stop_on=GO_ON))
    await_(happened("pause_node", home), process)
    (home / "trip").write_text("tripped")
    assert process.wait(120) in (1, 3), Path("said").read_text()
    (made,) = all_days()
    assert verdicts(made)[1] == "waiting"
    check_whole(lab_mongodb)


@pytest.mark.matrix
@pytest.mark.quiet
def test_the_shipped_game_day_passes_its_three_experiments(
    lab_mongodb: Cluster, home: Path
) -> None:
    done = told("run", "lab-mongodb")
    assert done.returncode == 0, done.stdout + done.stderr
    (made,) = all_days()
    assert verdicts(made) == ["pass"] * 3
    fresh = told("history", "lab-mongodb")
    assert (fresh.returncode, fresh.stdout.count("passed today")) == (0, 3)
