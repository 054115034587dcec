"""Labs of PostgreSQL: real members under Patroni that lose their primary and their data."""

import os
import shutil
import signal
from contextlib import closing
from pathlib import Path

import pytest
from tests.own_lab import own_lab
from tests.ready_clients import command
from tests.waiting import await_true, await_whole, state_of
from tests.wording import naming

from brownout.base.errors import ClusterError, NoAnswer, Refused
from brownout.databases.adapter import adapter_for
from brownout.databases.milestones import still_unmet
from brownout.databases.postgresql import sql
from brownout.databases.postgresql.access import Access, access
from brownout.databases.postgresql.adapter import PostgresqlAdapter
from brownout.databases.postgresql.lab import store
from brownout.databases.postgresql.link import CommandFailed, Link
from brownout.databases.postgresql.view import View
from brownout.infra import lab
from brownout.inventory import labs
from brownout.inventory.model import Cluster, ProcessSpec
from brownout.load.client_check import Conversation, check
from brownout.machine import server_directory
from brownout.machine.commands import LocalRunner
from brownout.machine.host import host_for

pytestmark = [pytest.mark.live, pytest.mark.timeout(600)]


def claims(adapter: PostgresqlAdapter) -> dict[str, tuple[bool, str]]:
    found = {}
    for candidate in adapter.candidates():
        with closing(candidate):
            claim = candidate.claim()
            found[candidate.node] = (claim.primary, claim.election)
    return found


def at_work(cluster: Cluster, name: str) -> list[int]:
    """The processes of a member's PostgreSQL."""
    host = cluster.node(name).host
    assert isinstance(host, ProcessSpec)
    assert host.server_directory is not None
    return server_directory.pids(LocalRunner(), host.server_directory)


@pytest.mark.matrix
def test_a_lab_is_whole_and_says_what_it_is(lab_postgresql: Cluster) -> None:
    with PostgresqlAdapter(lab_postgresql) as adapter:
        adapter.ready()
        assert adapter.engine().startswith("PostgreSQL 1")
        detection = adapter.failure_detection()
        assert detection is not None
        assert (detection.setting, detection.seconds >= 5) == ("ttl", True)
        assert "Patroni" in adapter.engine()
        states = sorted(m.state for m in adapter.members())
        assert states == ["PRIMARY", "REPLICA", "REPLICA"]
        (primary,) = adapter.targets("primary", 1)
        found = claims(adapter)
        assert [name for name, (is_one, _) in found.items() if is_one] == [primary.name]
        assert found[primary.name][1] == str(adapter.evidence(primary)["timeline"])


@pytest.mark.matrix
def test_the_primary_hands_over_and_a_replica_has_nothing_to_hand_over(
    lab_postgresql: Cluster,
) -> None:
    with PostgresqlAdapter(lab_postgresql) as adapter:
        (primary,) = adapter.targets("primary", 1)
        proof = adapter.step_down(primary, 10)
        # It is seen when the primary stops, not only once the other one leads.
        assert proof.uncertainty_s < proof.evidence["caught_up_s"] / 2
        assert not proof.already
        assert proof.evidence["state_before"] == "PRIMARY"
        assert adapter.targets("primary", 1)[0].name == proof.evidence["handed_to"]
        assert adapter.drain(primary).already
        assert adapter.undrain(primary).already
        await_whole(adapter)


@pytest.mark.matrix
def test_a_node_is_killed_and_paused_as_a_whole(lab_postgresql: Cluster) -> None:
    with PostgresqlAdapter(lab_postgresql) as adapter:
        (node,) = adapter.targets("replica", 1)
        host = host_for(node)
        processes = at_work(lab_postgresql, node.name)
        assert len(processes) > 3
        proof = host.pause(60)
        assert proof.evidence["processes_in_server_directory"] >= 3
        for pid in at_work(lab_postgresql, node.name):
            assert state_of(pid) == "T"
        (hung,) = [each for each in adapter.candidates() if each.node == node.name]
        with closing(hung), pytest.raises(NoAnswer):
            hung.claim()
        host.resume()
        await_whole(adapter)
        host.check_wipe(adapter.data_directories(node))  # its own processes do not count
        host.stop("kill")
        assert at_work(lab_postgresql, node.name) == []
        host.start()
        await_whole(adapter)


@pytest.mark.matrix
def test_what_outlives_its_supervisor_is_seen_and_ended(lab_postgresql: Cluster) -> None:
    with PostgresqlAdapter(lab_postgresql) as adapter:
        (node,) = adapter.targets("replica", 2)
        host = host_for(node)
        pid = host.running().pid
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
        await_true(lambda: not host.running().running, "Patroni is gone")
        assert at_work(lab_postgresql, node.name)
        host.stop("kill")
        assert at_work(lab_postgresql, node.name) == []
        host.start()
        await_whole(adapter)


@pytest.mark.matrix
def test_a_wiped_primary_comes_back_by_a_base_backup(lab_postgresql: Cluster) -> None:
    with PostgresqlAdapter(lab_postgresql) as adapter:
        (node,) = adapter.targets("primary", 1)
        host, before = host_for(node), adapter.signature()
        host.stop("kill")
        (lost,) = adapter.would_lose([node])
        assert f"only {node.name} may have the latest writes" in lost
        assert adapter.signature() == before
        await_true(lambda: not adapter.would_lose([node]), "another member is primary")
        assert adapter.signature() != before
        assert adapter.would_lose(lab_postgresql.nodes)
        host.wipe(adapter.data_directories(node))
        host.start()
        await_whole(adapter)
        assert adapter.evidence(node)["state"] == "REPLICA"


