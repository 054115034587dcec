"""Members that nothing supervises: what can be done to them, and the commands that are run."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.wording import naming

from brownout.base.errors import ClusterError, HostError
from brownout.databases.adapter import adapter_for
from brownout.databases.postgresql.census import streaming
from brownout.databases.postgresql.milestones import judge, signature_of
from brownout.databases.postgresql.streaming import StreamingAdapter
from brownout.databases.postgresql.view import View
from brownout.inventory.model import Cluster, Node, ProcessSpec
from brownout.inventory.streaming import StreamingSpec

PYTHON = (sys.executable, "-c")


def cluster(**commands: object) -> Cluster:
    nodes = [
        Node(
            name=f"n{n}",
            address=f"127.0.0.1:{n}",  # nobody listens there
            host=ProcessSpec(
                pid_file=Path(f"/run/n{n}.pid"),
                command=("postgres",),
                server_directory=Path(f"/data/n{n}"),
            ),
        )
        for n in (1, 2, 3)
    ]
    return Cluster(
        name="c",
        database="postgresql",
        environment="test",
        nodes=tuple(nodes),
        streaming=StreamingSpec.model_validate(commands),
    )


@pytest.fixture
def bare() -> Iterator[StreamingAdapter]:
    with StreamingAdapter(cluster()) as adapter:
        yield adapter


def view(node: str, role: str, *, timeline: int = 1, receives: str = "", **said: Any) -> View:
    status = {"state": "running", "role": role, "timeline": timeline, **said}
    status |= {"xlog": {"location": 9, "replayed_location": 9}, "server_version": 180006}
    status |= {"database_system_identifier": "71"}
    if receives:
        host, _, port = receives.partition(":")
        status |= {"receives": {"host": host, "port": int(port), "application_name": node}}
    return View(node, f"{node}:5432", status)


def primary(*standbys: str) -> View:
    streams = [{"application_name": n, "state": "streaming", "sync_state": "async"}
               for n in standbys]  # fmt: skip
    return view("n1", "primary", replication=streams)


def test_the_inventory_decides_which_adapter_a_cluster_has(bare: StreamingAdapter) -> None:
    with adapter_for(cluster()) as adapter:  # type: ignore[attr-defined]
        assert type(adapter) is type(bare)


@pytest.mark.parametrize(
    ("scenario", "setting"),
    [
        ("stepdown", "streaming.switchover"),
        ("drain", "streaming.switchover"),
        ("promote", "streaming.promote"),
        ("node-wipe", "streaming.rejoin"),
    ],
)
def test_what_needs_a_command_is_refused_without_it(
    bare: StreamingAdapter, scenario: str, setting: str
) -> None:
    refused = bare.supports(scenario)
    assert not refused.ok
    assert setting in refused.reason
    with StreamingAdapter(cluster(**{setting.partition(".")[2]: ["true"]})) as adapter:
        able = adapter.supports(scenario)
        assert able.ok or not able.known  # a wipe is for the hosts to decide


def test_no_supervisor_can_be_killed_and_nobody_detects_a_failure(bare: StreamingAdapter) -> None:
    assert not bare.supports("supervisor").ok
    assert bare.failure_detection() is None


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ((*PYTHON, "import sys; sys.exit('no such standby: {node}')"), ("status 1", "standby: n2")),
        (("/no/such/program",), ("/no/such/program", "cannot be started")),
    ],
)
def test_a_command_that_fails_is_told_in_its_own_words(
    command: tuple[str, ...], words: tuple[str, ...]
) -> None:
    of = cluster(promote=command)
    with StreamingAdapter(of) as adapter, pytest.raises(HostError, match=naming(*words)):
        adapter.promote(of.node("n2"))


def test_a_command_that_does_not_end_is_ended() -> None:
    of = cluster(promote=(*PYTHON, "import time; time.sleep(600)"), timeout_s=0.2)
    with StreamingAdapter(of) as adapter, pytest.raises(HostError, match=r"0\.2 s"):
        adapter.promote(of.node("n2"))


def test_nobody_is_promoted_where_no_standby_answers(bare: StreamingAdapter) -> None:
    with pytest.raises(ClusterError, match="no standby"):
        bare.heir()


def test_a_standby_counts_as_a_copy_only_if_both_ends_say_that_it_streams() -> None:
    standbys = [view(name, "replica", receives="n1:5432") for name in ("n2", "n3")]
    assert judge("whole", [primary("n2", "n3"), *standbys]).reached
    assert judge("whole", [primary("n2", "n3", "pg_receivewal"), *standbys]).reached
    assert not judge("redundant", [primary("n2"), *standbys]).reached
    silent = view("n3", "replica")
    assert not judge("redundant", [primary("n2", "n3"), standbys[0], silent]).reached
    assert judge("rejoined", [primary("n2"), standbys[0], silent]).reached


def test_members_of_two_clusters_are_not_whole() -> None:
    other = view("n2", "replica", receives="n1:5432", database_system_identifier="72")
    strange = View("n2", "n2:5432", {**other.status, "database_system_identifier": "72"})
    state = judge("whole", [primary("n2"), strange])
    assert state.detail["missing"] == ["the members are of 2 clusters"]


def test_the_signature_changes_as_soon_as_a_standby_loses_its_primary() -> None:
    streaming_ones = [primary("n2"), view("n2", "replica", receives="n1:5432")]
    alone = [primary("n2"), view("n2", "replica")]
    assert signature_of(streaming_ones) != signature_of(alone)


def test_the_primary_lists_its_standbys_and_not_the_tools_that_stream() -> None:
    said = [
        {"application_name": "walreceiver", "address": "10.0.0.2"},
        {"application_name": "pg3", "address": "10.0.0.3"},
        {"application_name": "pg_receivewal", "address": "10.0.0.9"},
        {"application_name": "pg4", "address": None},  # by a socket on its own machine
    ]
    machines = streaming("10.0.0.1:5433", {"role": "primary", "replication": said})
    assert [(one.name, one.address, one.database_port) for one in machines] == [
        ("", "10.0.0.1", 5433),
        ("", "10.0.0.2", 5433),
        ("pg3", "10.0.0.3", 5433),
    ]
    assert [bool(one.notes) for one in machines] == [False, True, True]
    with pytest.raises(ClusterError, match="standby"):
        streaming("10.0.0.1:5433", {"role": "replica"})
