"""What goes wrong with us in the middle of a fault: the cluster is whole, and the run says so.

Each is done to a real run on a real lab. Nobody may set this machine's clock, and the databases
would notice, so the step of the wall clock is one of Python's own clocks (`time.time` and
`datetime.now`) in the run's process, the only one that shows the time of day to anybody.
"""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from tests import chaos_runner as chaos
from tests import kill_harness
from tests.loadgen.driving import check_identities, rows, running, stream
from tests.security.driving import SMALL

from brownout.base.binary import find_loadgen
from brownout.databases.adapter import adapter_for
from brownout.inventory.model import Cluster
from brownout.judge.analysis import analyze
from brownout.machine import procfs
from brownout.show.report import html

SEED = int(os.environ.get("BROWNOUT_SOAK_SEED", "4711"))
CUTS = int(os.environ.get("BROWNOUT_SOAK_CUTS", "10"))

pytestmark = [pytest.mark.soak, pytest.mark.timeout(900)]


def until(what: str, found: Callable[[], Any], within_s: float = 120) -> Any:
    """Return what `found` finds as soon as it finds anything."""
    deadline = time.monotonic() + within_s
    while time.monotonic() < deadline:
        if value := found():
            return value
        time.sleep(0.05)
    raise AssertionError(f"{what} did not come within {within_s:g} s")


def faulted(where: Path) -> Path | None:
    """Return the run directory as soon as the run has proven its fault."""
    for path in where.glob("runs/*/events.ndjson"):
        if '"effective"' in path.read_text():
            return path.parent
    return None


def whole_without_us(cluster: Cluster, where: Path) -> None:
    """Heal, and find nothing left: no claim, no process, every member there."""
    told = brownout("heal", where=where)
    assert told.returncode == 0, told.stdout + told.stderr
    adapter = adapter_for(cluster)
    try:
        until("a whole cluster", lambda: adapter.stable("whole").reached)
    finally:
        adapter.close()
    until("the end of all processes", lambda: not procfs.users_of(where / "runs"), 30)


def brownout(*words: str, where: Path) -> subprocess.CompletedProcess[str]:
    """Run the command as a person would."""
    return subprocess.run(
        [sys.executable, "-m", "brownout", *words],
        env={**os.environ, **environment(where)},
        capture_output=True,
        text=True,
        timeout=400,
    )


def environment(where: Path) -> dict[str, str]:
    """A load that a busy machine can carry too: what it measures is not what is tested."""
    return {"BROWNOUT_STATE": str(where / "state"), "BROWNOUT_LOAD": SMALL}


def readable(run: Path, where: Path) -> dict[str, Any]:
    """Analyse and report the run as a person would; return its impact, which is no pass."""
    told = brownout("analyze", str(run), where=where)
    assert told.returncode in (1, 2, 3), told.stdout + told.stderr
    assert "Traceback" not in told.stderr
    assert brownout("report", str(run), where=where).returncode == 0
    impact: dict[str, Any] = json.loads((run / "impact.json").read_text())
    assert impact["verdict"] != "pass"
    return impact


def test_a_run_directory_removed_in_mid_fault_ends_the_run_and_everything_is_put_back(
    fresh_lab: Cluster, tmp_path: Path
) -> None:
    experiment = chaos.quick(chaos.load("node-kill"))
    # It never is: the node stays down until the run has ended.
    experiment["method"][1]["provider"]["arguments"]["state"] = "redundant"
    process = chaos.start(
        experiment, tmp_path, "--rollback-strategy=always", env=environment(tmp_path)
    )
    run = until("the fault", lambda: faulted(tmp_path))
    shutil.rmtree(run)
    ran = chaos.finish(process, tmp_path)
    assert ran.code == 1
    assert "the run directory is gone" in ran.output
    assert ran.journal["status"] != "completed"
    whole_without_us(fresh_lab, tmp_path)
    told = brownout("analyze", str(run), where=tmp_path)
    assert told.returncode == 64
    assert "there is no such run directory" in told.stderr


