"""A lab of the stand-in for the tests of this folder, gone afterwards whatever happened in them."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.infra.lab.aerospike.waiting import await_state

from brownout.cluster.aerospike import AerospikeAdapter
from brownout.cluster.model import Cluster
from brownout.infra import lab

LAB = "lab-aerospike"


@pytest.fixture(scope="session")
def _shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    directory = tmp_path_factory.mktemp("lab")
    with _environment(directory):
        cluster = lab.up(LAB)
    try:
        yield cluster
    finally:
        with _environment(directory):
            lab.down(LAB)


@contextmanager
def _environment(directory: Path) -> Iterator[None]:
    """Let labs live in `directory`; other tests of the session have theirs elsewhere."""
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("BROWNOUT_ASD", "stand-in")
        environment.setenv("BROWNOUT_LAB_DIR", str(directory))
        environment.delenv("BROWNOUT_CLUSTERS", raising=False)
        yield


@pytest.fixture
def cluster(_shared: Cluster) -> Cluster:
    """Five nodes of the stand-in, whole at the start; leave them whole."""
    with AerospikeAdapter(_shared) as adapter:
        await_state("a whole lab", lambda: adapter.stable("whole").reached)
    return _shared


@pytest.fixture
def adapter(cluster: Cluster) -> Iterator[AerospikeAdapter]:
    """The adapter of the shared lab."""
    with AerospikeAdapter(cluster) as found:
        yield found
