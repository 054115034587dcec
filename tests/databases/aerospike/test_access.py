"""Who we are to a node: a login that is refused is told with its reason, and never its password."""

import socket
import ssl
import struct
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import aerospike
import pytest
from aerospike.exception import AerospikeError

from brownout.base.errors import ClusterError, ConfigurationError, Unsupported
from brownout.databases.aerospike.access import HEADER, access, exactly, login_message
from brownout.databases.aerospike.adapter import AerospikeAdapter
from brownout.databases.lab.certificates import Authority
from brownout.inventory.connection import Auth, Connection
from brownout.inventory.model import Cluster, Node

SECURITY, INFO = 2, 1


class SecureNode:
    """Answers the protocol's logins and questions as a node that knows one user does."""

    def __init__(self, user: str, password: str, tls: ssl.SSLContext | None = None) -> None:
        self._wanted, self._tls = login_message(user, password)[HEADER.size :], tls
        self.logins: list[bytes] = []
        self._server = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._server.getsockname()[1]}"
        threading.Thread(target=self._serve, daemon=True).start()

    def close(self) -> None:
        self._server.close()

    def _serve(self) -> None:
        while True:
            try:
                plain, _ = self._server.accept()
            except OSError:
                return
            threading.Thread(target=self._talk, args=(plain,), daemon=True).start()

    def _talk(self, plain: socket.socket) -> None:
        try:
            wrapped = self._tls.wrap_socket(plain, server_side=True) if self._tls else plain
            with wrapped as connection:
                known = False
                while True:
                    kind, body = _frame(connection)
                    if kind == SECURITY:
                        self.logins.append(body)
                        known = body == self._wanted
                        connection.sendall(_framed(SECURITY, bytes((0, 0 if known else 65)) * 8))
                    else:
                        connection.sendall(_framed(INFO, _answers(body, known)))
        except OSError:
            return


def _frame(connection: socket.socket) -> tuple[int, bytes]:
    head = struct.unpack(">Q", exactly(connection, 8))[0]
    return head >> 48 & 0xFF, exactly(connection, head & ((1 << 48) - 1))


def _framed(kind: int, body: bytes) -> bytes:
    return struct.pack(">Q", 2 << 56 | kind << 48 | len(body)) + body


def _answers(body: bytes, known: bool) -> bytes:
    said = {"edition": "Aerospike Enterprise Edition", "namespaces": "users"}
    if not known:
        return b"ERROR:80:not authenticated\n"
    return "".join(f"{c}\t{said.get(c, 'ok')}\n" for c in body.decode().splitlines()).encode()


@pytest.fixture
def node() -> Iterator[SecureNode]:
    found = SecureNode("chaos", "right")
    yield found
    found.close()


def cluster(address: str, **settings: object) -> Cluster:
    nodes = (Node(name="n1", address=address),)
    connection = Connection.model_validate(settings)
    return Cluster(
        name="c", database="aerospike", environment="test", nodes=nodes, connection=connection
    )


@pytest.fixture
def auth(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Auth]:
    def make(password: str) -> Auth:
        monkeypatch.setenv("CHAOS_PASSWORD", password)
        secret = {"env": "CHAOS_PASSWORD"}
        return Auth.model_validate({"username": "chaos", "password": secret})

    return make


def test_the_right_login_is_let_in(node: SecureNode, auth: Callable[[str], Auth]) -> None:
    with AerospikeAdapter(cluster(node.address, auth=auth("right"))) as adapter:
        adapter.ready()
        spec = adapter.load_spec()
    assert (spec["connection"]["username"], spec["connection"]["password"]) == ("chaos", "right")
    assert spec["options"]["namespace"] == "users"


def test_a_wrong_password_is_refused_with_a_reason_that_does_not_repeat_it(
    node: SecureNode, auth: Callable[[str], Auth]
) -> None:
    wrong = cluster(node.address, auth=auth("hunter2"))
    with AerospikeAdapter(wrong) as adapter, pytest.raises(ClusterError) as refused:
        adapter.ready()
    assert "refuses the login of `chaos`: user or password are wrong (65)" in str(refused.value)
    assert "hunter2" not in str(refused.value) + repr(access(wrong))


def test_a_node_that_wants_a_login_says_so_to_whoever_has_none(node: SecureNode) -> None:
    anonymous = AerospikeAdapter(cluster(node.address))
    with anonymous as adapter, pytest.raises(ClusterError, match="wants a login"):
        adapter.ready()


def test_the_community_edition_knows_no_users(
    lab_aerospike: Cluster, auth: Callable[[str], Auth]
) -> None:
    found = cluster(lab_aerospike.nodes[0].address, auth=auth("any"))
    with AerospikeAdapter(found) as adapter, pytest.raises(ClusterError, match="knows no users"):
        adapter.ready()


def test_we_log_in_as_the_official_client_does(node: SecureNode) -> None:
    host, _, port = node.address.rpartition(":")
    hosts = [(host, int(port))]
    with pytest.raises(AerospikeError):  # this node has no records, so the client gives it up
        aerospike.client({"hosts": hosts, "user": "chaos", "password": "right"}).connect()
    assert fields_of(node.logins[0]) == fields_of(login_message("chaos", "right")[HEADER.size :])


def fields_of(message: bytes) -> tuple[int, dict[int, bytes]]:
    """The command of a login, and its fields by their ids."""
    found, rest = {}, message[16:]
    while rest:
        size, id = struct.unpack(">IB", rest[:5])
        found[id], rest = rest[5 : 4 + size], rest[4 + size :]
    return message[2], found


@pytest.fixture
def authority(tmp_path: Path) -> Path:
    """The file of an authority whose certificate for 127.0.0.1 lies beside it as `node.pem`."""
    made = Authority("ours")
    (tmp_path / "ca.pem").write_bytes(made.pem)
    (tmp_path / "node.pem").write_bytes(made.issue("n1", "nodes", ["127.0.0.1"]))
    return tmp_path / "ca.pem"


@pytest.fixture
def encrypted(authority: Path) -> Iterator[SecureNode]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(authority.with_name("node.pem"))
    found = SecureNode("chaos", "right", context)
    yield found
    found.close()


def test_a_node_is_asked_over_tls_where_the_inventory_says_so(
    encrypted: SecureNode, authority: Path, auth: Callable[[str], Auth]
) -> None:
    tls = {"ca_file": str(authority)}
    with AerospikeAdapter(cluster(encrypted.address, auth=auth("right"), tls=tls)) as adapter:
        adapter.ready()
        assert adapter.load_spec()["connection"]["tls"]["ca_file"] == str(authority)


def test_a_certificate_that_nobody_we_trust_has_signed_is_refused(
    encrypted: SecureNode, auth: Callable[[str], Auth]
) -> None:
    found = cluster(encrypted.address, auth=auth("right"), tls={"enabled": True})
    with AerospikeAdapter(found) as adapter, pytest.raises(ClusterError, match="certificate"):
        adapter.ready()


def test_a_login_by_certificate_is_unsupported_and_says_what_is(authority: Path) -> None:
    tls = {"certificate_file": str(authority.with_name("node.pem"))}
    with pytest.raises(Unsupported, match="username and a password"):
        access(cluster("127.0.0.1:1", auth=Auth(mechanism="x509"), tls=tls))


def test_a_password_is_not_sent_in_clear_without_encryption(auth: Callable[[str], Auth]) -> None:
    options = {"auth_mode": "external"}
    with pytest.raises(ConfigurationError, match="wanted both"):
        access(cluster("127.0.0.1:1", auth=auth("right"), options=options))
