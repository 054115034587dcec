"""What the run recorded decides what is healed: the nodes, what was done to them, who was there."""

import json
import os
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.forked_run import brownout
from tests.waiting import await_whole
from tests.wording import mentions

from brownout.base.errors import ConfigurationError, ExitCode, Refused
from brownout.databases.adapter import adapter_for
from brownout.faults import cluster_record, open_runs
from brownout.faults.act import PendingUndo
from brownout.faults.cluster_record import ClusterRecord
from brownout.faults.faults import Faults
from brownout.faults.heal import THE_CLUSTER, Asked, triage
from brownout.faults.open_runs import Claim
from brownout.inventory import inventory
from brownout.inventory.labs import running_inventory
from brownout.inventory.model import Cluster, Guards, Node, ProcessSpec
from brownout.machine.host import host_for
from brownout.run.directory import RunDirectory
from brownout.run.events import EventLog

NAME = "staging"


@dataclass
class Dead:
    """A run that died on the nodes of a lab, by an inventory of the user's own."""

    cluster: Cluster
    file: Path
    run: Path
    claim: Claim

    def intend(self, name: str, node: str, undo: str) -> None:
        """Write that the run was about to do something, as it does before it acts."""
        log = EventLog(self.run / "events.ndjson")
        log.intent("break", name, node=node, undo={"action": undo})

    def edit(self, change: Callable[[Any], object]) -> None:
        """Change the inventory's file, as a person does."""
        data = yaml.safe_load(self.file.read_text())
        change(data)
        self.file.write_text(yaml.safe_dump(data))

    def heal(self, *options: str, cwd: Path | None = None) -> tuple[int, str]:
        """Run `brownout heal`, in another folder; return its exit code and what it printed."""
        elsewhere = cwd or self.run
        healed = brownout("heal", NAME, *options, cwd=elsewhere, timeout=120)
        return healed.returncode, healed.stdout + healed.stderr

    def is_held(self) -> bool:
        """Whether the cluster is still held for the run."""
        return open_runs.claim_on(NAME) == self.claim

    def runs(self, node: Node) -> bool:
        return host_for(node).running().running


def _declare(lab: Cluster, file: Path) -> None:
    """Write an inventory of the lab's nodes that says nothing about a lab."""
    path = running_inventory(lab.name)
    assert path is not None
    data = {key: value for key, value in yaml.safe_load(path.read_text()).items() if key != "lab"}
    file.write_text(yaml.safe_dump({**data, "name": NAME, "environment": "test"}))


@pytest.fixture
def dead(lab_mongodb: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Dead]:
    """A run that had taken the cluster and died before it broke anything."""
    monkeypatch.setenv("BROWNOUT_STATE", str(tmp_path / "state"))
    file = tmp_path / "folder" / f"{NAME}.yaml"
    file.parent.mkdir()
    _declare(lab_mongodb, file)
    run = tmp_path / "run"
    run.mkdir()
    cluster = inventory.load(file)
    cluster_record.write(run, file, cluster)
    claim = open_runs.claim(NAME, run, str(file), brought_up=False)
    claim = replace(claim, pid=2**22 + 1, started=1)
    held = tmp_path / "state" / "open" / f"{NAME}.json"
    open_runs.release(NAME)
    held.write_text(json.dumps({**_as_json(claim)}))
    yield Dead(cluster, file, run, claim)
    for node in lab_mongodb.nodes:
        host_for(node).start()
        host_for(node).resume()
    with closing(adapter_for(lab_mongodb)) as adapter:
        await_whole(adapter)


def _as_json(claim: Claim) -> dict[str, Any]:
    return {name: getattr(claim, name) for name in Claim.__dataclass_fields__}


def _kill(dead: Dead, node: Node) -> None:
    """Have the run kill a node, and die."""
    dead.intend("kill_node", node.name, "start_node")
    host_for(node).stop("kill")


