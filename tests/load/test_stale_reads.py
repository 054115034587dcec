"""Reads of real servers that are made to lag are called stale, and no other reads are.

Neither are the registers linearizable that are read so, and all others are.
"""

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import make_conninfo
from tests.links import partitionable
from tests.own_lab import own_lab
from tests.waiting import await_true

from brownout.databases.access import Access
from brownout.databases.postgresql.access import access
from brownout.databases.redis.link import Link
from brownout.inventory.model import Cluster, Node, ProcessSpec
from brownout.machine import network
from brownout.run.histories import Histories
from brownout.run.reads import Reads

from .conftest import Running, kill_with_writes_on_their_way

CHECKED = (
    "streams.lookups.rate=20,streams.orders.mix={read: 60, update: 40},streams.orders.rate=100,"
    "streams.orders.ledger_keys=60,data.keys=300"
)
MATRIX = pytest.mark.matrix
WHY_NOT = network.why_not()


def reads_of(load: Running) -> Reads:
    load.finish()
    reads = load.ledger().reads
    assert reads is not None
    return reads


def histories_of(load: Running) -> Histories:
    """What the histories came to, of which each is decided; of a load that is finished."""
    histories = load.ledger().histories
    assert histories is not None
    assert (histories.registers, histories.unknown) == (60, 0)
    assert histories.operations > 300
    for each in histories.examples:
        assert f'"{each["operation"]}"' in (load.directory / each["drawing"]).read_text("utf-8")
    return histories


def for_seconds(load: Running, seconds: float) -> None:
    began = load.lives[-1]["t"]
    load.until("the load continued", lambda: load.lives[-1]["t"] > began + seconds)


def are_older_by_seconds(reads: Reads, lanes: set[str]) -> None:
    """Check that stale reads are from these lanes alone, and older than a second."""
    assert {lane.lane for lane in reads.lanes if lane.stale} <= lanes
    age = reads.bounds("stale_age")
    assert age is not None
    assert 1 < age[0] < 60
    assert reads.examples
    assert all(each["seq"] < each["acked"] for each in reads.examples)


def connection_to(node: Node, cluster: Cluster) -> psycopg.Connection:
    host, _, port = node.address.rpartition(":")
    where = make_conninfo(host=host, port=port, **access(cluster).conninfo)
    return psycopg.connect(where, autocommit=True)


@contextmanager
def slow_to_connect_to(cluster: Cluster) -> Iterator[None]:
    """Have each server wait for half a second before it answers a new connection."""
    with ExitStack() as stack:
        for node in cluster.nodes:
            connection = stack.enter_context(connection_to(node, cluster))
            stack.callback(connection.execute, "SELECT pg_reload_conf()")
            stack.callback(connection.execute, "ALTER SYSTEM RESET pre_auth_delay")
            connection.execute("ALTER SYSTEM SET pre_auth_delay = '500ms'")
            connection.execute("SELECT pg_reload_conf()")
        yield


@contextmanager
def replay_paused(node: Node, cluster: Cluster) -> Iterator[None]:
    """Have a standby replay nothing meanwhile; its Patroni, which would resume, is stopped."""
    assert isinstance(node.host, ProcessSpec)
    patroni = int(node.host.pid_file.read_text(encoding="utf-8"))
    with connection_to(node, cluster) as connection:
        os.kill(patroni, signal.SIGSTOP)
        try:
            connection.execute("SELECT pg_wal_replay_pause()")
            yield
        finally:
            connection.execute("SELECT pg_wal_replay_resume()")
            os.kill(patroni, signal.SIGCONT)


def test_reads_of_a_standby_that_replays_nothing_are_stale_and_allowed(
    running_postgresql: Callable[..., Running],
) -> None:
    load = running_postgresql(f"{CHECKED},options.postgresql.read_from=standby")
    (primary,) = load.adapter.targets("primary", 1)
    first = next(node for node in load.cluster.nodes if node != primary)
    with replay_paused(first, load.cluster):
        for_seconds(load, 4)
    reads = reads_of(load)
    are_older_by_seconds(reads, {first.address})
    assert {(lane.asked, lane.lane) for lane in reads.lanes} == {("standby", first.address)}
    assert reads.bounds("stale_reads") == (0, 0)
    assert (reads.bounds("stale_reads_allowed") or (0,))[0] > 5