def test_a_generator_killed_in_mid_fault_makes_the_run_inconclusive(
    fresh_lab: Cluster, tmp_path: Path
) -> None:
    experiment = chaos.quick(chaos.load("node-kill"))
    process = chaos.start(experiment, tmp_path, env=environment(tmp_path))
    run = until("the fault", lambda: faulted(tmp_path))
    for pid in procfs.users_of(run):
        found = procfs.identify(pid)
        if found is not None and Path(found.command[0]).name == "loadgen":
            os.kill(pid, signal.SIGKILL)
            break
    else:
        raise AssertionError("no generator was found")
    ran = chaos.finish(process, tmp_path)
    assert ran.code == 1
    assert "Traceback" not in ran.output
    whole_without_us(fresh_lab, tmp_path)
    impact = readable(run, tmp_path)
    assert "generator_finished" in [c["name"] for c in impact["validity"] if c["ok"] is False]


#: Passes commands on to the real generator until a file appears, then closes its stdin.
DEAF = """
import os, pathlib, subprocess, sys, threading
real = subprocess.Popen([{real!r}, *sys.argv[1:]], stdin=subprocess.PIPE)
closed = pathlib.Path({flag!r})
def close():
    while not closed.exists() and real.poll() is None:
        threading.Event().wait(0.05)
    real.stdin.close()
    os._exit(real.wait())
threading.Thread(target=close, daemon=True).start()
for line in sys.stdin.buffer:
    if not closed.exists():
        real.stdin.write(line)
        real.stdin.flush()
sys.exit(real.wait())
"""


def test_a_generator_that_hears_us_no_more_ends_by_itself_and_its_ledger_is_not_known(
    fresh_lab: Cluster, tmp_path: Path
) -> None:
    deaf, flag = tmp_path / "deaf", tmp_path / "closed"
    program = DEAF.format(real=str(find_loadgen()), flag=str(flag))
    deaf.write_text(f"#!{sys.executable}\n{program}")
    deaf.chmod(0o755)
    experiment = chaos.quick(chaos.load("node-kill"))
    given = {**environment(tmp_path), "BROWNOUT_LOADGEN": str(deaf)}
    process = chaos.start(experiment, tmp_path, env=given)
    run = until("the fault", lambda: faulted(tmp_path))
    flag.touch()
    ran = chaos.finish(process, tmp_path)
    assert ran.code == 1
    assert "Traceback" not in ran.output
    whole_without_us(fresh_lab, tmp_path)
    impact = readable(run, tmp_path)
    assert impact["ledger"]["state"] == "unknown"
    assert json.loads((run / "generator.json").read_text())["stop_reason"] == "end of input"
    check_identities(run)


#: Steps the process's wall clock back by an hour from the moment on that a file is there.
STEPPED = """
import datetime, os, time
_time, _datetime = time.time, datetime.datetime
def _step():
    return -3600.0 if os.path.exists({flag!r}) else 0.0
class Stepped(_datetime):
    @classmethod
    def now(cls, tz=None):
        return _datetime.now(tz) + datetime.timedelta(seconds=_step())
time.time = lambda: _time() + _step()
datetime.datetime = Stepped
"""


def test_a_wall_clock_that_steps_back_an_hour_moves_no_measure(
    fresh_lab: Cluster, tmp_path: Path
) -> None:
    flag, site = tmp_path / "stepped", tmp_path / "site"
    site.mkdir()
    (site / "sitecustomize.py").write_text(STEPPED.format(flag=str(flag)))
    experiment = chaos.quick(chaos.load("node-kill"))
    given = {**environment(tmp_path), "PYTHONPATH": str(site)}
    process = chaos.start(experiment, tmp_path, env=given)
    until("the fault", lambda: faulted(tmp_path))
    flag.touch()
    ran = chaos.finish(process, tmp_path)
    assert "Traceback" not in ran.output
    walls = [datetime.fromisoformat(event["wall"]).timestamp() for event in ran.events]
    assert min(b - a for a, b in pairwise(walls)) < -3000
    (fault,) = ran.impact["faults"]
    assert 0 < fault["effective"] < ran.impact["load"]["duration_s"] < 600
    assert fault["redundancy_time"] is not None
    met = {c["name"]: c["ok"] for c in ran.impact["validity"]}
    for name in ("fault_landed", "method_completed", "identities_exact", "files_whole"):
        assert met[name], ran.impact["reasons"]
    assert ran.impact["ledger"]["state"] == "clean"
    whole_without_us(fresh_lab, tmp_path)