def test_the_record_holds_the_nodes_with_their_processes_and_secrets_only_as_references(
    lab_mongodb: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ORDERS_PASSWORD", "hunter2")
    file = tmp_path / f"{NAME}.yaml"
    _declare(lab_mongodb, file)
    data = yaml.safe_load(file.read_text())
    data.setdefault("connection", {})["auth"] = {
        "username": "orders", "password": {"env": "ORDERS_PASSWORD"}
    }  # fmt: skip
    file.write_text(yaml.safe_dump(data))
    cluster = inventory.load(file)
    cluster_record.write(tmp_path, file, cluster)
    written = tmp_path / cluster_record.FILE
    assert "hunter2" not in written.read_text()
    assert written.stat().st_mode & 0o777 == 0o600
    file.unlink()
    record = ClusterRecord.read(tmp_path)
    assert record is not None
    assert record.cluster() == cluster
    assert record.path == str(file)
    assert record.members == tuple(node.name for node in cluster.nodes)
    for node in cluster.nodes:
        state = host_for(node).running()
        seen = record.nodes[node.name]
        assert (seen["pid"], seen["started_ticks"]) == (
            state.pid, state.evidence["started_ticks"]
        )  # fmt: skip


def test_a_run_does_not_begin_with_an_inventory_that_is_edited_at_that_moment(
    lab_mongodb: Cluster, tmp_path: Path
) -> None:
    file = tmp_path / f"{NAME}.yaml"
    _declare(lab_mongodb, file)
    cluster = inventory.load(file)
    text = file.read_text().replace(cluster.nodes[0].address, "127.0.0.1:1")
    file.write_text(text)
    with pytest.raises(ConfigurationError, match="was changed while the run began"):
        cluster_record.write(tmp_path, file, cluster)


def test_what_matters_of_an_inventory_is_which_nodes_it_means(dead: Dead) -> None:
    cluster = dead.cluster
    guarded = cluster.model_copy(update={"guards": Guards(max_nodes_down=2), "labels": {"a": "b"}})
    assert cluster_record.differences(cluster, guarded) == []
    first, *others = cluster.nodes
    moved = first.model_copy(update={"address": "127.0.0.1:1"})
    changed = cluster.model_copy(update={"nodes": (moved, *others)})
    (words,) = cluster_record.differences(cluster, changed)
    assert first.address in words
    assert "127.0.0.1:1" in words
    shorter = cluster.model_copy(update={"nodes": tuple(others)})
    (words,) = cluster_record.differences(cluster, shorter)
    assert words.endswith("now not listed")
    assert isinstance(first.host, ProcessSpec)
    other = first.host.model_copy(update={"pid_file": Path("/elsewhere")})
    elsewhere = first.model_copy(update={"host": other})
    changed = cluster.model_copy(update={"nodes": (elsewhere, *others), "name": "production"})
    assert len(cluster_record.differences(cluster, changed)) == 2


@pytest.mark.parametrize(
    "became",
    [
        "another of its name",
        pytest.param("removed", marks=pytest.mark.matrix),
        pytest.param("other guards", marks=pytest.mark.matrix),
    ],
)
def test_a_heal_acts_on_the_nodes_of_the_run_whatever_became_of_its_inventory(
    dead: Dead, tmp_path: Path, became: str
) -> None:
    node = dead.cluster.nodes[2]
    _kill(dead, node)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    if became == "another of its name":
        decoy = {"database": "mongodb", "environment": "test",
                 "nodes": [{"name": each.name, "address": f"127.0.0.1:{number}"}
                           for number, each in enumerate(dead.cluster.nodes, 1)]}  # fmt: skip
        (elsewhere / dead.file.name).write_text(yaml.safe_dump(decoy))
    elif became == "removed":
        dead.file.unlink()
    else:
        dead.edit(lambda data: data.update(guards={"deny_nodes": [node.name]}))
    code, output = dead.heal(cwd=elsewhere)
    assert code == 0, output
    assert f"put back start_node {node.name}; whole" in output
    assert dead.runs(node)
    assert open_runs.claim_on(NAME) is None


def test_an_inventory_that_means_other_nodes_by_now_is_not_healed_and_both_are_named(
    dead: Dead,
) -> None:
    node = dead.cluster.nodes[2]
    _kill(dead, node)
    dead.edit(lambda data: data["nodes"][2].update(address="127.0.0.1:9"))
    code, output = dead.heal()
    assert code == 4
    assert "nothing is touched" in output
    assert node.address in output
    assert "127.0.0.1:9" in output
    assert not dead.runs(node)
    assert dead.is_held()
    code, output = dead.heal("--as-recorded")
    assert code == 0, output
    assert dead.runs(node)
    assert not dead.is_held()


def test_an_address_that_leads_to_another_machine_by_now_is_not_healed(dead: Dead) -> None:
    first, _, node = dead.cluster.nodes
    _kill(dead, node)
    file = dead.run / cluster_record.FILE
    data = yaml.safe_load(file.read_text())
    if not data["nodes"][node.name]["machine"]:
        pytest.skip("NOT TESTED: this machine has no /etc/machine-id")
    for name in (first.name, node.name):
        data["nodes"][name]["machine"] = "the machine before"
    file.write_text(yaml.safe_dump(data))
    code, output = dead.heal()
    assert code == 4
    assert f"node `{node.name}`" in output
    assert "recorded the machine the machine before" in output
    assert f"node `{first.name}`" not in output  # nothing would be done to it
    assert not dead.runs(node)
    assert dead.is_held()


def test_a_node_whose_machine_had_not_said_its_id_is_healed_and_named(dead: Dead) -> None:
    first, _, node = dead.cluster.nodes
    _kill(dead, node)
    file = dead.run / cluster_record.FILE
    data = yaml.safe_load(file.read_text())
    for name in (first.name, node.name):
        data["nodes"][name]["machine"] = ""
    file.write_text(yaml.safe_dump(data))
    code, output = dead.heal()
    assert code == 0, output
    (line,) = [line for line in output.splitlines() if "/etc/machine-id" in line]
    assert node.name in line
    assert first.name not in line  # nothing was done to it
    assert dead.runs(node)


@pytest.mark.parametrize(
    "recorded", [pytest.param("the same", marks=pytest.mark.matrix), "others", "nothing"]
)
def test_without_its_record_a_run_is_healed_only_where_run_json_has_the_same_nodes(
    dead: Dead, recorded: str
) -> None:
    node = dead.cluster.nodes[2]
    _kill(dead, node)
    (dead.run / cluster_record.FILE).unlink()
    nodes = [{"name": each.name, "address": each.address} for each in dead.cluster.nodes]
    if recorded == "others":
        nodes[2]["address"] = "127.0.0.1:9"
    if recorded != "nothing":
        RunDirectory(dead.run).write_metadata({"cluster": {"nodes": nodes, "spares": []}})
    code, output = dead.heal()
    assert code == (0 if recorded == "the same" else 4), output
    assert dead.runs(node) is (recorded == "the same")
    assert dead.is_held() is (recorded != "the same")
    if recorded == "others":
        assert node.address in output
        assert "127.0.0.1:9" in output
    if recorded == "nothing":
        assert f"start_node {node.name}" in output
        assert f"brownout heal {NAME} --also {node.name}" in output
        code, output = dead.heal("--also", node.name)
        assert code == 0, output
        assert dead.runs(node)


def test_a_record_that_cannot_be_read_is_not_taken_for_gone(dead: Dead) -> None:
    record = dead.run / cluster_record.FILE
    record.rename(dead.run / "kept")
    record.mkdir()
    code, output = dead.heal()
    assert code == ExitCode.BAD_INPUT, output
    assert mentions(output, str(record), "cannot be read", "Is a directory")
    assert dead.is_held()
    record.rmdir()
    (dead.run / "kept").rename(record)
    assert dead.heal()[0] == 0


@pytest.mark.parametrize(
    "left",
    [
        "all of it",
        pytest.param("half a line", marks=pytest.mark.matrix),
        pytest.param("no events", marks=pytest.mark.matrix),
    ],
)
def test_a_node_that_the_run_never_touched_is_left_alone_and_named(dead: Dead, left: str) -> None:
    """Another person stopped it, for a reason."""
    first, second, _ = dead.cluster.nodes
    events = dead.run / "events.ndjson"
    _kill(dead, first)
    if left == "half a line":
        text = events.read_text()
        events.write_text(f'{text}{{"id": 4, "stage": "intent", "type": "bre')
    elif left == "no events":
        events.unlink()
        host_for(first).start()
    host_for(second).stop("clean")
    code, output = dead.heal()
    assert code == 4, output
    assert f"brownout heal {NAME} --also {second.name}" in output
    assert dead.runs(first)
    assert not dead.runs(second)
    assert dead.is_held()
    code, output = dead.heal("--also", second.name)
    assert code == 0, output
    assert dead.runs(second)
    assert not dead.is_held()


def test_a_node_that_the_cluster_does_not_have_cannot_be_asked_for(dead: Dead) -> None:
    code, output = dead.heal("--also", "n9")
    assert code == 64
    assert "has no node `n9`" in output
    assert dead.is_held()


def test_a_regular_member_is_never_taken_out_whatever_the_record_says(
    dead: Dead, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BROWNOUT_CONFIRM", NAME)
    with closing(adapter_for(dead.cluster)) as adapter:
        primary = adapter.targets("primary", 1)[0]
    dead.intend("add_node", primary.name, "remove_node")
    before = host_for(primary).running().pid
    for options in ((), ("--also", primary.name)):
        code, output = dead.heal(*options)
        assert code == 4, output
        assert mentions(output, f"node `{primary.name}`", "`spares`")
        assert host_for(primary).running().pid == before
        assert dead.is_held()


def _with_spare(lab: Cluster, place: Path, **settings: Any) -> tuple[Cluster, Node]:
    """The lab with a spare that was never started, and with other settings."""
    host = ProcessSpec(pid_file=place / "n4.pid", command=("touch", str(place / "started")))
    spare = Node(name="n4", address="127.0.0.1:4", host=host)
    return lab.model_copy(update={"spares": (spare,), **settings}), spare


@pytest.mark.parametrize(
    ("settings", "removable", "words"),
    [
        ({}, (), "not a member before the run"),
        ({"environment": "production"}, ("n4",), "BROWNOUT_CONFIRM"),
        ({"guards": Guards(deny_nodes=("n4",))}, ("n4",), "denies node `n4`"),
        ({"guards": Guards(deny_acts=("remove",))}, ("n4",), "denies remove"),
        ({"guards": Guards(allowed_hours=("Mon 00:00-00:01 UTC",))}, ("n4",), "allowed is"),
    ],
)
def test_every_guard_is_asked_before_a_spare_is_taken_out_in_the_run_and_after_it(
    lab_mongodb: Cluster,
    tmp_path: Path,
    settings: dict[str, Any],
    removable: tuple[str, ...],
    words: str,
) -> None:
    if "allowed_hours" in str(settings) and datetime.now(UTC).strftime("%a %H:%M") == "Mon 00:00":
        pytest.skip("NOT TESTED: it is Monday, midnight")
    guarding, spare = _with_spare(lab_mongodb, tmp_path, **settings)
    cluster, _ = _with_spare(lab_mongodb, tmp_path)
    pending = PendingUndo("remove_node", spare.name)
    log = EventLog(tmp_path / "events.ndjson")
    with closing(adapter_for(lab_mongodb)) as adapter:
        for guarded, also in ((guarding, ()), (cluster, (cluster, guarding))):
            faults = Faults(guarded, adapter, log, lambda t: t, [pending], guarding=also,
                            removable=removable)  # fmt: skip
            with pytest.raises(Refused, match=words):
                faults.undo(pending)
            (failure,) = faults.put_back()
            assert words in failure
            assert faults.pending == (pending,)
    assert not (tmp_path / "events.ndjson").exists()
    assert not (tmp_path / "started").exists()


def test_what_only_starts_or_resumes_what_the_run_broke_needs_no_hours_and_no_token(
    dead: Dead,
) -> None:
    first, second, _ = dead.cluster.nodes
    _kill(dead, first)
    dead.intend("pause_node", second.name, "resume_node")
    host_for(second).pause()
    dead.edit(
        lambda data: data.update(
            environment="production",
            guards={"allowed_hours": ["Mon 00:00-00:01 UTC"], "deny_nodes": [first.name]},
        )
    )
    code, output = dead.heal()
    assert code == 0, output
    assert dead.runs(first)
    assert not host_for(second).running().paused


def test_only_a_spare_that_did_not_run_before_may_be_taken_out(
    lab_mongodb: Cluster, tmp_path: Path
) -> None:
    file = tmp_path / f"{NAME}.yaml"
    _declare(lab_mongodb, file)
    data = yaml.safe_load(file.read_text())
    stopped, running = ({"pid_file": str(tmp_path / f"{name}.pid"), "command": ["sleep", seconds]}
                        for name, seconds in (("n4", "81"), ("n5", "82")))  # fmt: skip
    data["spares"] = [
        {"name": "n4", "address": "127.0.0.1:4", "host": stopped},
        {"name": "n5", "address": "127.0.0.1:5", "host": running},
    ]
    file.write_text(yaml.safe_dump(data))
    cluster = inventory.load(file)
    host_for(cluster.node("n5")).start()
    try:
        record = cluster_record.write(tmp_path, file, cluster)
    finally:
        host_for(cluster.node("n5")).stop("kill")
    assert record.removable == {"n4"}
    assert ClusterRecord.read(tmp_path) == record


RUN, OTHER, CUT = (
    PendingUndo("start_node", "n1"), PendingUndo("start_node", "n2"),
    PendingUndo("heal_partition", "n3"),
)  # fmt: skip


@pytest.mark.parametrize(
    ("is_recorded", "also", "undone"),
    [
        (True, (), (RUN, CUT)),  # a cut by brownout's own rules shows who made it
        (True, ("n2",), (RUN, OTHER, CUT)),
        (False, (), ()),
        (False, ("n1",), (RUN,)),
        (False, ("n2", "n3"), (OTHER, CUT)),
        (True, (THE_CLUSTER,), (RUN, CUT)),
    ],
)
def test_what_the_record_does_not_prove_is_undone_only_where_it_is_named(
    is_recorded: bool, also: tuple[str, ...], undone: tuple[PendingUndo, ...]
) -> None:
    plan = triage([RUN], [OTHER, CUT], is_recorded, Asked(also))
    assert plan.undone == undone
    assert {*plan.undone, *plan.left_alone} == {RUN, OTHER, CUT}


def test_the_options_of_a_heal_are_for_one_cluster(dead: Dead, tmp_path: Path) -> None:
    other = _as_json(replace(dead.claim, cluster="other"))
    (tmp_path / "state" / "open" / "other.json").write_text(json.dumps(other))
    healed = brownout("heal", "--also", "n1", env={**os.environ}, timeout=60)
    assert healed.returncode == 64
    assert "several clusters are to be healed: other, staging" in healed.stderr


def test_a_lab_that_was_taken_down_meanwhile_leaves_nothing_to_heal(
    dead: Dead, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BROWNOUT_LAB_DIR", str(tmp_path / "other labs"))
    before = ClusterRecord.read(dead.run)
    assert before is not None
    gone = tmp_path / "labs" / NAME / "inventory.yaml"
    nodes = {name: {**seen, "pid": 2**22 + 1} for name, seen in before.nodes.items()}
    data = yaml.safe_load((dead.run / cluster_record.FILE).read_text())
    _kill(dead, dead.cluster.nodes[2])
    declared = {**data["declaration"], "lab": {"engine": "mongodb"}}
    for is_lab, lives in ((False, False), (True, True), (True, False)):
        record = {
            **data,
            "path": str(gone),
            "nodes": data["nodes"] if lives else nodes,
            "declaration": declared if is_lab else data["declaration"],
        }
        (dead.run / cluster_record.FILE).write_text(yaml.safe_dump(record))
        code, output = dead.heal("--also", "n9")  # refused where there is a cluster to heal
        assert code == (0 if is_lab and not lives else 64), output
    assert f"the lab at {gone.parent} was taken down" in output
    assert not dead.is_held()


def test_a_lab_of_the_same_name_in_another_folder_is_not_taken_down(
    dead: Dead, tmp_path: Path
) -> None:
    file = dead.run / cluster_record.FILE
    lab = tmp_path / "labs" / NAME / "inventory.yaml"
    file.write_text(yaml.safe_dump({**yaml.safe_load(file.read_text()), "path": str(lab)}))
    held = replace(dead.claim, brought_up=True)
    (tmp_path / "state" / "open" / f"{NAME}.json").write_text(json.dumps(_as_json(held)))
    code, output = dead.heal()
    assert code == 4, output
    assert f"the run brought up the lab at {lab.parent}" in output
    assert f"set BROWNOUT_LAB_DIR={lab.parent.parent}" in output
    assert open_runs.claim_on(NAME) == held
