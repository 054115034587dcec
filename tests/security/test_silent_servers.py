"""A server that accepts a connection and never answers holds nobody for ever.

Each client of ours, at its own way in, with a short time-out; a client without one outlasts the
test's.
"""

import socket
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest

from brownout.atlas.client import AtlasClient
from brownout.base.errors import BrownoutError
from brownout.databases.aerospike import info
from brownout.databases.mongodb.access import Access as MongodbAccess
from brownout.databases.mongodb.link import Link
from brownout.faults.litmus.api import Litmus
from brownout.inventory.atlas import AtlasSpec
from brownout.inventory.model import Node, ProxySpec
from brownout.inventory.observation import Endpoint, Grafana, ObserveSpec
from brownout.kubernetes import access as kubernetes
from brownout.kubernetes.access import Access, connect
from brownout.load.kubernetes.api import JobApi
from brownout.load.kubernetes.stream import PodStream
from brownout.machine import toxiproxy
from brownout.machine.docker.engine import connected
from brownout.machine.docker.spec import EngineSettings
from brownout.machine.kubernetes.session import PodRunner
from brownout.machine.ssh import pool
from brownout.machine.ssh.connection import SshRunner
from brownout.machine.ssh.spec import Login
from brownout.observe import distant
from brownout.observe.annotations import Annotation
from brownout.observe.distant import DistantRun
from brownout.observe.grafana import GrafanaBoard
from brownout.observe.push import push
from brownout.observe.source import source_for
from brownout.runs.database import place_of
from brownout.runs.gameday.leases import Leases
from brownout.runs.store import objects
from brownout.runs.store.place import wanted

SHORT_S = 0.3


@dataclass(frozen=True)
class Silent:
    """Where it listens: by TCP, and by a Unix socket; and a folder for what a client wants."""

    port: int
    unix: Path
    home: Path

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def url(self) -> str:
        return f"http://{self.address}"

    @property
    def kubernetes(self) -> Access:
        """A cluster whose API server it is."""
        file = self.home / "kubeconfig"
        file.write_text(
            f"clusters: [{{name: c, cluster: {{server: '{self.url}'}}}}]\n"
            "contexts: [{name: c, context: {cluster: c, user: u}}]\n"
            "users: [{name: u, user: {token: t}}]\ncurrent-context: c\n"
        )
        return Access.model_validate({"kubeconfig": str(file)})


@pytest.fixture
def silent(tmp_path: Path) -> Iterator[Silent]:
    """The kernel accepts for it; it never reads and never writes."""
    unix = tmp_path / "silent.sock"
    with (
        socket.create_server(("127.0.0.1", 0), backlog=64) as tcp,
        socket.socket(socket.AF_UNIX) as local,
    ):
        local.bind(str(unix))
        local.listen(64)
        yield Silent(tcp.getsockname()[1], unix, tmp_path)
        pool.close_all()


def _exec(at: Silent) -> object:
    return PodRunner(at.kubernetes, "db-0", "db").run("true", SHORT_S)


def _attach(at: Silent) -> object:
    return PodStream(at.kubernetes, "load-0")


def _list(at: Silent) -> object:
    return JobApi(at.kubernetes).pods("load")


def _litmus(at: Silent) -> object:
    with closing(Litmus(connect(at.kubernetes), "default")) as litmus:
        return litmus.engine("pod-delete")


def _docker(at: Silent) -> object:
    with connected(EngineSettings(engine=f"unix://{at.unix}", timeout_s=SHORT_S)) as client:
        return client.version()


def _atlas(at: Silent) -> object:
    key = at.home / "key"
    key.write_text("key")
    spec = {"project": "0" * 24, "cluster": "orders", "base_url": at.url, "timeout_s": SHORT_S,
            "patience_s": SHORT_S, "api_key": {"public_key": {"file": str(key)},
                                         "private_key": {"file": str(key)}}}  # fmt: skip
    with AtlasClient(AtlasSpec.model_validate(spec)) as client:
        return client.cluster()


def _prometheus(at: Silent) -> object:
    spec = ObserveSpec.model_validate({"prometheus": {"url": at.url, "timeout_s": SHORT_S}})
    return source_for(spec).query("up")


def _grafana(at: Silent) -> object:
    token = at.home / "token"
    token.write_text("token")
    spec = {"url": at.url, "timeout_s": SHORT_S, "token": {"file": str(token)}}
    return GrafanaBoard(Grafana.model_validate(spec)).add(Annotation("1", 0, None, "x", ()))


def _push(at: Silent) -> None:
    push(Endpoint(url=at.url, timeout_s=SHORT_S), "run", "up 1\n")


def _s3(at: Silent) -> object:
    return objects.Objects(wanted("s3://bucket/prefix")).read("run/manifest.json")


def _ssh(at: Silent) -> object:
    known = at.home / "known_hosts"
    known.touch()
    login = Login.model_validate({"address": "127.0.0.1", "port": at.port,
                                  "connect_timeout_s": SHORT_S, "reconnect_s": SHORT_S,
                                  "known_hosts": str(known)})  # fmt: skip
    return SshRunner(pool.connection_for(login)).run("true", SHORT_S)


def _mongodb(at: Silent) -> object:
    node = Node(name="n1", address=at.address)
    with closing(Link(node, MongodbAccess(f"mongodb://{at.address}", {}), SHORT_S)) as link:
        return link.ask("hello")


def _aerospike(at: Silent) -> object:
    return info.ask(at.address, ["status"], SHORT_S)


def _toxiproxy(at: Silent) -> object:
    return toxiproxy.latency(ProxySpec(name="n1", control=at.address, upstream=at.address))


def _distant(at: Silent) -> object:
    return DistantRun(at.url).board()


def _leases(at: Silent) -> object:
    url = f"postgresql://ann@{at.address}/brownout?connect_timeout=2"
    return Leases(place_of(url, "BROWNOUT_GAMEDAYS"))


CLIENTS: dict[str, Callable[[Silent], object]] = {
    function.__name__.strip("_"): function
    for function in (_exec, _attach, _list, _litmus, _docker, _atlas, _prometheus, _grafana, _push,
                     _s3, _ssh, _mongodb, _aerospike, _toxiproxy, _distant, _leases)
}  # fmt: skip


@pytest.mark.timeout(60)
@pytest.mark.parametrize("client", list(CLIENTS))
def test_a_server_that_never_answers_is_given_up(
    client: str, silent: Silent, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kubernetes, "TIMEOUT_S", SHORT_S)
    for module in (toxiproxy, distant):
        monkeypatch.setattr(module, "_ASK_S", SHORT_S)
    monkeypatch.setattr(objects, "_ANSWER_S", 1)
    monkeypatch.setattr(objects, "PATIENCE_S", SHORT_S)
    for name, value in {
        "AWS_ENDPOINT_URL": silent.url, "AWS_ALLOW_HTTP": "true", "AWS_REGION": "x",
        "AWS_ACCESS_KEY_ID": "x", "AWS_SECRET_ACCESS_KEY": "x",
    }.items():  # fmt: skip
        monkeypatch.setenv(name, value)
    with pytest.raises((BrownoutError, OSError)):
        CLIENTS[client](silent)
