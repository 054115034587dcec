"""Which run has a cluster: seen from this process, after a death, and from another container."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import pytest
from tests.exhausted import no_file_left
from tests.forked_run import brownout
from tests.wording import naming

from brownout.base.errors import BrownoutError, Refused
from brownout.faults import heal, open_runs
from brownout.faults.claimed_nodes import ClaimedNode, nodes_of
from brownout.faults.open_runs import Claim
from brownout.inventory.model import Cluster

_HOLD = """
import sys
from pathlib import Path
from brownout.faults import open_runs
open_runs.claim("shop", Path(sys.argv[1]), "shop", brought_up=False)
print("taken", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A run's folder, and a state of its own."""
    monkeypatch.setenv("BROWNOUT_STATE", str(tmp_path / "state"))
    monkeypatch.setenv("BROWNOUT_LAB_DIR", str(tmp_path / "lab"))
    return tmp_path / "run"


@pytest.fixture
def elsewhere(run: Path) -> Iterator[subprocess.Popen[str]]:
    """A process that cannot be seen from here, as one of another container, and has the cluster."""
    command = [sys.executable, "-c", _HOLD, str(run)]
    if os.geteuid() == 0:
        command = ["unshare", "--pid", "--mount-proc", "--fork", "--kill-child", *command]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "taken\n"
    yield process
    process.communicate()


@pytest.mark.skipif(os.geteuid() != 0, reason="NOT TESTED: only root makes process namespaces")
def test_a_run_of_another_container_on_the_same_volume_is_alive(
    elsewhere: subprocess.Popen[str], run: Path
) -> None:
    (held,) = open_runs.claims()
    assert held.pid == 1  # of its own namespace: here that is another process
    assert held.is_alive()
    with pytest.raises(Refused, match="is still running"):
        heal.heal(held, 1.0, print)
    with no_file_left(), pytest.raises(BrownoutError, match="Too many open files"):
        held.is_alive()
    with pytest.raises(Refused, match=naming("`shop`", run, 1)):
        open_runs.claim("shop", run, "shop", brought_up=False)


def test_a_run_whose_process_was_killed_is_dead(
    elsewhere: subprocess.Popen[str], run: Path
) -> None:
    elsewhere.kill()
    assert elsewhere.stdout is not None
    assert elsewhere.stdout.read() == ""  # its last process has ended
    (held,) = open_runs.claims()
    assert not held.is_alive()
    with pytest.raises(Refused, match="died before it had put everything back"):
        open_runs.claim("shop", run, "shop", brought_up=False)


def test_a_cluster_that_is_let_go_can_be_taken_again(run: Path) -> None:
    for _ in range(2):
        open_runs.claim("shop", run, "shop", brought_up=False)
        with pytest.raises(Refused, match=naming("`shop`", run, os.getpid())):
            open_runs.claim("shop", run, "shop", brought_up=False)
        open_runs.release("shop")
    assert open_runs.claims() == []


def _cluster(name: str, *addresses: str) -> Cluster:
    nodes = [{"name": f"{name}-{n}", "address": each} for n, each in enumerate(addresses, 1)]
    document = {"name": name, "database": "mongodb", "environment": "test", "nodes": nodes}
    return Cluster.model_validate(document)


def _claim(cluster: Cluster, run: Path) -> Claim:
    return open_runs.claim(cluster.name, run, cluster.name, False, nodes=nodes_of(cluster))


def test_two_inventories_of_the_same_nodes_cannot_be_taken_at_once(run: Path) -> None:
    _claim(_cluster("orders", "127.0.0.1:7001", "127.0.0.1:7002"), run)
    with pytest.raises(Refused, match=naming(run, os.getpid())) as refused:
        _claim(_cluster("copy", "[::1]:7000", "localhost:7002"), run)
    assert "node `copy-2` (localhost:7002) of cluster `copy`" in refused.value.message
    assert "node `orders-2` (127.0.0.1:7002) of cluster `orders`" in refused.value.message
    open_runs.release("orders")
    _claim(_cluster("copy", "localhost:7002"), run)
    open_runs.release("copy")


def test_the_nodes_of_a_dead_run_cannot_be_taken_by_another_name(run: Path, tmp_path: Path) -> None:
    dead = _left_by_a_dead_run(tmp_path / "state", run, _cluster("orders", "127.0.0.1:7001"))
    with pytest.raises(Refused, match="died before") as refused:
        _claim(_cluster("copy", "127.0.0.1:7001"), run)
    assert refused.value.hint == f"`brownout heal {dead.cluster}` does that"


def test_clusters_that_have_no_node_in_common_are_taken_side_by_side(run: Path) -> None:
    _claim(_cluster("orders", "127.0.0.1:7001"), run)
    _claim(_cluster("carts", "127.0.0.1:7002", "127.0.0.2:7001"), run)
    assert {held.cluster for held in open_runs.claims()} == {"orders", "carts"}
    for name in ("orders", "carts"):
        open_runs.release(name)


_TAKE_ONE = """
import sys
from pathlib import Path
from brownout.base.errors import Refused
from brownout.faults import open_runs
from brownout.faults.claimed_nodes import ClaimedNode
name = sys.argv[1]
nodes = [ClaimedNode("n1", "db:1", ("address db:1",))]
sys.stdin.readline()
try:
    open_runs.claim(name, Path(name), name, False, nodes=nodes)
    print("taken", flush=True)
except Refused:
    print("refused", flush=True)
sys.stdin.readline()
"""


def test_of_many_that_take_the_same_nodes_at_once_by_other_names_one_gets_them(run: Path) -> None:
    command = [sys.executable, "-c", _TAKE_ONE]
    processes = [
        subprocess.Popen(
            [*command, f"copy-{n}"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for n in range(6)
    ]
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    outcomes = [process.stdout.readline().strip() for process in processes if process.stdout]
    for process in processes:
        process.communicate("over\n")
    assert sorted(outcomes) == ["refused"] * 5 + ["taken"]


def _left_by_a_dead_run(state: Path, run: Path, cluster: Cluster | None = None) -> Claim:
    """Write what a run that brought its lab up and died leaves."""
    nodes: tuple[ClaimedNode, ...] = () if cluster is None else nodes_of(cluster)
    left = {"cluster": "lab-mongodb", "run": str(run), "inventory": "lab-mongodb",
            "brought_up": True, "pid": 2**22 + 1, "started": 1, "command": ["chaos"],
            "nodes": [asdict(node) for node in nodes]}  # fmt: skip
    (state / "open").mkdir(parents=True, exist_ok=True)
    (state / "open" / "lab-mongodb.json").write_text(json.dumps(left))
    (held,) = open_runs.claims()
    return held


def _brownout_heal() -> subprocess.CompletedProcess[str]:
    return brownout("heal", "lab-mongodb", timeout=60)


def test_nobody_else_heals_or_takes_a_cluster_while_it_is_healed(run: Path, tmp_path: Path) -> None:
    dead = _left_by_a_dead_run(tmp_path / "state", run)
    met: list[str] = []

    def meanwhile(words: str) -> None:
        if words.startswith("taking down"):
            other = _brownout_heal()
            met.append(f"{other.returncode} {other.stderr}")
            with pytest.raises(Refused, match="brownout heal"):
                open_runs.claim("lab-mongodb", run, "lab-mongodb", brought_up=False)

    heal.heal(dead, 1.0, meanwhile)
    assert ["64 lab-mongodb: another process is healing" in words for words in met] == [True], met
    assert open_runs.claims() == []
    assert not dead.is_alive()
    open_runs.claim("lab-mongodb", run, "lab-mongodb", brought_up=False)
    open_runs.release("lab-mongodb")


def test_a_run_that_is_healed_at_this_moment_is_not_taken_for_a_living_one(
    run: Path, tmp_path: Path
) -> None:
    dead = _left_by_a_dead_run(tmp_path / "state", run)
    with open_runs.healing(dead) as is_there:
        assert is_there
        assert not dead.is_alive()
        # A heal that has just taken the lock has not written yet who has it.
        for holder in ("", "process 4711"):
            (tmp_path / "state" / "open" / "lab-mongodb.lock").write_text(holder)
            assert not dead.is_alive()
            with pytest.raises(Refused, match="another process is healing"):
                heal.heal(dead, 1.0, print)


def test_a_heal_that_comes_too_late_leaves_the_claim_of_the_run_that_died_after_it(
    run: Path, tmp_path: Path
) -> None:
    first = _left_by_a_dead_run(tmp_path / "state", run)
    second = _left_by_a_dead_run(tmp_path / "state", run / "second")
    late = heal.heal(first, 1.0, print)
    assert (late.mended, late.outcome) == ({}, "another process put it back meanwhile")
    assert open_runs.claims() == [second]


def test_only_who_has_a_cluster_lets_go_of_it(elsewhere: subprocess.Popen[str], run: Path) -> None:
    held = open_runs.claims()
    open_runs.release("shop")
    assert open_runs.claims() == held


#: Runs that take the cluster and let go of it or die with it, beside processes that heal all the
#: time: whoever took it says how often it found that its claim was gone.
_RACE = """
import os, sys, time
from contextlib import suppress
from pathlib import Path
from brownout.base.errors import BrownoutError
from brownout.faults import heal, open_runs

run, role, rounds = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])

def healed():
    for held in open_runs.claims():
        if not held.is_alive():
            with suppress(BrownoutError):
                heal.heal(held, 1.0, lambda words: None)

def lived(number):
    while True:
        with suppress(BrownoutError):
            mine = open_runs.claim("lab-mongodb", run / f"{role}-{number}", "lab-mongodb", True)
            break
        time.sleep(0.005)
    for _ in range(20):
        if open_runs.claims() != [mine]:
            os._exit(1)
        os.sched_yield()
    if number % 2:
        os._exit(0)  # it dies with the cluster in its hands
    open_runs.release("lab-mongodb")
    os._exit(0)

lost = 0
if role == "heal":
    while not (run / "over").exists():
        healed()
for number in range(rounds):
    if (child := os.fork()) == 0:
        lived(number)
    lost += os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
print(lost)
"""


def test_of_many_heals_none_removes_the_claim_of_a_run_that_lives(run: Path) -> None:
    run.mkdir()

    def start(role: str, rounds: int) -> subprocess.Popen[str]:
        command = [sys.executable, "-c", _RACE, str(run), role, str(rounds)]
        return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)

    healers = [start("heal", 0) for _ in range(2)]
    runs = [start(f"run{index}", 6) for index in range(2)]
    lost = [process.communicate(timeout=100)[0] for process in runs]
    (run / "over").touch()
    for healer in healers:
        healer.communicate(timeout=60)
    assert lost == ["0\n", "0\n"]
