"""Kill a run and all its processes at a moment, heal, and see that nothing of it is left."""

import json
import operator
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tests import chaos_runner as chaos
from tests.forked_run import brownout
from tests.waiting import await_whole

from brownout.base.wait import wait_until
from brownout.databases.adapter import Adapter, adapter_for
from brownout.faults import undos
from brownout.faults.faults import Faults
from brownout.inventory.model import Cluster
from brownout.machine import leftovers, procfs
from brownout.machine.host import host_for
from brownout.run.events import EventLog, read_events
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
    #: Whether the run had come to its mark; a busy machine may be too slow for that.
    in_time: bool = True


class EndedByItself(AssertionError):
    """The run came to its end before it came to the mark; with what it printed."""


def kill_and_heal(
    cluster: Cluster,
    where: Path,
    mark: str,
    after_s: float = 0.0,
    experiment: str | dict[str, Any] = "node-wipe",
    options: Sequence[str] = (),
    damage: Callable[[Path], None] | None = None,
    env: Mapping[str, str] | None = None,
) -> Healed:
    """Start an experiment, `kill -9` its whole tree, heal, and check everything.

    The kill comes `after_s` seconds after the run has written `mark` down; `damage` is done to the
    run directory before healing, which then takes naming the nodes; `env` is for the processes.
    """
    settings = {**(env or {}), "BROWNOUT_STATE": str(where / "state")}
    process = _start(where, experiment, options, settings)
    deadline = time.monotonic() + PATIENCE_S
    while f'"{mark}"' not in _written(where) and time.monotonic() < deadline:
        if process.poll() is not None:
            raise EndedByItself(process.communicate()[0])
        time.sleep(0.01)
    in_time = f'"{mark}"' in _written(where)
    time.sleep(after_s)  # this very moment is what is tested: there is no state to wait for
    return replace(_kill_and_heal(process, cluster, where, damage, settings), in_time=in_time)


_ACT = """\
import json, sys
from pathlib import Path
from brownout.databases.adapter import adapter_for
from brownout.faults.faults import Faults
from brownout.inventory import inventory
from brownout.run.events import EventLog
cluster = inventory.load(sys.argv[1])
faults = Faults(cluster, adapter_for(cluster), EventLog(Path(sys.argv[2])), float)
print("ready", flush=True)
faults.run(sys.argv[3], cluster.node(sys.argv[4]), **json.loads(sys.argv[5]))
"""


def kill_act(
    cluster: Cluster,
    log: Path,
    fault: str,
    arguments: Mapping[str, Any],
    after_s: float,
    node: str = "",
) -> None:
    """Do a fault in a process of its own, and `kill -9` that `after_s` seconds after it begins."""
    words = [cluster.name, str(log), fault, node or cluster.nodes[0].name, json.dumps(arguments)]
    with subprocess.Popen([sys.executable, "-c", _ACT, *words], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(after_s)  # this very moment is what is tested: there is no state to wait for
        kill_tree(process.pid)


def heal_act(cluster: Cluster, adapter: Adapter, log: Path) -> None:
    """Put back what the record of an act that was killed says, twice."""
    for _ in range(2):
        pending = undos.left(read_events(log)) if log.exists() else ()
        faults = Faults(cluster, adapter, EventLog(log), lambda t: t, pending=pending)
        assert faults.put_back() == []


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
    damage: Callable[[Path], None] | None,
    env: Mapping[str, str],
) -> Healed:
    kill_tree(process.pid)
    process.communicate()
    for run in where.glob("runs/*"):
        if damage is not None:
            damage(run)
    return heal(cluster, where, env, damaged=damage is not None)


def heal(cluster: Cluster, where: Path, env: Mapping[str, str], *, damaged: bool = False) -> Healed:
    """Heal what a run in the folder `where` that is dead has left, and check everything.

    It is healed from another folder, in which an inventory of the same name means other nodes.
    """
    phase = _phase(where)
    elsewhere, scratch = where / "elsewhere", where / "scratch"
    touched = _plant_namesake(cluster, elsewhere)
    scratch.mkdir(exist_ok=True)
    began = time.monotonic()
    environment = {**env, "TMPDIR": str(scratch)}
    told = brownout("heal", env=environment, cwd=elsewhere, timeout=400)
    if damaged and told.returncode == 4:  # what is lost of the record is asked for by name
        named = [
            word for node in re.findall(r"--also (\w+)", told.stderr) for word in ("--also", node)
        ]
        told = brownout("heal", *named, env=environment, cwd=elsewhere, timeout=400)
    heal_s = time.monotonic() - began
    assert told.returncode == 0, told.stdout + told.stderr
    assert not touched.exists(), "another cluster of the same name was healed"
    assert list(scratch.iterdir()) == []
    assert list((Path(env["BROWNOUT_STATE"]) / "open").glob("*.json")) == []
    _check_no_switch(cluster)
    _check_whole(cluster)
    assert _processes_of(where) == []
    _check_readable(where)
    found = re.search(r"put back (.*?)(; whole)?$", told.stdout, re.MULTILINE)
    return Healed(phase, heal_s, found[1] if found else "", wiped(where))


def _plant_namesake(cluster: Cluster, folder: Path) -> Path:
    """Lay an inventory of the same name into `folder`; return the file that its use would make.

    Each of its nodes is stopped, and leaves a file when it is started.
    """
    touched = folder / "touched"
    nodes = [
        {"name": node.name, "address": f"127.0.0.1:{number}", "host": {
            "pid_file": str(folder / f"{node.name}.pid"), "command": ["touch", str(touched)]}}
        for number, node in enumerate(cluster.nodes, start=1)
    ]  # fmt: skip
    for file in (
        folder / f"{cluster.name}.yaml",
        folder / "infra/clusters" / f"{cluster.name}.yaml",
    ):
        file.parent.mkdir(parents=True, exist_ok=True)
        declared = {"database": cluster.database, "environment": "test", "nodes": nodes}
        file.write_text(json.dumps(declared))
    return touched


def _check_no_switch(cluster: Cluster) -> None:
    """No switch waits to undo something on a node, and no node is cut off, slowed or paused."""
    pids: set[str] = set()
    for node in cluster.nodes:
        host = host_for(node)
        state = host.running()
        pids.add(str(state.pid))
        assert not state.paused, node.name
        for module in leftovers.modules():
            assert not module.left_on(node, host), node.name
    waiting = [
        " ".join(identity.command)
        for entry in Path("/proc").glob("[0-9]*")
        if (identity := procfs.identify(int(entry.name))) is not None
        and any(word.startswith("brownout-undo-") for word in identity.command)
        and pids & set(identity.command)
    ]
    assert waiting == []


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
    return name.startswith(("mongod", "asd", "redis-server", "etcd"))


def _processes_of(where: Path) -> list[str]:
    """Processes that still work in the run's folder; killed ones may need a moment to be gone."""
    left = wait_until(lambda: procfs.users_of(where), 10, so=operator.not_)
    identities = [procfs.identify(pid) for pid in left]
    return [" ".join(each.command) for each in identities if each is not None]


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