def test_the_first_reads_have_a_lane_where_a_connection_takes_its_time(
    running_postgresql: Callable[..., Running], lab_postgresql: Cluster
) -> None:
    with slow_to_connect_to(lab_postgresql):
        load = running_postgresql(f"{CHECKED},options.postgresql.read_from=standby")
        for_seconds(load, 1)
    load.finish()
    assert set(load.lanes()) <= {node.address for node in lab_postgresql.nodes}


@contextmanager
def replicas_of(cluster: Cluster) -> Iterator[list[Link]]:
    with ExitStack() as stack:
        links = [stack.enter_context(closing(Link(node, Access(), 5.0))) for node in cluster.nodes]
        yield [link for link in links if "role:slave" in str(link.ask("INFO", "replication"))]


def are_asked(cluster: Cluster) -> bool:
    """Whether every replica of a cluster has answered a read."""
    with replicas_of(cluster) as replicas:
        stats = [str(link.ask("INFO", "commandstats")) for link in replicas]
        return all("cmdstat_get:calls=" in each and "get:calls=0," not in each for each in stats)


@contextmanager
def unreplicated(cluster: Cluster) -> Iterator[None]:
    """Keep each replica from its master meanwhile, by a password that this does not have."""
    with replicas_of(cluster) as replicas:
        for link in replicas:
            link.ask("CONFIG", "SET", "masterauth", "wrong")
            link.ask("CLIENT", "KILL", "TYPE", "master")
        try:
            yield
        finally:
            for link in replicas:
                link.ask("CONFIG", "SET", "masterauth", "")


@pytest.mark.parametrize(
    ("client", "promise"),
    [
        ("valkey-go", "linearizable=true"),
        pytest.param("go-redis", "reads=session", marks=MATRIX),
    ],
)
def test_reads_of_replicas_that_get_nothing_are_stale(
    client: str, promise: str, running_redis: Callable[..., Running]
) -> None:
    options = f"options.redis.read_from=replica,options.redis.client={client}"
    load = running_redis(f"{CHECKED},{options},streams.orders.{promise}")
    await_true(lambda: are_asked(load.cluster), "reads come to all replicas")
    with unreplicated(load.cluster):
        for_seconds(load, 4)
    reads = reads_of(load)
    are_older_by_seconds(reads, {lane.lane for lane in reads.lanes})
    assert (reads.bounds("stale_reads") or (0,))[
        0
    ] > 20  # the shard is one lane, master and replica
    if promise == "linearizable=true":
        histories = histories_of(load)
        assert histories.nonlinearizable > 20
        assert len(histories.examples) == 20


@MATRIX
def test_registers_read_from_a_standby_that_replays_nothing_are_not_linearizable(
    running_postgresql: Callable[..., Running],
) -> None:
    options = "options.postgresql.read_from=standby,streams.orders.linearizable=true"
    load = running_postgresql(f"{CHECKED},{options}")
    (primary,) = load.adapter.targets("primary", 1)
    first = next(node for node in load.cluster.nodes if node != primary)
    with replay_paused(first, load.cluster):
        for_seconds(load, 4)
    assert (reads_of(load).bounds("stale_reads") or (0,))[0] > 5
    histories = histories_of(load)
    assert histories.nonlinearizable > 5
    assert {each["lane"] for each in histories.examples} == {first.address}


@MATRIX
@pytest.mark.parametrize("name", ["running", "running_etcd"])
def test_nothing_is_stale_or_dirty_where_the_primary_is_asked_though_it_is_killed(
    name: str, request: pytest.FixtureRequest
) -> None:
    promise = "streams.orders.linearizable=true,options.mongodb.read_concern=linearizable"
    load: Running = request.getfixturevalue(name)(f"{CHECKED},{promise}")
    for _ in range(2):
        _, host = load.primary()
        kill_with_writes_on_their_way(host)
        for_seconds(load, 3)
        host.start()
        await_true(lambda: load.adapter.stable("whole").reached, "the cluster is whole")
        load.until("the load is well again", load.well)
    reads = reads_of(load)
    assert reads.checked > 300
    assert not any(lane.stale or lane.dirty for lane in reads.lanes)
    assert load.ledger().in_doubt > 0
    assert histories_of(load).nonlinearizable == 0


