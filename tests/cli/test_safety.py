"""`brownout plan`, `abort` and `heal` as commands: what they say and their exit codes."""

import errno
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import Brownout
from tests.wording import mentions

from brownout.base import catalog
from brownout.base.errors import ExitCode
from brownout.databases.adapter import MilestoneState
from brownout.databases.aerospike.adapter import AerospikeAdapter
from brownout.faults import open_runs


@pytest.fixture(autouse=True)
def _no_lab(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BROWNOUT_LAB_DIR", str(home / "lab"))


def test_a_plan_names_every_step_and_touches_nothing(brownout: Brownout, home: Path) -> None:
    said = brownout("plan", "node-wipe", "--set", "seed:int=7", "--set", "mode=clean")
    assert said.code == 0, said.err
    for words in ("seed         7", "wipe-the-node", "wait-until-redundant", "put-back"):
        assert words in said.out
    assert said.out.rstrip().endswith("nothing was touched")
    assert list(home.iterdir()) == []


def test_a_plan_of_a_slow_disk_takes_the_calls_that_are_held(brownout: Brownout) -> None:
    said = brownout("plan", "disk-slow", "--set", "calls=write")
    assert said.code == 0, said.err


@pytest.mark.parametrize(("baseline_s", "said"), [("0.5", True), ("10", False), ("0", False)])
def test_a_plan_says_that_its_baseline_is_too_short_for_a_pass(
    baseline_s: str, said: bool, brownout: Brownout, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BROWNOUT_BASELINE_S", baseline_s)
    told = brownout("plan", "node-kill")
    assert told.code == 0, told.err
    assert ("with less than 10 s a run is never a pass" in told.out) is said


def test_a_plan_that_a_guard_forbids_says_so(
    brownout: Brownout, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inventory = (
        "database: mongodb\nenvironment: production\n"
        "lab: {engine: mongodb}\nguards: {deny_acts: [wipe]}\n"
    )
    (home / "prod.yaml").write_text(inventory)
    said = brownout("plan", "node-wipe", "--set", f"cluster={home / 'prod.yaml'}")
    assert said.code == 64
    for guard in ("NO   environment", "NO   deny list", "NO   data loss"):
        assert guard in said.out


@pytest.mark.parametrize(
    ("scenario", "words"),
    [
        ("partition", "NO   supports partition: its nodes have no network namespace"),
        ("slow-node", "NO   supports delay: its nodes cannot be slowed (`lab.slow_links`)"),
    ],
)
def test_a_plan_on_a_lab_that_is_down_says_what_it_could_not_do_once_it_is_up(
    scenario: str, words: str, brownout: Brownout, home: Path
) -> None:
    said = brownout("plan", scenario, "--set", "cluster=lab-mongodb")
    assert said.code == 64
    assert words in said.out
    assert list(home.iterdir()) == []


def test_a_plan_on_a_lab_that_is_down_asks_this_machine_too(
    brownout: Brownout, monkeypatch: pytest.MonkeyPatch, home: Path
) -> None:
    monkeypatch.setenv("PATH", str(home))
    said = brownout("plan", "partition")
    assert "NO   supports partition: ip, nft, nsenter, setsid" in said.out
    said = brownout("plan", "slow-node")  # by toxiproxy, which needs none of these
    assert "yes  supports delay: yes" in said.out


def test_a_plan_says_which_limits_hold_and_which_were_dropped(brownout: Brownout) -> None:
    told = brownout("plan", "node-kill", "--set", "limits=recovery_time=none").out
    assert "limit        lost_writes ≤ 0  (steady-state/slo/node-kill.mongodb.yaml)" in told
    assert "dropped      recovery_time ≤ 10 s  (by --var limits)" in told
    assert "limit        recovery_time" not in told


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda e: e["extensions"][0].update(scenario="node-kil"), "did you mean node-kill?"),
        (lambda e: e.pop("extensions"), "limits are found"),
    ],
    ids=["a misspelt scenario", "no scenario"],
)
def test_a_plan_without_limits_to_judge_by_is_refused(
    change: Callable[[Any], Any], words: str, brownout: Brownout, home: Path
) -> None:
    experiment = json.loads(catalog.read("experiments", "node-kill"))
    change(experiment)
    (home / "mine.json").write_text(json.dumps(experiment))
    said = brownout("plan", home / "mine.json", "--set", "limits=recovery_time=10")
    assert said.code == 64
    assert words in said.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("no-such",), "node-kill"),
        (("experiments/none.json",), "no such experiment"),
        (("node-kill", "--set", "seed"), "NAME=VALUE"),
        (("node-kill", "--set", "seed:int=x"), "not of type int"),
        (("node-kill", "--set", "sead=1"), "sead"),
        (("litmus-fault", "--set", "manifest=/nope.yaml"), "/nope.yaml"),
        (("x" * 5000,), "node-kill"),
    ],
    ids=lambda part: " ".join(part)[:40] if isinstance(part, tuple) else "",
)
def test_a_plan_of_bad_input_says_what_is_wrong(
    arguments: tuple[str, ...], words: str, brownout: Brownout
) -> None:
    said = brownout("plan", *arguments)
    assert said.code == 64
    assert words in said.err


