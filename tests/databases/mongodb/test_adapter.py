"""The adapter on a real replica set: what it says before, during and after each fault."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.waiting import await_true
from tests.wording import mentions, naming

from brownout.base.errors import ClusterError, ConfigurationError, Refused
from brownout.databases.adapter import adapter_for
from brownout.databases.lab.ports import reserve_ports
from brownout.databases.mongodb.adapter import MongoAdapter
from brownout.databases.mongodb.lab.mongod import find_mongod
from brownout.databases.mongodb.link import CommandFailed, Link
from brownout.inventory.connection import Connection
from brownout.inventory.model import Cluster, Node, ProcessSpec
from brownout.machine.host import Host, host_for

LIMIT_S = 60.0


def reached(adapter: MongoAdapter, milestone: str) -> Callable[[], bool]:
    return lambda: adapter.stable(milestone).reached  # type: ignore[arg-type]


def primary(adapter: MongoAdapter) -> str | None:
    found: str | None = adapter.stable("whole").detail["primary"]
    return found


@pytest.fixture
def adapter(lab_mongodb: Cluster) -> Iterator[MongoAdapter]:
    with MongoAdapter(lab_mongodb) as adapter:
        yield adapter


def test_it_is_found_by_the_databases_name(lab_mongodb: Cluster) -> None:
    adapter = adapter_for(lab_mongodb)
    adapter.close()

    assert isinstance(adapter, MongoAdapter)


def test_a_whole_set_is_ready_and_has_reached_every_milestone(adapter: MongoAdapter) -> None:
    adapter.ready()

    assert [adapter.stable(m).reached for m in ("rejoined", "redundant", "whole")] == [True] * 3
    assert sorted(member.role for member in adapter.members()) == [
        *("primary", "secondary", "secondary")
    ]


def test_it_names_its_engine_and_says_how_the_load_connects(
    adapter: MongoAdapter, lab_mongodb: Cluster
) -> None:
    addresses = ",".join(node.address for node in lab_mongodb.nodes)

    assert adapter.engine().startswith("mongod ")
    assert adapter.load_spec() == {
        "driver": "mongodb",
        "connection": {
            "uri": f"mongodb://{addresses}/?replicaSet=lab-mongodb",
            "username": "",
            "password": "",
        },
        "options": {"write_concern": "majority"},
    }


def test_a_role_and_a_seed_always_choose_the_same_nodes(adapter: MongoAdapter) -> None:
    (first,) = adapter.targets("primary", seed=1)

    assert first.name == primary(adapter)
    assert adapter.targets("secondary", seed=7) == adapter.targets("secondary", seed=7)
    assert first not in adapter.targets("role=secondary", seed=1)
    with pytest.raises(ConfigurationError, match="target: found 'leader', wanted a node"):
        adapter.targets("leader", seed=1)


def test_it_can_do_every_scenario_of_a_set_with_hosts(adapter: MongoAdapter) -> None:
    assert adapter.supports("stepdown").ok
    assert not any(adapter.supports(s).known for s in ("kill", "stop", "pause", "wipe"))
    assert not adapter.supports("shard-split").ok


def test_a_living_member_confirms_its_directory(
    adapter: MongoAdapter, lab_mongodb: Cluster
) -> None:
    node = lab_mongodb.nodes[0]
    assert node.host is not None
    assert node.host.config_file is not None

    assert adapter.data_directories(node) == [node.host.config_file.parent / "data"]


def test_a_living_member_that_runs_with_another_directory_is_refused(
    lab_mongodb: Cluster, tmp_path: Path
) -> None:
    wrong = tmp_path / "mongod.conf"
    wrong.write_text(f"storage: {{dbPath: {tmp_path}}}", encoding="utf-8")
    node = lab_mongodb.nodes[0]
    assert node.host is not None
    node = node.model_copy(update={"host": node.host.model_copy(update={"config_file": wrong})})

    with (
        MongoAdapter(lab_mongodb) as adapter,
        pytest.raises(Refused, match="but it runs with `"),
    ):
        adapter.data_directories(node)


def test_a_living_member_that_does_not_say_where_its_data_lie_is_known_by_its_process(
    lab_mongodb: Cluster, adapter: MongoAdapter, monkeypatch: pytest.MonkeyPatch
) -> None:
    node = lab_mongodb.nodes[0]
    found = adapter.data_directories(node)
    ask = Link.ask

    def forbidden(link: Link, command: str, *values: Any, **arguments: Any) -> Any:
        if command == "getCmdLineOpts":
            raise CommandFailed("not authorized", 13)
        return ask(link, command, *values, **arguments)

    monkeypatch.setattr(Link, "ask", forbidden)
    assert adapter.data_directories(node) == found
    monkeypatch.setattr("brownout.machine.process.ProcessHost.footprint", lambda *_: None)
    with pytest.raises(Refused, match="does not answer `getCmdLineOpts`"):
        adapter.data_directories(node)


def test_what_a_member_remembers_of_its_first_start_goes_with_its_data(
    lab_mongodb: Cluster, adapter: MongoAdapter
) -> None:
    first, second = (adapter.identity(node) for node in lab_mongodb.nodes[:2])
    assert first.startswith("record of its first start, ")
    assert first != second


def test_the_primary_hands_over_in_order_and_comes_back(adapter: MongoAdapter) -> None:
    (node,) = adapter.targets("primary", seed=1)
    before = adapter.signature()

    proof = adapter.drain(node)

    assert (proof.evidence["state_before"], proof.already) == ("PRIMARY", False)
    await_true(lambda: primary(adapter) not in (None, node.name), "another primary")
    assert adapter.signature() != before
    assert proof.evidence["catch_up_limit_s"] == 10
    assert proof.evidence["caught_up_s"] == pytest.approx(proof.uncertainty_s, abs=0.001)
    assert "caught_up_s" not in adapter.drain(node).evidence
    assert adapter.drain(node).already
    assert adapter.undrain(node).evidence["state"] == "SECONDARY"
    await_true(reached(adapter, "whole"), "the set is whole")


@pytest.mark.parametrize("seconds", [-1, 61])
def test_a_catch_up_that_makes_no_sense_is_refused(adapter: MongoAdapter, seconds: int) -> None:
    (node,) = adapter.targets("primary", seed=1)
    with pytest.raises(ConfigurationError, match=f"catch_up_s: found {seconds}, wanted 0 to 60"):
        adapter.step_down(node, seconds)
    assert primary(adapter) == node.name


def test_undraining_the_primary_changes_nothing(adapter: MongoAdapter) -> None:
    (node,) = adapter.targets("primary", seed=1)

    assert adapter.undrain(node).already
    assert primary(adapter) == node.name


class TestFaults:
    """Each fault on the primary, what the rest say of it, and the way back."""

    @pytest.fixture
    def victim(self, adapter: MongoAdapter) -> Node:
        return adapter.targets("primary", seed=1)[0]

    @pytest.fixture
    def host(self, victim: Node) -> Host:
        return host_for(victim)

    @pytest.mark.parametrize("mode", ["kill", pytest.param("clean", marks=pytest.mark.matrix)])
    def test_a_wiped_primary_copies_all_data_and_is_redundant_again(
        self, adapter: MongoAdapter, victim: Node, host: Host, mode: str
    ) -> None:
        before = adapter.signature()
        host.stop("kill" if mode == "kill" else "clean")

        assert adapter.signature() != before
        assert adapter.evidence(victim)["state"] == "unreachable"
        await_true(lambda: primary(adapter) not in (None, victim.name), "another primary")
        state = adapter.stable("rejoined")
        assert not state.reached
        assert state.detail["missing"][0].startswith(f"{victim.name} is unreachable")

        wiped = host.wipe(adapter.data_directories(victim))
        assert wiped.evidence["state"] == "empty"
        host.start()
        await_true(reached(adapter, "rejoined"), "every member rejoined")
        await_true(reached(adapter, "whole"), "the set is whole")
        assert adapter.evidence(victim)["state"] == "SECONDARY"

    def test_a_paused_primary_is_replaced_and_is_not_trusted_when_it_wakes(
        self, adapter: MongoAdapter, victim: Node, host: Host
    ) -> None:
        before = adapter.signature()
        host.pause()

        assert "no answer" in adapter.evidence(victim)["error"]
        await_true(lambda: primary(adapter) not in (None, victim.name), "another primary")
        assert adapter.signature() != before
        assert not adapter.stable("rejoined").reached

        host.resume()
        await_true(reached(adapter, "whole"), "the set is whole")
        assert adapter.evidence(victim)["state"] == "SECONDARY"

    def test_a_restart_that_nobody_noticed_changes_the_signature(
        self, adapter: MongoAdapter
    ) -> None:
        (node,) = adapter.targets("secondary", seed=1)
        before = adapter.signature()

        host_for(node).stop("kill")
        host_for(node).start()
        await_true(reached(adapter, "whole"), "the set is whole")

        assert adapter.signature() != before


class TestUnreachable:
    """A cluster that is not there, or is something else."""

    def test_every_member_is_named_with_its_cause(self, tmp_path: Path) -> None:
        ports = reserve_ports(2, tmp_path)
        nodes = [Node(name=f"n{i}", address=f"127.0.0.1:{p}") for i, p in enumerate(ports)]
        nodes.append(Node(name="n2", address="no-such-host.invalid:27017"))
        cluster = Cluster(name="c", database="mongodb", environment="test", nodes=tuple(nodes))

        with MongoAdapter(cluster) as adapter, pytest.raises(ClusterError) as caught:
            adapter.ready()

        message = str(caught.value)
        assert message.startswith("cluster `c` does not answer: ")
        refused = ", ".join(f"`n{i}` (127.0.0.1:{port})" for i, port in enumerate(ports))
        assert f"{refused}: Connection refused" in message
        assert "`n2` (no-such-host.invalid:27017): " in message

    @pytest.mark.parametrize("ask", ["engine", "drain", "targets"])
    def test_no_question_ends_in_an_error_of_the_driver(self, ask: str, tmp_path: Path) -> None:
        (port,) = reserve_ports(1, tmp_path)
        node = Node(name="n1", address=f"127.0.0.1:{port}")
        cluster = Cluster(name="c", database="mongodb", environment="test", nodes=(node,))
        arguments: dict[str, list[object]] = {"drain": [node], "targets": ["primary", 1]}

        with MongoAdapter(cluster) as adapter, pytest.raises(ClusterError):
            getattr(adapter, ask)(*arguments.get(ask, []))

    def test_another_replica_set_than_the_inventorys_is_refused(self, lab_mongodb: Cluster) -> None:
        other = lab_mongodb.model_copy(update={"connection": Connection(replica_set="orders")})

        with (
            MongoAdapter(other) as adapter,
            pytest.raises(ClusterError, match="of the replica set lab-mongodb, wanted orders"),
        ):
            adapter.ready()

    def test_a_standalone_mongod_is_unsupported(self, tmp_path: Path) -> None:
        (port,) = reserve_ports(1, tmp_path)
        (tmp_path / "data").mkdir()
        command = [str(find_mongod()), "--dbpath", str(tmp_path / "data"), "--port", str(port)]
        command += ["--setParameter", "diagnosticDataCollectionEnabled=false", "--nounixsocket"]
        host = ProcessSpec(pid_file=tmp_path / "mongod.pid", command=tuple(command))
        node = Node(name="n1", address=f"127.0.0.1:{port}", host=host)
        cluster = Cluster(name="c", database="mongodb", environment="test", nodes=(node,))
        host_for(node).start()
        try:
            with MongoAdapter(cluster) as adapter:
                await_true(lambda: "reachable" not in adapter.members()[0].state, "it answers")
                assert mentions(adapter.supports("kill").reason, "n1", "standalone")
                with pytest.raises(ClusterError, match=naming("n1", "standalone")):
                    adapter.ready()
        finally:
            host_for(node).stop("kill")
