"""Kill a run and all its processes at a moment, heal, and see that nothing of it is left."""

import json
import operator
import os
import re
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests import chaos_runner as chaos
from tests.forked_run import brownout
from tests.waiting import await_whole

from brownout.base.waiting import wait_until
from brownout.databases.adapter import adapter_for
from brownout.inventory.model import Cluster
from brownout.machine import procfs
from brownout.show.report import html

#: What a run writes down in this order; a moment is one of these and up to `WITHIN_S` after it.
#: Marks rather than seconds, so that a busy machine is killed in every phase as an idle one is.
MARKS = (
    "cluster_whole",
    "load_started",
    "baseline_accepted",
    "kill_node",
    "changed",
    "wipe_node",
    "start_node",
    "rejoined",
    "redundant",
    "load_stopped",
)
WITHIN_S = 2.5
#: A run that has not come to its mark after so long is killed where it is.
PATIENCE_S = float(os.environ.get("BROWNOUT_KILL_PATIENCE_S", "120"))


@dataclass(frozen=True)
class Healed:
    """What was going on when the run was killed, and what healing took."""

    phase: str
    heal_s: float
    mended: str
    wiped: frozenset[str] = frozenset()


class EndedByItself(AssertionError):
    """The run came to its end before it came to the mark; with what it printed."""


def kill_and_heal(
    cluster: Cluster,
    where: Path,
    mark: str,
    after_s: float = 0.0,
    experiment: str | dict[str, Any] = "node-wipe",
    options: Sequence[str] = (),
    damage: Callable[[Path], None] = lambda _: None,
    env: Mapping[str, str] | None = None,
) -> Healed:
    """Start an experiment, `kill -9` its whole tree, heal, and check everything.

    The kill comes `after_s` seconds after the run has written `mark` down; `damage` is done to the
    run directory before healing; `env` is for the processes.
    """
    settings = {**(env or {}), "BROWNOUT_STATE": str(where / "state")}
    process = _start(where, experiment, options, settings)
    deadline = time.monotonic() + PATIENCE_S
    while f'"{mark}"' not in _written(where) and time.monotonic() < deadline:
        if process.poll() is not None:
            raise EndedByItself(process.communicate()[0])
        time.sleep(0.01)
    time.sleep(after_s)  # the moment is what is tested: there is no state to wait for
    return _kill_and_heal(process, cluster, where, damage, settings)


def _start(
    where: Path, wanted: str | dict[str, Any], options: Sequence[str], env: Mapping[str, str]
) -> subprocess.Popen[str]:
    where.mkdir()
    experiment = chaos.quick(chaos.load(wanted) if isinstance(wanted, str) else wanted)
    return chaos.start(experiment, where, *options, env=env)


def _kill_and_heal(
    process: subprocess.Popen[str],
    cluster: Cluster,
    where: Path,
    damage: Callable[[Path], None],
    env: Mapping[str, str],
) -> Healed:
    kill_tree(process.pid)
    process.communicate()
    for run in where.glob("runs/*"):
        damage(run)
    return heal(cluster, where, env)


def heal(cluster: Cluster, where: Path, env: Mapping[str, str]) -> Healed:
    """Heal what a run in the folder `where` that is dead has left, and check everything."""
    phase = _phase(where)
    began = time.monotonic()
    told = brownout("heal", env=env, timeout=400)
    heal_s = time.monotonic() - began
    assert told.returncode == 0, told.stdout + told.stderr
    _check_whole(cluster)
    assert _processes_of(where) == []
    _check_readable(where)
    found = re.search(r"put back (.*?)(; whole)?$", told.stdout, re.MULTILINE)
    return Healed(phase, heal_s, found[1] if found else "", wiped(where))


def kill_tree(root: int) -> None:
    """SIGKILL a process and every descendant that is no database server."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            children.setdefault(int(fields[1]), []).append(int(entry.name))
    tree, front = [root], [root]
    while front:
        front = [child for parent in front for child in children.get(parent, [])]
        tree += front
    for pid in tree:
        identity = procfs.identify(pid)
        if identity is None or not identity.command:  # it has ended by itself
            continue
        if not _is_server(Path(identity.command[0]).name):
            os.kill(pid, signal.SIGKILL)


def _is_server(name: str) -> bool:
    return "mongod" in name or name.startswith("asd")


def _processes_of(where: Path) -> list[int]:
    """Processes that still work in the run's folder; killed ones may need a moment to be gone."""
    return wait_until(lambda: procfs.users_of(where), 10, so=operator.not_)


def _written(where: Path) -> str:
    """All that the run has written down of its events."""
    return "".join(events.read_text() for events in where.glob("runs/*/events.ndjson"))


def _phase(where: Path) -> str:
    """The last thing the run had written down."""
    lines = [line for line in _written(where).splitlines() if line.endswith("}")]
    if not lines:
        return "opening"
    last = json.loads(lines[-1])
    return f"{last['name']} {last['stage']}"


def wiped(where: Path) -> frozenset[str]:
    """Each node that the run, or its healing, says that it wiped or began to wipe."""
    lines = [json.loads(line) for line in _written(where).splitlines() if line.endswith("}")]
    names = ("wipe_node", "finish_wipe", "empty_spare")
    return frozenset(line["node"] for line in lines if line["name"] in names)


def _check_whole(cluster: Cluster) -> None:
    """A busy machine may leave one look without an answer, so this waits for one that has it."""
    adapter = adapter_for(cluster)
    try:
        await_whole(adapter)
    finally:
        adapter.close()


def _check_readable(where: Path) -> None:
    """Whatever is there can be analysed and reported: a verdict, never a crash.

    It is a pass only if the run had been judged before it died.
    """
    for directory in where.glob("runs/*"):
        if not (directory / "run.json").exists():
            continue
        judged = (directory / "journal.json").exists()
        told = brownout("analyze", str(directory), timeout=60)
        expected = (0, 1, 2, 3) if judged else (1, 2, 3)
        assert told.returncode in expected, told.stdout + told.stderr
        assert "Traceback" not in told.stderr
        html.write(directory)
        assert (directory / "report.html").is_file()
