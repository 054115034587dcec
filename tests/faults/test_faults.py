"""Breaking and mending real nodes: intents first, proofs after, and every wrong wipe refused."""

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.waiting import await_true, await_whole
from tests.wording import naming

from brownout.base.errors import BrownoutError, ConfigurationError, HostError, Refused
from brownout.databases.adapter import Adapter
from brownout.faults.act import PendingUndo
from brownout.faults.faults import Faults
from brownout.faults.undos import left
from brownout.inventory.model import Cluster, Guards, Node
from brownout.machine.host import host_for
from brownout.run import contract
from brownout.run.events import EventLog, read_events


@pytest.fixture
def cluster(lab_mongodb: Cluster) -> Cluster:
    return lab_mongodb


def _secondary(adapter: Adapter) -> Node:
    return adapter.targets("secondary", 1)[0]


def _data(node: Node, adapter: Adapter) -> Path:
    (directory,) = adapter.data_directories(node)
    return directory


def test_the_intent_is_on_disk_before_the_act_and_says_how_to_undo_it(
    faults: Faults, adapter: Adapter, log: Path
) -> None:
    node = _secondary(adapter)
    faults.run("pause_node", node, undo_after_s=60)
    (event,) = read_events(log)
    assert (event.type, event.name, event.node) == ("break", "pause_node", node.name)
    assert event.undo == {"action": "resume_node"}
    assert event.requested is None or event.effective is not None
    assert faults.broken == {node.name: "resume_node"}


def test_each_act_is_safe_to_repeat(faults: Faults, adapter: Adapter) -> None:
    node = _secondary(adapter)
    assert not faults.run("kill_node", node)["evidence"]["already"]
    assert faults.run("kill_node", node)["evidence"]["already"]
    assert not faults.run("start_node", node)["evidence"]["already"]
    assert faults.run("start_node", node)["evidence"]["already"]


def test_a_second_node_is_not_broken_while_one_is(
    faults: Faults, adapter: Adapter, lab_mongodb: Cluster
) -> None:
    first = _secondary(adapter)
    faults.run("kill_node", first)
    other = next(node for node in lab_mongodb.nodes if node.name != first.name)
    with pytest.raises(Refused, match="nodes down"):
        faults.run("kill_node", other)
    assert host_for(other).running().running


def test_nothing_is_broken_while_redundancy_is_not_back(
    faults: Faults, adapter: Adapter, lab_mongodb: Cluster
) -> None:
    stopped = _secondary(adapter)
    host_for(stopped).stop("kill")  # by somebody else
    other = next(node for node in lab_mongodb.nodes if node.name != stopped.name)
    try:
        with pytest.raises(Refused, match="redundan"):
            faults.run("kill_node", other)
    finally:
        host_for(stopped).start()


def test_every_node_is_put_back_even_if_one_fails(
    lab_mongodb: Cluster, adapter: Adapter, tmp_path: Path
) -> None:
    good = _secondary(adapter)
    host_for(good).pause()
    gone = next(node for node in lab_mongodb.nodes if node.name != good.name)
    spec = gone.host.model_copy(update={"command": ("no-such-program",)}) if gone.host else None
    broken = lab_mongodb.model_copy(
        update={"nodes": (gone.model_copy(update={"host": spec}), good)}
    )
    log = EventLog(tmp_path / "events.ndjson")
    waiting = [PendingUndo("resume_node", node.name) for node in (gone, good)]
    faults = Faults(broken, adapter, log, lambda t: t, waiting)
    failures = faults.put_back()
    assert len(failures) == 1
    assert gone.name in failures[0]
    assert not host_for(good).running().paused


# The most plausible wrong wipes. That the directory is the node's own, no link, no mount point and
# no parent is refused by the host and the adapter too: tests/machine, tests/databases. What was
# refused stays refused once its cause is gone: nothing that put things back may take the data then.


@contextmanager
def _data_survives(faults: Faults, node: Node, directory: Path, log: Path) -> Iterator[None]:
    """Afterwards the node is put back, by the run and by its record, and has what it had."""
    mark = directory / "written before.txt"
    mark.write_text("still here")
    yield
    assert faults.put_back() == []
    assert host_for(node).running().running
    assert mark.read_text() == "still here"
    assert {"wipe_node", "finish_wipe"}.isdisjoint(event.name for event in read_events(log))
    assert left(read_events(log)) == ()
    mark.unlink()