@pytest.mark.parametrize("kind", ["ChaosExperiment", "NetworkChaos"])
def test_a_plan_refuses_a_manifest_that_is_not_a_chaosengine(
    kind: str, brownout: Brownout, home: Path
) -> None:
    (home / "other.yaml").write_text(json.dumps({"kind": kind, "metadata": {"name": "a"}}))
    refused = brownout("plan", "litmus-fault", "--set", f"manifest={home / 'other.yaml'}")
    assert refused.code == 64
    assert kind in refused.err


@pytest.mark.parametrize(
    ("cluster", "given", "words"),
    [
        ("lab-mongodb", "target=n9", "found 'n9', wanted a node (n1, n2, n3), primary"),
        ("lab-mongodb", "target=primary@s2", "found 'primary@s2', wanted no `@`"),
        ("lab-mongodb", "target=rack=r1", "found 'rack=r1', wanted a node"),
        ("lab-mongodb-slow", "target=spare", "lab-mongodb-slow"),
        ("lab-mongodb-sharded", "target=primary@s3", "shards s1, s2"),
        ("lab-mongodb-racks", "target=rack=r4", "rack or rack= one of r1, r2, r3"),
        ("lab-aerospike", "target=n6", "wanted a node (n1, n2, n3, n4, n5), primary"),
        ("lab-aerospike", "target=rack", "`rack`"),
    ],
)
def test_a_plan_refuses_a_target_that_the_cluster_has_not(
    cluster: str, given: str, words: str, brownout: Brownout, home: Path
) -> None:
    said = brownout("plan", "node-kill", "--set", f"cluster={cluster}", "--set", given)
    assert said.code == 64
    assert words in said.err
    assert list(home.iterdir()) == []


@pytest.mark.parametrize(
    ("cluster", "target"),
    [
        *(("lab-mongodb", name) for name in ("n1", "n3", "primary", "secondary", "random", "spare",
                                             "role=secondary")),
        *(("lab-mongodb-sharded", name) for name in ("s2n3", "primary@s2", "role=secondary@s1")),
        *(("lab-mongodb-racks", name) for name in ("rack", "rack=r3", "n5")),
        *(("lab-aerospike-racks", name) for name in ("rack", "rack=r2", "n4", "secondary")),
        ("lab-aerospike", "spare"),
    ],
)  # fmt: skip
def test_a_plan_takes_every_target_that_the_cluster_has(
    cluster: str, target: str, brownout: Brownout, home: Path
) -> None:
    said = brownout("plan", "node-kill", "--set", f"cluster={cluster}", "--set", f"target={target}")
    assert said.code == 0, said.out + said.err


def test_a_plan_refuses_a_node_of_an_activity_that_the_cluster_has_not(
    brownout: Brownout, home: Path
) -> None:
    said = brownout("plan", "member-replace", "--set", "new_node=n7", "--set", "target=n8")
    assert said.code == 64
    assert (
        "add-the-new-node: node: found 'n7', wanted one of target, spare, added, broken, n1"
        in said.err
    )
    assert "target: found 'n8'" in said.err
    assert brownout("plan", "member-replace", "--set", "new_node=n4").code == 0


@pytest.mark.parametrize(
    "arguments",
    [["--keep", "two words"], "--keep 'two words'"],
    ids=["list", "string"],
)
def test_a_plan_shows_the_command_of_a_process_however_its_arguments_are_written(
    arguments: Any, brownout: Brownout, home: Path
) -> None:
    experiment = json.loads(catalog.read("experiments", "node-kill"))
    provider = {"type": "process", "path": "true", "arguments": arguments}
    experiment["method"].insert(0, {"type": "action", "name": "tidy-up", "provider": provider})
    (home / "mine.json").write_text(json.dumps(experiment))
    said = brownout("plan", "mine.json")
    assert said.code == 0, said.err
    assert "true --keep 'two words'" in said.out


@pytest.mark.parametrize(
    ("cluster", "variable"), [("lab-mongodb", "BROWNOUT_MONGOD"), ("lab-aerospike", "BROWNOUT_ASD")]
)
def test_a_plan_names_every_program_that_is_missing(
    cluster: str, variable: str, brownout: Brownout, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, "/nowhere/server")
    monkeypatch.setenv("BROWNOUT_LOADGEN", "/nowhere/loadgen")
    said = brownout("plan", "node-kill", "--set", f"cluster={cluster}")
    assert said.code == 64
    for guard, found in (("server", "/nowhere/server"), ("load generator", "/nowhere/loadgen")):
        (line,) = [line for line in said.out.splitlines() if line.startswith(f"  NO   {guard}:")]
        assert found in line
    assert variable in said.out
    assert list(home.iterdir()) == []


