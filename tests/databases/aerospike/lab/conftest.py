"""The shared lab of the stand-in and its adapter, for the tests of this folder."""

from collections.abc import Iterator

import pytest

from brownout.databases.aerospike.adapter import AerospikeAdapter
from brownout.inventory.model import Cluster


@pytest.fixture
def cluster(lab_aerospike: Cluster) -> Cluster:
    """Five nodes of the stand-in, whole at the start; leave them whole."""
    return lab_aerospike


@pytest.fixture
def adapter(cluster: Cluster) -> Iterator[AerospikeAdapter]:
    """The adapter of the shared lab."""
    with AerospikeAdapter(cluster) as found:
        yield found