@contextmanager
def _link_in(directory: Path, target: Path) -> Iterator[None]:
    """For this long `directory` holds a link to `target`."""
    link = directory / "elsewhere"
    link.symlink_to(target)
    try:
        yield
    finally:
        link.unlink()


def test_a_running_node_is_not_wiped(faults: Faults, adapter: Adapter, log: Path) -> None:
    node = _secondary(adapter)
    log.touch()
    with (
        _data_survives(faults, node, _data(node, adapter), log),
        pytest.raises(Refused, match="running"),
    ):
        faults.run("wipe_node", node)


def test_a_paused_node_is_not_wiped(faults: Faults, adapter: Adapter, log: Path) -> None:
    node = _secondary(adapter)
    with _data_survives(faults, node, _data(node, adapter), log):
        faults.run("pause_node", node, undo_after_s=60)
        with pytest.raises(Refused, match="paused"):
            faults.run("wipe_node", node)


def test_nothing_is_wiped_where_the_inventory_does_not_allow_data_loss(
    lab_mongodb: Cluster, adapter: Adapter, log: Path
) -> None:
    careful = lab_mongodb.model_copy(update={"allow_data_loss": False})
    faults = Faults(careful, adapter, EventLog(log), lambda t: t)
    node = _secondary(adapter)
    with _data_survives(faults, node, _data(node, adapter), log):
        faults.run("kill_node", node)
        with pytest.raises(Refused, match="allow_data_loss"):
            faults.run("wipe_node", node)


def test_a_node_on_the_deny_list_is_not_wiped(
    lab_mongodb: Cluster, adapter: Adapter, log: Path
) -> None:
    node = _secondary(adapter)
    denying = lab_mongodb.model_copy(update={"guards": Guards(deny_acts=("wipe",))})
    faults = Faults(denying, adapter, EventLog(log), lambda t: t)
    with _data_survives(faults, node, _data(node, adapter), log):
        faults.run("kill_node", node)
        with pytest.raises(Refused, match="denies wipe"):
            faults.run("wipe_node", node)


def test_a_node_that_somebody_else_stopped_is_not_wiped(
    faults: Faults, adapter: Adapter, log: Path
) -> None:
    node = _secondary(adapter)
    log.touch()
    with _data_survives(faults, node, _data(node, adapter), log):
        host_for(node).stop("kill")
        try:
            with pytest.raises(Refused, match="redundan"):
                faults.run("wipe_node", node)
        finally:
            host_for(node).start()


def test_a_node_that_is_to_be_wiped_is_not_even_stopped_where_its_wipe_would_be_refused(
    lab_mongodb: Cluster, adapter: Adapter, log: Path, tmp_path: Path
) -> None:
    node = _secondary(adapter)
    directory = _data(node, adapter)
    faults = Faults(lab_mongodb, adapter, EventLog(log), lambda t: t, to_wipe=lambda _: True)
    before = host_for(node).running().pid
    log.touch()
    with _data_survives(faults, node, directory, log), _link_in(directory, tmp_path):
        for stop in (lambda: faults.run("kill_node", node), lambda: faults.run("stop_node", node),
                     lambda: faults.run_together("kill_node", [node])):  # fmt: skip
            with pytest.raises(Refused, match=naming(directory, tmp_path)):
                stop()
    assert (host_for(node).running().pid, faults.broken) == (before, {})
    assert read_events(log) == []


def test_a_node_whose_wipe_is_refused_after_it_was_stopped_is_started_with_its_data(
    faults: Faults, adapter: Adapter, log: Path, tmp_path: Path
) -> None:
    node = _secondary(adapter)
    directory = _data(node, adapter)
    with _data_survives(faults, node, directory, log):
        faults.run("kill_node", node)
        with _link_in(directory, tmp_path):
            with pytest.raises(Refused, match=naming(directory, tmp_path)):
                faults.run("wipe_node", node)
            faults.run("start_node", node)  # with the link still there
            assert host_for(node).running().running


def test_a_node_that_is_not_in_the_inventory_is_not_wiped(lab_mongodb: Cluster) -> None:
    with pytest.raises(ConfigurationError, match="n99"):
        lab_mongodb.node("n99")


def test_a_data_directory_that_became_a_link_is_not_wiped(
    faults: Faults, adapter: Adapter, log: Path, tmp_path: Path
) -> None:
    node = _secondary(adapter)
    directory = _data(node, adapter)
    with _data_survives(faults, node, directory, log):
        faults.run("kill_node", node)
        elsewhere = tmp_path / "elsewhere"
        shutil.move(directory, elsewhere)
        directory.symlink_to(elsewhere)
        try:
            with pytest.raises(BrownoutError, match="link"):
                faults.run("wipe_node", node)
        finally:
            directory.unlink()
            shutil.move(elsewhere, directory)


