"""A lab of Couchbase on loopback: one process of CouchbaseMock, which plays all nodes."""

import secrets
from importlib.resources import files
from pathlib import Path

from pydantic import SecretStr

from brownout.databases.couchbase.access import bucket_of
from brownout.databases.couchbase.adapter import CouchbaseAdapter
from brownout.databases.couchbase.lab import server
from brownout.databases.couchbase.lab.settings import CouchbaseLab
from brownout.databases.lab import tls
from brownout.databases.lab.engine import Progress
from brownout.databases.lab.milestones import await_milestone
from brownout.databases.lab.ports import reserve_ports
from brownout.inventory.connection import Auth, Connection
from brownout.inventory.model import Cluster, Node, ProcessSpec

__all__ = ["await_whole", "form", "lay_out"]

#: Generous: two seconds are usual.
_WHOLE_TIMEOUT_S = 120.0
_VBUCKETS = 64
_FILE = "mock.js"
#: The JavaScript shell that is in the mock's jar.
_SHELL = "org.mozilla.javascript.tools.shell.Main"


def lay_out(cluster: Cluster, spec: CouchbaseLab, directory: Path) -> Cluster:
    """Write what the mock is told; return the cluster with its one process.

    The first node that the mock plays is `n1`, which stands for all. Its `lab.stand_in` says that
    no Couchbase runs.
    """
    java, jar = server.find_java(), server.find_jar()
    rest, first, *_ = reserve_ports(spec.nodes + 1, directory, in_a_row=True)
    home, own = directory / "n1", cluster.connection
    home.mkdir(mode=0o700)
    name, password = bucket_of(cluster), secrets.token_hex(16)
    text = (files(__package__) / "mock.in").read_text(encoding="utf-8")
    ports = {
        "REST": rest,
        "KV": first,
        "NODES": spec.nodes,
        "REPLICAS": spec.replicas,
        "VBUCKETS": _VBUCKETS,
        "BUCKET": name,
        "PASSWORD": password,
    }
    for word, value in ports.items():
        text = text.replace(f"@{word}@", str(value))
    tls.keep(home / _FILE, text.encode())
    host = ProcessSpec(
        config_file=home / _FILE,
        pid_file=home / "mock.pid",
        log_file=home / "mock.log",
        working_directory=home,
        command=(
            *(str(java), f"-Xmx{spec.heap_mb}m", "-cp", str(jar)),
            *(_SHELL, "-f", str(home / _FILE)),
        ),
    )
    node = Node(name="n1", address=f"127.0.0.1:{first}", api=f"127.0.0.1:{rest}", host=host)
    connection = Connection(
        options=own.options,
        timeout_s=own.timeout_s,
        hosts=tuple(f"127.0.0.1:{first + number}" for number in range(spec.nodes)),
        auth=Auth(username=name, password=SecretStr(password)),
    )
    (directory / "tls").mkdir(mode=0o700)
    tls.keep(directory / "tls" / "password", password.encode())
    adapted = spec.model_copy(update={"stand_in": True})
    update = {"nodes": (node,), "spares": (), "connection": connection, "lab": adapted}
    return cluster.model_copy(update=update)


def form(cluster: Cluster, spec: CouchbaseLab, progress: Progress) -> None:
    """Wait until the mock serves: it is whole from the start."""
    progress("it is CouchbaseMock, a mock: nothing of Couchbase runs")
    await_whole(cluster, progress)


def await_whole(cluster: Cluster, progress: Progress) -> None:
    """Wait until the mock serves."""
    progress("waiting for the mock")
    with CouchbaseAdapter(cluster) as adapter:
        await_milestone(adapter, "whole", _WHOLE_TIMEOUT_S)
