"""Aerospike: the adapter, on the nodes' own info protocol.

`adapter` is what every other part uses, `panel` asks all nodes, `view` what a node says and what
follows from all of them, `figures` sums it up, `quiescing` takes a node out of service, `info` how
a node is asked, `storage` where it keeps its data.
"""

from brownout.cluster.adapter import Adapter
from brownout.cluster.aerospike.adapter import AerospikeAdapter
from brownout.errors import Unsupported

__all__ = ["AerospikeAdapter", "of_aerospike"]


def of_aerospike(adapter: Adapter) -> AerospikeAdapter:
    """Return the adapter, if it is one of Aerospike; `Unsupported` otherwise."""
    if isinstance(adapter, AerospikeAdapter):
        return adapter
    raise Unsupported(f"this asks an Aerospike cluster, and {adapter.engine()} is none")
