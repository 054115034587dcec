"""Labs of etcd: real members that lose their leader, their quorum, their data."""

import shutil
import time
from contextlib import closing
from pathlib import Path

import pytest
from tests.own_lab import own_lab
from tests.waiting import await_true, await_whole

from brownout.base.errors import ClusterError, Refused
from brownout.databases.access import Access
from brownout.databases.adapter import FailureDetection, adapter_for
from brownout.databases.etcd.adapter import EtcdAdapter
from brownout.databases.etcd.link import Link
from brownout.databases.etcd.view import members_by
from brownout.databases.milestones import still_unmet
from brownout.databases.start import start
from brownout.faults import undos
from brownout.faults.faults import Faults
from brownout.infra import lab
from brownout.inventory.model import Cluster
from brownout.machine.host import host_for
from brownout.run.events import EventLog, read_events
from brownout.session.leaderless import await_no_primary

pytestmark = pytest.mark.live


def test_a_lab_is_whole_and_says_what_it_is(lab_etcd: Cluster) -> None:
    with EtcdAdapter(lab_etcd) as adapter:
        adapter.ready()
        assert adapter.engine().startswith("etcd 3.")
        assert adapter.failure_detection() == FailureDetection("election-timeout", 1.0)
        assert sorted(m.state for m in adapter.members()) == ["FOLLOWER", "FOLLOWER", "LEADER"]
        (leader,) = adapter.targets("leader", 1)
        claims = {}
        for candidate in adapter.candidates():
            with closing(candidate):
                claims[candidate.node] = candidate.claim()
        assert [name for name, claim in claims.items() if claim.primary] == [leader.name]
        assert claims[leader.name].election == str(adapter.evidence(leader)["term"])


def test_the_leader_hands_over_and_a_follower_has_nothing_to_hand_over(lab_etcd: Cluster) -> None:
    with EtcdAdapter(lab_etcd) as adapter:
        (leader,) = adapter.targets("leader", 1)
        proof = adapter.step_down(leader, 10)
        assert not proof.already
        assert (proof.evidence["state_before"], proof.evidence["state"]) == ("LEADER", "FOLLOWER")
        assert adapter.targets("leader", 1)[0].name == proof.evidence["handed_to"]
        assert adapter.drain(leader).already
        assert adapter.undrain(leader).already
        await_whole(adapter)


def test_a_member_whose_data_somebody_else_took_away_is_not_replaced(
    lab_etcd: Cluster, tmp_path: Path
) -> None:
    with EtcdAdapter(lab_etcd) as adapter:
        (node,) = adapter.targets("random", 1)
        ids = {member.detail["member_id"] for member in adapter.members()}
        log = tmp_path / "events.ndjson"
        faults = Faults(lab_etcd, adapter, EventLog(log), lambda t: t)
        faults.run("kill_node", node)
        (data,) = adapter.data_directories(node)
        _empty(data)  # as where a disk is not mounted
        try:
            faults.put_back()
            (start_event,) = (e for e in read_events(log) if e.name == "start_node")
            assert not {"added_member", "removed_member"} & set(start_event.evidence)
            # One look: at the next, an election may be under way, and no member serves.
            await_true(lambda: (serving := adapter._serving(node)) and _ids_by(serving[0]) == ids)
        finally:
            # Not with its old data: the empty member may have acknowledged later entries of the
            # log, and one that then lacks them ends with a panic of raft.
            host_for(node).stop("kill")
            _empty(data)
            start(node, host_for(node), adapter, emptied=True)
            await_whole(adapter)


def _ids_by(link: Link) -> set[str]:
    return {each.id for each in members_by(link)}


def _empty(directory: Path) -> None:
    shutil.rmtree(directory)
    directory.mkdir(mode=0o700)


def test_a_wiped_member_comes_back_as_a_new_one_with_all_data(lab_etcd: Cluster) -> None:
    with EtcdAdapter(lab_etcd) as adapter:
        (node,) = adapter.targets("leader", 1)
        host, before = host_for(node), adapter.evidence(node)
        host.stop("kill")
        await_true(lambda: not adapter.would_lose([node]), "the others have a leader")
        assert adapter.would_lose(lab_etcd.nodes[:2])
        host.wipe(adapter.data_directories(node))
        taken_in = adapter.before_start(node, emptied=True)
        assert taken_in["removed_member"] == before["member_id"]
        # As after a kill between this and the start.
        again = adapter.before_start(node, emptied=True)
        assert again == {"added_member": taken_in["added_member"]}
        proof = start(node, host, adapter, emptied=True)
        assert proof.evidence["added_member"] == taken_in["added_member"]
        await_whole(adapter)
        assert adapter.evidence(node)["member_id"] == taken_in["added_member"]
        assert adapter.before_start(node, emptied=True) == {}