def test_a_data_directory_that_is_a_mount_point_is_not_wiped(
    faults: Faults, adapter: Adapter, log: Path
) -> None:
    node = _secondary(adapter)
    directory = _data(node, adapter)
    with _data_survives(faults, node, directory, log):
        faults.run("kill_node", node)
        mounted = subprocess.run(["mount", "--bind", directory, directory], capture_output=True)
        if mounted.returncode != 0:
            faults.put_back()
            pytest.skip("this machine does not let us mount")
        try:
            with pytest.raises(BrownoutError, match="mount"):
                faults.run("wipe_node", node)
        finally:
            subprocess.run(["umount", directory], check=True)


def test_a_directory_that_another_process_works_in_is_not_wiped(
    faults: Faults, adapter: Adapter, log: Path
) -> None:
    node = _secondary(adapter)
    directory = _data(node, adapter)
    with _data_survives(faults, node, directory, log):
        faults.run("kill_node", node)
        user = subprocess.Popen(["sleep", "60"], cwd=directory)
        try:
            with pytest.raises(BrownoutError, match=str(user.pid)):
                faults.run("wipe_node", node)
        finally:
            user.kill()
            user.wait()


def test_a_wipe_empties_the_nodes_own_directory_and_proves_it(
    faults: Faults, adapter: Adapter
) -> None:
    node = _secondary(adapter)
    directory = _data(node, adapter)
    faults.run("kill_node", node)
    wiped = faults.run("wipe_node", node)
    assert wiped["evidence"]["state"] == "empty"
    assert list(directory.iterdir()) == []


@pytest.mark.parametrize("comes_back", [False, True])
def test_a_node_that_still_holds_its_data_after_its_wipe_breaks_the_contract(
    lab_mongodb: Cluster, adapter: Adapter, log: Path, tmp_path: Path, comes_back: bool
) -> None:
    """As where what was emptied is not where the node keeps its data."""
    node = _secondary(adapter)
    directory = _data(node, adapter)
    faults = Faults(lab_mongodb, adapter, EventLog(log), lambda t: t, to_wipe=lambda _: True)
    faults.run("kill_node", node)
    shutil.copytree(directory, tmp_path / "copy")
    faults.run("wipe_node", node)
    faults.prove_wipes()
    assert faults.wipes.unproven == [node.name]  # it is not started yet
    if comes_back:
        shutil.copytree(tmp_path / "copy", directory, dirs_exist_ok=True)
    faults.run("start_node", node)
    await_whole(adapter)
    faults.prove_wipes()
    assert faults.wipes.unproven == []
    found = [(each.clause, each.node) for each in contract.breaches(read_events(log))]
    assert found == ([("data", node.name)] if comes_back else [])


def test_a_wipe_that_found_nothing_to_remove_breaks_the_contract(
    lab_mongodb: Cluster, adapter: Adapter, log: Path
) -> None:
    node = _secondary(adapter)
    faults = Faults(lab_mongodb, adapter, EventLog(log), lambda t: t)
    faults.run("kill_node", node)
    faults.run("wipe_node", node)
    assert contract.breaches(read_events(log)) == []
    faults.run("wipe_node", node)
    (breach,) = contract.breaches(read_events(log))
    assert breach.detail == f"node `{node.name}` was wiped, and nothing was there"
    assert faults.put_back() == []
    await_whole(adapter)


def test_a_mend_that_fails_says_so_and_leaves_the_node_counted_as_broken(
    lab_mongodb: Cluster, adapter: Adapter, tmp_path: Path
) -> None:
    node = _secondary(adapter)
    directory = _data(node, adapter)
    faults = Faults(lab_mongodb, adapter, EventLog(tmp_path / "e.ndjson"), lambda t: t)
    faults.run("kill_node", node)
    hidden = directory.with_name("hidden")
    directory.rename(hidden)
    try:
        with pytest.raises(HostError):
            faults.run("start_node", node)
        assert faults.broken == {node.name: "start_node"}
    finally:
        hidden.rename(directory)
        assert faults.put_back() == []


def test_a_pause_that_nobody_ends_ends_by_itself(faults: Faults, adapter: Adapter) -> None:
    node = _secondary(adapter)
    faults.run("pause_node", node, undo_after_s=5.0)
    await_true(lambda: not host_for(node).running().paused)
