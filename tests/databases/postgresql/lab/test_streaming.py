"""A lab of PostgreSQL that nothing supervises: its primary moves only where people move it."""

from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
import yaml
from psycopg.conninfo import make_conninfo
from tests.own_lab import own_lab
from tests.waiting import await_true, await_whole
from tests.wording import naming

from brownout.base.errors import ClusterError
from brownout.base.settings import host_and_port
from brownout.databases.milestones import still_unmet
from brownout.databases.postgresql import streaming
from brownout.databases.postgresql.access import access
from brownout.databases.postgresql.census import census
from brownout.databases.postgresql.milestones import MAX_BEHIND
from brownout.databases.postgresql.streaming import StreamingAdapter
from brownout.inventory import inventory
from brownout.inventory.importers.document import written
from brownout.inventory.model import Cluster, Node
from brownout.machine.host import host_for

pytestmark = [pytest.mark.live, pytest.mark.matrix, pytest.mark.timeout(600)]
ON = "lab-postgresql-streaming"


@pytest.fixture
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Cluster]:
    with own_lab(ON, tmp_path, monkeypatch) as lab:
        yield lab


def states(adapter: StreamingAdapter) -> dict[str, str]:
    return {member.node: member.state for member in adapter.members()}


def test_it_is_whole_and_each_server_says_what_it_is(cluster: Cluster) -> None:
    with StreamingAdapter(cluster) as adapter:
        adapter.ready()
        assert adapter.engine().startswith("PostgreSQL 1")
        assert "Patroni" not in adapter.engine()
        assert states(adapter) == {"n1": "PRIMARY", "n2": "REPLICA", "n3": "REPLICA"}
        assert adapter.evidence(cluster.node("n1"))["streaming"] == {"n2": "async", "n3": "async"}
        first = cluster.node("n1").address
        assert adapter.evidence(cluster.node("n2"))["streams_from"] == first


def test_a_standby_that_dies_is_missed_and_returns_by_itself(cluster: Cluster) -> None:
    with StreamingAdapter(cluster) as adapter:
        host, before = host_for(cluster.node("n3")), adapter.signature()
        host.stop("kill")
        assert adapter.signature() != before
        assert any("n3" in each for each in still_unmet(adapter, "rejoined"))
        assert adapter.before_start(cluster.node("n3"), emptied=False) == {}
        host.start()
        await_whole(adapter)


def test_nobody_takes_over_from_a_primary_before_somebody_is_promoted(cluster: Cluster) -> None:
    old = cluster.node("n1")
    bare = cluster.model_copy(
        update={"streaming": cluster.streaming.model_copy(update={"rejoin": ()})}  # type: ignore[union-attr]
    )
    with StreamingAdapter(cluster) as adapter, StreamingAdapter(bare) as without:
        with pytest.raises(ClusterError, match=naming("n1", "is primary")):
            adapter.heir()
        host_for(old).stop("kill")
        assert "PRIMARY" not in states(adapter).values()
        assert adapter.would_lose([old])  # only it may have the latest writes
        heir = adapter.heir()
        proof = adapter.promote(heir)
        assert (proof.evidence["state_before"], proof.evidence["state"]) == ("REPLICA", "PRIMARY")
        # Started as it is there would be two primaries.
        with pytest.raises(ClusterError, match=naming(heir.name, "streaming.rejoin")):
            without.before_start(old, emptied=False)
        assert adapter.before_start(old, emptied=False)["command"] == "rejoin"
        host_for(old).start()
        await_whole(adapter)
        assert states(adapter)["n1"] == "REPLICA"
        assert not adapter.would_lose([old])


def test_the_old_primary_waits_for_the_word_of_one_that_hangs(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streaming, "_SAYS_S", 1.0)
    old = cluster.node("n1")
    with StreamingAdapter(cluster) as adapter:
        host_for(old).stop("kill")
        heir = adapter.heir()
        (other,) = (node for node in cluster.nodes if node not in (old, heir))
        host_for(other).pause()  # its `standby.signal` says what it is
        assert adapter.before_start(old, emptied=False) == {}
        host_for(other).resume()
        adapter.promote(heir)
        host_for(heir).pause()
        with pytest.raises(ClusterError, match=naming(heir.name, "two primaries")):
            adapter.before_start(old, emptied=False)
        host_for(heir).resume()
        assert adapter.before_start(old, emptied=False)["command"] == "rejoin"
        host_for(old).start()
        await_whole(adapter)


def test_an_emptied_standby_is_filled_by_the_command(cluster: Cluster) -> None:
    node = cluster.node("n2")
    with StreamingAdapter(cluster) as adapter:
        places, host = adapter.data_directories(node), host_for(node)
        host.check_wipe(places)
        host.stop("kill")
        host.wipe(places)
        assert adapter.before_start(node, emptied=True)["command"] == "rejoin"
        host.start()
        await_whole(adapter)


def test_a_standby_that_replays_late_is_a_copy(cluster: Cluster) -> None:
    first, late, _ = cluster.nodes

    def run(node: Node, *statements: str) -> None:
        host, port = host_and_port(node.address)
        way = make_conninfo(**access(cluster).conninfo, host=host, port=port)
        with psycopg.connect(way, autocommit=True) as server:
            for statement in statements:
                server.execute(statement)

    with StreamingAdapter(cluster) as adapter:
        await_whole(adapter)
        run(late, "ALTER SYSTEM SET recovery_min_apply_delay = '1h'", "SELECT pg_reload_conf()")
        run(first, "CREATE TABLE one ()")  # it waits with a commit, and all that follows
        run(first, "CREATE TABLE filled AS SELECT generate_series(1, 200000) AS n")
        await_whole(adapter)
        ahead, behind = (adapter.evidence(node)["wal_bytes"] for node in (first, late))
        assert ahead - behind > MAX_BEHIND
        assert adapter.would_lose([first]) == []


def test_the_primary_hands_over_by_the_command_and_follows(cluster: Cluster) -> None:
    with StreamingAdapter(cluster) as adapter:
        proof = adapter.step_down(cluster.node("n1"), 10)
        assert not proof.already
        assert adapter.targets("primary", 1)[0].name == proof.evidence["handed_to"]
        await_true(lambda: states(adapter)["n1"] == "REPLICA", "the old primary is a standby")
        await_whole(adapter)
        assert adapter.step_down(cluster.node("n1"), 10).already


def test_its_members_are_written_as_its_servers_say(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "pair.yaml").write_text(
        yaml.safe_dump(
            {
                "database": "postgresql",
                "environment": "lab",
                "lab": {"engine": "postgresql-streaming", "members": 2},
            }
        )
    )
    with own_lab(str(tmp_path / "pair.yaml"), tmp_path / "labs", monkeypatch) as lab:
        standby = lab.node("n2").address
        seed = Node(name="asked", address=standby)
        asked = lab.model_copy(update={"nodes": (seed,), "lab": None, "streaming": None})
        text = written(census(asked), "postgresql")
    found = inventory.parse(yaml.safe_load(text), Path("x.yaml"))
    assert {node.address for node in found.nodes} == {node.address for node in lab.nodes}
    assert found.streaming is not None
