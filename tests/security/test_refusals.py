"""What cannot log in is told why, by both sides, in words that hold no secret."""

import socket
import ssl
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.security.driving import try_all
from tests.security.secured_lab import USERNAME, VARIABLE, SecuredLab
from tests.wording import mentions

from brownout.databases.lab.certificates import Authority

#: Both sides wait that long for a server that they can use.
QUICK = {"timeout_s": 1.0, "options": {"server_selection_timeout_ms": 1000}}
Connection = Mapping[str, Any]


def _keep(path: Path, text: str | bytes) -> Path:
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def _password(secured: SecuredLab, where: Path, password: str, user: str = USERNAME) -> Connection:
    """Log in with a password of its own."""
    _keep(where / "password", password)
    return secured.scram({"file": "password"}, user)


def _with_tls(secured: SecuredLab, where: Path, **tls: Any) -> Connection:
    """Log in with the right password and these settings of TLS."""
    return {**_password(secured, where, secured.password), "tls": tls}


@pytest.fixture
def untouched(secured: SecuredLab) -> Iterator[None]:
    """Whatever the test tries, the cluster holds and does what it did before."""

    def seen() -> Any:
        with secured.admin() as admin:
            collections = {
                name: sorted(admin[name].list_collection_names())
                for name in admin.list_database_names()
                if name not in ("admin", "config", "local")
            }
            status = admin.admin.command("replSetGetStatus")
            return collections, [member["stateStr"] for member in status["members"]]

    before = seen()
    yield
    assert seen() == before


@pytest.mark.usefixtures("untouched")
@pytest.mark.parametrize("user", [USERNAME, "nobody"])
def test_a_wrong_password_or_user_is_refused_by_every_member_at_once(
    secured: SecuredLab, tmp_path: Path, user: str
) -> None:
    connection = _password(secured, tmp_path, f"wrong-{secured.mark}", user)
    said = try_all(secured.inventory(tmp_path, connection), tmp_path)
    assert said.control.count("connection.auth") == 1
    assert all(f"`{node.name}`" in said.control for node in secured.cluster.nodes)
    assert "authentication failed" in said.control or "knows no such user" in said.control
    assert "refuses the login" in said.generator
    assert secured.mark not in said.text


@pytest.mark.usefixtures("untouched")
def test_a_user_that_may_not_write_is_refused_before_anything_is_written(
    secured: SecuredLab, tmp_path: Path
) -> None:
    monitor = [{"role": "clusterMonitor", "db": "admin"}]
    secured.add_user("watcher", secured.password, monitor)
    connection = _password(secured, tmp_path, secured.password, "watcher")
    said = try_all(secured.inventory(tmp_path, connection), tmp_path, load=True)
    assert said.control == ""
    assert "not authorized on brownout" in said.generator
    assert "`readWrite`" in said.generator
    assert secured.mark not in said.text


@pytest.mark.usefixtures("untouched")
def test_a_user_that_may_not_monitor_is_told_which_role_is_missing(
    secured: SecuredLab, tmp_path: Path
) -> None:
    secured.add_user("writer", secured.password, [{"role": "readWrite", "db": "brownout"}])
    connection = _password(secured, tmp_path, secured.password, "writer")
    said = try_all(secured.inventory(tmp_path, connection), tmp_path)
    assert "give it the role `clusterMonitor`" in said.control
    assert secured.mark not in said.text


def no_tls(secured: SecuredLab, where: Path) -> Connection:
    return _with_tls(secured, where, enabled=False)


def no_authority(secured: SecuredLab, where: Path) -> Connection:
    return _with_tls(secured, where)


def foreign_authority(secured: SecuredLab, where: Path) -> Connection:
    _keep(where / "other.pem", Authority("somebody else").pem)
    return _with_tls(secured, where, ca_file="other.pem")


def foreign_certificate(secured: SecuredLab, where: Path) -> Connection:
    pem = Authority("somebody else").issue("brownout", "clients")
    return secured.x509(_keep(where / "client.pem", pem))


def expired_certificate(secured: SecuredLab, where: Path) -> Connection:
    pem = secured.authority.issue("brownout", "clients", lasts=timedelta(days=-1))
    return secured.x509(_keep(where / "client.pem", pem))


