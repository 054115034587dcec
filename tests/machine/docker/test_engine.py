"""The way to an engine: by a socket, by TLS, and one clear error for what fails."""

import ssl
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pydantic import ValidationError
from tests.machine.docker.recorded import RecordedEngine

from brownout.base.errors import ConfigurationError, HostError
from brownout.databases.lab.certificates import Authority
from brownout.inventory import inventory
from brownout.inventory.model import Node
from brownout.machine.docker import DockerHost, DockerSpec, clock
from brownout.machine.docker.clock import Reading
from brownout.machine.docker.engine import connected

NodeOf = Callable[..., Node]


@pytest.fixture
def files(tmp_path: Path) -> dict[str, str]:
    """What a client of an engine with TLS has."""
    authority = Authority("engine-test")
    (tmp_path / "ca.pem").write_bytes(authority.pem)
    (tmp_path / "own.pem").write_bytes(authority.issue("client", "brownout"))
    (tmp_path / "server.pem").write_bytes(authority.issue("server", "brownout", ["127.0.0.1"]))
    own = str(tmp_path / "own.pem")
    return {"ca_file": str(tmp_path / "ca.pem"), "certificate_file": own, "key_file": own}


@pytest.fixture
def tls_engine(tmp_path: Path, files: dict[str, str]) -> Iterator[RecordedEngine]:
    """A recorded engine that wants a certificate, on a port of loopback."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=files["ca_file"])
    context.load_cert_chain(tmp_path / "server.pem")
    context.verify_mode = ssl.CERT_REQUIRED
    running = RecordedEngine(tmp_path, context)
    try:
        yield running
    finally:
        running.stop()


def test_an_engine_is_reached_by_tls(tls_engine: RecordedEngine, files: dict[str, str]) -> None:
    tls_engine.start(tls_engine.add("n1", ["/bin/sleep", "60"]))
    settings = {"container": "n1", "engine": tls_engine.address, "tls": files}
    spec = DockerSpec.model_validate(settings)

    assert DockerHost(Node(name="n1", address="127.0.0.1:1", host=spec)).running().running


def test_an_engine_whose_certificate_is_of_nobody_we_trust_is_refused(
    tls_engine: RecordedEngine, files: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "other.pem").write_bytes(Authority("somebody").pem)
    changed = {**files, "ca_file": str(tmp_path / "other.pem")}
    spec = DockerSpec.model_validate(
        {"container": "n1", "engine": tls_engine.address, "tls": changed}
    )
    with pytest.raises(HostError, match=r"does not answer: .*(certificate|verify)"):
        DockerHost(Node(name="n1", address="127.0.0.1:1", host=spec)).running()


def test_an_engine_that_is_not_there_is_one_clear_error(tmp_path: Path) -> None:
    spec = DockerSpec.model_validate({"container": "n1", "engine": f"unix://{tmp_path}/none.sock"})
    with (
        pytest.raises(
            HostError, match=r"the engine at unix://.*none.sock does not answer: there is no"
        ),
        connected(spec),
    ):
        pass


def test_an_engine_that_breaks_off_is_one_clear_error(
    engine: RecordedEngine, node_of: NodeOf
) -> None:
    engine.answering = False
    with pytest.raises(HostError, match=r"the engine at unix://.* does not answer"):
        DockerHost(node_of()).running()


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"engine": "docker.example.com"}, "wanted unix:///path or tcp://host:port"),
        ({"engine": "ssh://example.com"}, "wanted unix:///path or tcp://host:port"),
        ({"engine": "tcp://docker.example.com:2375"}, "reached by the network wants tls"),
        ({"container": "a b"}, "container"),
    ],
)
def test_settings_that_cannot_work_are_said_at_once(settings: dict[str, str], told: str) -> None:
    with pytest.raises(ValidationError, match=told):
        DockerSpec.model_validate({"container": "n1", **settings})


def test_a_socket_wants_no_tls(files: dict[str, str]) -> None:
    with pytest.raises(ValidationError, match="found tls with a unix socket"):
        DockerSpec.model_validate({"container": "n1", "tls": files})


def test_two_nodes_are_never_one_container(tmp_path: Path) -> None:
    host = {"kind": "docker", "container": "mongo-1"}
    nodes = [{"name": f"n{i}", "address": f"127.0.0.1:{i}", "host": host} for i in (1, 2)]
    data = {"database": "mongodb", "environment": "test", "nodes": nodes}
    with pytest.raises(ConfigurationError, match=r"host.*container mongo-1 of unix:///var/run"):
        inventory.parse(data, tmp_path / "c.yaml")


STAMP = "2026-11-21T10:00:00.500000123Z"
ENGINE_S = 1795255200.0


def test_a_stamp_of_the_engine_is_found_on_our_clock() -> None:
    # Asked half a second after the stamp; the answer took 20 ms.
    reading = Reading(asked=107.0, engine_s=ENGINE_S + 1.0, answered=107.02)
    effective, uncertainty_s = clock.moment(STAMP, reading, earliest=100.0, latest=110.0)
    assert effective == pytest.approx(106.52, abs=1e-6)
    assert uncertainty_s == pytest.approx(0.02, abs=1e-6)


@pytest.mark.parametrize(
    "reading",
    [None, Reading(asked=107.0, engine_s=ENGINE_S + 900.0, answered=107.02)],
    ids=["none", "set meanwhile"],
)
def test_a_clock_that_is_not_believed_leaves_what_we_saw_ourselves(
    reading: Reading | None,
) -> None:
    assert clock.moment(STAMP, reading, earliest=100.0, latest=110.0) == (110.0, 10.0)
    assert clock.moment("never", reading, earliest=100.0, latest=110.0) == (110.0, 10.0)


def test_the_engines_time_is_asked_for(engine: RecordedEngine, node_of: NodeOf) -> None:
    with connected(node_of().host) as client:  # type: ignore[arg-type]
        reading = clock.read(client)
    assert reading is not None
    assert reading.engine_s == pytest.approx(time.time() + 3600, abs=60)
