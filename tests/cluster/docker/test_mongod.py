"""A real replica set in containers of a recorded engine: killed, wiped, started, whole again."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from tests.cluster.docker.recorded import RecordedEngine

from brownout.cluster.adapter import Adapter, adapter_for
from brownout.cluster.docker import DockerSpec
from brownout.cluster.host import host_for
from brownout.cluster.model import Cluster, Node, ProcessSpec
from brownout.errors import Refused


def _contained(node: Node, engine: RecordedEngine) -> Node:
    """Return the node as a container of the engine that runs its mongod."""
    local = node.host
    assert isinstance(local, ProcessSpec)
    assert local.config_file is not None
    host_for(node).stop("kill")
    data = Path(yaml.safe_load(local.config_file.read_text())["storage"]["dbPath"])
    engine.start(engine.add(node.name, local.command, volumes={f"{node.name}-data": data}))
    settings = {
        "container": node.name,
        "engine": engine.address,
        "config_file": str(local.config_file),
    }
    return node.model_copy(update={"host": DockerSpec.model_validate(settings)})


@pytest.fixture
def adapter(fresh_lab: Cluster, engine: RecordedEngine) -> Iterator[Adapter]:
    """Asks the lab, every member of which is a container."""
    nodes = tuple(_contained(node, engine) for node in fresh_lab.nodes)
    adapter = adapter_for(fresh_lab.model_copy(update={"nodes": nodes}))
    yield adapter
    adapter.close()


def _await_whole(adapter: Adapter) -> None:
    deadline = time.monotonic() + 120
    while not (state := adapter.stable("whole")).reached:
        assert time.monotonic() < deadline, state.detail
        time.sleep(0.1)


def test_a_primary_is_killed_wiped_and_started_and_the_set_is_whole_again(
    adapter: Adapter,
) -> None:
    _await_whole(adapter)
    (node,) = adapter.targets("primary", 4711)
    host = host_for(node)
    with pytest.raises(Refused, match="it is running; stop it first"):
        host.wipe(adapter.data_directories(node))

    killed = host.stop("kill")
    wiped = host.wipe(adapter.data_directories(node))
    started = host.start()

    _await_whole(adapter)
    assert wiped.evidence["directories"][0]["files_removed"] > 20
    assert killed.effective_monotonic < wiped.effective_monotonic < started.effective_monotonic