@pytest.mark.matrix
def test_a_wiped_replica_whose_log_lies_elsewhere_loses_it_as_well(
    lab_postgresql: Cluster, tmp_path: Path
) -> None:
    with PostgresqlAdapter(lab_postgresql) as adapter:
        (node,) = adapter.targets("replica", 1)
        host, (data,) = host_for(node), adapter.data_directories(node)
        host.stop("clean")
        log = Path(shutil.copytree(data / "pg_wal", data.with_name("wal")))
        for path in (log, *log.rglob("*")):
            shutil.chown(path, data.stat().st_uid, data.stat().st_gid)
        log.chmod(0o700)
        shutil.rmtree(data / "pg_wal")
        (data / "pg_wal").symlink_to(log)
        host.start()
        await_whole(adapter)
        assert adapter.data_directories(node) == [log, data]
        host.stop("kill")
        host.wipe(adapter.data_directories(node))
        assert [*log.iterdir(), *data.iterdir()] == []
        host.start()
        await_whole(adapter)
        log.rmdir()


@pytest.mark.matrix
def test_a_configuration_that_the_living_server_contradicts_is_refused(
    lab_postgresql: Cluster,
) -> None:
    with PostgresqlAdapter(lab_postgresql) as adapter:
        (node,) = adapter.targets("replica", 1)
        (data,) = adapter.data_directories(node)
        assert node.host is not None
        assert node.host.config_file is not None
        text = node.host.config_file.read_text()
        node.host.config_file.write_text(text.replace(str(data), f"{data}-old"))
        try:
            with pytest.raises(Refused, match=naming(f"`{data}-old`", f"`{data}`")):
                adapter.data_directories(node)
        finally:
            node.host.config_file.write_text(text)


@pytest.mark.matrix
def test_a_lab_without_its_store_and_with_a_wiped_member_is_mended(
    lab_postgresql: Cluster,
) -> None:
    with PostgresqlAdapter(lab_postgresql) as adapter:
        (node,) = adapter.targets("replica", 1)
        host_for(node).stop("kill")
        host_for(node).wipe(adapter.data_directories(node))
        store.stop(labs.directory(lab_postgresql.name))
        assert lab.up(lab_postgresql.name) == lab_postgresql
        assert still_unmet(adapter, "whole") == []


def test_a_secured_lab_serves_who_has_its_password_and_nobody_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with own_lab("lab-postgresql-secure", tmp_path, monkeypatch) as cluster:
        with PostgresqlAdapter(cluster) as adapter:
            assert still_unmet(adapter, "whole") == []
            (primary,) = adapter.targets("primary", 1)
            assert claims(adapter)[primary.name][0]
            spec = adapter.load_spec()["connection"]
            assert spec["tls"]["enabled"]
            again = lab.up(cluster.name)  # read from its file, where the password is a reference
            with PostgresqlAdapter(again) as reread:
                proof = reread.step_down(primary, 10)
            assert proof.evidence["handed_to"] != primary.name
            await_whole(adapter)
        program = command("go_pgx", tmp_path)
        with Conversation(program, spec, {"max_open": 10}) as client:
            assert [rule for rule in check(client) if rule.problem] == []
        with Conversation(program, {**spec, "password": "wrong"}, {}) as client:
            assert "password authentication failed" in client.opened()
        assert cluster.connection.auth is not None
        assert cluster.connection.auth.password is not None
        secret = cluster.connection.auth.password.get_secret_value()
        for file in tmp_path.rglob("*.yaml"):
            assert secret not in file.read_text()
        with pytest.raises(ClusterError):
            Link(cluster.nodes[0], Access(), 2.0).ask("patroni")
        known = cluster.connection.tls
        bare = cluster.connection.model_copy(update={"auth": None, "tls": known})
        stranger = adapter_for(cluster.model_copy(update={"connection": bare}))
        assert isinstance(stranger, PostgresqlAdapter)
        with closing(stranger):
            (now,) = stranger.targets("primary", 1)
            with pytest.raises(Refused, match="refuses the login"):
                stranger.step_down(now, 10)
            with pytest.raises(ClusterError, match="password"):
                claims(stranger)


def test_a_synchronous_lab_has_a_replica_that_commits_wait_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with (
        own_lab("lab-postgresql-sync", tmp_path, monkeypatch) as cluster,
        PostgresqlAdapter(cluster) as adapter,
    ):
        (primary,) = adapter.targets("primary", 1)
        await_true(
            lambda: "sync" in adapter.evidence(primary).get("streaming", {}).values(),
            "commits wait for a replica",
        )
        for node in cluster.nodes:  # each server says of itself what its Patroni says
            view = View(node.name, node.address, sql.status(node, access(cluster), 10.0))
            of_patroni = adapter.evidence(node)
            said_alike = ("state", "role", "timeline", *(["streaming"] if node == primary else []))
            own = view.evidence()
            assert {name: own[name] for name in said_alike} == {
                name: of_patroni[name] for name in said_alike
            }
            assert view.engine in adapter.engine()


@pytest.mark.matrix
def test_an_order_that_patroni_refuses_is_told_in_its_words(lab_postgresql: Cluster) -> None:
    with PostgresqlAdapter(lab_postgresql) as adapter:
        (node,) = adapter.targets("replica", 1)
        link = Link(node, Access(), 10.0)
        with pytest.raises(CommandFailed, match="412 leader name does not match"):
            link.order("switchover", 10.0, leader=node.name)
