"""Members that nothing supervises: what can be done to them, and the commands that are run."""

import json
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.wording import naming

from brownout.base.errors import ClusterError, HostError
from brownout.databases.adapter import adapter_for
from brownout.databases.postgresql import streaming as members
from brownout.databases.postgresql.census import streaming
from brownout.databases.postgresql.milestones import judge, signature_of
from brownout.databases.postgresql.streaming import STANDBY, StreamingAdapter
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


SILENT, FULL = b"", b"sorry, too many clients already"


def packet(kind: bytes, body: bytes) -> bytes:
    return kind + (len(body) + 4).to_bytes(4, "big") + body


def answer(said: bytes | str) -> Iterator[bytes]:
    """What a server sends after the greeting, and after a question: an error, or its status."""
    if isinstance(said, bytes):
        yield packet(b"E", b"SFATAL\0VFATAL\0C53300\0M" + said + b"\0\0")
        return
    ready = packet(b"Z", b"I")
    yield packet(b"R", bytes(4)) + ready
    status = json.dumps(view("n2", said).status).encode()
    column = b"answer\0" + bytes(6) + (25).to_bytes(4, "big") + b"\xff\xff" + b"\xff" * 4 + bytes(2)
    row = (1).to_bytes(2, "big") + len(status).to_bytes(4, "big") + status
    described = packet(b"T", (1).to_bytes(2, "big") + column)
    yield described + packet(b"D", row) + packet(b"C", b"SELECT 1\0") + ready


@contextmanager
def server(*says: bytes | str) -> Iterator[str]:
    """The address of a server that says the next of `says` each time, its last ever after."""

    def play(taken: socket.socket, said: bytes | str) -> None:
        with taken:
            for sent in answer(said) if said else ():
                if taken.recv(65536):
                    taken.sendall(sent)
            taken.recv(65536)

    def serve() -> None:
        left = list(says)
        while True:
            try:
                taken, _ = listener.accept()
            except OSError:
                return
            if not taken.recv(1, socket.MSG_PEEK):  # a mere knock takes no turn
                taken.close()
            else:
                said = left.pop(0) if len(left) > 1 else left[0]
                threading.Thread(target=play, args=(taken, said), daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=serve, daemon=True).start()
        try:
            yield f"127.0.0.1:{listener.getsockname()[1]}"
        finally:
            listener.shutdown(socket.SHUT_RDWR)


def beside(directory: Path, *addresses: str, second_has_host: bool = False) -> Cluster:
    """A stopped n1 that was primary, and others, whose hosts cannot be asked, at `addresses`.

    If the second has a host, that one says that it is stopped.
    """
    of = cluster()
    host = ProcessSpec(
        pid_file=directory / "postmaster.pid",
        command=("postgres", "-D", str(directory)),
        server_directory=directory,
    )
    nodes = [Node(name="n1", address="127.0.0.1:1", host=host)]
    for number, address in enumerate(addresses, 2):
        its = host if second_has_host and number == 2 else None
        nodes.append(Node(name=f"n{number}", address=address, host=its))
    connection = of.connection.model_copy(update={"timeout_s": 0.3})
    return of.model_copy(update={"nodes": tuple(nodes), "connection": connection})


def before_start(of: Cluster) -> object:
    with StreamingAdapter(of) as adapter:
        return adapter.before_start(of.node("n1"), emptied=False)


@pytest.mark.parametrize("said", [SILENT, FULL, b"no pg_hba.conf entry for host"])
def test_no_primary_is_started_beside_a_member_that_may_be_primary(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: bytes
) -> None:
    monkeypatch.setattr(members, "_SAYS_S", 0.5)
    with server(said) as second, server("replica") as third:
        with pytest.raises(ClusterError, match=naming("n1", second, said.decode())) as caught:
            before_start(beside(tmp_path, second, third))
        assert third not in str(caught.value)


def test_a_primary_that_takes_no_connections_for_a_moment_is_seen_then(tmp_path: Path) -> None:
    with (
        server(FULL, FULL, "primary") as second,
        server("replica") as third,
        pytest.raises(ClusterError, match=naming("`n2` is primary", "streaming.rejoin")),
    ):
        before_start(beside(tmp_path, second, third))


def test_a_primary_returns_where_no_other_member_may_be_primary(tmp_path: Path) -> None:
    nobody = "127.0.0.1:2"
    with server("replica") as third, server(SILENT) as silent:
        assert before_start(beside(tmp_path, nobody, third)) == {}
        assert before_start(beside(tmp_path, silent, third, second_has_host=True)) == {}
        assert before_start(beside(tmp_path, nobody, nobody)) == {}


@pytest.mark.parametrize("said", [SILENT, FULL])
def test_no_standby_is_promoted_beside_a_member_that_may_be_primary(
    tmp_path: Path, said: bytes
) -> None:
    with (
        server(said) as second,
        server("replica") as third,
        StreamingAdapter(beside(tmp_path, second, third)) as adapter,
        pytest.raises(ClusterError, match=naming("`n3` is not promoted", second)) as caught,
    ):
        adapter.heir()
    assert third not in str(caught.value)


def test_a_standby_is_promoted_where_the_others_are_stopped(tmp_path: Path) -> None:
    nobody = "127.0.0.1:2"
    with server("replica") as third, server(SILENT) as silent:
        for second, has_host in ((nobody, False), (silent, True)):
            of = beside(tmp_path, second, third, second_has_host=has_host)
            with StreamingAdapter(of) as adapter:
                assert adapter.heir().name == "n3"


def test_a_standby_starts_whatever_the_others_say(tmp_path: Path) -> None:
    (tmp_path / STANDBY).touch()
    with server(SILENT) as second:
        assert before_start(beside(tmp_path, second)) == {}


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
