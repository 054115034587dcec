"""What a node's answers are taken for, by a server that sends what a test says."""

import socket
from collections.abc import Callable, Iterator
from contextlib import closing

import pytest
from tests.databases.script_server import Script, ScriptServer

from brownout.base.errors import ClusterError, NoAnswer
from brownout.databases.access import Access
from brownout.databases.redis.candidate import RedisCandidate
from brownout.databases.redis.link import CommandFailed, Link
from brownout.inventory.model import Node

OK = b"+OK\r\n"
ME = Access(username="me", password="s3cr3t")
Serve = Callable[..., ScriptServer]


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Start servers that play scripts."""
    servers: list[ScriptServer] = []

    def start(*scripts: Script) -> ScriptServer:
        servers.append(ScriptServer(*scripts))
        return servers[-1]

    yield start
    for server in servers:
        server.close()


def node(server: ScriptServer) -> Node:
    return Node(name="n1", address=server.address)


def ask(server: ScriptServer, access: Access | None = None, timeout_s: float = 30.0) -> object:
    with closing(Link(node(server), access or Access(), timeout_s)) as link:
        return link.ask("CLUSTER", "INFO")


@pytest.mark.parametrize(
    ("answer", "value"),
    [
        (OK, "OK"),
        (b":42\r\n", 42),
        (b"$-1\r\n", None),
        (b"*-1\r\n", None),
        (b"$4\r\n\r\n\xff!\r\n", "\r\n\udcff!"),  # a key may be of any bytes
        (b"*2\r\n$2\r\nk1\r\n*1\r\n:7\r\n", ["k1", [7]]),
    ],
)
def test_an_answer_is_text_a_number_a_list_or_nothing(
    answer: bytes, value: object, serve: Serve
) -> None:
    assert ask(serve([answer])) == value


def test_a_node_is_sent_its_login_and_nothing_else_of_the_clients_own(serve: Serve) -> None:
    server = serve([OK, OK])
    assert ask(server, ME) == "OK"
    login = b"*3\r\n$4\r\nAUTH\r\n$2\r\nme\r\n$6\r\ns3cr3t\r\n"
    assert server.requests == [login, b"*2\r\n$7\r\nCLUSTER\r\n$4\r\nINFO\r\n"]


def test_a_refused_login_names_the_setting_and_not_the_password(serve: Serve) -> None:
    for said in ("WRONGPASS invalid username-password pair", "NOAUTH Authentication required."):
        with pytest.raises(CommandFailed, match=r"see `connection\.auth`") as error:
            ask(serve([f"-{said}\r\n".encode()]), ME)
        assert (error.value.reply, error.value.refused) == (said, True)
        assert "s3cr3t" not in str(error.value)


@pytest.mark.parametrize(
    ("said", "refused"),
    [
        ("NOPERM this user has no permissions", True),
        ("ERR unknown command 'CLUSTER'", True),
        ("ERR You should send CLUSTER FAILOVER to a replica", False),
        ("IOERR error or timeout reading to target instance", False),
        ("CLUSTERDOWN The cluster is down", False),
    ],
)
def test_an_error_is_the_nodes_own_sentence(said: str, refused: bool, serve: Serve) -> None:
    server = serve([f"-{said}\r\n".encode(), OK])
    with closing(Link(node(server), Access(), 30.0)) as link:
        with pytest.raises(CommandFailed) as error:
            link.ask("CLUSTER", "INFO")
        assert (error.value.reply, error.value.refused) == (said, refused)
        assert link.ask("PING") == "OK"  # over the same connection


def test_the_first_error_of_several_answers_is_raised_after_all_are_read(serve: Serve) -> None:
    server = serve([OK + b"-ERR one\r\n" + b"-ERR two\r\n", b":1\r\n"])
    with closing(Link(node(server), Access(), 30.0)) as link:
        with pytest.raises(CommandFailed, match="ERR one"):
            link.ask_all([("A",), ("B",), ("C",)])
        assert link.ask("D") == 1


def test_a_node_that_loads_its_data_accepts_no_writes(serve: Serve) -> None:
    server = serve([b"-LOADING Redis is loading the dataset in memory\r\n" * 2])
    with closing(RedisCandidate(node(server), "s1", Access(), 30.0)) as candidate:
        assert not candidate.claim().primary


def test_a_closed_port_accepts_no_writes_and_is_named(serve: Serve) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        address = f"127.0.0.1:{listener.getsockname()[1]}"
    closed = Node(name="n1", address=address)
    with closing(RedisCandidate(closed, "s1", Access(), 30.0)) as candidate:
        assert not candidate.claim().primary
    with closing(Link(closed, Access(), 30.0)) as link, pytest.raises(ClusterError, match="refuse"):
        link.ask("PING")


def test_each_question_has_a_patience_of_its_own_and_is_not_sent_again(serve: Serve) -> None:
    server = serve([OK, b""], [OK])
    with closing(Link(node(server), Access(), 30.0)) as link:
        link.ask("PING")
        with pytest.raises(NoAnswer):
            link.ask("PING", timeout_s=0.2)
        assert len(server.requests) == 2
        assert link.ask("PING") == "OK"


def test_a_kept_connection_that_was_closed_is_replaced_once(serve: Serve) -> None:
    server = serve([OK, None], [OK])
    with closing(Link(node(server), Access(), 30.0)) as link:
        assert [link.ask("PING"), link.ask("PING")] == ["OK", "OK"]
    with pytest.raises(ClusterError):
        ask(serve([None]))


@pytest.mark.parametrize("answer", [b"HTTP/1.1 400 Bad Request\r\n\r\n", b":many\r\n"])
def test_another_protocol_is_named(answer: bytes, serve: Serve) -> None:
    with pytest.raises(ClusterError, match="it does not speak Redis's protocol"):
        ask(serve([answer]))