@contextmanager
def cut_off(node: Node, cluster: Cluster) -> Iterator[None]:
    """Cut a member off from the others; clients still reach it."""
    link = partitionable(node)
    link.partition([other.address for other in cluster.nodes if other != node], 120)
    try:
        yield
    finally:
        link.heal_partition()


@MATRIX
@pytest.mark.skipif(bool(WHY_NOT), reason=f"NOT TESTED: network namespaces: {WHY_NOT}")
@pytest.mark.parametrize("read", ["serializable", "linearizable"])
def test_a_member_of_etcd_that_is_cut_off_shows_older_states_by_serializable_reads_alone(
    read: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    changes = f"{CHECKED},options.etcd.read={read}"
    with (
        own_lab("lab-etcd-partition", tmp_path / "lab", monkeypatch) as cluster,
        closing(Running(cluster, tmp_path / "run", changes)) as load,
    ):
        load.start()
        leader, _ = load.primary()
        follower = next(node for node in cluster.nodes if node != leader)
        with cut_off(follower, cluster):
            for_seconds(load, 4)
        await_true(lambda: load.adapter.stable("whole").reached, "the cluster is whole")
        load.until("the load is well again", load.well)
        reads = reads_of(load)
        if read == "linearizable":
            assert not any(lane.stale or lane.dirty for lane in reads.lanes)
            return
        are_older_by_seconds(reads, {follower.address})
        assert reads.bounds("stale_reads") == (0, 0)


@MATRIX
@pytest.mark.skipif(bool(WHY_NOT), reason=f"NOT TESTED: network namespaces: {WHY_NOT}")
def test_a_secondary_of_mongodb_that_is_cut_off_shows_older_states_and_that_is_allowed(
    lab_partition: Cluster, tmp_path: Path
) -> None:
    changes = f"{CHECKED},options.mongodb.read_preference=secondary"
    with closing(Running(lab_partition, tmp_path / "run", changes)) as load:
        load.start()
        primary, _ = load.primary()
        secondary = next(node for node in lab_partition.nodes if node != primary)
        with cut_off(secondary, lab_partition):
            for_seconds(load, 5)
        await_true(lambda: load.adapter.stable("whole").reached, "the set is whole")
        load.until("the load is well again", load.well)
        reads = reads_of(load)
        are_older_by_seconds(reads, {"secondaries"})
        assert {lane.asked for lane in reads.lanes} == {"secondary, read concern local"}
        assert reads.bounds("stale_reads") == (0, 0)
        assert (reads.bounds("stale_reads_allowed") or (0,))[0] > 20


@MATRIX
@pytest.mark.skipif(bool(WHY_NOT), reason=f"NOT TESTED: network namespaces: {WHY_NOT}")
@pytest.mark.parametrize("concern", ["local", "linearizable"])
def test_a_primary_of_mongodb_that_is_cut_off_shows_what_is_rolled_back_unless_linearizable(
    concern: str, lab_partition: Cluster, tmp_path: Path
) -> None:
    changes = f"{CHECKED},options.mongodb.read_concern={concern},streams.orders.deadline_s=4"
    changes += ",streams.orders.linearizable=true"
    with closing(Running(lab_partition, tmp_path / "run", changes)) as load:
        load.start()
        primary, _ = load.primary()
        with cut_off(primary, lab_partition):
            for_seconds(load, 8)
        await_true(lambda: load.adapter.stable("whole").reached, "the set is whole")
        load.until("the load is well again", load.well)
        reads = reads_of(load)
        assert concern == "local" or not any(lane.stale for lane in reads.lanes), reads.words
        assert bool(histories_of(load).nonlinearizable) == (concern == "local")
        dirty = sum(lane.dirty for lane in reads.lanes)
        assert bool(dirty) == (concern == "local"), reads.words