@pytest.mark.parametrize("place", ["wal", pytest.param("member/wal", marks=pytest.mark.matrix)])
def test_a_member_with_its_log_in_its_data_directory_is_wiped_once_and_healed_half_way(
    place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with (
        own_lab("lab-etcd", tmp_path / "lab", monkeypatch) as cluster,
        EtcdAdapter(cluster) as adapter,
    ):
        (node,) = adapter.targets("role=follower", 1)[:1]
        host, (data,) = host_for(node), adapter.data_directories(node)
        host.stop("clean")
        log = (data / "member" / "wal").rename(data / place)
        assert node.host is not None
        assert node.host.config_file is not None
        with node.host.config_file.open("a") as file:
            file.write(f"wal-dir: {log}\n")
        host.start()
        await_whole(adapter)
        assert adapter.data_directories(node) == [data, log]
        for half_way in (False, True):
            before = adapter.evidence(node)["member_id"]
            events = tmp_path / f"{half_way}.ndjson"
            if half_way:  # as an earlier version left it: the log went with the data around it
                host.stop("kill")
                shutil.rmtree(log)
                shutil.rmtree(data / "member")
                named = {"directories": [str(data), str(log)], "began": True}
                undo = {"action": "start_node"}
                record = EventLog(events)
                record.intent("break", "wipe_node", node=node.name, undo=undo, arguments=named)
                left = undos.left(read_events(events))
                faults = Faults(cluster, adapter, record, lambda t: t, left)
            else:
                faults = Faults(cluster, adapter, EventLog(events), lambda t: t)
                faults.run("kill_node", node)
                (emptied,) = faults.run("wipe_node", node)["evidence"]["directories"]
                assert emptied["kept_empty"] == [str(log)]
                assert [each for each in data.rglob("*") if each not in log.parents] == [log]
            assert faults.put_back() == []
            await_whole(adapter)
            assert adapter.evidence(node)["member_id"] != before


@pytest.mark.matrix
def test_a_lab_with_a_wiped_member_is_mended(lab_etcd: Cluster) -> None:
    with EtcdAdapter(lab_etcd) as adapter:
        (node,) = adapter.targets("follower", 1)
        host_for(node).stop("kill")
        host_for(node).wipe(adapter.data_directories(node))
        assert lab.up(lab_etcd.name) == lab_etcd
        assert still_unmet(adapter, "whole") == []


def test_without_a_quorum_no_member_leads_and_with_one_again_all_is_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with (
        own_lab("lab-etcd-majority", tmp_path, monkeypatch) as cluster,
        EtcdAdapter(cluster) as adapter,
    ):
        gone = adapter.targets("role=follower", 1)
        for node in gone:
            host_for(node).stop("kill")
        said = await_no_primary(adapter, 60, lambda: False)
        assert said is not None
        assert sorted(said["members"].values()) == ["LEADERLESS", "unreachable", "unreachable"]
        host_for(gone[0]).wipe(adapter.data_directories(gone[0]))
        monkeypatch.setattr("brownout.databases.etcd.readmission._WITHIN_S", 0.5)
        with pytest.raises(ClusterError, match="no other member serves"):
            adapter.before_start(gone[0], emptied=True)
        host_for(gone[1]).start()
        await_true(lambda: not adapter.would_lose([gone[0]]), "there is a quorum again")
        monkeypatch.setattr("brownout.databases.etcd.readmission._WITHIN_S", 60.0)
        start(gone[0], host_for(gone[0]), adapter, emptied=True)
        await_whole(adapter)


def test_a_secured_lab_serves_who_has_a_certificate_and_nobody_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with own_lab("lab-etcd-secure", tmp_path, monkeypatch) as cluster:
        with EtcdAdapter(cluster) as adapter:
            assert still_unmet(adapter, "whole") == []
            assert adapter.load_spec()["connection"]["tls"]["enabled"]
        with closing(Link(cluster.nodes[0], Access(), 2.0)) as link, pytest.raises(ClusterError):
            link.ask("maintenance/status")
        named = cluster.connection.tls
        assert named is not None
        bare = named.model_copy(update={"certificate_file": None})
        without = cluster.connection.model_copy(update={"tls": bare})
        stranger = adapter_for(cluster.model_copy(update={"connection": without}))
        with pytest.raises(ClusterError, match="does not answer"):
            stranger.ready()
        stranger.close()


def test_members_that_know_users_are_asked_by_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with (
        own_lab("lab-etcd", tmp_path, monkeypatch) as cluster,
        closing(Link(cluster.nodes[0], Access(), 5.0)) as link,
        closing(Link(cluster.nodes[1], Access(None, "root", "wr0ng"), 5.0)) as wrong,
        closing(Link(cluster.nodes[1], Access(None, "root", "r00t"), 5.0)) as right,
    ):
        link.ask("auth/user/add", name="root", password="r00t")
        link.ask("auth/user/grant", user="root", role="root")
        link.ask("auth/enable")
        with pytest.raises(ClusterError, match="authentication failed") as refused:
            wrong.ask("kv/range", key="AA==")
        assert "wr0ng" not in str(refused.value)
        assert right.ask("kv/range", key="AA==")["header"]
        host_for(cluster.nodes[1]).stop("kill")
        host_for(cluster.nodes[1]).start()
        await_true(lambda: _answers(right), "it knows us again after its restart")


def _answers(link: Link) -> bool:
    try:
        return bool(link.ask("kv/range", key="AA==")["header"])
    except ClusterError:
        time.sleep(0.1)
        return False


def test_a_wipe_of_a_lab_that_was_not_formed_would_be_refused(lab_etcd: Cluster) -> None:
    node = lab_etcd.nodes[0]
    assert node.host is not None
    assert node.host.config_file is not None
    file = node.host.config_file
    text = file.read_text()
    try:
        file.write_text(text.replace("existing", "new"))
        with EtcdAdapter(lab_etcd) as adapter, pytest.raises(Refused, match="wanted 'existing'"):
            adapter.data_directories(node)
    finally:
        file.write_text(text)