def test_a_plan_on_nodes_that_do_not_answer_shows_every_guard(
    brownout: Brownout, home: Path
) -> None:
    node = "{name: n1, address: '127.0.0.1:1'}"
    inventory = f"database: aerospike\nenvironment: test\nnodes: [{node}]\n"
    (home / "silent.yaml").write_text(inventory)
    said = brownout("plan", "node-kill", "--set", f"cluster={home / 'silent.yaml'}")
    assert said.code == 64
    assert "NO   cluster is whole" in said.out
    assert re.search("NO   target: .*primary.* n1 is silent", said.out), said.out
    assert "kill-the-node" in said.out
    assert "kill the target (not chosen)" in said.out


@pytest.mark.parametrize(
    ("looks", "ok"), [((["n1 is 16.6 s behind (wanted 10)"], []), True), ((["n1 is down"],), False)]
)
def test_a_plan_asks_as_a_run_does_whether_the_cluster_is_whole(
    looks: tuple[list[str], ...],
    ok: bool,
    brownout: Brownout,
    home: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One look may fall between a write and its arrival, or take longer than a look may."""
    left = list(looks)

    def stable(*_: object) -> MilestoneState:
        missing = left.pop(0) if len(left) > 1 else left[0]
        return MilestoneState(not missing, {"missing": missing})

    monkeypatch.setattr(AerospikeAdapter, "stable", stable)
    inventory = (
        "database: aerospike\nenvironment: test\nnodes: [{name: n1, address: '127.0.0.1:1'}]"
    )
    (home / "idle.yaml").write_text(inventory)
    said = brownout("plan", "node-kill", "--set", f"cluster={home / 'idle.yaml'}")
    told = "yes  cluster is whole: every member" if ok else "NO   cluster is whole: n1 is down\n"
    assert told in said.out


def test_with_no_run_there_is_nothing_to_stop_or_to_heal(brownout: Brownout) -> None:
    stopped = brownout("abort")
    assert (stopped.code, "no run is in progress" in stopped.err) == (64, True)
    healed = brownout("heal")
    assert (healed.code, "nothing to heal" in healed.out) == (0, True)


def test_a_heal_that_the_machine_cuts_short_says_so_and_that_it_may_be_repeated(
    brownout: Brownout, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", "events.ndjson")

    open_runs.claim("mine", home, "lab-mongodb", brought_up=False)
    try:
        monkeypatch.setattr("brownout.faults.heal.heal", full)
        healed = brownout("heal", "mine")
    finally:
        open_runs.release("mine")
    assert healed.code == ExitCode.UNDO_FAILED
    assert mentions(healed.err, "mine", "No space left on device", "`brownout heal mine`")


def test_a_claim_that_cannot_be_read_is_not_said_to_be_none(brownout: Brownout, home: Path) -> None:
    path = open_runs.state_home() / "open" / "mine.json"
    path.mkdir(parents=True)
    healed = brownout("heal")
    assert healed.code == ExitCode.BAD_INPUT
    assert mentions(healed.err, str(path), "cannot be read", "Is a directory")
    assert "remove" not in healed.err


def test_a_run_that_goes_on_is_told_to_stop_and_not_healed(brownout: Brownout, home: Path) -> None:
    run = home / "runs" / "20260101T000000Z-node-kill-1"
    run.mkdir(parents=True)
    open_runs.claim("mine", run, "lab-mongodb", brought_up=False)
    try:
        assert brownout("heal", "mine").code == 64
        left_alone = brownout("heal")
        assert (left_alone.code, left_alone.out.count(run.name)) == (0, 1)
        assert (open_runs.state_home() / "open" / "mine.json").exists()
        stopped = brownout("abort", "mine", "--reason", "lunch")
    finally:
        open_runs.release("mine")
    assert stopped.code == 0, stopped.err
    assert (run / "abort").read_text() == "lunch\n"


def test_a_plan_shows_what_atlas_would_be_asked_and_asks_it_nothing(
    brownout: Brownout, home: Path
) -> None:
    said = brownout("plan", "atlas-regional-outage", "--set", "regions=LAB_R2")
    assert said.code == 0, said.err
    own = "http://127.0.0.1:{port}/api/atlas/v2/groups/{groupId}/clusters/lab-atlas"
    assert f"asks GET {own}/status\n" in said.out
    assert f"POST {own}/outageSimulation\n" in said.out
    assert '"regionName": "LAB_R2"' in said.out
    assert f"put back by DELETE {own}/outageSimulation\n" in said.out
    assert list(home.iterdir()) == []