def test_tens_of_thousands_of_refused_connections_leave_nothing_open(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script = {"lanes": 3, "effects": [{"at": 2, "for": 20, "effect": "refuse"}]}
    files: list[int] = []
    with running(tmp_path, script, stream(rate=1500)) as (load, _, run):
        for second in range(1, 26):
            load.until(second)
            files.append(len(list(Path(f"/proc/{load.process.pid}/fd").iterdir())))
        load.ask("stop", "stopped")
        assert load.finish() == 0
    check_identities(run)
    refused = sum(r.n("n") for r in rows(run / "errors.csv") if r["cause"] == "connect-refused")
    seconds = rows(run / "generator.csv")
    memory = [float(row["rss_mb"]) for row in seconds]
    with capsys.disabled():
        print(
            f"{refused:,} operations met a refused connection; files open at most {max(files)}, "
            f"{files[-1]} afterwards; memory {memory[5]:.1f} MB at 5 s, {memory[20]:.1f} MB at 20 s"
        )
    assert refused >= 10_000
    assert max(files) <= files[0] + 6  # a dial of each lane at a time, and what it replaces
    assert files[-1] <= files[0] + 3
    assert memory[20] < 1.25 * memory[5] + 8
    assert max(row.n("goroutines") for row in seconds) < 3 * 64 + 100
    served = [row for row in rows(run / "outcomes.csv") if 23 < row.t < 24.5]
    sent = sum(row.n("offered") - row.n("missed") for row in served)
    assert sum(row.n("ok") for row in served) > 0.9 * sent


FILES = ("events.ndjson", "ledger.ndjson", "series.csv", "outcomes.csv", "latency.hlog",
         "errors.csv", "lanes.csv", "generator.csv")  # fmt: skip


def cut(path: Path, drawn: random.Random) -> int:
    """Cut a file at a random byte, and return which."""
    size = drawn.randrange(path.stat().st_size)
    os.truncate(path, size)
    return size


@pytest.mark.parametrize("number", range(3))
def test_a_killed_run_with_torn_files_is_healed_and_read_as_far_as_it_goes(
    fresh_lab: Cluster, tmp_path: Path, number: int
) -> None:
    drawn = random.Random(SEED + number)

    def damage(run: Path) -> None:
        for name in FILES:
            if (run / name).is_file() and (run / name).stat().st_size:
                cut(run / name, drawn)

    kill_harness.kill_and_heal(
        fresh_lab, tmp_path / "run", "kill_node", 1.0, experiment="node-kill", damage=damage
    )


def test_a_finished_run_cut_at_any_byte_is_judged_without_a_pass(
    fresh_lab: Cluster, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ran = chaos.run(chaos.quick(chaos.load("node-kill")), tmp_path, env=environment(tmp_path))
    assert ran.directory is not None, ran.output
    drawn, words = random.Random(SEED), []
    for name in (*FILES, "journal.json", "generator.json"):
        for number in range(CUTS):
            copy = tmp_path / f"{name}-{number}"
            shutil.copytree(ran.directory, copy)
            (copy / "impact.json").unlink()
            at = cut(copy / name, drawn)
            if name == "generator.json":
                assert brownout("analyze", str(copy), where=tmp_path).returncode == 64
            else:
                word = analyze(copy).verdict
                words.append(word)
                whole_lines = name == "journal.json" or (copy / name).read_bytes().endswith(b"\n")
                assert word != "pass" or whole_lines, f"{name} cut at {at}"
            assert html.write(copy).is_file()
            shutil.rmtree(copy)
    with capsys.disabled():
        counts = {word: words.count(word) for word in sorted(set(words))}
        print(f"the run was {ran.impact['verdict']}; {len(words)} cuts of it: {counts}")
