"""A recorded Docker engine for each test, and a node that is a container of it."""

import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.machine.docker.boxes import Box
from tests.machine.docker.recorded import RecordedEngine

from brownout.databases.adapter import Adapter, adapter_for
from brownout.inventory.model import Cluster, Node, ProcessSpec
from brownout.machine import procfs, user_namespace
from brownout.machine.docker import DockerHost, DockerSpec, undo
from brownout.machine.host import host_for

#: Says that it is there, and ends with 0 on SIGTERM.
SERVES = """
import signal, sys
signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
print("serving", flush=True)
while True:
    signal.pause()
"""


@pytest.fixture
def engine() -> Iterator[RecordedEngine]:
    """A recorded engine on a unix socket; its path is short, as the kernel wants it."""
    directory = Path(tempfile.mkdtemp(prefix="brownout-"))
    running = RecordedEngine(directory)
    try:
        yield running
    finally:
        lives = [(box.id, box.started) for box in running.boxes.values()]
        running.stop()
        shutil.rmtree(directory)
        for life in lives:
            for switch in procfs.find((undo.MARK, *life)):  # what a test has left paused
                os.kill(switch.pid, signal.SIGKILL)


@pytest.fixture
def node_of(engine: RecordedEngine) -> Callable[..., Node]:
    """Make the node of a container; `host` changes its settings."""

    def make(container: str = "n1", **host: Any) -> Node:
        spec = DockerSpec.model_validate({"container": container, "engine": engine.address, **host})
        return Node(name="n1", address="127.0.0.1:1", host=spec)

    return make


@pytest.fixture
def box(engine: RecordedEngine, tmp_path: Path) -> Box:
    """A container with one volume in which a database has left its files; it is not started."""
    data = tmp_path / "data"
    (data / "journal").mkdir(parents=True)
    (data / "WiredTiger").write_text("wt")
    (data / "journal" / "log.1").write_bytes(bytes(4096))
    return engine.add("n1", [sys.executable, "-c", SERVES], volumes={"n1-data": data})


@pytest.fixture
def host(engine: RecordedEngine, box: Box, node_of: Callable[..., Node]) -> DockerHost:
    """The host of a node whose container runs."""
    engine.start_ready(box)
    return DockerHost(node_of())


def _contained(node: Node, adapter: Adapter, engine: RecordedEngine) -> Node:
    """Return a node of a lab as a container of the engine that runs its server."""
    local = node.host
    assert isinstance(local, ProcessSpec)
    host_for(node).stop("kill")
    data = adapter.data_directories(node)
    volumes = {f"{node.name}-data-{n}": path for n, path in enumerate(data)}
    program, *arguments = [*(user_namespace.enter() if local.unprivileged else ()), *local.command]
    command = [shutil.which(program) or program, *arguments]
    engine.start(engine.add(node.name, command, volumes=volumes))
    host = {
        "container": node.name,
        "engine": engine.address,
        "config_file": str(local.config_file),
        "command": local.command,
    }
    return node.model_copy(update={"host": DockerSpec.model_validate(host)})


@pytest.fixture
def contain(engine: RecordedEngine) -> Callable[[Cluster], Cluster]:
    """Make each node of a lab that runs a container, one after the other."""

    def contain(cluster: Cluster) -> Cluster:
        adapter = adapter_for(cluster)
        try:
            nodes = tuple(_contained(node, adapter, engine) for node in cluster.nodes)
        finally:
            adapter.close()
        return cluster.model_copy(update={"nodes": nodes})

    return contain


@pytest.fixture
def contained(fresh_lab: Cluster, contain: Callable[[Cluster], Cluster]) -> Cluster:
    """A real replica set, every member of which is a container."""
    return contain(fresh_lab)