def certificate_of_no_user(secured: SecuredLab, where: Path) -> Connection:
    pem = secured.authority.issue("somebody", "clients")
    return secured.x509(_keep(where / "client.pem", pem))


@pytest.mark.usefixtures("untouched")
@pytest.mark.parametrize(
    ("way", "control", "generator"),
    [
        (no_tls, "it may want TLS", "see `connection.tls`"),
        (no_authority, "certificate verify failed", "unknown authority"),
        (foreign_authority, "certificate verify failed", "unknown authority"),
        (foreign_certificate, "refuse our certificate", "refuses the login or the TLS connection"),
        (expired_certificate, "refuse our certificate", "refuse our certificate"),
        (certificate_of_no_user, 'find user "CN=somebody,O=clients"', "refuses the login"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_what_tls_does_not_let_through_says_so(
    secured: SecuredLab,
    tmp_path: Path,
    way: Callable[[SecuredLab, Path], Connection],
    control: str,
    generator: str,
) -> None:
    connection = {**way(secured, tmp_path), **QUICK}
    said = try_all(secured.inventory(tmp_path, connection), tmp_path)
    assert control in said.control
    assert generator in said.generator
    assert "connection.tls" in said.control or "connection.auth" in said.control
    assert secured.mark not in said.text


@pytest.mark.usefixtures("untouched")
def test_a_certificate_of_another_host_is_refused(secured: SecuredLab, tmp_path: Path) -> None:
    """0.0.0.0 leads to the very same servers, whose certificates are good for 127.0.0.1 only."""
    nodes = [
        {"name": node.name, "address": node.address.replace("127.0.0.1", "0.0.0.0")}
        for node in secured.cluster.nodes
    ]
    connection = {**_password(secured, tmp_path, secured.password), **QUICK}
    said = try_all(secured.inventory(tmp_path, connection, nodes=nodes), tmp_path)
    assert "certificate is not valid for '0.0.0.0'" in said.control
    assert "valid for 127.0.0.1" in said.generator
    assert secured.mark not in said.text


@contextmanager
def _tls_server(pem: Path) -> Iterator[str]:
    """Listen with a certificate, and end every connection after its handshake."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pem)

    def serve() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return  # closed: the test is over
            try:
                context.wrap_socket(connection, server_side=True).close()
            except OSError:
                connection.close()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield f"127.0.0.1:{listener.getsockname()[1]}"
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            thread.join()


def test_a_server_whose_certificate_has_expired_is_not_trusted(
    secured: SecuredLab, tmp_path: Path
) -> None:
    expired = secured.authority.issue("n1", "members", ["127.0.0.1"], lasts=timedelta(days=-1))
    with _tls_server(_keep(tmp_path / "server.pem", expired)) as address:
        nodes = [{"name": "n1", "address": address}]
        connection = {**_password(secured, tmp_path, secured.password), **QUICK}
        said = try_all(secured.inventory(tmp_path, connection, nodes=nodes), tmp_path)
    assert "certificate has expired" in said.control
    assert "certificate has expired" in said.generator
    assert secured.mark not in said.text


@pytest.mark.parametrize(
    ("password", "problem"),
    [
        ({"env": "BROWNOUT_NOT_SET"}, "`BROWNOUT_NOT_SET`"),
        ({"env": VARIABLE}, f"`{VARIABLE}` is empty"),
        ({"file": "nowhere"}, "nowhere` cannot be read: No such file"),
        ({"file": "."}, "cannot be read: Is a directory"),
        ({"file": "empty"}, "empty` is empty"),
        ({"file": "binary"}, "binary` cannot be read: not UTF-8 text"),
        ({"secret": "db.word"}, "no secret `db.word`; for a command that runs none, export `BRO"),
        ({"vault": "x"}, "'vault', wanted {env: NAME}"),
    ],
)
def test_a_secret_that_cannot_be_had_is_named_by_its_reference(
    secured: SecuredLab,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    password: dict[str, str],
    problem: str,
) -> None:
    monkeypatch.setenv(VARIABLE, "")
    _keep(tmp_path / "empty", "\n")
    _keep(tmp_path / "binary", b"\xff" + secured.mark.encode())
    said = try_all(secured.inventory(tmp_path, secured.scram(password)), tmp_path)
    assert f"connection.auth.password: {'found ' if 'vault' in password else ''}" in said.inventory
    assert problem in said.inventory
    assert secured.mark not in said.text


def test_a_secrets_file_that_is_not_ours_to_read_says_so(
    secured: SecuredLab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def denied(*_: Any, **__: Any) -> str:
        raise PermissionError(13, "Permission denied")

    path = secured.inventory(tmp_path, _password(secured, tmp_path, secured.password))
    text = path.read_text()
    monkeypatch.setattr(Path, "read_text", lambda self, **_: text if self == path else denied())
    said = try_all(path, tmp_path)
    assert "password` cannot be read: Permission denied" in said.inventory
    assert secured.mark not in said.text


def test_a_plain_secret_is_refused_and_not_repeated(secured: SecuredLab, tmp_path: Path) -> None:
    plain = {**secured.scram({}), "auth": {"username": "u", "password": secured.password}}
    said = try_all(secured.inventory(tmp_path, plain), tmp_path)
    assert mentions(said.inventory, "connection.auth.password", "{env: NAME}")
    assert secured.mark not in said.text


@pytest.mark.parametrize(
    ("uri", "problem"),
    [
        ("mongodb://u:{}@h/", "a character of its user or password must be percent-encoded"),
        ("mongodb://u:%{0}@h/", "a character of its user or password must be percent-encoded"),
        ("{}", "not a URI (not shown)"),
        ("mongodb:/{}", "not a URI (not shown)"),
    ],
)
def test_a_uri_that_drivers_would_take_apart_wrongly_is_refused_and_not_repeated(
    secured: SecuredLab,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    uri: str,
    problem: str,
) -> None:
    monkeypatch.setenv(VARIABLE, uri.format(secured.password))
    said = try_all(secured.inventory(tmp_path, {"uri": {"env": VARIABLE}}), tmp_path)
    assert f"connection.uri: {problem}" in said.inventory
    assert secured.mark not in said.text


@pytest.mark.parametrize(
    ("uri", "problem"),
    [
        ("mongodb://u:{}@h/", "found a password"),
        ("mongodb://h/?tls=true&tlsCertificateKeyFilePassword={}", "found a secret among"),
        ("mongodb://h/?authMechanismProperties=AWS_SESSION_TOKEN:{}", "found a secret among"),
    ],
)
def test_a_secret_in_a_plain_uri_is_refused_and_not_repeated(
    secured: SecuredLab, tmp_path: Path, uri: str, problem: str
) -> None:
    said = try_all(secured.inventory(tmp_path, {"uri": uri.format(secured.mark)}), tmp_path)
    assert f"connection.uri: {problem}" in said.inventory
    assert secured.mark not in said.text


def test_files_that_are_no_certificates_are_found_out_before_any_connection(
    secured: SecuredLab, tmp_path: Path
) -> None:
    junk = _keep(tmp_path / "junk.pem", "junk")
    locked = secured.locked_certificate(tmp_path)
    wrong = {"file": str(_keep(tmp_path / "wrong", secured.mark))}
    cases: list[tuple[Connection, str]] = [
        (_with_tls(secured, tmp_path, ca_file="junk.pem"), "wanted certificates in PEM form"),
        (_with_tls(secured, tmp_path, ca_file="none.pem"), "wanted a file that exists"),
        (secured.x509(junk), "wanted a certificate and the key that belongs to it"),
        (secured.x509(secured.tls / "ca.pem"), "wanted a certificate and the key"),
        (secured.x509(locked), "its key is encrypted, wanted key_passphrase"),
        (secured.x509(locked, key_passphrase=wrong), "key_passphrase does not open it"),
        (
            _with_tls(secured, tmp_path, key_passphrase=wrong),
            "found key_passphrase without certificate_file",
        ),
    ]
    for connection, problem in cases:
        said = try_all(secured.inventory(tmp_path, connection), tmp_path)
        assert "connection.tls" in said.inventory
        assert problem in said.inventory
        assert secured.mark not in said.text
